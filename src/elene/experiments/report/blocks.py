"""Document: headings, paragraphs, grids and pictures, written as Markdown or as one self-contained page of HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 1160px; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2, h3 { line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #ddd; padding-bottom: .3rem; }
p { max-width: 48rem; }
.grid { overflow-x: auto; } table { border-collapse: collapse; margin: 1rem 0; font-size: .875rem; }
th, td { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid #e5e5e5; vertical-align: top; }
th { border-bottom: 2px solid #999; }
td { font-variant-numeric: tabular-nums; white-space: nowrap; } tr:hover td { background: #f6f8fa; }
td:last-child { white-space: normal; overflow-wrap: anywhere; }
td small { display: block; color: #666; white-space: nowrap; }
.better b { color: #00664b; } .worse b { color: #b03a00; } .missing { color: #999; }
.picture svg { max-width: 100%; height: auto; }
"""


@dataclass(frozen=True)
class Heading:
    """A heading.

    >>> Heading(2, "Results").markdown()
    '## Results'
    """

    level: int
    text: str

    def markdown(self) -> str:
        """As Markdown."""
        return f"{'#' * self.level} {self.text}"

    def html(self) -> str:
        """As HTML."""
        return f"<h{self.level}>{escape(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Paragraph:
    """Some sentences.

    >>> Paragraph("Lower < higher.").html()
    '<p>Lower &lt; higher.</p>'
    """

    text: str

    def markdown(self) -> str:
        """As Markdown."""
        return self.text

    def html(self) -> str:
        """As HTML."""
        return f"<p>{escape(self.text)}</p>"


@dataclass(frozen=True)
class Cell:
    """A cell of a grid.

    Args:
        text: what it says.
        note: what it says beside, in small print.
        kind: ``"better"``, ``"worse"``, ``"equal"``, ``"missing"`` or nothing: its colour.

    Example:
        >>> Cell("0.5", "paper 0.4", "worse").markdown()
        '**0.5** (paper 0.4)'
    """

    text: str
    note: str = ""
    kind: str = ""

    def markdown(self) -> str:
        """As Markdown."""
        strong = f"**{self.text}**" if self.kind in ("better", "worse", "equal") else self.text
        return (f"{strong} ({self.note})" if self.note else strong).replace("|", "\\|").replace("<", "&lt;")

    def html(self) -> str:
        """As HTML."""
        strong = f"<b>{escape(self.text)}</b>" if self.kind in ("better", "worse", "equal") else escape(self.text)
        note = f"<small>{escape(self.note)}</small>" if self.note else ""
        kind = f' class="{self.kind}"' if self.kind else ""
        return f"<td{kind}>{strong}{note}</td>"


@dataclass(frozen=True)
class Grid:
    """A table with a header.

    >>> print(Grid(["model", "MAE"], [[Cell("GIN"), Cell("0.1")]]).markdown())
    | model | MAE |
    |---|---|
    | GIN | 0.1 |
    """

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def markdown(self) -> str:
        """As Markdown."""
        lines = [self.header, *([cell.markdown() for cell in row] for row in self.rows)]
        texts = [f"| {' | '.join(line)} |" for line in lines]
        return "\n".join([texts[0], "|" + "---|" * len(self.header), *texts[1:]])

    def html(self) -> str:
        """As HTML."""
        header = "".join(f"<th>{escape(title)}</th>" for title in self.header)
        rows = "\n".join(f"<tr>{''.join(cell.html() for cell in row)}</tr>" for row in self.rows)
        return f'<div class="grid"><table>\n<tr>{header}</tr>\n{rows}\n</table></div>'


@dataclass(frozen=True)
class Picture:
    """A drawing; Markdown refers to its file, HTML contains it.

    Args:
        name: of the file, without ending.
        title: what it shows.
        svg: the drawing.

    Example:
        >>> Picture("curves", "Learning curves", "<svg/>").markdown()
        '![Learning curves](figures/curves.svg)'
    """

    name: str
    title: str
    svg: str

    def markdown(self) -> str:
        """As Markdown."""
        return f"![{self.title}](figures/{self.name}.svg)"

    def html(self) -> str:
        """As HTML."""
        return f'<figure class="picture" aria-label="{escape(self.title)}">{self.svg}</figure>'


Block = Heading | Paragraph | Grid | Picture


def to_markdown(blocks: Sequence[Block]) -> str:
    """All blocks as Markdown.

    >>> print(to_markdown([Heading(1, "Results"), Paragraph("None yet.")]))
    # Results
    <BLANKLINE>
    None yet.
    <BLANKLINE>
    """
    return "\n\n".join(block.markdown() for block in blocks) + "\n"


def to_html(title: str, blocks: Sequence[Block]) -> str:
    """All blocks as one page, which asks nothing of the network.

    >>> "</h1>" in to_html("Results", [Heading(1, "Results")])
    True
    """
    body = "\n".join(block.html() for block in blocks)
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    head += f"\n<style>{STYLE}</style>"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'
