"""Graphs without labels are encoded as before there were labels, to the byte: hashes taken from that code."""

import hashlib
import itertools

import networkx as nx
import numpy as np
import pytest

from elene import encode, fingerprint
from graphs import SHAPES

BEFORE = {
    "node": "b4387adc21f170a2a17de90051eebc24",
    "edge": "abb41c02773bd357f50f9cb218f75f8e",
    "pair": "1032a66dac370dc4d8e80201518a08b9",
    # Not of that code: a quadruplet is hashed by one scrambling since, which changed every fingerprint once.
    "fingerprints": "96a515870be4c135ede4deb0a606f61e",
}
HUB = nx.compose(nx.star_graph(70), nx.gnm_random_graph(71, 120, seed=1))  # dense enough for lanes
GRAPHS = [*SHAPES.values(), nx.karate_club_graph(), HUB]


def encodings(level):
    """Every form, kind of degrees and set of depths, on every graph."""
    forms = ["marginal", "joint"] + ["product"] * (level != "node")
    for graph, form, degrees in itertools.product(GRAPHS, forms, ["relative", "absolute"]):
        for k, rho in (([1], None), ([0, 2, 3], None), ([1, 2], 2)):
            yield encode(graph, k, level=level, form=form, degrees=degrees, max_degree=rho)


@pytest.mark.jit
@pytest.mark.parametrize("level", ["node", "edge", "pair"])
def test_encodings_are_as_they_were(level):
    digest = hashlib.blake2b(digest_size=16)
    for encoding in encodings(level):
        matrix = encoding.matrix
        for array in (matrix.data, matrix.indices, matrix.indptr, encoding.table):
            digest.update(np.ascontiguousarray(array).astype(np.int64).tobytes())
        digest.update("|".join(map(str, encoding.columns)).encode())
    assert digest.hexdigest() == BEFORE[level]


@pytest.mark.jit
def test_fingerprints_are_as_they_were():
    found = [
        fingerprint(graph, k, level, refine)
        for graph, k, level, refine in itertools.product(
            GRAPHS[:-1], [1, [1, 2]], ["node", "edge", "pair"], [None, "wl", "2fwl"]
        )
    ]
    assert hashlib.blake2b("".join(found).encode(), digest_size=16).hexdigest() == BEFORE["fingerprints"]
