"""Reports: which runs are shown, how they compare with the paper, and pages that are whole and escaped."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from typer.testing import CliRunner

from elene.brec.encodings import METHODS
from elene.brec.standings import measure, standings
from elene.brec.tally import CATEGORIES
from elene.cli import app
from elene.datasets import BrecPair, rook, shrikhande
from elene.experiments import config
from elene.experiments.report.blocks import Cell, Grid, Paragraph, to_html, to_markdown
from elene.experiments.report.report import compose, write_report
from elene.experiments.results.choices import Choices
from elene.experiments.results.store import Store
from elene.experiments.results.summary import summarise
from made_up import choice, origin, result


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "results")


def entry(store, table, row, dataset):
    [(_, entries)] = [found for found in summarise(store) if found[0].name == table]
    [found] = [one for one in entries if (one.line.row, one.column.dataset) == (row, dataset)]
    return found


def zinc(test, seed=0, *, row="gin", changes=(), **others):
    title = "ZINC-12K, substitute train"
    return result("zinc12k", row, test, seed=seed, changes=changes, title=title, metric="mae", **others)


# Which runs are shown, and how they compare


def test_the_mean_and_deviation_of_all_runs(store):
    scores = [0.15, 0.16, 0.18]
    for seed, score in enumerate(scores):
        store.add(zinc(score, seed))
    found = entry(store, "benchmarks", "gin", "zinc12k")
    assert found.ours == f"{np.mean(scores):.3f} ± {np.std(scores, ddof=1):.3f}"
    assert (found.paper, found.difference, found.versus_paper) == ("0.155 ± 0.005", 0.008, "worse")
    assert found.epochs == "310"


@pytest.mark.parametrize(("score", "verdict"), [(0.1554, "equal"), (0.154, "better"), (0.156, "worse")])
def test_lower_errors_are_better(store, score, verdict):
    store.add(zinc(score))
    assert entry(store, "benchmarks", "gin", "zinc12k").versus_paper == verdict


@pytest.mark.parametrize(("score", "verdict"), [(0.5, "equal"), (0.51, "better"), (0.49, "worse")])
def test_higher_accuracies_are_better_and_are_percentages(store, score, verdict):
    store.add(result("exp", test=score))
    found = entry(store, "expressivity", "gin", "exp")
    assert found.versus_paper == verdict
    assert found.ours == f"{100 * score:.1f}"


def test_the_papers_settings_come_before_better_scores(store):
    store.add(zinc(0.5))
    store.add(zinc(0.1, changes=["training.epochs=1000"]))
    assert entry(store, "benchmarks", "gin", "zinc12k").ours == "0.500"


def test_otherwise_the_most_epochs_come_before_better_scores(store):
    store.add(zinc(0.5, changes=["training.epochs=20"]))
    for seed in range(3):
        store.add(zinc(0.1, seed, changes=["training.epochs=10"]))
    found = entry(store, "benchmarks", "gin", "zinc12k")
    assert (found.ours, found.epochs, found.changes) == ("0.500", "20 of 310", {})


NEWER, OTHER = origin("beef", committed="2026-02-01T00:00:00Z"), origin(data="f" * 64)


def test_a_cell_shows_the_newest_commit_alone_and_with_one_content_of_the_data(store):
    for seed in range(3):
        store.add(zinc(0.1, seed))
    store.add(zinc(0.2, 0, origin=OTHER))
    assert len(entry(store, "benchmarks", "gin", "zinc12k").results) == 3
    store.add(zinc(0.5, 0, origin=NEWER, changes=["training.epochs=20"]))
    assert entry(store, "benchmarks", "gin", "zinc12k").ours == "0.500"
    store.add(zinc(0.6, 0, origin=origin("beef", committed="2026-02-01T00:00:00Z", changes="feed")))
    assert entry(store, "benchmarks", "gin", "zinc12k").ours == "0.600"


def test_what_a_search_chose_comes_before_the_papers_settings(store, tmp_path):
    row, changes = "gin+elene-nd", ["model.elene.k=1", "model.elene.omega=16"]
    store.add(zinc(0.1, row=row))
    store.add(zinc(0.3, row=row, changes=[*changes, "training.epochs=20"]))
    store.add(zinc(0.4, row=row, changes=["model.elene.k=2", "model.elene.omega=16", "training.epochs=20"]))
    assert entry(store, "benchmarks", row, "zinc12k").choice is None
    chosen = dict(change.split("=") for change in changes)
    Choices(store.root).add(choice("zinc12k", row, chosen))
    found = entry(store, "benchmarks", row, "zinc12k")
    assert (found.ours, found.choice.chosen) == ("0.300", chosen)
    text = write_report(store, tmp_path / "out")[0].read_text()
    assert "**0.300** (paper 0.083 ± 0.004, 20 of 310 epochs, searched)" in text
    assert "ZINC-12K, GIN+ELENE-L (ND): elene.k 1, elene.omega 16 (all combinations, 1 tried, 5 epochs each)" in text
    store.add(zinc(0.5, row=row, origin=NEWER))
    assert entry(store, "benchmarks", row, "zinc12k").choice is None


def test_commits_data_and_short_budgets_are_named(store, tmp_path):
    store.add(zinc(0.5, 0, origin=NEWER, changes=["training.epochs=20"]))
    store.add(zinc(0.4, 0, row="gin+elene"))
    text = write_report(store, tmp_path / "out")[0].read_text()
    assert "**0.500** (paper 0.155 ± 0.005, 20 of 310 epochs)" in text
    assert "**0.400** (paper 0.092 ± 0.001)" in text
    assert "| beef | 2026-02-01T00:00:00Z | 1 |" in text and "| c0ffee | 2026-01-01T00:00:00Z | 1 |" in text
    assert "| ZINC-12K, substitute train | da7ada7ada | 2 |" in text


def test_other_settings_than_the_papers_are_named(store):
    changes = ["training.lr=0.01", "model.elene=none", "model.hidden=64"]
    store.add(zinc(0.5, row="gin+elene-nd", changes=changes))
    found = entry(store, "benchmarks", "gin+elene-nd", "zinc12k").changes
    assert found == {"training.lr": 0.01, "model.elene": "none", "model.hidden": 64}


def test_what_was_not_run_is_missing_and_what_cannot_be_run_says_so(store):
    assert entry(store, "benchmarks", "gin", "zinc12k").versus_paper == "missing"
    assert entry(store, "benchmarks", "gin+igel", "cifar10").versus_paper == "no spec"


def test_rows_and_data_sets_outside_the_papers_tables_are_shown(store):
    store.add(zinc(0.2, row="gin+elene-ed"))
    store.add(result("rook-shrikhande", "gin+elene-ed", 1.0))
    assert entry(store, "benchmarks", "gin+elene-ed", "zinc12k").versus_paper == "new"
    assert entry(store, "other", "gin+elene-ed", "rook-shrikhande").ours == "100.0"


def test_a_pipeline_has_no_epochs(store):
    store.add(result(spec=config.load("tu-mutag", "logistic"), test=0.875, curve={}))
    found = entry(store, "tu", "logistic", "tu-mutag")
    assert (found.ours, found.epochs, found.seconds_per_epoch, found.changes) == ("87.5", "", None, {})
    said = [block.text for block in compose(store) if isinstance(block, Paragraph) and "pochs: " in block.text]
    assert "No epochs: nothing was trained step by step." in said
    store.add(result("tu-nci1", "gin", 0.7))
    assert "Epochs: 100." in [block.text for block in compose(store) if isinstance(block, Paragraph)]


# The pages


@pytest.fixture
def filled(store):
    for row, score in (("gin", 1 / 15), ("gin+elene-ed", 1.0)):
        store.add(result("sr25", row, score, relabelled=score, changes=["training.epochs=20"]))
    store.add(zinc(0.2))
    store.add(zinc(0.1, row="gin+elene-nd"))
    odd = config.check({**config.load("sr25", "gin").model_dump(), "row": "<b>|odd"})
    store.add(result(spec=odd))
    models = [("gin", 0), ("gin-ak+", 1), ("gin+elene-ed", 1)]
    points = [
        {"sweep": sweep, "model": model, "nodes": n, "degree": n // 50, "k": k, "peak": 1e4 * n if n < 1500 else None}
        for sweep in ("nodes", "degree", "m")
        for model, k in models
        for n in (100, 1000, 2000)
    ]
    (store.root / "scaling.json").write_text(json.dumps({"scaling": points}))
    return store


def test_markdown_says_it_plainly(filled, tmp_path):
    markdown, _ = write_report(filled, tmp_path / "out")
    text = markdown.read_text()
    assert "| GIN-AK+ | missing (paper 100) | missing (paper 6.67) |" in text
    assert "| SUN † | - (paper 0.008) |" in text
    assert "| SR25 | GIN | 6.67 | 6.67 | **equal** | 6.67 | 1 | 20 of 305 |" in text
    assert "| ZINC-12K, substitute train | GIN | 0.155 ± 0.005 | 0.200 | **+0.045 worse** |" in text
    assert "No runs yet." in text
    assert "| GIN+ELENE-L (ED) | 1 | 1,000 | 20 | 10 |" in text
    for name in re.findall(r"\(figures/(.*?\.svg)\)", text):
        assert (tmp_path / "out" / "figures" / name).is_file()


class Page(HTMLParser):
    """Whether all that is opened is closed, and what a page would ask of the network."""

    def __init__(self, text):
        super().__init__()
        self.open, self.asked, self.tables = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tables += tag == "table"
        self.asked += [value for key, value in attrs if key in ("src", "href", "xlink:href") and value[0] != "#"]
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_is_whole_and_asks_nothing_of_the_network(filled, tmp_path):
    _, html = write_report(filled, tmp_path / "out")
    text = html.read_text()
    page = Page(text)
    assert page.open == []
    assert page.asked == []
    assert page.tables > 6
    assert "@import" not in text
    assert "&lt;B&gt;|ODD" in text
    assert "&lt;abacus&gt;" in text
    assert "<B>" not in text


def test_figures_are_drawings_and_the_same_each_time(filled):
    first, second = ({block.name: block.svg for block in compose(filled) if hasattr(block, "svg")} for _ in range(2))
    assert first == second
    assert {
        "expressivity-curves",
        "expressivity-costs",
        "benchmarks-curves",
        "memory-nodes",
        "memory-degree",
        "memory-m",
    } <= set(first)
    for svg in first.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert len(svg) < 100_000


def test_a_report_of_nothing(tmp_path):
    markdown, html = write_report(Store(tmp_path / "nothing"), tmp_path / "out")
    assert markdown.read_text().count("No runs yet.") == 6
    assert "missing" in html.read_text()


def test_a_cell_cannot_break_out_of_its_table():
    grid = Grid(["a"], [[Cell("x | y", "<i>", "worse")]])
    assert to_markdown([grid]).splitlines()[-1] == "| **x \\| y** (&lt;i>) |"
    assert '<td class="worse"><b>x | y</b><small>&lt;i&gt;</small></td>' in to_html("", [grid])
    assert "<script>" not in to_html("<script>", [Paragraph("<script>")])


def test_the_command(filled):
    found = CliRunner().invoke(app, ["report", "--results", str(filled.root)])
    assert found.exit_code == 0, found.output
    assert (filled.root / "README.md").is_file()
    assert (filled.root / "report.html").is_file()


def test_the_command_without_results(tmp_path):
    found = CliRunner().invoke(app, ["report", "--results", str(tmp_path / "nothing")])
    assert found.exit_code == 2
    assert "elene train and elene reproduce make one" in " ".join(found.stderr.split())


# BREC


def test_counts_are_kept_and_stand_beside_the_published_ones(tmp_path):
    pairs = [BrecPair(110, "Regular", "strongly_regular", rook(), shrikhande())]
    assert [tally.method for tally in measure(pairs, tmp_path, METHODS[2:4])] == ["ND, k=2 + 1-WL", "ED, k=1 + 1-WL"]
    assert list(measure(pairs, tmp_path, METHODS[2:4])) == []
    found = standings(tmp_path)
    assert [one.method for one in found[:2]] == ["I2-GNN", "KP-GNN"]
    assert [(one.method, one.total) for one in found[-2:]] == [("ED, k=1 + 1-WL", 1), ("ND, k=2 + 1-WL", 0)]
    whole = [one.total for one in found if dict(one.tried) == CATEGORIES]
    assert whole == sorted(whole, reverse=True)


def test_a_damaged_file_of_counts_is_named(tmp_path):
    (tmp_path / "brec").mkdir()
    (tmp_path / "brec" / "encodings.json").write_text("{")
    with pytest.raises(ValueError, match=r"encodings\.json is no list of counts of this version"):
        standings(tmp_path)
