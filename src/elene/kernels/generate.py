"""Random graphs drawn edge by edge, and what is counted to label them.

Kernels take numpy's Generator, and draw only ``random()`` from it: numba and numpy give the same numbers there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.jit import inlined, kernel

# A swap that fits is found after a few tries in a sparse graph; where none is, the caller draws again.
TRIES = 1000


@inlined
def linked(neighbours: Any, filled: Any, u: Any, v: Any) -> Any:
    """Whether v stands among the neighbours of u, or is u."""
    found = u == v
    for i in range(filled[u]):
        found |= neighbours[u, i] == v
    return found


@inlined
def link(neighbours: Any, filled: Any, u: Any, v: Any) -> None:
    """Make u and v neighbours."""
    neighbours[u, filled[u]] = v
    neighbours[v, filled[v]] = u
    filled[u] += 1
    filled[v] += 1


@inlined
def replace(neighbours: Any, u: Any, old: Any, new: Any) -> None:
    """Let u have another neighbour in place of an old one."""
    i = 0
    while neighbours[u, i] != old:
        i += 1
    neighbours[u, i] = new


@kernel
def swap_in(neighbours: Any, filled: Any, u: Any, v: Any, rng: Any) -> Any:
    """Give u and v, which cannot be linked, one more neighbour each: the ends of a random edge that is taken away."""
    n = len(filled)
    for _ in range(TRIES * n):
        a = np.int64(rng.random() * n)
        if filled[a] == 0:
            continue
        b = neighbours[a, np.int64(rng.random() * filled[a])]
        if linked(neighbours, filled, u, a) or linked(neighbours, filled, v, b):
            continue
        replace(neighbours, a, b, u)
        replace(neighbours, b, a, v)
        neighbours[u, filled[u]] = a
        filled[u] += 1
        neighbours[v, filled[v]] = b
        filled[v] += 1
        return True
    return False


@kernel
def pair_stubs(stubs: Any, neighbours: Any, filled: Any, rng: Any) -> Any:
    """Link the stubs two by two; where that would give a loop or a double edge, swap. False if no swap was found."""
    pending = np.empty(len(stubs), np.int64)
    count = 0
    for i in range(0, len(stubs), 2):
        u, v = stubs[i], stubs[i + 1]
        if linked(neighbours, filled, u, v):
            pending[count], pending[count + 1] = u, v
            count += 2
        else:
            link(neighbours, filled, u, v)
    for i in range(0, count, 2):
        u, v = pending[i], pending[i + 1]
        # An earlier swap may have taken the edge between them away.
        if not linked(neighbours, filled, u, v):
            link(neighbours, filled, u, v)
        elif not swap_in(neighbours, filled, u, v, rng):
            return False
    return True


@kernel
def switch(neighbours: Any, attempts: Any, rng: Any) -> None:
    """Let random pairs of edges (a, b), (c, d) become (a, d), (c, b), where those are new.

    Degrees stay as they are, and the more switches, the closer to uniform is the distribution of the graph.
    """
    n, degree = neighbours.shape
    filled = np.full(n, degree, np.int32)
    for _ in range(attempts):
        a, c = np.int64(rng.random() * n), np.int64(rng.random() * n)
        b = neighbours[a, np.int64(rng.random() * degree)]
        d = neighbours[c, np.int64(rng.random() * degree)]
        if not (linked(neighbours, filled, a, d) or linked(neighbours, filled, c, b)):
            replace(neighbours, a, b, d)
            replace(neighbours, b, a, c)
            replace(neighbours, c, d, b)
            replace(neighbours, d, c, a)


@kernel
def attach(n: Any, m: Any, rng: Any) -> Any:
    """The edges of preferential attachment: node m to all before it, each later node to m ends of earlier edges."""
    edges = np.empty((m * (n - m), 2), np.int32)
    ends = edges.ravel()
    last = np.full(n, -1, np.int32)
    row = 0
    for source in range(m, n):
        count = 2 * row
        for i in range(m):
            target = np.int64(i)
            if source > m:
                target = np.int64(ends[np.int64(rng.random() * count)])
                while last[target] == source:
                    target = np.int64(ends[np.int64(rng.random() * count)])
            last[target] = source
            edges[row, 0] = target
            edges[row, 1] = source
            row += 1
    return edges


@kernel
def count_cycles(indptr: Any, indices: Any) -> Any:
    """How many triangles and how many 4-cycles, chords allowed, go through each node."""
    n = len(indptr) - 1
    triangles, squares = np.zeros(n, np.int64), np.zeros(n, np.int64)
    paths = np.zeros(n, np.int64)
    for root in range(n):
        near = indices[indptr[root] : indptr[root + 1]]
        # Each new path of two edges to a node closes a 4-cycle with every one found before.
        for middle in near:
            for end in indices[indptr[middle] : indptr[middle + 1]]:
                if end != root:
                    squares[root] += paths[end]
                    paths[end] += 1
        for middle in near:
            triangles[root] += paths[middle]
        triangles[root] //= 2
        for middle in near:
            for end in indices[indptr[middle] : indptr[middle + 1]]:
                paths[end] = 0
    return triangles, squares


@kernel
def count_within(indptr: Any, indices: Any, roots: Any, wanted: Any, h: Any) -> Any:
    """For each root, how many of the wanted nodes are at most h hops away, itself included."""
    n = len(indptr) - 1
    counts = np.zeros(len(roots), np.int64)
    seen_from = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    for i in range(len(roots)):
        queue[0] = roots[i]
        seen_from[roots[i]] = i
        begin, end = 0, 1
        for _ in range(h):
            level_end = end
            for position in range(begin, level_end):
                node = queue[position]
                for other in indices[indptr[node] : indptr[node + 1]]:
                    if seen_from[other] != i:
                        seen_from[other] = i
                        queue[end] = other
                        end += 1
            begin = level_end
        for position in range(end):
            counts[i] += wanted[queue[position]]
    return counts
