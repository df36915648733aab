"""METIS adjacency lists."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from elene.csr import pointers
from elene.io.readers.source import Options, Source, from_arcs, single, without_weights


def metis(text: bytes, options: Options) -> Source:
    """The graph of a METIS text."""
    values, counts, numbers = _integer_lines(text)
    if len(counts) == 0 or not 2 <= counts[0] <= 4:
        raise ValueError("the first line must be: number of nodes, number of edges, and optionally fmt and ncon")
    header = values[: counts[0]].tolist()
    n, m = header[:2]
    if len(counts) - 1 < n or counts[n + 1 :].any():
        raise ValueError(f"line {numbers[0]} announces {n} nodes, but {len(counts) - 1} lines follow")
    flags = str(header[2] if len(header) > 2 else 0).zfill(3)
    if not re.fullmatch("[01]{3}", flags):
        raise ValueError(f"line {numbers[0]}: fmt must be up to three digits 0 or 1, got {header[2]}")
    weights = (header[3] if len(header) > 3 else 1) if flags[1] == "1" else 0
    skip, step = int(flags[0]) + weights, 1 + int(flags[2])
    sources, targets = _metis_arcs(values[counts[0] :], counts[1 : n + 1], numbers[1 : n + 1], (skip, step))
    if len(sources) != 2 * m:
        raise ValueError(f"line {numbers[0]} announces {m} edges, so {2 * m} neighbours; {len(sources)} are listed")
    fix = "a file that lists every edge at both of its ends"
    if flags[2] == "1":
        without_weights()
    return single(from_arcs((sources, targets), n, "the adjacency list", fix, options))


def _integer_lines(text: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """All integers of a text, how many stand in each line, and the number of the line; comment lines left out."""
    data = np.frombuffer(text if text.endswith(b"\n") else text + b"\n", dtype=np.uint8).copy()
    ends = np.flatnonzero(data == ord("\n"))
    starts = np.concatenate([[0], ends[:-1] + 1])
    comment = data[starts] == ord("%")
    data[np.repeat(comment, ends + 1 - starts)] = ord(" ")
    blank = np.isin(data, np.frombuffer(b" \t\r\n", dtype=np.uint8))
    wrong = np.flatnonzero(~blank & ((data < ord("0")) | (data > ord("9"))))
    if len(wrong):
        number = int(np.searchsorted(ends, wrong[0])) + 1
        raise ValueError(f"line {number} holds {chr(data[wrong[0]])!r}: only whole numbers may stand there")
    first_digits = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    counts = np.diff(np.searchsorted(first_digits, np.append(starts, len(data))))
    values = np.fromstring(data.tobytes().decode("ascii"), dtype=np.int64, sep=" ")
    return values, counts[~comment], np.flatnonzero(~comment) + 1


def _metis_arcs(
    values: NDArray[np.int64], counts: NDArray[np.int64], numbers: NDArray[np.int64], layout: tuple[int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Both ends of every arc, from 0 on; a line is ``skip`` numbers and then a neighbour every ``step`` numbers."""
    skip, step = layout
    wrong = (counts < skip) | ((counts - skip) % step != 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"line {numbers[at]} holds {counts[at]} numbers, which does not fit the fmt of the first line")
    line = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(line)) - pointers(counts)[line] - skip
    keep = (place >= 0) & (place % step == 0)
    sources, targets = line[keep], values[: len(line)][keep] - 1
    outside = (targets < 0) | (targets >= len(counts))
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(f"line {numbers[sources[at]]} names node {targets[at] + 1}, but nodes are 1 to {len(counts)}")
    return sources, targets
