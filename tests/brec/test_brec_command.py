"""``elene brec``: encodings with nothing learned and models that are trained, in one table."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest

pytest.importorskip("pydantic")
pytest.importorskip("torch")

from brec_pairs import SMALL, ByPlace, cycles, result_of
from typer.testing import CliRunner

from elene.brec import ledger as ledgers
from elene.brec import rpc
from elene.cli import app
from elene.cli.common import console
from elene.datasets import rook, shrikhande


def graph6(graph):
    return nx.to_graph6_bytes(graph, header=False).decode().strip()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(console, "width", 120)  # it was made before this test, for whatever there was then
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
    return [line[3:-2] for line in lines if line[2] == kind]


def test_command(here, monkeypatch):
    arguments = ("--row", "gin+elene-nd", *SMALL, "--file", "brec_pairs.tsv")
    first = run(*arguments, "--pairs", "basic_ones")
    assert cells(first, "trained") == [["2/2", "", "", "", "2/2"]]
    assert ["60", "106", "98", "11", "275"] in cells(first, "published")
    assert "GIN+ELENE-L (ND) tells 2 of 2 pairs apart" in first.stdout
    assert "reliable" not in first.stdout
    monkeypatch.setenv("ELENE_DATA", str(here))
    second = run(*arguments[:-2])
    assert cells(second, "trained") == [["2/2", "1/1", "", "", "3/3"]]


def test_command_says_what_is_not_reliable(here, monkeypatch):
    monkeypatch.setattr(rpc, "build", lambda *_: ByPlace())
    said = run("--row", "gin", "--file", "brec_pairs.tsv", "--pairs", "0-2").stdout
    assert "GIN tells 0 of 2 pairs apart" in said
    assert "Not reliable: on 2 pairs copies of one graph differ" in said


def test_command_interrupted(here, monkeypatch):
    def interrupted(pair, spec, seed):
        if pair.index == 2:
            raise KeyboardInterrupt
        return result_of(pair)

    monkeypatch.setattr(ledgers, "run_pair", interrupted)
    said = run("--row", "gin", "--file", "brec_pairs.tsv", code=130).stderr
    assert "Interrupted; what was done is kept.\nTo go on:\n  elene brec --row gin --file brec_pairs.tsv" in said


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


def as_line(index, category, a, b):
    graphs = (graph if isinstance(graph, nx.Graph) else nx.Graph(graph.edges.tolist()) for graph in (a, b))
    return "\t".join([str(index), category, category.lower(), *map(graph6, graphs)])


def test_encodings_are_counted_with_nothing_learned(here):
    lines = [as_line(0, "Basic", nx.complete_graph(3), nx.path_graph(3)), as_line(1, "Regular", rook(), shrikhande())]
    Path("two.tsv").write_text("\n".join(["pair\tcategory4\tsubcategory\tg6_a\tg6_b", *lines]) + "\n")
    first = run("--file", "two.tsv")
    found = {line.split("│")[1].strip(): line.split("│") for line in first.stdout.splitlines() if "learned" in line}
    told = {name: [cell.strip() for cell in (line[3], line[4], line[7])] for name, line in found.items()}
    assert told["1-WL"] == told["2-FWL"] == ["1/1", "0/1", "1/2"]
    assert told["ED, k=1 + 1-WL"] == told["PD, k=1..4 + 2-FWL"] == ["1/1", "1/1", "2/2"]
    assert ["60", "106", "98", "11", "275"] in cells(first, "published")
    assert "nothing to do" in run("--file", "two.tsv").stderr
    assert "nothing to do" not in run("--file", "brec_pairs.tsv").stderr  # other pairs: counted anew
    some = run("--file", "two.tsv", "--pairs", "regular", "--results", "elsewhere")
    assert cells(some, "nothing learned")[0] == ["", "1/1", "", "", "1/1"]
    assert not Path("elsewhere").exists() and cells(some, "published") == []
