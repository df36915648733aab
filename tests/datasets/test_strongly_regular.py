"""The families have the parameters and the number of members that mathematics says, and BREC files are read."""

import os
from pathlib import Path

import igraph
import networkx as nx
import numpy as np
import pytest

from elene import Graph
from elene.datasets import (
    chang,
    is_strongly_regular,
    latin_square_graph,
    read_brec,
    rook,
    shrikhande,
    sr25,
    triangular,
)

FAMILIES = {
    (16, 6, 2, 2): lambda: [rook(), shrikhande()],
    (25, 12, 5, 6): sr25,
    (28, 12, 6, 4): lambda: [triangular(8), *chang()],
}
SIZES = {(16, 6, 2, 2): 2, (25, 12, 5, 6): 15, (28, 12, 6, 4): 4}
HEADER = "pair\tcategory4\tsubcategory\tg6_a\tg6_b\n"


def canonical(graph):
    """Equal for isomorphic graphs, and only for them."""
    other = igraph.Graph(graph.num_nodes, graph.edges.tolist())
    relabelled = other.permute_vertices(other.canonical_permutation())
    return tuple(sorted(tuple(sorted(edge)) for edge in relabelled.get_edgelist()))


def complement(graph):
    return Graph.from_networkx(nx.complement(nx.from_scipy_sparse_array(graph.to_scipy())))


@pytest.mark.parametrize("parameters", FAMILIES)
def test_family_has_its_parameters_and_all_its_members(parameters):
    family = FAMILIES[parameters]()
    assert [is_strongly_regular(graph) for graph in family] == [parameters] * len(family)
    assert len({canonical(graph) for graph in family}) == len(family) == SIZES[parameters]


@pytest.mark.parametrize("parameters", FAMILIES)
def test_family_is_the_same_every_time(parameters):
    first, second = FAMILIES[parameters](), FAMILIES[parameters]()
    assert all(np.array_equal(a.edges, b.edges) for a, b in zip(first, second, strict=True))


def test_canonical_form_ignores_the_numbering():
    graph = sr25()[7]
    order = np.random.default_rng(0).permutation(25)
    assert canonical(Graph.from_edges(order[graph.edges])) == canonical(graph)


def test_sr25_pairs_each_graph_with_its_complement():
    family = sr25()
    assert canonical(complement(family[0])) == canonical(family[0])
    for a, b in zip(family[1::2], family[2::2], strict=True):
        assert canonical(complement(a)) == canonical(b) != canonical(a)


def test_sr25_begins_with_the_paley_graph():
    # x - y is a square of GF(25) = Z5[i], i**2 = 2, exactly where its norm a**2 - 2 b**2 is a square of Z5.
    points = [(a, b) for a in range(5) for b in range(5)]
    norms = {(x, y): ((x[0] - y[0]) ** 2 - 2 * (x[1] - y[1]) ** 2) % 5 for x in points for y in points}
    edges = [(points.index(x), points.index(y)) for (x, y), norm in norms.items() if x < y and norm in (1, 4)]
    assert canonical(Graph.from_edges(edges)) == canonical(sr25()[0])


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_latin_square_graphs_of_cyclic_groups(n):
    square = [["abcdefg"[(i + j) % n] for j in range(n)] for i in range(n)]
    assert is_strongly_regular(latin_square_graph(square)) == (n * n, 3 * (n - 1), n, 6)


