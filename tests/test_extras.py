"""Without an extra: everything that needs it says which one to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

EDGE = "elene.Graph.from_edges([(0, 1)])"
CALLS = [
    ("torch", "torch", "import elene.nn"),
    ("torch", "torch", "elene.nn"),
    ("torch_geometric", "torch", "from elene.nn import ELENE"),
    ("torch", "torch", "from elene.transforms import EgoStructure"),
    ("torch_geometric", "torch", "import elene.transforms.structure"),
    ("torch", "torch", "elene.baselines"),
    ("torch", "torch", "elene.datasets.load('sr25')"),
    ("torch_geometric", "torch", "elene.datasets.GraphDataset"),
    ("yacs", "graphgym", "from elene.nn.graphgym import register; register()"),
    ("sklearn", "io", "elene.Encoder"),
    ("matplotlib", "io", f"elene.plot.draw_ego({EDGE}, 0, 1)"),
    ("pyarrow", "io", "elene.Graph.read(folder + '/edges.csv')"),
    ("networkx", "io", "elene.Graph.read(folder + '/edges.gml')"),
    ("pydantic", "experiments", "from elene.experiments import spec"),
    ("torch", "experiments", "from elene.experiments import runner"),
    ("pytorch_lightning", "experiments", "import elene.experiments.train.learner"),
]


def without(package, code, *arguments):
    command = [sys.executable, "-c", f"import sys\nsys.modules[{package!r}] = None\n{code}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("package, extra, call", CALLS)
def test_what_needs_an_extra_names_it(package, extra, call, tmp_path):
    (tmp_path / "edges.csv").write_text("1,2\n")
    (tmp_path / "edges.gml").write_text("graph []\n")
    done = without(package, f"import elene\nfolder = {str(tmp_path)!r}\n{call}")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: ") and f'needs {package}: pip install "elene[{extra}]"' in last, done.stderr


@pytest.mark.parametrize(
    "package, extra, arguments",
    [
        ("typer", "io", ["encode"]),
        ("rich", "io", ["--help"]),
        ("torch", "experiments", ["reproduce", "counting"]),
        ("torchmetrics", "experiments", ["train", "sr25", "--row", "gin"]),
        ("optuna", "experiments", ["search", "sr25", "--row", "gin"]),
        ("pytorch_lightning", "experiments", ["brec", "--row", "gin"]),
        ("dash", "explorer", ["explore", "--no-browser"]),
        ("dash_cytoscape", "explorer", ["explore", "--no-browser"]),
    ],
)
def test_commands_end_with_one_line(package, extra, arguments):
    done = without(package, "from elene.__main__ import main\nmain()", *arguments)
    told = " ".join(done.stderr.split())
    assert done.returncode == 2 and f'needs {package}: pip install "elene[{extra}]"' in told, done.stderr
    assert "Traceback" not in done.stderr


def test_errors_inside_the_library_stay_what_they_are():
    done = without("elene.graph", "import elene\nelene.Encoder")
    assert "ModuleNotFoundError" in done.stderr and "pip install" not in done.stderr
