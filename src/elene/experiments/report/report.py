"""Report: every table with the published numbers, ours and the difference, as Markdown and as one page of HTML."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from elene.brec.standings import standings
from elene.brec.tally import CATEGORIES, Tally
from elene.experiments.report import cost
from elene.experiments.report.ablation import write_ablation
from elene.experiments.report.blocks import Block, Cell, Grid, Heading, Paragraph, Picture, to_html, write_markdown
from elene.experiments.results.origin import SHORT
from elene.experiments.results.records import write_text
from elene.experiments.results.store import Result, Store
from elene.experiments.results.summary import Entry, summarise
from elene.experiments.results.tables import Table, title_of
from elene.experiments.schedule.ablation import FOLDER as ABLATION
from elene.experiments.schedule.cost import FOLDER as COST

TITLE = "Results"
RULES = (
    "Ours is the metric on the test graphs at the best validation epoch, as the mean ± standard deviation of all runs. "
    "These differ in their seed or, where a data set has folds, in the fold. A run whose validation is perfect ends "
    "there, before its last epoch, for no later one could be chosen.",
    "Runs have the settings of the paper where nothing else is said. 20 of 300 epochs: the paper has 300. All runs of "
    "a cell were made by one commit, the newest that has any, with one content of the data. Of runs with several "
    "settings those are shown that a search chose on the validation graphs, marked as searched, or else the closest to "
    "the paper's, whatever their scores.",
    "Better and worse go by the printed digits. A dagger (†) marks what the paper quotes from others. A dash marks a "
    "model or data set that there is no spec for. Peak MB is what training added to the memory in use "
    "before it, at least: it may have used again what an earlier run of the same process had left. Seconds of an epoch "
    "are those of the run, beside whatever else the machine did: only what the table of cost measures side by side, in "
    "one run, can be compared.",
)
SCALING = "scaling.json"
SWEEPS = {
    "nodes": "the number of nodes, regular graphs",
    "degree": "the degree, regular graphs of 1000 nodes",
    "m": "m, Barabasi-Albert graphs of 1000 nodes",
}


def write_report(store: Store, out: str | os.PathLike[str]) -> tuple[Path, Path]:
    """Write ``README.md``, its ``figures`` and ``report.html``; gives the first and the last.

    Where the ablation was run, its page is written too.

    Args:
        store: where results are; ``scaling.json`` beside them, if it is there, is what ``benchmarks/scaling.py`` wrote.
        out: the folder to write to; it is made if need be.

    Example:
        >>> import tempfile
        >>> markdown, html = write_report(Store("nothing here"), tempfile.mkdtemp())
        >>> markdown.name, html.read_text()[:15]
        ('README.md', '<!doctype html>')
    """
    folder, blocks = Path(out), list(compose(store))
    if _has_ablation(store):
        write_ablation(store.root, folder)
    return write_markdown(folder, blocks), write_text(folder / "report.html", to_html(TITLE, blocks))


def compose(store: Store) -> Iterator[Block]:
    """All parts of a report.

    >>> next(compose(Store("nothing here")))
    Heading(level=1, text='Results')
    """
    yield Heading(1, TITLE)
    yield from map(Paragraph, RULES)
    every = summarise(store)
    for table, entries in every:
        yield from _section(table, entries)
    if _has_ablation(store):
        yield Paragraph("What one setting changed at a time makes of accuracy and speed: ablation/README.md.")
    yield from cost.compose(Store(store.root / COST))
    yield from _brec(store.root)
    yield from _memory(store.root / SCALING)
    yield from _origin([result for _, entries in every for entry in entries for result in entry.results])


def _has_ablation(store: Store) -> bool:
    return (store.root / ABLATION).is_dir()


def _section(table: Table, entries: Sequence[Entry]) -> Iterator[Block]:
    from elene.experiments.report.figures import draw_costs, draw_curves

    yield Heading(2, table.title)
    measures = _of_each({column.title: column.measure for column in table.columns}, ": ")
    yield Paragraph(f"{_sentence(table.source)} {_sentence(measures)}")
    yield from map(Paragraph, table.notes)
    done = [entry for column in table.columns for entry in entries if entry.column == column and entry.results]
    if chosen := [entry for entry in done if entry.choice is not None]:
        told = "; ".join(f"{entry.column.title}, {entry.line.title}: {entry.choice}" for entry in chosen)
        yield Paragraph(f"Searched: chosen on the validation graphs with a shorter schedule: {told}.")
    yield Paragraph(_epochs(done) if done else "No runs yet.")
    yield _overview(table, entries)
    if not done:
        return
    yield Heading(3, "Runs")
    yield _details(done)
    for what, draw in (("Learning curves (validation)", draw_curves), ("Test metric against cost", draw_costs)):
        name = f"{table.name}-{draw.__name__.removeprefix('draw_')}"
        svg = draw(name, done)
        if svg is not None:
            yield Heading(3, what)
            yield Picture(name, f"{table.title}: {what.lower()}", svg)


def _of_each(told: Mapping[str, str], between: str) -> str:
    """What is told of each data set; once, where it is the same of all."""
    if len(set(told.values())) == 1:
        return next(iter(told.values()))
    return "; ".join(f"{title}{between}{text}" for title, text in told.items())


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _epochs(done: Sequence[Entry]) -> str:
    """How long the models of each data set were trained."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for entry in done:
        if entry.epochs:
            found[entry.column.title][entry.epochs] = None
    if not found:
        return "No epochs: nothing was trained step by step."
    return f"Epochs: {_of_each({title: ', '.join(told) for title, told in found.items()}, ' ')}."


