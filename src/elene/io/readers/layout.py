"""Which columns of a table hold the ends of edges, and whether its first line names them: found, or asked for.

A name that everybody uses decides (``source`` and ``target``, ``from`` and ``to``, ...). Where there is none, those
columns that can hold nodes (no decimals, no times, no index, no weights by their name) are two, or the reader does not
guess: its error lists the columns and says how to choose.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from elene.io.readers.source import Options
from elene.validation import check_integer

END_NAMES = (
    ("source", "target"),
    ("src", "dst"),
    ("src", "dest"),
    ("from", "to"),
    ("u", "v"),
    ("i", "j"),
    ("head", "tail"),
    ("node1", "node2"),
    ("nodea", "nodeb"),
    ("id1", "id2"),
    ("sourceid", "targetid"),
    ("srcid", "dstid"),
    ("fromid", "toid"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("sourcenode", "targetnode"),
)
WEIGHTS = {"weight", "weights", "w", "value", "score", "count", "amount", "rating", "sign", "strength", "probability"}
TIMES = {"time", "timestamp", "ts", "date", "datetime", "year", "month", "day", "hour", "epoch", "since"}
OTHERS = {"", "index", "unnamed0", "level0", "label", "type", "kind", "relation", "category", "attributes"}
OUR_OWN = ({"depth", "distance", "kind", "value", "count"}, {"depth", "distance", "degree", "count"})
OUR_OWN_PAIRS = {"depth", "distance1", "degree1", "distance2", "degree2", "count"}
MISSING = {"", "na", "n/a", "nan", "null", "none", "-", "?", "."}

_INTEGER = re.compile(r"-?[0-9]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][-+]?[0-9]+)?")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}.*)?|[0-9]{1,2}:[0-9]{2}.*|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}.*")


@dataclass(frozen=True)
class Column:
    """A column: its name, where there is a header, and what its fields look like.

    Attributes:
        name: None without a header.
        kind: ``integer``, ``name``, ``number``, ``time`` or ``empty``.
        example: a field of it.
        counts: whether it counts the rows, as the index of a data frame does.
    """

    name: str | None
    kind: str
    example: str = ""
    counts: bool = False

    def show(self, place: int) -> str:
        """The column as errors and notes call it."""
        return f"{place} ({self.name!r})" if self.name is not None else f"{place} (such as {self.example!r})"


def kind_of(fields: Sequence[str]) -> str:
    """What the fields of a column look like.

    >>> kind_of(["1", "2"]), kind_of(["1", "b"]), kind_of(["1", "0.5"]), kind_of(["2020-01-05"])
    ('integer', 'name', 'number', 'time')
    """
    present = [field for field in fields if field.lower() not in MISSING]
    for kind, pattern in (("integer", _INTEGER), ("number", _NUMBER), ("time", _TIME)):
        if present and all(pattern.fullmatch(field) for field in present):
            return kind
    return "name" if any(fields) else "empty"


def describe(rows: Sequence[Sequence[str]], names: Sequence[str] | None) -> list[Column]:
    """The columns of some rows."""
    columns = []
    for place in range(len(names) if names is not None else len(rows[0])):
        fields = [row[place] for row in rows if place < len(row)]
        counts = len(fields) > 2 and any(fields == [str(i) for i in range(k, k + len(fields))] for k in (0, 1))
        name = None if names is None else names[place]
        columns.append(Column(name, kind_of(fields), fields[0] if fields else "", counts))
    return columns


def looks_named(row: Sequence[str], rest: Sequence[Sequence[str]]) -> bool:
    """Whether a first row is of another kind than what stands below it: words above numbers, and no number itself."""
    if any(kind_of([field]) not in ("name", "empty") for field in row):
        return False
    for place, field in enumerate(row):
        below = kind_of([other[place] for other in rest if place < len(other)])
        if below in ("integer", "number", "time") and kind_of([field]) == "name" and field.lower() not in MISSING:
            return True
    return False


def known_ends(names: Sequence[str]) -> list[tuple[int, int]]:
    """The columns that names everybody uses say are ends; several pairs where several are named.

    >>> known_ends(["Weight", "from_id", "to_id"])
    [(1, 2)]
    """
    plain, places = [_plain(name) for name in names], range(len(names))
    return [(i, j) for ends in END_NAMES for i in places for j in places if (plain[i], plain[j]) == ends]


def _plain(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def choose_ends(columns: Sequence[Column], options: Options) -> tuple[int, int]:
    """The columns that hold the ends, as asked for or as the columns say."""
    labels = label_column(columns, options)
    asked = options.source is not None or options.target is not None
    ends = _asked(columns, options) if asked else _found(columns, labels)
    if labels in ends:
        raise ValueError(f"edge_labels={options.edge_labels!r} is the column of an end of edges: name another")
    return ends


def _found(columns: Sequence[Column], labels: int | None) -> tuple[int, int]:
    names = [column.name or "" for column in columns]
    plain = {_plain(name) for name in names}
    if any(own <= plain for own in (*OUR_OWN, OUR_OWN_PAIRS)):
        raise ValueError("a table of encodings that elene wrote, not of edges: pass source= and target= if it is one")
    known = known_ends(names)
    if len(known) == 1:
        return known[0]
    if known:
        raise _ambiguous(columns)
    return _only_pair(columns, labels)


def label_column(columns: Sequence[Column], options: Options) -> int | None:
    """The column that holds the labels of edges, where the caller names one."""
    return None if options.edge_labels is None else _place(columns, options.edge_labels, "edge_labels")


def _asked(columns: Sequence[Column], options: Options) -> tuple[int, int]:
    if options.source is None or options.target is None:
        raise ValueError(f"pass both source= and target=, got {options.source!r} and {options.target!r}")
    source, target = _place(columns, options.source, "source"), _place(columns, options.target, "target")
    if source == target:
        raise ValueError(f"source={options.source!r} and target={options.target!r} are the same column")
    return source, target


def _place(columns: Sequence[Column], wanted: str | int, argument: str) -> int:
    if isinstance(wanted, str):
        named = [place for place, column in enumerate(columns) if column.name == wanted]
        if len(named) == 1:
            return named[0]
        why = "is the name of several columns" if named else "is the name of no column"
        raise ValueError(f"{argument}={wanted!r} {why}: there are {_list(columns)}, counted from 0")
    if not 0 <= check_integer(argument, wanted, least=0) < len(columns):
        raise ValueError(f"{argument}: there is no column {wanted}: there are {_list(columns)}, counted from 0")
    return int(wanted)


def _only_pair(columns: Sequence[Column], labels: int | None) -> tuple[int, int]:
    """The only two columns that could hold the ends; that of the labels of edges cannot."""
    able = [place for place, column in enumerate(columns) if _may_be_end(column) and place != labels]
    alike = [(i, j) for i, j in combinations(able, 2) if columns[i].kind == columns[j].kind]
    if len(able) == 2 and (alike or not any(columns[place].counts for place in able)):
        return able[0], able[1]
    if len(able) < 2:
        raise ValueError(
            f"no two of the columns {_list(columns)} look like the ends of edges: pass source= and target= "
            "(--source, --target)"
        )
    if len(alike) != 1 or any(columns[place].counts for place in alike[0]):
        raise _ambiguous(columns)
    return alike[0]


def _may_be_end(column: Column) -> bool:
    excluded = column.name is not None and _plain(column.name) in WEIGHTS | TIMES | OTHERS
    return column.kind in ("integer", "name") and not excluded


def _ambiguous(columns: Sequence[Column]) -> ValueError:
    return ValueError(
        f"several of the columns {_list(columns)} could hold the ends of edges: choose with source= and target=, "
        "by name or counted from 0 (--source, --target)"
    )


def _list(columns: Sequence[Column]) -> str:
    return ", ".join(column.show(place) for place, column in enumerate(columns))


def ignored(columns: Sequence[Column], read: Sequence[int | None]) -> list[str]:
    """What is lost with each column that is not read and holds weights or times."""
    return [
        f"column {column.show(place)} is ignored: edges have no {_loss(column)} here"
        for place, column in enumerate(columns)
        if place not in read and _loss(column)
    ]


def _loss(column: Column) -> str:
    name = None if column.name is None else _plain(column.name)
    if column.kind == "time" or name in TIMES:
        return "times"
    # Whatever it is called, a further column of numbers is a weight or a time, unless it numbers the edges.
    measured = column.kind in ("integer", "number") and name not in OTHERS | {"id", "edgeid", "key"}
    return "weights" if name in WEIGHTS or measured else ""
