"""Runs kernels that fill rows: on ranges of roots, on threads, with room made for rows as they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elene.engine.parallel import run_ranges
from elene.engine.plan import WorkPlan
from elene.kernels.data import Buffer, Progress, Setting

KEYS = 2**10  # distinct keys that there is room for to begin with


class Filled(NamedTuple):
    """The rows of a range: where each ends, their entries, and the distinct keys that entries may refer to."""

    ends: NDArray[np.int64]
    entries: NDArray[np.int64]
    keys: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many entries each row has."""
        lengths = self.ends.copy()
        lengths[1:] -= self.ends[:-1]
        return lengths


@dataclass(frozen=True)
class FillJob:
    """A kernel with all it needs: ``fill(graph, roots, setting, scratch, out, progress)`` for every range of roots.

    ``room`` is the number of entries a row that there is room for to begin with; ``keyed`` whether entries have keys.
    """

    plan: WorkPlan
    fill: Callable[..., Any]
    setting: Setting
    make_scratch: Callable[[], Any]
    room: int
    keyed: bool = False

    def run(self, threads: int | None) -> list[tuple[int, int, Filled]]:
        """The rows of each range: (start, stop, rows), in order."""
        return run_ranges(self._fill, self.make_scratch, self.plan.work, threads)

    def _fill(self, start: int, stop: int, scratch: Any) -> Filled:
        rows, keys = stop - start, KEYS if self.keyed else 0
        out = Buffer(
            ends=np.empty(rows, np.int64),
            entries=np.empty(self.room * rows, np.int64),
            table=np.zeros(2 * keys, np.int32),
            keys=np.empty((keys, 3), np.int64),
        )
        roots, progress = self.plan.cut(start, stop), Progress(0, 0, 0, 0)
        while True:
            progress = self.fill(self.plan.graph, roots, self.setting, scratch, out, progress)
            if progress.done == rows:
                return Filled(out.ends, out.entries[: progress.used], out.keys[: progress.known, :2])
            out = make_room(out, progress, self.room * (rows - progress.done))


def make_room(out: Buffer, progress: Progress, expected: int) -> Buffer:
    """The buffer, with whatever is too small for the next row replaced by something twice as large, or larger.

    ``expected`` is how many entries all remaining rows may take.
    """
    entries, keys = progress.used + progress.wanted + 1, progress.known + progress.wanted
    if entries > len(out.entries):
        out = out._replace(entries=_enlarged(out.entries, progress.used, entries + expected))
    if len(out.table) and 2 * keys > len(out.table):
        from elene.kernels.count import fill_table

        larger = _enlarged(out.keys, progress.known, 1 << int(keys - 1).bit_length())
        table = np.zeros(2 * len(larger), np.int32)
        fill_table(larger, progress.known, table)
        out = out._replace(keys=larger, table=table)
    return out


def _enlarged(array: NDArray[Any], used: int, least: int) -> NDArray[Any]:
    larger = np.empty((max(2 * len(array), least), *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger
