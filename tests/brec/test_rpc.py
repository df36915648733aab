"""RPC: the statistic against slow twins, verdicts against fingerprints, and files that outlive an interruption."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from elene.datasets import BrecPair, read_brec, rook, shrikhande
from elene.encoding.fingerprints import fingerprint
from elene.graph import Graph
from graphs import relabelled

pytest.importorskip("pydantic")
pytest.importorskip("torch")

import torch
from typer.testing import CliRunner

from elene.brec import ledger as ledgers
from elene.brec import rpc
from elene.brec.ledger import Ledger, judge, tallies
from elene.brec.rpc import Verdict, compare_pair, hotelling, threshold
from elene.cli import app
from elene.experiments import config
from made_up import ORIGIN, origin

REAL = Path(os.environ.get("ELENE_DATA", "")) / "brec_pairs.tsv"
SMALL = ["model.hidden=16", "model.layers=2"]

cycles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))


def pair_of(a, b, index=0, category="Basic"):
    graphs = (graph if isinstance(graph, Graph) else Graph.from_networkx(graph) for graph in (a, b))
    return BrecPair(index, category, category.lower(), *graphs)


def small(row, *changes):
    return config.load("brec", row, [*SMALL, *changes])


# The statistic


def test_threshold_is_what_brec_publishes():
    assert threshold() == pytest.approx(72.34, abs=0.005)


def test_false_alarms_are_as_rare_as_the_level_says():
    random = np.random.default_rng(0)
    spread = random.normal(size=(3, 3))
    alarms = [
        hotelling(random.normal(size=(10, 3)) @ spread, np.zeros((10, 3))) > threshold(10, 3, 0.9) for _ in range(2000)
    ]
    assert 0.08 < np.mean(alarms) < 0.12


def naive_t2(a, b):
    """The textbook's statistic, one number at a time."""
    copies, dim = a.shape
    mean = [sum(a[i, j] - b[i, j] for i in range(copies)) / copies for j in range(dim)]
    covariance = np.zeros((dim, dim))
    for i, j, k in product(range(copies), range(dim), range(dim)):
        covariance[j, k] += (a[i, j] - b[i, j] - mean[j]) * (a[i, k] - b[i, k] - mean[k]) / (copies - 1)
    inverse = np.linalg.inv(covariance)
    return copies * sum(mean[j] * inverse[j, k] * mean[k] for j, k in product(range(dim), range(dim)))


