"""Labelled encodings and types, beside their twins in naive.py."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive
from elene import Encoding, Graph, edge_quadruplets, encode, quadruplets
from elene.encoding.columns import LabelledQuadruplet
from graphs import graphs, relabelled

LEVELS = ["node", "edge", "pair"]
DEGREES = ["relative", "absolute"]


@st.composite
def labelled_graphs(draw):
    """A graph, and a label for each node: numbers with gaps, or text."""
    graph = draw(graphs)
    classes = draw(st.sampled_from([[0, 3, 7], ["C", "N", "O"], [-1, 2]]))
    labels = [draw(st.sampled_from(classes)) for _ in graph]
    return graph, labels


def rows_of(encoding, graph, k, labels):
    """The naive multiset of each row, with labels; of both readings together for edges and pairs."""
    if encoding.nodes is not None:
        return [naive.labelled_node_encoding(graph, node, k, labels) for node in encoding.nodes.tolist()]
    return [naive.labelled_pair_encoding(graph, u, v, k, labels) for u, v in encoding.edges.tolist()]


@settings(deadline=None, max_examples=40)
@given(
    labelled_graphs(), st.integers(0, 3), st.sampled_from(LEVELS), st.sampled_from(DEGREES), st.sampled_from([None, 1])
)
def test_marginal_columns_are_there_for_each_label(labelled, k, level, degrees, max_degree):
    graph, labels = labelled
    found = encode(graph, k, level=level, degrees=degrees, max_degree=max_degree, labels=labels)
    absolute, rho = degrees == "absolute", max((d for _, d in graph.degree), default=0) if max_degree is None else 1
    assert len(found.columns) == len(set(labels)) * (1 if absolute else 3) * (k + 1) * (rho + 1)
    for row, multiset in zip(found.matrix.toarray(), rows_of(found, graph, k, labels), strict=True):
        single = multiset if level == "node" else naive.both_readings(multiset)
        expected = {
            (k, distance, kind, value, label): count
            for label, plain in naive.by_label(single).items()
            for (distance, kind, value), count in naive.marginal(plain, rho, absolute).items()
        }
        assert {tuple(found.columns[i]): row[i] for i in np.flatnonzero(row)} == expected


@settings(deadline=None, max_examples=40)
@given(
    labelled_graphs(), st.integers(0, 3), st.sampled_from(LEVELS), st.sampled_from(DEGREES), st.sampled_from([None, 1])
)
def test_joint_columns_gain_the_label(labelled, k, level, degrees, max_degree):
    graph, labels = labelled
    found = encode(graph, k, level=level, form="joint", degrees=degrees, max_degree=max_degree, labels=labels)
    absolute, rho = degrees == "absolute", 10**6 if max_degree is None else 1

    for row, multiset in zip(found.matrix.toarray(), rows_of(found, graph, k, labels), strict=True):
        expected = {}
        for key, count in multiset.items():
            of_key = [shortened(q, rho, absolute) for q in ([key] if level == "node" else key)]
            short = of_key[0] if level == "node" else tuple(sorted(of_key))
            expected[short] = expected.get(short, 0) + count
        assert {found.columns[i].quadruplet: row[i] for i in np.flatnonzero(row)} == expected


def shortened(quadruplet, rho, absolute):
    """A labelled quadruplet with its counts clipped, and closer and farther left out where degrees are absolute."""
    clipped = (*naive.clip(quadruplet[:4], rho), quadruplet[4])
    return (clipped[0], clipped[2], clipped[4]) if absolute else clipped


def naive_types(encoding, graph, k, labels, rho, absolute):
    """What is one and the same exactly for rows of one type."""
    types = []
    for row, multiset in enumerate(rows_of(encoding, graph, k, labels)):
        short = Counter()
        for seen, count in multiset.items():
            node = encoding.nodes is not None
            key = shortened(seen, rho, absolute) if node else tuple(shortened(q, rho, absolute) for q in seen)
            short[key] += count
        apart = 1 if encoding.distances is None else int(encoding.distances[row])
        types.append(naive.node_type(short) if encoding.nodes is not None else naive.pair_type(short, apart))
    return types


@settings(deadline=None, max_examples=60)
@given(
    labelled_graphs(),
    st.lists(st.integers(0, 5), min_size=1, max_size=3, unique=True),
    st.sampled_from(LEVELS),
    st.sampled_from(DEGREES),
    st.sampled_from([None, 0, 1, 2]),
    st.booleans(),
)
def test_two_rows_have_one_type_exactly_where_their_multisets_are_equal(
    labelled, depths, level, degrees, max_degree, with_labels
):
    graph, labels = labelled
    if not with_labels:
        labels = [0] * len(graph)
    found = encode(
        graph,
        depths,
        level=level,
        form="type",
        degrees=degrees,
        max_degree=max_degree,
        labels=labels if with_labels else None,
    )
    assert (found.matrix.sum(axis=1) == len(depths)).all()
    for place, k in enumerate(depths):
        column = found.matrix.indices[place :: len(depths)].tolist()  # each row has one of each depth, in order
        assert all(found.columns[i].depth == k for i in column)
        rho = 10**6 if max_degree is None else max_degree
        types = naive_types(found, graph, k, labels, rho, degrees == "absolute")
        assert len(set(types)) == len(set(column)) == len(set(zip(types, column, strict=True)))


@settings(deadline=None, max_examples=30)
@given(labelled_graphs(), st.sampled_from(LEVELS), st.sampled_from(DEGREES))
def test_types_are_the_same_alone_and_beside_other_depths_clipped_at_nothing_or_not(labelled, level, degrees):
    """Depths share one exploration, and pairs are hashed by another kernel where counts are clipped."""
    graph, labels = labelled
    given_ = {"level": level, "form": "type", "degrees": degrees, "labels": labels}
    together = encode(graph, [2, 0, 1, 3], **given_)
    alone = [encode(graph, k, **given_) for k in (2, 0, 1, 3)]
    assert [*map(str, together.columns)] == [str(column) for one in alone for column in one.columns]
    assert (together.matrix.toarray() == np.hstack([one.matrix.toarray() for one in alone])).all()
    # A node with more neighbours than others have, elsewhere: clipping at their degrees leaves all but its own alone.
    hub = nx.disjoint_union(graph, nx.star_graph(9))
    most = max((d for _, d in graph.degree), default=0)
    kept = slice(0, len(alone[0]))
    given_["labels"] = [*labels, *(labels or [0])[:1] * 10]
    clipped = encode(hub, 2, max_degree=most, **given_)
    assert (clipped.onto(alone[0].table).matrix.toarray()[kept, :-1] == alone[0].matrix.toarray()).all()


@settings(deadline=None, max_examples=25)
@given(labelled_graphs(), st.integers(0, 2), st.sampled_from(LEVELS), st.sampled_from(["marginal", "joint", "type"]))
def test_numbering_and_threads_do_not_matter(labelled, k, level, form):
    graph, labels = labelled
    copy, new = relabelled(graph, seed=1)
    moved = np.empty(len(graph), object)
    moved[[new[node] for node in graph]] = labels
    one = encode(graph, k, level=level, form=form, labels=labels, threads=1)
    other = encode(copy, k, level=level, form=form, labels=moved.tolist(), threads=2)
    assert [*map(str, one.columns)] == [*map(str, other.columns)]
    named = one.nodes[:, None] if one.edges is None else one.edges
    expected = {
        frozenset(new[node] for node in row): v
        for row, v in zip(named.tolist(), one.matrix.toarray().tolist(), strict=True)
    }
    names = other.nodes[:, None] if other.edges is None else other.edges
    assert {
        frozenset(row): v for row, v in zip(names.tolist(), other.matrix.toarray().tolist(), strict=True)
    } == expected


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("form", ["joint", "type"])
def test_renumbered_work_keeps_labels_with_their_nodes(level, form):
    """Large sparse graphs are renumbered at k = 2, so labels are, too: each root alone must get the same row."""
    graph = nx.relabel_nodes(nx.random_regular_graph(3, 300, seed=0), lambda v: (v * 101) % 300)
    labels = {v: "abc"[v % 3] for v in graph}
    labels = [labels[v] for v in graph]
    whole = encode(graph, 2, level=level, form=form, labels=labels, **({"radius": 1} if level == "pair" else {}))
    some = whole.nodes[:7] if level == "node" else whole.edges[:7]
    few = encode(graph, 2, level=level, form=form, labels=labels, roots=some.tolist()).onto(whole.table)
    assert (few.matrix.toarray()[:, :-1] == whole.matrix.toarray()[:7]).all()


def test_types_are_the_same_in_all_graphs_and_depend_on_labels():
    water = encode(nx.path_graph(3), 1, form="type", labels=["H", "O", "H"])
    longer = encode(nx.path_graph(4), 1, form="type", labels=["H", "O", "H", "H"])
    assert water.columns != encode(nx.path_graph(3), 1, form="type").columns
    shared = {str(column) for column in water.columns} & {str(column) for column in longer.columns}
    assert {longer.example(name) for name in shared} == {0, 1}
    numbers = encode(nx.path_graph(3), 1, form="type", labels=[1, 8, 1])
    assert {c.color for c in numbers.columns}.isdisjoint(c.color for c in water.columns)


def test_types_clip_and_drop_as_the_other_forms_do():
    star = nx.star_graph(5)
    assert encode(star, 1, form="type").shape[1] == 2
    assert encode(star, 1, form="type", max_degree=0).shape[1] == 2  # still of different sizes
    two = nx.disjoint_union(nx.cycle_graph(4), nx.complete_bipartite_graph(2, 2))
    for degrees in DEGREES:
        assert encode(two, 2, form="type", degrees=degrees).shape[1] == 1
    house = nx.house_graph()
    relative, absolute = (encode(house, 1, form="type", degrees=degrees).shape[1] for degrees in DEGREES)
    assert absolute <= relative


def test_an_example_shows_what_a_type_is():
    graph = Graph.from_edges([("a", "b"), ("b", "c")], labels={"a": "red", "b": "blue", "c": "red"})
    types = encode(graph, 1, form="type")
    assert [types.example(column) for column in types.columns] in (["a", "b"], ["b", "a"])
    edges = encode(graph, 1, level="edge", form="type")
    assert edges.example(edges.columns[0]) == ("a", "b")
    with pytest.raises(KeyError, match="no column"):
        types.example("k1.type.0")
    unknown = types.onto(types.table)
    with pytest.raises(ValueError, match="zero in every row"):
        unknown.example("k1.unknown")


def test_unseen_types_and_labels_are_unknown():
    known = encode(nx.path_graph(3), 1, form="type")
    other = encode(nx.star_graph(3), 1, form="type").onto(known.table)
    assert [*map(str, other.columns)][-1] == "k1.unknown"
    assert other["k1.unknown"].tolist() == [1, 0, 0, 0]
    marginal = encode(nx.path_graph(3), 1, labels=[1, 2, 1])
    moved = encode(nx.path_graph(3), 1, labels=[1, 2, 9]).onto(marginal.table)
    assert moved["k1.unknown"].tolist() == [0, 3, 3]
    assert moved.matrix.sum() == marginal.matrix.sum()


def test_single_multisets_carry_labels():
    graph = Graph.from_edges([(0, 1), (1, 2)], labels=["H", "O", "H"])
    assert quadruplets(graph, 1, 1) == {
        LabelledQuadruplet(0, 0, 2, 2, "O"): 1,
        LabelledQuadruplet(1, 1, 1, 0, "H"): 2,
    }
    (first, second), *_ = sorted(edge_quadruplets(graph, (0, 1), 1))
    assert (first.label, second.label) == ("H", "H")
    assert quadruplets(graph, 1, 1, labels=False) == quadruplets(nx.path_graph(3), 1, 1)
    assert quadruplets(nx.path_graph(3), 1, 1, labels=[0, 1, 0]).total() == 3


def test_products_multiply_labelled_vectors():
    graph = Graph.from_edges([(0, 1), (1, 2)], labels=["H", "O", "H"])
    nodes, edges = encode(graph, 1), encode(graph, 1, level="edge", form="product")
    assert [*map(str, nodes.columns)] == [*map(str, edges.columns)]
    assert (edges.row((0, 1)) == nodes.row(0) * nodes.row(1)).all()


@pytest.mark.parametrize("form", ["marginal", "joint", "type"])
@pytest.mark.parametrize("labels", [["x", "y", "x"], [4, 5, 4]])
@pytest.mark.parametrize("level", LEVELS)
def test_saved_and_loaded(tmp_path, form, labels, level):
    encoding = encode(nx.path_graph(3), [1, 2], level=level, form=form, labels=labels)
    encoding.save(tmp_path / "e.npz")
    loaded = Encoding.load(tmp_path / "e.npz")
    assert (repr(loaded), loaded.columns) == (repr(encoding), encoding.columns)
    assert "labels" in repr(loaded)
    assert (loaded.matrix != encoding.matrix).nnz == 0
    table = encoding.to_pandas()
    assert len(table.columns) == len(set(table.columns)) == encoding.shape[1]
    if form != "type":
        assert any(str(labels[1]) in name for name in table.columns)


def test_labels_false_is_as_without():
    graph = nx.karate_club_graph()
    bare, with_labels = encode(graph, 2), encode(Graph.from_networkx(graph, labels="club"), 2, labels=False)
    assert bare.columns == with_labels.columns and (bare.matrix != with_labels.matrix).nnz == 0
    summed = encode(graph, 2, labels="club")
    halves = summed.matrix.toarray().reshape(34, 2, -1).sum(axis=1)
    assert (halves == bare.matrix.toarray()).all()