@pytest.mark.parametrize("n", [4, 5, 6, 9])
def test_triangular_is_the_line_graph_of_a_complete_graph(n):
    assert is_strongly_regular(triangular(n)) == (n * (n - 1) // 2, 2 * (n - 2), n - 2, 4)
    assert canonical(triangular(n)) == canonical(Graph.from_networkx(nx.line_graph(nx.complete_graph(n))))


@pytest.mark.parametrize(
    ("graph", "parameters"),
    [
        (nx.petersen_graph(), (10, 3, 0, 1)),
        (nx.complete_multipartite_graph(3, 3, 3), (9, 6, 3, 6)),
        (nx.disjoint_union(nx.complete_graph(3), nx.complete_graph(3)), (6, 2, 1, 0)),
        (nx.cycle_graph(6), None),
        (nx.cycle_graph(7), None),
        (nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(4)), None),
        (nx.disjoint_union(nx.cycle_graph(4), nx.cycle_graph(5)), None),
        (nx.circular_ladder_graph(3), None),
        (nx.path_graph(4), None),
        (nx.complete_graph(4), None),
        (nx.empty_graph(4), None),
        (nx.empty_graph(1), None),
        (nx.empty_graph(0), None),
    ],
)
def test_is_strongly_regular_on_other_graphs(graph, parameters):
    assert is_strongly_regular(Graph.from_networkx(graph)) == parameters


@pytest.mark.parametrize("square", [5, [], [1, 2], [[1, 2]], [[1, 2], [1, 2]], [[1, 2], [2, 2]], [[1, 2], [3, 1]]])
def test_what_is_not_a_latin_square_is_refused(square):
    with pytest.raises(ValueError, match="square"):
        latin_square_graph(square)


@pytest.mark.parametrize(("n", "error"), [(1, ValueError), (-3, ValueError), (4.0, TypeError), (True, TypeError)])
def test_triangular_checks_n(n, error):
    with pytest.raises(error, match="n must be"):
        triangular(n)


def test_read_brec(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(HEADER + "7\tBasic\tbasic\tBw\tCR\n3\tCFI\tcfi\tCR\tBw\n")
    first, second = read_brec(path)
    assert first[:3] == (7, "Basic", "basic")
    assert second[:3] == (3, "CFI", "cfi")
    assert first.a.edges.tolist() == second.b.edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert first.b.num_nodes == second.a.num_nodes == 4


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "line 1: the tab-separated columns must be pair, "),
        ("pair,category4\n", "line 1: the tab-separated columns must be pair, "),
        (HEADER + "0\tBasic\tbasic\tBw\n", "line 2: 5 tab-separated fields are wanted, got '0"),
        (HEADER + "0\tBasic\tbasic\tBw\tCR\n\n", "line 3: 5 tab-separated fields are wanted, got ''"),
        (HEADER + "one\tBasic\tbasic\tBw\tCR\n", "line 2: pair must be a number, got 'one'"),
        (HEADER + 2 * "0\tBasic\tbasic\tBw\tCR\n", "line 3: pair 0 stands in the file twice"),
        (HEADER + "0\tBasic\tbasic\tBw\tH\n", "line 2: g6_b is damaged: 9 nodes take"),
        (HEADER + "0\tBasic\tbasic\tBw\t\n", "line 2: 5 tab-separated"),
        (HEADER + "0\tBasic\tbasic\t!!\tBw\n", "line 2: g6_a is not graph6"),
        (HEADER + "0\tBäsic\tbasic\tBw\tCR\n", "not a text file in ASCII"),
    ],
)
def test_read_brec_says_where_a_bad_file_is_bad(tmp_path, content, problem):
    path = tmp_path / "pairs.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError) as caught:
        read_brec(path)
    assert str(path) in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.skipif("ELENE_DATA" not in os.environ, reason="ELENE_DATA does not name a folder with brec_pairs.tsv")
def test_the_published_brec_pairs():
    pairs = read_brec(Path(os.environ["ELENE_DATA"], "brec_pairs.tsv"))
    assert [pair.index for pair in pairs] == list(range(400))
    counts = {kind: sum(pair.category == kind for pair in pairs) for kind in ("Basic", "Regular", "Extension", "CFI")}
    assert counts == {"Basic": 60, "Regular": 140, "Extension": 100, "CFI": 100}
    strongly_regular = [pair for pair in pairs if pair.subcategory == "strongly_regular"]
    parameters = [(is_strongly_regular(pair.a), is_strongly_regular(pair.b)) for pair in strongly_regular]
    assert all(a == b and a is not None for a, b in parameters)
    assert all(canonical(pair.a) != canonical(pair.b) for pair in strongly_regular)
