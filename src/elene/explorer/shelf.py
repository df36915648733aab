"""The graphs that a page can show: those named on the command line, and the demo ones. All clients share them.

A graph that was opened never changes: reading its file again puts another one in its place.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from elene.engine.plan import two_hop_paths
from elene.explorer.demos import DEMOS
from elene.explorer.labels import NodeLabels, Shades, shades_of
from elene.forking import cached_property
from elene.graph import Graph

_one_at_a_time = threading.Lock()  # clicks come first: work that can wait does not take all cores


class Jobs:
    """Results that take a while: each is computed once, in the background, when it is first asked for.

    Example:
        >>> jobs = Jobs()
        >>> jobs.future("answer", lambda: 42).result()
        42
    """

    def __init__(self) -> None:
        self._futures: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def future(self, key: Hashable, compute: Callable[[], Any]) -> Future[Any]:
        """The result under this key, now or later."""
        with self._lock:
            if key in self._futures:
                return self._futures[key]
            future: Future[Any] = Future()
            self._futures[key] = future
        # A daemon: the command ends when its user wants it to, whatever is still being computed.
        threading.Thread(target=_fill, args=(future, compute), daemon=True).start()
        return future


def _fill(future: Future[Any], compute: Callable[[], Any]) -> None:
    try:
        with _one_at_a_time:
            future.set_result(compute())
    except BaseException as error:
        future.set_exception(error)


@dataclass(frozen=True, eq=False)
class Opened:
    """A graph as it was when it was opened.

    Args:
        key: what addresses call it.
        title: what people call it.
        graph: the graph.
        seal: what its file looked like just before it was read; None where there is no file.

    Example:
        >>> Opened("triangle", "Triangle", Graph.from_edges([(0, 1), (1, 2), (2, 0)])).find("2")
        2
    """

    key: str
    title: str
    graph: Graph
    seal: tuple[int, ...] | None = None
    jobs: Jobs = field(default_factory=Jobs)

    @cached_property
    def texts(self) -> list[str]:
        """What nodes are called on the page, by position; distinct."""
        texts = [str(name) for name in self.graph.nodes.tolist()]
        # 7 and "7" are two nodes: their numbers tell them apart.
        return texts if len(set(texts)) == len(texts) else [str(number) for number in range(len(texts))]

    @cached_property
    def labels(self) -> NodeLabels | None:
        """The labels of nodes, where the graph has some."""
        return NodeLabels.of(self.graph)

    @cached_property
    def shades(self) -> Shades:
        """The colour of each label."""
        return {} if self.labels is None else shades_of(self.labels.counts())

    @cached_property
    def bare(self) -> Opened:
        """The same without labels."""
        return self if self.labels is None else replace(self, graph=self.graph.with_labels(None))

    @cached_property
    def positions(self) -> dict[str, int]:
        """Where the node of a text stands."""
        return {text: position for position, text in enumerate(self.texts)}

    @cached_property
    def folded(self) -> list[str]:
        """The texts as they are searched: without capitals."""
        return [text.casefold() for text in self.texts]

    @cached_property
    def largest(self) -> int:
        """The first node of largest degree."""
        return int(self.graph.degrees.argmax())

    @cached_property
    def paths(self) -> int:
        """How many paths of two steps there are: how much work encodings at k = 2 are."""
        return int(two_hop_paths(self.graph).sum())

    def find(self, text: str | None) -> int | None:
        """The position of a node, or None where there is no such node."""
        return None if text is None else self.positions.get(text)

    def search(self, part: str, most: int = 12) -> list[int]:
        """Nodes whose name is this text, begins with it or holds it, in that order; capitals do not count.

        >>> Opened("path", "Path", Graph.from_edges([("ann", "joanna"), ("joanna", "Anna")])).search("ANN")
        [1, 0, 2]
        """
        part = part.strip().casefold()
        if not part:
            return []
        everywhere = range(len(self.folded))
        passes = (
            (p for p in everywhere if self.folded[p] == part),
            (p for p in everywhere if self.folded[p].startswith(part)),
            (p for p in everywhere if part in self.folded[p]),
        )
        found: dict[int, None] = {}
        for positions in passes:
            found.update(dict.fromkeys(islice((p for p in positions if p not in found), most - len(found))))
        return list(found)


@dataclass(frozen=True)
class Named:
    """A file that was named on the command line: the only kind that is ever read.

    Args:
        title: what people call it.
        read: reads it.
        path: where it is; None for standard input, which can be read once.
    """

    title: str
    read: Callable[[], Graph]
    path: str | None = None


class Shelf:
    """All graphs by their keys.

    Args:
        named: the files of the command line by their keys, first of all.

    Example:
        >>> shelf = Shelf({})
        >>> shelf.first, shelf.open("rook").graph, shelf.open("/etc/passwd")
        ('karate', Graph(num_nodes=16, num_edges=48), None)
    """

    def __init__(self, named: Mapping[str, Named]) -> None:
        self._named = dict(named)
        self._opened: dict[str, Opened] = {}
        self._lock = threading.Lock()

    @property
    def titles(self) -> dict[str, str]:
        """What the graphs are called, by key."""
        files = {key: named.title for key, named in self._named.items()}
        return files | {key: title for key, (title, _) in DEMOS.items()}

    @property
    def first(self) -> str:
        """The key of the graph that is shown where none is chosen."""
        return next(iter(self.titles))

    def open(self, key: str | None) -> Opened | None:
        """The graph of a key, which is a name and never a path; None where there is none."""
        if key not in self.titles:
            return None
        assert key is not None
        with self._lock:
            if key not in self._opened:
                self._opened[key] = self._make(key)
            return self._opened[key]

    def read_again(self, key: str | None) -> str | None:
        """Read a named file again; where that fails, what was read before stays, and the result says why."""
        named = self._named.get(key or self.first)
        if named is None or named.path is None:
            return None
        try:
            with self._lock:
                self._opened[key or self.first] = self._make(key or self.first)
        except (ValueError, TypeError, OSError, MemoryError) as error:
            return f"{named.title} could not be read again, so shown is what was read before. {error}"
        return None

    def news(self, key: str) -> str | None:
        """What happened to a graph's file since it was read, in words; None where nothing did.

        >>> Shelf({}).news("rook")
        """
        named, opened = self._named.get(key), self.open(key)
        if named is None or named.path is None or opened is None or opened.seal == _seal(named.path):
            return None
        if _seal(named.path) is None:
            return f"{named.title} is gone from the disk: shown is what was read."
        return f"{named.title} has changed on disk: shown is what was read before."

    def can_read_again(self, key: str) -> bool:
        """Whether there is a file to read again."""
        named = self._named.get(key)
        return named is not None and named.path is not None and _seal(named.path) is not None

    def _make(self, key: str) -> Opened:
        if key in self._named:
            named = self._named[key]
            # The seal first: what changes while it is being read has another one afterwards.
            seal = None if named.path is None else _seal(named.path)
            graph = named.read()
            arrays = graph.indptr, graph.indices, graph.names, graph.labels, graph.label_names
            return Opened(key, named.title, Graph.trusted(*arrays), seal)
        title, make = DEMOS[key]
        return Opened(key, title, make())


def _seal(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
