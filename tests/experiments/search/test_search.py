"""Search: every combination once, whatever happens in between; the best by validation; what the command says."""

from __future__ import annotations

import math
import shlex
from itertools import product
from types import SimpleNamespace

import pytest

pytest.importorskip("optuna")
pytest.importorskip("torch")

from typer.testing import CliRunner

from elene.cli import app
from elene.experiments import config
from elene.experiments.config.loading import compressed
from elene.experiments.results.choices import Choices
from elene.experiments.results.origin import origin_of
from elene.experiments.search import search as module
from elene.experiments.search.search import Search
from elene.experiments.search.space import SearchSpace, paper_grid, search_space, split_values
from made_up import ORIGIN

GRID = {"training.lr": ("0.1", "0.2", "0.3", "0.4"), "model.hidden": ("8", "16", "32"), "model.layers": ("2", "3")}
PLACED, JOINT = {"model.elene.layers": "first half all"}, {"model.elene.joint": "true false"}
OMEGA = {"model.elene.omega": "16 32 64"}
ALL = list(product(*GRID.values()))


def score(values):
    """Best at ("0.3", "16", "3")."""
    lr, hidden, layers = (float(value) for value in values)
    return (lr - 0.3) ** 2 + (math.log2(hidden) - 4) ** 2 + (layers - 3) ** 2


def values_of(wanted):
    return f"{wanted.training.lr:g}", str(wanted.model.hidden), str(wanted.model.layers)


class Trainer:
    """Stands in for training: writes down what it was asked, and may be interrupted."""

    def __init__(self, stop_at=None, sign=1, value=None):
        self.asked, self.stop_at, self.sign, self.value = [], stop_at, sign, value

    def __call__(self, wanted, seed, fold, *, store, folder):
        if len(self.asked) == self.stop_at:
            raise KeyboardInterrupt
        self.asked.append(values_of(wanted))
        validation = self.sign * score(values_of(wanted)) if self.value is None else self.value(values_of(wanted))
        return SimpleNamespace(best=SimpleNamespace(validation=validation)), True


@pytest.fixture(autouse=True)
def present(request, monkeypatch):
    """No data is loaded where nothing is trained."""
    if "trains" not in request.node.name:
        monkeypatch.setattr(module, "origin_of", lambda dataset: ORIGIN)


@pytest.fixture
def train(monkeypatch):
    def stand_in(**settings):
        trainer = Trainer(**settings)
        monkeypatch.setattr(module, "run_unless_stored", trainer)
        return trainer

    return stand_in


def searching(folder, label="zinc12k", grid=GRID, **settings):
    return Search(SearchSpace(label, "gin", grid, **settings), folder / "results", folder / "runs")


# All combinations


def test_every_combination_is_tried_once_and_the_best_found(tmp_path, train):
    trainer, search = train(), searching(tmp_path)
    assert dict(search.run()) == {values: score(values) for values in ALL}
    assert trainer.asked == ALL
    assert search.ranking == sorted(((values, score(values)) for values in ALL), key=lambda item: item[1])
    assert search.ranking[0][0] == ("0.3", "16", "3")
    assert list(search.run()) == []


def test_higher_is_better_where_it_is(tmp_path, train):
    train(sign=-1)
    search = searching(tmp_path, "sr25")
    list(search.run())
    assert (search.lower, search.metric, search.ranking[0][0]) == (False, "accuracy", ("0.3", "16", "3"))


@pytest.mark.parametrize("stop_at", [0, 1, 7])
@pytest.mark.parametrize("trials", [None, 10])
def test_an_interrupted_search_goes_on(tmp_path, train, stop_at, trials):
    """As if killed: the trial that ran stays behind unfinished."""
    before = train(stop_at=stop_at)
    with pytest.raises(KeyboardInterrupt):
        list(searching(tmp_path).run(trials))
    after = train()
    list(searching(tmp_path).run(trials))
    assert len(set(before.asked + after.asked)) == len(before.asked + after.asked) == (trials or len(ALL))


def test_other_plans_are_other_searches(tmp_path):
    plans = [
        {},
        {"seed": 1},
        {"fold": 1},
        {"changes": ("training.epochs=3",)},
        {"grid": {"training.lr": ("0.1", "0.2")}},
        {"label": "counting.star"},
    ]
    assert len({searching(tmp_path, **plan).path for plan in plans}) == len(plans)