def _overview(table: Table, entries: Sequence[Entry]) -> Grid:
    """In the shape of the paper's table."""
    across = len(table.columns)
    lines = [entries[i : i + across] for i in range(0, len(entries), across)]
    rows = [[Cell(_title(line[0])), *map(_cell, line)] for line in lines]
    return Grid(["Model", *(column.title for column in table.columns)], rows)


def _title(entry: Entry) -> str:
    return f"{entry.line.title} †" if entry.line.source == "literature" else entry.line.title


def _cell(entry: Entry) -> Cell:
    paper = f"paper {entry.paper}" if entry.paper else ""
    if entry.results:
        budget = f"{entry.epochs} epochs" if entry.shortened else ""
        note = ", ".join(filter(None, (paper, budget, "searched" if entry.choice else "")))
        return Cell(entry.ours, note, "equal" if entry.versus_paper == "new" else entry.versus_paper)
    return Cell("missing" if entry.versus_paper == "missing" else "-", paper, "missing")


def _details(entries: Sequence[Entry]) -> Grid:
    """All that there is to say about each model and data set that was run; columns without content are left out."""
    told = [_detail(entry) for entry in entries]
    titles = [title for title in told[0] if any(line[title].text for line in told)]
    return Grid(titles, [[line[title] for title in titles] for line in told])


def _detail(entry: Entry) -> dict[str, Cell]:
    results, seconds = entry.results, entry.seconds_per_epoch
    memory = max(result.cost.peak_memory - result.cost.base_memory for result in results)
    return {
        "Data set": Cell(_data(entry)),
        "Model": Cell(entry.line.title),
        "Paper": Cell(entry.paper),
        "Ours": Cell(entry.ours),
        "Difference": Cell(_difference(entry), kind=entry.versus_paper),
        "Relabelled": Cell(entry.relabelled),
        "Runs": Cell(str(len(results))),
        "Epochs": Cell(entry.epochs),
        "s/epoch": Cell("" if seconds is None else f"{seconds:.3g}"),
        "Peak MB": Cell(f"{memory:.0f}"),
        "Parameters": Cell(f"{results[0].cost.parameters:,}"),
        "Commit": Cell(results[0].origin.code.name),
        "Data": Cell(results[0].origin.data[:SHORT]),
        "Other settings": Cell(", ".join(f"{key}={value}" for key, value in entry.changes.items())),
    }


