"""Colours in small parts of a graph: sets of at most 64 nodes are words, and neighbours are counted by counting bits.

A part is a run of nodes that no edge leaves, such as one of many molecules that stand side by side in one graph. The
hashes are those of :mod:`elene.kernels.colors`, which takes graphs of any size and several times as long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from elene.kernels.colors import code_of, ends_keys, label_of, shared_key, step_keys
from elene.kernels.count import mix
from elene.kernels.jit import inlined, kernel

ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)
PAIRS, FOURS, EIGHTS, BYTES = (
    np.uint64(bits) for bits in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F, 0x0101010101010101)
)


@inlined
def count_bits(word: Any) -> Any:
    """How many bits are set; LLVM knows the pattern, and makes one instruction of it."""
    word = word - ((word >> ONE) & PAIRS)
    word = (word & FOURS) + ((word >> np.uint64(2)) & FOURS)
    return (((word + (word >> np.uint64(4))) & EIGHTS) * BYTES) >> np.uint64(56)


@inlined
def lowest(word: Any) -> Any:
    """The place of the lowest bit of a word that is not 0."""
    return np.int64(count_bits((word - ONE) & (word ^ ALL)))


@inlined
def around(nodes: Any, first: Any, neighbours: Any) -> Any:
    """All neighbours of some nodes."""
    found = np.uint64(0)
    while nodes:
        found |= neighbours[first + lowest(nodes)]
        nodes &= nodes - ONE
    return found


@kernel
def hash_small_egos(words: Any, roots: Any, setting: Any, factors: Any, depths: Any, codes: Any) -> None:
    """What :func:`elene.kernels.colors.hash_egos` gives for roots in small parts."""
    rho, last = np.uint64(setting.rho), codes.shape[1] - 1
    for i in range(roots.shape[0]):
        codes[i] = 0
        first = np.int64(words.first[roots[i]])
        closer, level = np.uint64(0), ONE << np.uint64(np.int64(roots[i]) - first)
        seen, distance = level, 0
        while level:
            farther = np.uint64(0)
            if distance < setting.k:
                farther = around(level, first, words.neighbours) & (seen ^ ALL)
                seen |= farther
            beyond, equal = depths.beyond[distance], depths.equal[distance]
            left = level
            while left:
                u = first + lowest(left)
                left &= left - ONE
                label, adjacent = label_of(u, setting), words.neighbours[u]
                nearer, onward = count_bits(adjacent & closer), count_bits(adjacent & farther)
                beside = nearer + count_bits(adjacent & level)
                outer = code_of(label, distance, nearer, beside, 0, rho, factors)
                if beyond < last:
                    codes[i, beyond] += code_of(label, distance, nearer, beside + onward, onward, rho, factors)
                # The sums of depths are still to be added up, as in hash_egos.
                codes[i, equal] += outer
                codes[i, min(equal + 1, last)] -= outer
            closer, level = level, farther
            distance += 1
        for depth in range(1, last):
            codes[i, depth] += codes[i, depth - 1]


@kernel
def hash_small_edges(words: Any, edges: Any, setting: Any, factors: Any, codes: Any) -> None:
    """What :func:`elene.kernels.colors.hash_edges` gives for edges in small parts."""
    us, vs = edges
    steps = step_keys(factors)
    for row in range(us.shape[0]):
        first = np.int64(words.first[us[row]])
        shared = words.neighbours[us[row]] & words.neighbours[vs[row]]
        own, other = ends_keys(count_bits(shared), steps, factors)
        u, v = label_of(us[row], setting), label_of(vs[row], setting)
        one, two = mix(u + own) + mix(v + other), mix(u + other) + mix(v + own)
        left = shared
        while left:
            w = first + lowest(left)
            left &= left - ONE
            inside = count_bits(words.neighbours[w] & shared)
            code = mix(label_of(w, setting) + shared_key(inside, steps, factors))
            one += code
            two += code
        codes[row, 0], codes[row, 1] = one, two