def test_what_cannot_be_compared_ranks_last(tmp_path, train):
    trainer = train(value=lambda values: math.nan if values[0] in ("0.1", "0.2") else score(values))
    search = searching(tmp_path)
    list(search.run())
    assert len(trainer.asked) == len(ALL)
    assert search.ranking[0][0] == ("0.3", "16", "3")
    assert all(math.isnan(value) == (values[0] in ("0.1", "0.2")) for values, value in search.ranking)
    assert math.isnan(search.ranking[-1][1])
    assert list(searching(tmp_path).run()) == []


def test_a_damaged_journal_is_named(tmp_path, train):
    train()
    search = searching(tmp_path)
    list(search.run(2))
    search.path.write_text("not a journal\n" * 3)
    with pytest.raises(ValueError, match=rf"{search.path.name} .*: delete it"):
        searching(tmp_path)


# Some of them


@pytest.mark.parametrize("trials", [1, 5, 12, 23, 24, 100])
def test_so_many_different_combinations(tmp_path, train, trials):
    trainer, search = train(), searching(tmp_path)
    found = dict(search.run(trials))
    assert len(trainer.asked) == len(set(trainer.asked)) == len(found) == min(trials, len(ALL)) == search.goal(trials)
    assert set(trainer.asked) <= set(ALL)


def test_more_trials_are_added_to_those_there_are(tmp_path, train):
    first, second = train(), None
    list(searching(tmp_path).run(4))
    second = train()
    list(searching(tmp_path).run(9))
    list(searching(tmp_path).run(3))
    assert (len(first.asked), len(second.asked)) == (4, 5)
    assert not set(first.asked) & set(second.asked)


def test_an_estimator_finds_better_ones_than_chance(tmp_path, train):
    large = {
        "training.lr": tuple(f"{i / 10:g}" for i in range(1, 11)),
        "model.hidden": ("2", "4", "8", "16", "32", "64", "128", "256"),
        "model.layers": ("1", "2", "3"),
    }
    scores = sorted(score(values) for values in product(*large.values()))
    ranks = []
    for seed in range(3):
        train()
        search = searching(tmp_path, grid=large, seed=seed)
        list(search.run(40))
        ranks.append(scores.index(search.ranking[0][1]))
    assert sum(ranks) <= 4  # chance: the best of 40 of 240 has rank 5 on average


# One setting after the other


def test_in_turn_every_setting_keeps_its_best_value(tmp_path, train):
    trainer, search = train(), searching(tmp_path)
    found = dict(search.run_in_turn())
    first = [(lr, "8", "2") for lr in GRID["training.lr"]]
    assert trainer.asked[:4] == first
    assert set(trainer.asked[4:]) == {("0.3", "16", "2"), ("0.3", "32", "2"), ("0.3", "16", "3")}
    assert len(found) == len(trainer.asked) == 7 == search.goal(None, in_turn=True)
    assert search.ranking[0][0] == ("0.3", "16", "3")
    assert list(search.run_in_turn()) == []


@pytest.mark.parametrize("stop_at", [0, 3, 5])
def test_in_turn_goes_on_after_an_interruption(tmp_path, train, stop_at):
    before = train(stop_at=stop_at)
    with pytest.raises(KeyboardInterrupt):
        list(searching(tmp_path).run_in_turn())
    after = train()
    list(searching(tmp_path).run_in_turn())
    assert len(set(before.asked + after.asked)) == len(before.asked + after.asked) == 7


def test_in_turn_begins_with_the_settings_of_the_spec(tmp_path):
    grid = {"model.layers": ("2", "6"), "model.hidden": ("8", "16"), "training.lr": ("0.001", "0.002")}
    assert SearchSpace("zinc12k", "gin", grid).start == ("6", "8", "0.001")
    joint = {"model.elene.joint": ("false", "true"), "model.elene.layers": ("first", "all")}
    assert SearchSpace("zinc12k", "gin+elene-nd", joint).start == ("true", "all")


# What was chosen