def _difference(entry: Entry) -> str:
    if not entry.difference:
        return "" if entry.difference is None else "equal"
    return f"{entry.difference:+.{entry.digits}f} {entry.versus_paper}"


def _data(entry: Entry) -> str:
    """The heading of the data set, and what is special about the data that was used."""
    variants = {result.title.partition(", ")[2] for result in entry.results} - {""}
    return ", ".join([entry.column.title, *sorted(variants)])


def _brec(results: Path) -> Iterator[Block]:
    yield Heading(2, "BREC")
    yield Paragraph(
        "Pairs of graphs told apart. Trained models follow BREC's RPC protocol: copies of one graph must not be told "
        "apart. Where nothing is learned, the encodings of two graphs differ, or do so after refinement by 1-WL or "
        "2-FWL. Published counts are those of Wang and Zhang (2024), Table 2."
    )
    header = ["Method", "", *(f"{name} {count}" for name, count in CATEGORIES.items()), "All 400"]
    yield Grid(header, [_standing(tally) for tally in standings(results)])


def _standing(tally: Tally) -> list[Cell]:
    kind = "" if tally.kind == "published" else "equal"
    return [Cell(tally.method, kind=kind), Cell(tally.kind), *map(Cell, tally.cells())]


def _origin(results: Sequence[Result]) -> Iterator[Block]:
    """Where and when all this was computed; the files of the store say it for each run."""
    if not results:
        return
    machines = Counter(_machine(result) for result in results)
    dates = sorted(result.date for result in results)
    yield Heading(2, "Where it ran")
    yield Paragraph(
        f"{len(results)} runs from {dates[0]} to {dates[-1]}. The files in the folder runs say for each of them "
        "its spec, seed, versions, machine and data."
    )
    yield Grid.plain(["Machine", "Runs"], machines.most_common())
    codes = Counter(result.origin.code for result in results)
    yield Paragraph("Code, with a plus and a hash of the changes where there were some that were not committed:")
    by_age = sorted(codes, key=lambda code: code.age)
    yield Grid.plain(["Commit", "Made", "Runs"], [(code.name, code.committed, codes[code]) for code in by_age])
    contents = Counter((result.title, result.origin.data[:SHORT]) for result in results)
    yield Paragraph("Data, by the first digits of the SHA-256 of its content:")
    yield Grid.plain(["Data set", "Content", "Runs"], [(*content, contents[content]) for content in sorted(contents)])


def _machine(result: Result) -> str:
    return ", ".join(f"{key} {value}" for key, value in result.machine.items() if value != "none")


def _memory(path: Path) -> Iterator[Block]:
    if not path.is_file():
        return
    from elene.experiments.report.figures import draw_memory

    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["scaling"]
    known = [row for row in rows if row["peak"] is not None]
    yield Heading(2, "Memory against the size and the density of the graph")
    yield Paragraph(
        "The paper shows this in figures without numbers; its largest graph has 31,623 nodes. One layer, hidden size "
        "128, training on one graph; memory above that before training. A curve ends where memory (6 GB) or time did "
        "not suffice."
    )
    told = (
        (title_of(row["model"]), *(f"{row[key]:,}" for key in ("k", "nodes", "degree")), f"{row['peak'] / 1e6:,.0f}")
        for row in _largest(known)
    )
    yield Grid.plain(["Largest graph, by nodes", "k", "Nodes", "Degree", "MB"], told)
    for sweep, what in SWEEPS.items():
        if any(row["sweep"] == sweep for row in known):
            yield Picture(f"memory-{sweep}", f"Memory against {what}", draw_memory(f"memory-{sweep}", rows, sweep))


def _largest(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The largest graph that each model was trained on at each depth."""
    found: dict[tuple[str, int], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["nodes"], row["degree"])):
        if row["sweep"] == "nodes":
            found[row["model"], row["k"]] = row
    return list(found.values())
