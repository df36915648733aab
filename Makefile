# Every target starts from a bare clone: the stamp builds .venv once, and again only when the dependencies change.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.installed
GENERATORS := $(patsubst %,tests/datasets/test_%.py,counting memory properties proximity strongly_regular)
# Tests on real data run where it is: in the folder that ELENE_DATA names, or beside this one.
DATA := $(or $(ELENE_DATA),$(abspath $(wildcard ../shared/data)))

.PHONY: demo test faults coverage lint bench docs wheel clean

demo: $(READY)
	$(BIN)/elene demo

test: lint
	$(if $(DATA),ELENE_DATA=$(DATA)) $(BIN)/python -m pytest -n 2 --dist loadgroup
	$(MAKE) --no-print-directory coverage

# Workers, clients and schedulers are killed, on every network, depth and level: some minutes, on a machine at rest.
faults: $(READY)
	ELENE_FAULTS=all $(if $(DATA),ELENE_DATA=$(DATA)) $(BIN)/python -m pytest -q tests/cluster/test_run.py

# The kernels run as plain Python here, so that their lines count.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -n 2 -m "not jit" --cov --cov-report=term --cov-fail-under=95 \
	  tests/test_first_things.py tests/core tests/encoding tests/engine tests/io tests/nn $(GENERATORS)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(READY)
	$(BIN)/python benchmarks/encode.py --json bench/encode.json
	GOMP_SPINCOUNT=10000 $(BIN)/python benchmarks/layer.py --json bench/layer.json
	$(BIN)/python benchmarks/baselines.py --json bench/baselines.json
	$(BIN)/python benchmarks/scaling.py --json bench/scaling.json
	$(BIN)/python benchmarks/kernels.py --json bench/kernels.json
	$(BIN)/python benchmarks/loader.py --json bench/loader.json
	$(BIN)/python benchmarks/cluster.py all --folder bench/cluster --json bench/cluster.json

# The site, in docs/_build/html: the gallery is run, warnings are errors, and every link within it leads somewhere.
# The gallery's networks are small: threads of torch would only wait for each other.
docs: $(READY)
	OMP_NUM_THREADS=1 $(if $(DATA),ELENE_DATA=$(DATA)) $(BIN)/python -m sphinx -b html -W --keep-going -q docs docs/_build/html
	$(BIN)/python docs/check.py docs/_build/html

# Needs nothing of what the tests need.
wheel: $(BIN)/python
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

clean:
	rm -rf docs/_build docs/gallery docs/pictures docs/api/names docs/api/rooms
	rm -rf dist build .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis bench demo

$(BIN)/python:
	$(PYTHON) -m venv .venv

$(READY): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@