@pytest.mark.parametrize("shift", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_t2_is_the_textbooks(shift, size):
    a, b = np.random.default_rng(1).normal(size=(2, 32, 16)) * size
    assert hotelling(a + shift * size, b) == pytest.approx(naive_t2(a + shift * size, b), rel=1e-6)


def test_constants_differ_or_do_not_by_more_than_rounding():
    a = np.tile(np.random.default_rng(2).normal(size=16), (32, 1))
    rounding = np.random.default_rng(3).normal(size=(32, 16)) * 1e-14
    assert hotelling(a, a) == 0
    assert hotelling(a, a + rounding) < 1e-6
    assert hotelling(a, a + 1e-14) < 1e-6
    assert hotelling(a, a + 1e-3) > 1e6
    assert hotelling(a, a + 1e-3 + rounding) > 1e6
    assert hotelling(0 * a, 0 * a) == 0


@pytest.mark.parametrize("rank", range(1, 16))
def test_a_difference_where_nothing_varies_is_seen(rank):
    """The covariance is singular: a pseudo-inverse would look only in the directions in which nothing differs."""
    random = np.random.default_rng(rank)
    a, b = random.normal(size=(2, 32, rank)) @ random.normal(size=(rank, 16))
    assert 0 <= hotelling(a, b) < threshold()
    assert hotelling(a, b + 1e-3 * random.normal(size=16)) > 1e6


# Verdicts


@pytest.mark.parametrize(
    ("row", "k", "level"), [("gin", 0, "node"), ("gin+elene-nd", 2, "node"), ("gin+elene-ed", 1, "edge")]
)
def test_verdicts_are_those_of_refined_fingerprints(row, k, level):
    pairs = [pair_of(*cycles), pair_of(rook(), shrikhande()), pair_of(nx.path_graph(5), nx.star_graph(4))]
    for pair in pairs:
        a, b = (fingerprint(graph, k, level, "wl") for graph in (pair.a, pair.b))
        verdict = compare_pair(pair, small(row))
        assert verdict.reliable
        assert verdict.distinguished == (a != b), (pair, verdict)


@pytest.mark.parametrize("row", config.rows("brec"))
def test_no_model_tells_a_graph_from_its_copy(row):
    graph = nx.gnp_random_graph(10, 0.4, seed=5)
    verdict = compare_pair(pair_of(graph, relabelled(graph, seed=6)[0]), small(row, "training.epochs=5"))
    assert (verdict.distinguished, verdict.reliable, verdict.epochs) == (False, True, 5)
    assert max(verdict.t2, verdict.t2_self) < 1e-3


def test_every_model_tells_a_path_from_a_star():
    pair = pair_of(nx.path_graph(5), nx.star_graph(4))
    for row in config.rows("brec"):
        assert compare_pair(pair, small(row)).distinguished, row


def test_a_seed_decides_everything():
    def told(seed):
        return compare_pair(pair_of(*cycles), small("gin+elene-nd"), seed).model_copy(update={"seconds": 0})

    torch.manual_seed(0)
    first = told(0)
    torch.manual_seed(1)
    assert told(0) == first != told(1)


def test_copies_are_copies_in_turn_and_no_two_steps_see_the_same():
    trial = rpc._Trial(pair_of(*cycles), small("gin"), seed=0)
    seen = {purpose: trial._copies((trial.pair.a, trial.pair.b), purpose) for purpose in ("train", "test")}
    for copies in seen.values():
        assert len(copies) == 2 * rpc.COPIES
        for i, data in enumerate(copies):
            graph = nx.empty_graph(data.num_nodes)
            graph.add_edges_from(data.edge_index.T.tolist())
            assert nx.is_isomorphic(graph, cycles[i % 2])
    orders = {tuple(data.edge_index.flatten().tolist()) for copies in seen.values() for data in copies}
    assert len(orders) > 3 * rpc.COPIES


@pytest.mark.parametrize("batch_size", [1, 7, 64, 1000])
def test_steps_hold_whole_pairs(batch_size):
    trial = rpc._Trial(pair_of(*cycles), small("gin", f"training.batch_size={batch_size}"), seed=0)
    graphs = [len(step.batch.ptr) - 1 for step in trial.steps]
    assert sum(graphs) == 2 * rpc.COPIES
    assert all(count % 2 == 0 and count <= max(batch_size, 2) for count in graphs)


class ByPlace(torch.nn.Module):
    """Tells graphs apart by whether their place in the batch is even."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def forward(self, batch):
        places = torch.arange(len(batch.ptr) - 1, dtype=self.weight.dtype)
        return self.weight * (1 + places % 2)[:, None] * torch.eye(16, dtype=self.weight.dtype)[0]


class ByHeart(ByPlace):
    """Knows the graphs it was trained on by their arcs, and no others."""

    def __init__(self):
        super().__init__()
        self.known = {}

    def forward(self, batch):
        graph = batch.batch[batch.edge_index[0]]
        arcs = [tuple((batch.edge_index[:, graph == i] - batch.ptr[i]).flatten().tolist()) for i in graph.unique()]
        if self.training:
            self.known |= {numbering: place % 2 for place, numbering in enumerate(arcs)}
        return self.weight * torch.eye(16, dtype=self.weight.dtype)[[self.known.get(each, 2) for each in arcs]]


def test_a_model_that_tells_copies_apart_is_not_reliable(monkeypatch):
    monkeypatch.setattr(rpc, "build", lambda *_: ByPlace())
    verdict = compare_pair(pair_of(*cycles), small("gin"))
    assert verdict.t2 > threshold()
    assert (verdict.distinguished, verdict.reliable) == (False, False)


def test_numberings_learned_by_heart_do_not_count(monkeypatch):
    monkeypatch.setattr(rpc, "build", lambda *_: ByHeart())
    verdict = compare_pair(pair_of(*cycles), small("gin"))
    assert (verdict.loss, verdict.distinguished, verdict.reliable) == (0, False, True)


def test_bad_training_settings():
    with pytest.raises(ValueError, match=r"training\.patience is about validation graphs"):
        compare_pair(pair_of(*cycles), small("gin", "training.patience=3"))
    with pytest.raises(ValueError, match=r"training went astray at pair 7: take a lower training\.lr"):
        compare_pair(pair_of(nx.path_graph(5), nx.star_graph(4), 7), small("gin", "training.lr=1e36"))


@pytest.mark.skipif(not REAL.is_file(), reason="ELENE_DATA does not name a folder with brec_pairs.tsv")
def test_on_some_pairs_of_brec():
    pairs = read_brec(REAL)
    for index in (0, 60, 110, 111, 160, 380):
        a, b = (fingerprint(graph, 1, "edge", "wl") for graph in (pairs[index].a, pairs[index].b))
        assert compare_pair(pairs[index], small("gin+elene-ed")).distinguished == (a != b), index


# Ledgers


def verdict_of(pair, distinguished=True, reliable=True):
    numbers = {"t2": 100.0, "t2_self": 0.5, "loss": 0.1, "epochs": 3, "seconds": 1.5}
    about = {"pair": pair.index, "category": pair.category, "subcategory": pair.subcategory}
    return Verdict(**about, distinguished=distinguished, reliable=reliable, **numbers)


@pytest.fixture
def six(monkeypatch):
    """Six pairs; those with odd numbers are told apart, by what takes no time."""
    monkeypatch.setattr(ledgers, "compare_pair", lambda pair, spec, seed: verdict_of(pair, pair.index % 2 == 1))
    return [pair_of(*cycles, index, "Basic" if index < 4 else "CFI") for index in range(6)]


def test_judging_goes_on_where_it_stopped(tmp_path, six, monkeypatch):
    def interrupted(pair, spec, seed):
        if pair.index == 3:
            raise KeyboardInterrupt
        return verdict_of(pair)

    with monkeypatch.context() as patch:
        patch.setattr(ledgers, "compare_pair", interrupted)
        with pytest.raises(KeyboardInterrupt):
            list(judge(Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0), six))
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)
    assert [verdict.pair for verdict in judge(ledger, six)] == [3, 4, 5]
    assert sorted(Ledger.read(ledger.path).verdicts) == list(range(6))
    assert [path.name for path in ledger.path.parent.iterdir()] == [ledger.path.name]


def test_a_ledger_is_read_as_it_was_written(tmp_path, six):
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=3)
    list(judge(ledger, six[::-1]))
    again = Ledger.read(ledger.path)
    assert again.setting == ledger.setting
    assert again.verdicts == ledger.verdicts
    assert again.setting.spec == small("gin")
    assert list(again.verdicts) == list(range(6))


def test_other_settings_and_seeds_have_other_ledgers(tmp_path):
    gin, other = small("gin"), small("gin", "training.epochs=3")
    wanted = [(gin, ORIGIN, 0), (gin, ORIGIN, 1), (other, ORIGIN, 0), (small("ngnn"), ORIGIN, 0)]
    wanted += [(gin, origin("beef"), 0), (gin, origin(data="f" * 64), 0)]
    assert len({Ledger.open(tmp_path, *each).path for each in wanted}) == 6


@pytest.mark.parametrize("damage", ["", "{}\n", "not JSON\n", "SETTING\n{\n", 'SETTING\n{"pair": 1}\n'])
def test_a_damaged_ledger_is_named(tmp_path, six, damage):
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)
    list(judge(ledger, six))
    ledger.path.write_text(damage.replace("SETTING", ledger.path.read_text().splitlines()[0]))
    with pytest.raises(ValueError, match=r"-seed0\.jsonl has no verdicts of this version: .*; delete it"):
        Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)


def test_tallies(tmp_path, six):
    ledger = Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0)
    list(judge(ledger, six))
    [tally] = tallies(tmp_path)
    assert (tally.name, tally.told_apart, tally.tried) == ("gin", {"Basic": 2, "CFI": 1}, {"Basic": 4, "CFI": 2})
    assert (tally.total, tally.of, tally.unreliable, tally.seconds) == (3, 6, 0, 9.0)
    ledger.add(verdict_of(six[1], distinguished=False, reliable=False))
    list(judge(Ledger.open(tmp_path, small("gin"), ORIGIN, seed=1), six[4:]))
    first, second = tallies(tmp_path)
    assert (first.told_apart["Basic"], first.unreliable) == (1, 1)
    assert second.tried == {"CFI": 2}
    assert {first.name.rpartition("-")[2], second.name.rpartition("-")[2]} == {"seed0", "seed1"}


def test_verdicts_of_older_code_do_not_count(tmp_path, six):
    newer = origin("beef", committed="2026-02-01T00:00:00Z")
    list(judge(Ledger.open(tmp_path, small("gin"), newer, seed=0), six[:2]))
    list(judge(Ledger.open(tmp_path, small("gin"), ORIGIN, seed=0), six))
    [tally] = tallies(tmp_path)
    assert (tally.name, tally.of) == ("gin", 2)


# The command


def graph6(graph):
    return nx.to_graph6_bytes(graph, header=False).decode().strip()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("ELENE_DATA", raising=False)
    lines = ["pair\tcategory4\tsubcategory\tg6_a\tg6_b"]
    for index, category in enumerate(("Basic", "Basic", "Regular")):
        lines.append(f"{index}\t{category}\t{category.lower()}_ones\t{graph6(cycles[0])}\t{graph6(cycles[1])}")
    Path("brec_pairs.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["brec", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def cells(result, kind):
    lines = [[cell.strip() for cell in line.split("│")] for line in result.stdout.splitlines() if "│" in line]
    return [line[3:-1] for line in lines if line[2] == kind]


def test_command(here, monkeypatch):
    arguments = ("--row", "gin+elene-nd", *SMALL, "--file", "brec_pairs.tsv")
    first = run(*arguments, "--pairs", "basic_ones")
    assert cells(first, "trained") == [["2/2", "", "", "", "2/2"]]
    assert ["60", "106", "98", "11", "275"] in cells(first, "published")
    assert "gin+elene-nd tells 2 of 2 pairs apart" in first.stdout
    assert "reliable" not in first.stdout
    monkeypatch.setenv("ELENE_DATA", str(here))
    second = run(*arguments[:-2])
    assert cells(second, "trained") == [["2/2", "1/1", "", "", "3/3"]]


def test_command_says_what_is_not_reliable(here, monkeypatch):
    monkeypatch.setattr(rpc, "build", lambda *_: ByPlace())
    said = run("--row", "gin", "--file", "brec_pairs.tsv", "--pairs", "0-2").stdout
    assert "gin tells 0 of 2 pairs apart" in said
    assert "Not reliable: on 2 pairs copies of one graph differ" in said


def test_command_interrupted(here, monkeypatch):
    def interrupted(pair, spec, seed):
        if pair.index == 2:
            raise KeyboardInterrupt
        return verdict_of(pair)

    monkeypatch.setattr(ledgers, "compare_pair", interrupted)
    said = run("--row", "gin", "--file", "brec_pairs.tsv", code=130).stderr
    assert "2 verdicts kept. To go on:\n  elene brec --row gin --file brec_pairs.tsv" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--row", "gin"], "pass --file FILE, or let ELENE_DATA name a folder that holds brec_pairs.tsv"),
        (["--row", "gin", "--file", "nothing.tsv"], "nothing.tsv"),
        (["--row", "gim", "--file", "brec_pairs.tsv"], "row 'gim' is not in brec: choose from gin, "),
        (["--row", "gin", "model.layer=2", "--file", "brec_pairs.tsv"], "model.layer is not a setting"),
        (
            ["--row", "gin", "--pairs", "7-9", "--file", "brec_pairs.tsv"],
            "--pairs '7-9' names no pair: pass numbers such as 7 or 110-160, or one of Basic, basic_ones, Regular,",
        ),
        (["--row", "gin", "--pairs", "0,x", "--file", "brec_pairs.tsv"], "--pairs 'x' names no pair"),
        (["--row", "gin", "--pairs", "0-", "--file", "brec_pairs.tsv"], "--pairs '0-' names no pair"),
    ],
)
def test_command_complains(here, arguments, message):
    result = run(*arguments, code=2)
    assert message in " ".join(result.stderr.split())
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