def test_a_choice_says_what_was_tried_and_how(tmp_path, train):
    train(value=lambda values: math.nan if values[0] == "0.1" else score(values))
    search = searching(tmp_path, changes=("training.epochs=31", "training.step=5", "model.dropout=0.5"))
    list(search.run_in_turn())
    choice = search.choice("one setting after the other")
    assert choice.chosen == {"model.dropout": "0.5", "training.lr": "0.3", "model.hidden": "16", "model.layers": "3"}
    assert (choice.epochs, choice.metric, choice.origin, choice.row) == (31, "mae", ORIGIN, "gin")
    assert choice.tried[0].validation == 0 and choice.tried[-1].validation is None and len(choice.tried) == 7
    assert choice.fixed[:2] == ["training.epochs=31", "training.step=5"]
    choices = Choices(tmp_path)
    assert choices.get("zinc12k", "gin") is None
    path = choices.add(choice)
    assert path == tmp_path / "search" / "zinc12k" / "gin.json" and choices.get("zinc12k", "gin") == choice
    path.write_text("{}")
    with pytest.raises(ValueError, match=r"gin\.json is no choice of this version: .*delete it"):
        choices.get("zinc12k", "gin")


# Plans


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1", ("1",)),
        ("1,2 ,3", ("1", "2", "3")),
        ("[0,1],[2]", ("[0,1]", "[2]")),
        ('all,"a,b"', ("all", '"a,b"')),
        ("{name='elene', k=1},{name='igel', k=2}", ("{name='elene', k=1}", "{name='igel', k=2}")),
        ("[[0,1],[2,3]],4", ("[[0,1],[2,3]]", "4")),
        ("'[',2", ("'['", "2")),
        ("", ("",)),
    ],
)
def test_split_values(text, values):
    assert split_values(text) == values


def test_invalid_combinations_are_left_out():
    plan = search_space(
        "zinc12k", "gin-ak+", ["model.conv.k=1,2", "model.elene={level='ed', k=1},{level='nd', k=1},none"]
    )
    every = [(k, elene) for k in "12" for elene in ("{level='ed', k=1}", "{level='nd', k=1}", "none")]
    assert plan.valid == [each for each in every if each != ("2", "{level='ed', k=1}")]
    with pytest.raises(ValueError, match=r"model\.layer is not a setting: choose from conv, layers"):
        _ = search_space("zinc12k", "gin", ["model.layer=1,2"]).valid


@pytest.mark.parametrize(
    ("label", "row", "wanted"),
    [
        ("exp", "gin+elene-nd", {"model.elene.k": "1 2", **PLACED, **JOINT, **OMEGA}),
        ("counting.star", "gin+elene", {"model.encoding.k": "0 1 2"}),
        ("graph-properties.radius", "gin+elene-nd", {"model.elene.k": "1 2 3", **PLACED, **JOINT, **OMEGA}),
        ("graph-properties.radius", "gin+elene-ed", {"model.elene.k": "1 2", **PLACED, **JOINT, **OMEGA}),
        ("proximity-5", "gin+elene-nd", {"model.elene.k": "3 5", **PLACED, **OMEGA}),
        (
            "pattern",
            "gin+elene-nd",
            {"model.elene.k": "1 2 3", **PLACED, **JOINT, **OMEGA, "model.elene.max_degree": "220 0"},
        ),
        ("zinc12k", "gin", {}),
    ],
)
def test_grids_of_the_paper(label, row, wanted):
    assert paper_grid(config.load(label, row)) == {key: tuple(values.split()) for key, values in wanted.items()}


def test_every_model_of_the_paper_can_be_searched():
    for label in config.labels():
        for row in config.rows(label):
            spec = config.load(label, row)
            if spec.training is not None and paper_grid(spec):
                assert search_space(label, row, []).valid, (label, row)


def test_a_single_value_is_not_searched():
    assert "model.elene.k" not in search_space("zinc12k", "gin+elene-nd", ["model.elene.k=3"]).grid
    with pytest.raises(ValueError, match=r"the settings leave nothing of the paper's grid open for gin\+elene"):
        search_space("zinc12k", "gin+elene", ["model.encoding.k=2"])


def test_a_shorter_schedule_is_halved_in_proportion():
    plan = search_space("zinc12k", "gin+elene-nd", ["model.dropout=0.1"], epochs=31)
    assert plan.changes == ("model.dropout=0.1", "training.epochs=31", "training.step=5")
    assert search_space("zinc12k", "gin", ["model.layers=1,2", "training.step=none"], epochs=31).changes[1:] == (
        "training.epochs=31",
    )
    assert compressed(config.load("sr25", "gin"), 1) == ["training.epochs=1", "training.step=1"]


