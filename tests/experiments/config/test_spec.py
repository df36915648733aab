from __future__ import annotations

import re

import pytest

from elene.datasets.registry import find
from elene.experiments import config
from elene.experiments.config.network import GNNAKConv

BASE = {"dataset": {"name": "sr25"}, "model": {"conv": "gin", "layers": 2}, "training": {"epochs": 3}}

MINIMAL = """
runs = 3
[dataset]
name = "zinc12k"
[model]
conv = "gin"
layers = 2
[training]
epochs = 7
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(MINIMAL)
    return path


def everything():
    return [(label, row) for label in config.labels() for row in config.rows(label)]


def test_every_shipped_spec_is_valid_and_different_from_all_others():
    loaded = [config.load(label, row) for label, row in everything()]
    assert len({each.identity for each in loaded}) == len(loaded) > 150
    for (label, row), each in zip(everything(), loaded, strict=True):
        assert (each.dataset.label, each.row) == (label, row)
        info = find(each.dataset.name)
        assert each.dataset.target is None or each.dataset.target in info.targets
        assert each.training is None or (each.model.pool == "none") == (info.level == "node")
        assert info.split != "folds" or each.runs == 10


@pytest.mark.parametrize(
    ("label", "layers", "pool", "epochs", "step", "runs"),
    [
        ("exp", 4, "sum", 100, 50, 1),
        ("sr25", 2, "sum", 305, 50, 1),
        ("rook-shrikhande", 2, "sum", 400, 50, 1),
        ("counting.star", 3, "sum", 300, 30, 2),
        ("graph-properties.radius", 6, "sum", 250, 40, 2),
        ("proximity-5", 3, "sum", 30, 10, 10),
        ("zinc12k", 6, "sum", 310, 50, 3),
        ("molhiv", 2, "mean", 60, 50, 5),
        ("pattern", 6, "none", 35, 10, 3),
        ("cifar10", 4, "sum", 75, 35, 3),
        ("molpcba", 5, "mean", 105, 25, 3),
    ],
)
def test_the_protocol_of_the_paper(label, layers, pool, epochs, step, runs):
    for row in config.rows(label):
        found = config.load(label, row)
        assert (found.model.layers, found.model.pool, found.runs) == (layers, pool, runs)
        assert (found.training.epochs, found.training.step) == (epochs, step)


def test_a_data_set_may_differ_within_its_file():
    depth = {h: config.load(f"proximity-{h}", "gin+elene-nd").model.elene.k for h in (3, 5, 8, 10)}
    assert depth == {3: 3, 5: 5, 8: 5, 10: 5}


def test_a_file_of_ones_own(file):
    found = config.load(file)
    assert (found.dataset.label, found.row, found.runs, found.training.epochs) == ("zinc12k", "model", 3, 7)


def test_rows_change_what_is_shared(file):
    file.write_text(MINIMAL + '[rows.deep]\nmodel.layers = 9\n[rows.gcn]\nmodel.conv = "gcn"\n')
    assert config.rows(file) == ["deep", "gcn"]
    assert config.load(file, "deep").model == config.load(file, "gcn", ["model.layers=9", "model.conv=gin"]).model
    with pytest.raises(ValueError, match=r"several models: choose a row of deep, gcn"):
        config.load(file)


def test_changes():
    changes = ["training.epochs=5", "model.elene=none", "model.conv.name=gin-ak", "model.conv.k=2", "training.lr=1e-2"]
    found = config.load("zinc12k", "gin+elene-nd", changes)
    assert found.model.conv == GNNAKConv(name="gin-ak", k=2)
    assert found.model.elene is None and found.training.epochs == 5 and found.training.lr == 0.01
    assert config.load("zinc12k", "gin+elene-nd", ["model.elene.layers=[0, 2]"]).model.elene.layers == (0, 2)


def test_identity_depends_on_what_decides_the_result():
    found = config.check(BASE)
    assert found.identity == config.check({**BASE, "row": "other", "runs": 9}).identity
    assert found.identity == config.check({**BASE, "model": {**BASE["model"], "hidden": 128}}).identity
    assert found.identity != config.check({**BASE, "model": {**BASE["model"], "hidden": 127}}).identity
    assert found.identity != config.check({**BASE, "dataset": {"name": "sr28"}}).identity
    # Results that are stored under this name must stay known by it.
    assert found.identity == "e4cc32330e"


def test_a_spec_survives_its_text():
    for label, row in everything():
        found = config.load(label, row)
        assert type(found).model_validate_json(found.model_dump_json()) == found


def test_rates_are_halved():
    training = config.Training(epochs=100, step=10, lr=1.0)
    assert [training.rate(epoch) for epoch in (0, 9, 10, 25)] == [1, 1, 0.5, 0.25]
    assert config.Training(epochs=100).rate(99) == 1e-3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("model.layers=0", "model.layers must be greater than or equal to 1, got 0"),
        ("model.layers=many", "model.layers must be a valid integer.*got 'many'"),
        ("model.layer=3", "model.layer is not a setting: choose from conv, layers, hidden"),
        ("modle.layers=3", "modle is not a setting: choose from dataset, model, training"),
        ("model.conv=gim", "model.conv must be one of 'gin', 'gcn'.*, got 'gim'"),
        ("model.conv=spnn", "model.conv.k is missing"),
        ("model.conv=3", "model.conv must be a table, got 3"),
        ("model.conv.k=3", "model.conv.k is not a setting: choose from name"),
        ("model.pool=max", "model.pool must be 'sum', 'mean' or 'none', got 'max'"),
        ("model.elene.level=xd", "model.elene.level must be 'nd' or 'ed', got 'xd'"),
        ("model.elene.layers=some", "model.elene.layers must be 'all', 'first' or 'half' or a valid tuple, got 'some'"),
        ("model.elene.layers=[6]", r"model: elene.layers must be numbers from 0 to 5, got \[6\]"),
        ("model.conv=none model.elene=none", "conv none has nothing to learn from without elene"),
        ("model.conv={name='gin-ak',k=4} model.elene.level=ed", r"conv.k \(4\) must be at most elene.k \(3\)"),
        ("model.elene.norm=batch", "model.elene.norm must be 'both', 'update' or 'none', got 'batch'"),
        ("model.conv={name='ngnn', k=3}", "conv ngnn and elene cannot be combined"),
        ("model.conv=ppgn", "conv ppgn has no place for elene"),
        ("training.lr=0", "training.lr must be greater than 0, got 0"),
        ("training.epochs", "must look like training.epochs=5, got 'training.epochs'"),
        ("row=a/b", "row must be a name that a folder can have, got 'a/b'"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        config.load("zinc12k", "gin+elene-nd", _changes(change))


def _changes(text):
    """Several changes stand with blanks between; a table has blanks of its own after its commas."""
    return [change.strip() for change in re.split(r" (?=model\.|training\.)", text)]


def test_what_is_not_there(tmp_path):
    with pytest.raises(ValueError, match=r"'zinc' has no spec; did you mean 'zinc12k'\?"):
        config.load("zinc")
    with pytest.raises(ValueError, match=r"row 'gim' is not in sr25: choose from gin, "):
        config.load("sr25", "gim")
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.toml"):
        config.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = = 1")
    with pytest.raises(ValueError, match=r"bad\.toml is not a TOML file"):
        config.load(tmp_path / "bad.toml")
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(ValueError, match=r"dataset is missing; model is missing; training is missing"):
        config.load(tmp_path / "empty.toml")
