"""Blocks of a report, headings, paragraphs, grids and pictures; templates make Markdown or one page of HTML of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, select_autoescape

from elene.experiments.results.records import write_text


@dataclass(frozen=True)
class Heading:
    """A heading.

    >>> print(to_markdown([Heading(2, "Results")]))
    ## Results
    <BLANKLINE>
    """

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Some sentences.

    >>> "<p>Lower &lt; higher.</p>" in to_html("", [Paragraph("Lower < higher.")])
    True
    """

    text: str


@dataclass(frozen=True)
class Cell:
    """A cell of a grid.

    Args:
        text: what it says.
        note: what it says beside, in small print.
        kind: ``"better"``, ``"worse"``, ``"equal"``, ``"missing"`` or nothing: its colour.

    Example:
        >>> Cell("0.5", "paper 0.4", "worse").strong
        True
    """

    text: str
    note: str = ""
    kind: str = ""

    @property
    def strong(self) -> bool:
        """Whether it says how something compares."""
        return self.kind in ("better", "worse", "equal")


@dataclass(frozen=True)
class Grid:
    """A table with a header.

    >>> print(to_markdown([Grid(["model", "MAE"], [[Cell("GIN"), Cell("0.1", "paper 0.2", "better")]])]))
    | model | MAE |
    |---|---|
    | GIN | **0.1** (paper 0.2) |
    <BLANKLINE>
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    @classmethod
    def plain(cls, header: Sequence[str], rows: Iterable[Iterable[object]]) -> Grid:
        """A table whose cells are nothing but text."""
        return cls(header, [[Cell(str(one)) for one in row] for row in rows])


@dataclass(frozen=True)
class Picture:
    """A drawing; Markdown refers to its file, HTML contains it.

    Args:
        name: of the file, without ending.
        title: what it shows.
        svg: the drawing.

    Example:
        >>> print(to_markdown([Picture("curves", "Learning curves", "<svg/>")]))
        ![Learning curves](figures/curves.svg)
        <BLANKLINE>
    """

    name: str
    title: str
    svg: str


Block = Heading | Paragraph | Grid | Picture
_TEMPLATES = Environment(
    loader=PackageLoader("elene.experiments.report"),
    autoescape=select_autoescape(),
    trim_blocks=True,
    lstrip_blocks=True,
)


def to_markdown(blocks: Sequence[Block]) -> str:
    """All blocks as Markdown.

    >>> print(to_markdown([Heading(1, "Results"), Paragraph("None yet.")]))
    # Results
    <BLANKLINE>
    None yet.
    <BLANKLINE>
    """
    return _TEMPLATES.get_template("report.md").render(blocks=_with_kinds(blocks)).strip() + "\n"


def to_html(title: str, blocks: Sequence[Block]) -> str:
    """All blocks as one page, which asks nothing of the network.

    >>> "</h1>" in to_html("Results", [Heading(1, "Results")])
    True
    """
    return _TEMPLATES.get_template("report.html").render(title=title, blocks=_with_kinds(blocks)) + "\n"


def _with_kinds(blocks: Sequence[Block]) -> list[tuple[str, Block]]:
    return [(type(block).__name__, block) for block in blocks]


def write_markdown(folder: Path, blocks: Sequence[Block]) -> Path:
    """Write ``README.md`` and its ``figures`` to a folder, made if need be; gives the first.

    >>> import tempfile
    >>> write_markdown(Path(tempfile.mkdtemp()), [Heading(1, "Results")]).name
    'README.md'
    """
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    for block in blocks:
        if isinstance(block, Picture):
            write_text(folder / "figures" / f"{block.name}.svg", block.svg)
    return write_text(folder / "README.md", to_markdown(blocks))