@pytest.mark.parametrize("text", ["model.layers=2,2", "model.layers=2,", "model.layers=,2"])
def test_values_must_differ(text):
    with pytest.raises(ValueError, match=r"model\.layers must have different values with commas between them, got '"):
        search_space("zinc12k", "gin", [text])


# The command


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["search", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def test_command_trains_and_says_how_to_train_the_best(here):
    arguments = (
        "sr25",
        "--row",
        "gin+elene-ed",
        "model.elene.k=0,1",
        "training.epochs=2",
        "model.hidden=8",
        "--seed",
        "3",
    )
    first = run(*arguments)
    assert "2 of 2: model.elene.k=1: validation accuracy 0." in first.stderr
    best = first.stdout.splitlines()[-2].split()
    assert best[:7] == ["elene", "train", "sr25", "--row", "gin+elene-ed", "--seed", "3"]
    kept = list((here / "results" / "search" / "runs" / "sr25" / "gin+elene-ed").glob("*-seed3-fold0.json"))
    assert len(kept) == 2
    wanted = config.load("sr25", "gin+elene-ed", best[7:])
    assert any(path.name.startswith(wanted.identity) for path in kept)
    second = run(*arguments)
    assert "nothing to do" in second.stderr
    assert second.stdout == first.stdout
    choice = Choices(here / "results").get("sr25", "gin+elene-ed")
    assert (choice.how, len(choice.tried), choice.seed) == ("all combinations", 2, 3)
    assert choice.changes == ["model.hidden=8", best[-1]] and choice.origin == origin_of("sr25")


def test_command_shows_the_best_first(here, train):
    train()
    settings = [f"{key}={','.join(values)}" for key, values in GRID.items()]
    said = run("zinc12k", "--row", "gin", *settings, "--trials", "24").stdout
    rows = [[cell.strip() for cell in line.split("│")[1:4]] for line in said.splitlines() if line.startswith("│")]
    assert rows[1] == ["0.3", "16", "3"]
    assert rows[-1][0] == "and 14 more"
    assert "The best of 24 trials (lower is better):" in said
    assert shlex.split(said.splitlines()[-2])[-3:] == ["training.lr=0.3", "model.hidden=16", "model.layers=3"]


def test_command_in_turn(here, train):
    train()
    settings = [f"{key}={','.join(values)}" for key, values in GRID.items()]
    said = run("zinc12k", "--row", "gin", *settings, "--in-turn", "--epochs", "31")
    assert "7 of 7: " in said.stderr
    choice = Choices(here / "results").get("zinc12k", "gin")
    assert choice.how == "one setting after the other" and choice.epochs == 31
    assert choice.changes == ["training.lr=0.3", "model.hidden=16", "model.layers=3"]


def test_command_interrupted(here, train):
    train(stop_at=1)
    said = run("zinc12k", "--row", "gin", "training.lr=0.1,0.2", code=130).stderr
    assert "To go on:\n  elene search zinc12k --row gin training.lr=0.1,0.2" in said


def test_command_says_what_is_left_out(here, train):
    train(value=lambda values: 0.5)
    said = run("zinc12k", "--row", "gin-ak+", "model.elene={level='ed', k=3},{level='ed', k=1}").stderr
    assert "1 combination that the model cannot have left out." in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["zinc12k", "--row", "gin"], "the paper has no grid for gin: pass settings such as model.layers=2,3,4"),
        (["zinc12k", "--row", "gin", "--trials", "2", "--in-turn"], "--trials and --in-turn are two ways"),
        (["zinc12k"], "zinc12k has several models: choose a row of gin, "),
        (["zink", "--row", "gin"], "'zink' has no spec"),
        (["zinc12k", "--row", "gin", "training.lr=-1,-2"], "training.lr must be greater than 0"),
        (["zinc12k", "--row", "gin", "training.lr=1,1"], "training.lr must have different values"),
    ],
)
def test_command_complains(here, arguments, message):
    result = run(*arguments, code=2)
    assert message in " ".join(result.stderr.split())
    assert result.stdout == ""
