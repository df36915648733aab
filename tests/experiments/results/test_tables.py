"""Published numbers: what their files must hold, and some of them read off the paper again."""

from __future__ import annotations

import pytest

from elene.datasets.registry import find as find_dataset
from elene.experiments import config
from elene.experiments.results.tables import PUBLISHED, PublishedValue, find, read_tsv, tables

PAPER = [  # table, row, data set, value, deviation
    ("expressivity", "gin", "exp", 50, None),
    ("expressivity", "gin+elene-ed", "sr25", 100, None),
    ("counting", "gin+elene-nd", "counting.cycle4", 0.016, None),
    ("counting", "gin-ak", "counting.tailed_triangle", 0.075, None),
    ("properties", "gin+elene-nd", "graph-properties.connected_released", -2.620, None),
    ("properties", "gin", "graph-properties.radius", -4.823, None),
    ("proximity", "gin+elene-nd", "proximity-3", 98.3, 0.5),
    ("proximity", "gin+elene-nd", "proximity-5", 98.6, 0.5),
    ("proximity", "spnn-5", "proximity-10", 96.8, 0.6),
    ("benchmarks", "gin", "zinc12k", 0.155, 0.005),
    ("benchmarks", "gin+elene-nd", "zinc12k", 0.083, 0.004),
    ("benchmarks", "gin+elene", "molhiv", 78.92, 0.35),
    ("benchmarks", "gin+elene-nd", "pattern", 86.828, 0.002),
    ("benchmarks", "gin-ak+", "cifar10", 72.39, 0.38),
    ("benchmarks", "ngnn", "molpcba", 0.2832, 0.0041),
]


@pytest.mark.parametrize(("table", "row", "dataset", "value", "deviation"), PAPER)
def test_numbers_of_the_paper(table, row, dataset, value, deviation):
    figure = find(table).line(row).published[dataset]
    assert (figure.value, figure.deviation) == (value, deviation)


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_every_column_is_a_data_set_with_that_metric(table):
    header = read_tsv(f"{table.name}.tsv")[0]
    assert list(header) == ["row", "title", "source", *(column.dataset for column in table.columns)]
    for column in table.columns:
        name, _, target = column.dataset.partition(".")
        info = find_dataset(name)
        balanced = info.level == "node" and info.metric == "accuracy"
        assert column.metric == ("balanced_accuracy" if balanced else info.metric)
        assert not target or target in info.targets


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_every_named_row_can_be_run_on_some_data_set(table):
    runnable = {row for column in table.columns for row in config.rows_of_label(column.dataset)}
    assert set(table.rows) <= runnable
    assert len(set(table.rows)) == len(table.rows)


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_numbers_are_plausible_for_their_metric(table):
    for column in table.columns:
        for line in table.lines:
            figure = line.published.get(column.dataset)
            if figure is None:
                continue
            assert line.source in ("paper", "literature")
            low, high = (-10, 0) if column.metric == "log10_mse" else (0, 100 if column.percent else 1)
            assert low <= figure.value <= high


def test_runs_of_the_paper_have_a_spec_with_as_many_runs():
    runs = {"exp": 1, "sr25": 1, "counting.star": 2, "graph-properties.radius": 2, "proximity-3": 10, "zinc12k": 3}
    assert {label: config.load(label, "gin").runs for label in runs} == runs


def test_every_file_belongs_to_a_table():
    names = {file.name for file in PUBLISHED.iterdir()}
    assert names == {f"{table.name}.tsv" for table in tables()} | {"tables.toml", "brec.tsv", "cost.tsv"}


def test_totals_of_brec_add_up():
    for line in read_tsv("brec.tsv"):
        parts = (line[name] for name in ("basic60", "regular140", "extension100", "cfi100"))
        assert sum(map(int, parts)) == int(line["total400"])


@pytest.mark.parametrize(
    ("text", "value", "deviation", "digits"),
    [("50", 50, None, 0), ("6.67", 6.67, None, 2), ("-5.010", -5.01, None, 3), ("86.828±0.002", 86.828, 0.002, 3)],
)
def test_reading_a_number(text, value, deviation, digits):
    assert PublishedValue.read(text) == PublishedValue(value, deviation, digits)


def test_percentages_of_few_digits_do_not_hide_an_error():
    table = find("expressivity")
    assert table.digits(table.columns[0]) >= 1  # the paper prints 100%, and 99.9% must not look like it
