"""Fingerprints and comparisons of graphs with labels of nodes and edges, and what is learned from such graphs."""

import itertools

import igraph
import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data

import naive
from elene import Encoder, Graph, compare, encode, fingerprint
from elene.encoding.spec import EncodingSpec
from elene.io.writing import write_encoding
from elene.transforms import AddELENE
from graphs import graphs, random_graphs, relabelled

LEVELS = ["node", "edge", "pair"]
REFINEMENTS = [None, "wl", "2fwl"]
WATER, OTHER = ["H", "O", "H"], ["H", "H", "O"]


@settings(deadline=None, max_examples=30)
@given(graphs, st.data(), st.sampled_from(LEVELS), st.sampled_from(REFINEMENTS))
def test_fingerprints_do_not_depend_on_numbering(graph, data, level, refine):
    labels = {node: data.draw(st.sampled_from("CNO")) for node in graph}
    bonds = {edge: data.draw(st.integers(1, 2)) for edge in graph.edges}
    copy, new = relabelled(graph, seed=3)
    edges = None if refine is None else bonds
    moved = None if refine is None else {(new[v], new[u]): label for (u, v), label in bonds.items()}
    one = fingerprint(graph, 1, level, refine, labels=labels, edge_labels=edges)
    assert one == fingerprint(copy, 1, level, refine, labels={new[v]: labels[v] for v in graph}, edge_labels=moved)
    if len(graph):
        swapped = {**labels, next(iter(graph)): "P"}
        assert one != fingerprint(graph, 1, level, refine, labels=swapped, edge_labels=edges)


@settings(deadline=None, max_examples=30)
@given(random_graphs(8), st.data())
def test_refinement_from_labels_is_that_of_the_oracle(graph, data):
    """1-WL from labels alone (k = 0), over labelled edges: two graphs are told apart where the oracle does."""
    first, second = ({v: data.draw(st.integers(0, 1)) for v in graph} for _ in range(2))
    bonds, other_bonds = ({e: data.draw(st.integers(0, 1)) for e in graph.edges} for _ in range(2))
    colors, around = [], []
    for labels, kinds, shift in ((first, bonds, 0), (second, other_bonds, len(graph))):
        colors += [labels[v] for v in graph]
        either = {**kinds, **{(v, u): kind for (u, v), kind in kinds.items()}}
        around += [[(u + shift, either[v, u]) for u in graph[v]] for v in graph]
    refined = naive.refined(colors, around)
    n = len(graph)
    expected = sorted(refined[:n]) == sorted(refined[n:])
    found = [
        fingerprint(graph, 0, "node", "wl", labels=labels, edge_labels=kinds)
        for labels, kinds in ((first, bonds), (second, other_bonds))
    ]
    assert (found[0] == found[1]) == expected


def test_compare_tells_apart_graphs_that_differ_in_labels_only_and_says_by_what():
    path = nx.path_graph(3)
    assert not compare(path, path, labels=(WATER, WATER)).distinguished
    counts = compare(path, path, labels=(WATER, ["H", "O", "O"]))
    assert (counts.by, counts.evidence) == ("labels of nodes", [("nodes labelled H", 2, 1), ("nodes labelled O", 1, 2)])
    places = compare(path, path, level="node", labels=(WATER, OTHER))
    assert places.by == "ND at k=1"
    assert ("nodes seen as (0,0,2,2,O)", 1, 0) in places.evidence
    assert not compare(path, path, labels=(WATER, list(reversed(WATER)))).distinguished
    one, other = (Graph.from_edges([(0, 1), (1, 2)], labels=labels) for labels in (WATER, OTHER))
    assert compare(one, other).distinguished and not compare(one, other, labels=False).distinguished


def test_compare_reads_labels_of_edges():
    square = nx.cycle_graph(4)
    side, across = {(0, 1): 2, (1, 2): 2, (2, 3): 1, (3, 0): 1}, {(0, 1): 2, (1, 2): 1, (2, 3): 2, (3, 0): 1}
    found = compare(square, square, edge_labels=(side, across))
    assert found.by == "ED at k=1, 2, 3 with 1-WL over labelled edges"
    counts = compare(square, square, edge_labels=(side, dict.fromkeys(square.edges, 2)))
    assert (counts.by, counts.evidence[0]) == ("labels of edges", ("edges labelled 1", 2, 0))
    assert not compare(square, square, edge_labels=(side, {(u, v): 3 - x for (u, v), x in side.items()})).distinguished
    with pytest.raises(ValueError, match="read by the refinement alone"):
        compare(square, square, refine=None, edge_labels=(side, across))
    for level, refine in itertools.product(LEVELS, ["wl", "2fwl"]):
        one, other = (fingerprint(square, 1, level, refine, edge_labels=labels) for labels in (side, across))
        assert one != other


def test_labels_of_edges_come_from_attributes_and_arrays():
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, {(0, 1): "single", (1, 2): "double"}, "bond")
    arcs = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    ways = [
        fingerprint(graph, 1, edge_labels="bond"),
        fingerprint(graph, 1, edge_labels=["single", "double"]),
        fingerprint(graph, 1, edge_labels={(1, 0): "single", (2, 1): "double"}),
        fingerprint(
            igraph.Graph(3, [(0, 1), (1, 2)], edge_attrs={"bond": ["single", "double"]}), 1, edge_labels="bond"
        ),
    ]
    assert len(set(ways)) == 1
    numbers = Data(edge_index=arcs, num_nodes=3, edge_attr=torch.tensor([1, 1, 2, 2]))
    assert fingerprint(numbers, 1, edge_labels="edge_attr") == fingerprint(graph, 1, edge_labels=[1, 2])


@pytest.mark.parametrize(
    ("edge_labels", "says"),
    [
        ([1], "one for each of the 2 edges, got 1"),
        ({(0, 1): 1}, r"the edge \(1, 2\) has none"),
        ({(0, 1): 1, (1, 0): 2, (1, 2): 1}, "has two, 1 and 2"),
        ({(0, 2): 1}, r"\(0, 2\) is not an edge"),
        ({0: 1}, "pairs of nodes"),
        ("bond", r"='bond' is no attribute of the edges, which have \[\]"),
    ],
)
def test_bad_labels_of_edges_are_named(edge_labels, says):
    with pytest.raises(ValueError, match=f"edge_labels.*{says}"):
        fingerprint(nx.path_graph(3), 1, edge_labels=edge_labels)


def test_compare_needs_labels_of_both_or_none():
    path = nx.path_graph(3)
    with pytest.raises(ValueError, match="a has some and b has none"):
        compare(Graph.from_networkx(path, labels=WATER), path)
    with pytest.raises(TypeError, match="labels must be the name of an attribute, or a pair"):
        compare(path, path, labels=5)


# What is learned


def labelled(labels, graph=None):
    return Graph.from_networkx(nx.path_graph(len(labels)) if graph is None else graph, labels=labels)


@pytest.mark.parametrize("form", ["marginal", "joint", "type"])
@pytest.mark.parametrize("names", [("H", "O", "N"), (1, 2, 9)])
def test_encoder_sends_unseen_labels_and_types_to_unknown(form, names):
    h, o, n = names
    train, unseen = [labelled([h, o, h]), labelled([h, h])], labelled([o, n, o])
    encoder = Encoder(k=1, form=form, per="graph", max_degree=None if form != "marginal" else 2).fit(train)
    columns = encoder.get_feature_names_out().tolist()
    assert columns[-1] == "k1.unknown" and len(columns) == len(set(columns))
    known, new = encoder.transform([train[0], unseen]).toarray()
    assert known[-1] == 0 and new[-1] > 0 and known.sum() == new.sum()
    assert (encoder.fit_transform(train) != encoder.transform(train)).nnz == 0
    # Numbers of labels may differ between the graphs of one list and of another.
    alone = encoder.transform([train[1]]).toarray()
    assert (alone == encoder.transform(train).toarray()[1]).all()


def test_encoder_reads_attributes_and_refuses_a_mixture():
    graphs = [nx.path_graph(3), nx.path_graph(2)]
    for graph in graphs:
        nx.set_node_attributes(graph, {v: "HO"[v % 2] for v in graph}, "atom")
    by_name = Encoder(k=1, form="joint", labels="atom").fit(graphs)
    assert "k1.(0,0,2,2,O)" in by_name.get_feature_names_out()
    assert "k1.(0,0,2,2)" in Encoder(k=1, form="joint").fit(graphs).get_feature_names_out()
    with_labels = [labelled(WATER), labelled(["H", "O"])]
    assert (by_name.transform(graphs) != Encoder(k=1, form="joint").fit_transform(with_labels)).nnz == 0
    bare = Encoder(k=1, labels=False).fit(with_labels)
    assert bare.get_feature_names_out().tolist() == Encoder(k=1).fit(graphs).get_feature_names_out().tolist()
    with pytest.raises(ValueError, match="some have labels"):
        Encoder(k=1).fit([with_labels[0], graphs[1]])
    with pytest.raises(ValueError, match="X: the graphs have no labels"):
        Encoder(k=1).fit(with_labels).transform(graphs)
    with pytest.raises(ValueError, match="X: the graphs have labels"):
        Encoder(k=1).fit(graphs).transform(with_labels)
    with pytest.raises(TypeError, match="labels must be None, False or"):
        Encoder(k=1, labels=[1]).fit(graphs)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(graphs, max_size=4),
    st.lists(graphs, max_size=4),
    st.sampled_from(["node", "edge", "pair"]),
    st.lists(st.integers(0, 3), min_size=1, max_size=3, unique=True),
)
def test_bags_are_sums_and_means_of_rows_with_unseen_types_too(train, test, level, depths):
    rows = Encoder(k=depths, level=level, form="type").fit(train)
    for per in ("graph", "mean"):
        bags = Encoder(k=depths, level=level, form="type", per=per).fit(train)
        assert bags.get_feature_names_out().tolist() == rows.get_feature_names_out().tolist()
        found = bags.transform(test)
        assert found.shape == (len(test), len(rows.columns_[level].table)) and found.has_canonical_format
        for graph, bag in zip(test, found.toarray(), strict=True):
            alone = rows.transform([graph]).toarray()
            expected = alone.sum(axis=0) if per == "graph" or not len(alone) else alone.mean(axis=0)
            assert np.allclose(bag, expected)


def test_a_bag_of_types_sums_the_rows_of_each_graph():
    graphs = [labelled(WATER), labelled(OTHER), labelled(WATER)]
    rows = Encoder(k=[1, 2], form="type").fit(graphs)
    bags = Encoder(k=[1, 2], form="type", per="graph").fit_transform(graphs).toarray()
    assert (bags == rows.transform(graphs).toarray().reshape(3, 3, -1).sum(axis=1)).all()
    assert (bags[0] == bags[2]).all() and (bags[0] != bags[1]).any() and (bags.sum(axis=1) == 6).all()


def as_data(graph, x):
    arcs = np.array([*graph.edges, *((v, u) for u, v in graph.edges)]).T
    return Data(edge_index=torch.from_numpy(arcs), x=x)


@pytest.mark.parametrize("form", ["marginal", "joint", "type"])
@pytest.mark.parametrize("level", ["node", "edge"])
def test_add_elene_with_labels(form, level):
    x = torch.nn.functional.one_hot(torch.tensor([0, 1, 0]), 3).float()
    data, unseen = as_data(nx.path_graph(3), x), as_data(nx.path_graph(3), x.flip(1))
    transform = AddELENE(1, level=level, form=form, labels="x")
    with pytest.raises(ValueError, match="call fit"):
        transform(data)
    transform.fit([data])
    assert "labels='x'" in repr(transform)
    key = "x" if level == "node" else "edge_attr"
    width = 3 if level == "node" else 0
    known, new = (transform(one)[key][:, width:] for one in (data, unseen))
    expected = encode(Graph.from_pyg(data, labels="x"), 1, level=level, form=form)
    assert known.shape[1] == expected.shape[1] + 1
    assert known[:, -1].sum() == 0 and new[:, -1].sum() > 0 and new.sum() == known.sum()
    with pytest.raises(TypeError, match="labels must be the name"):
        AddELENE(1, labels=True)


# Files


@pytest.mark.parametrize("form", ["marginal", "joint", "type"])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("labels", [["x", "y"], [3, 8]])
def test_files_in_chunks_are_as_the_whole(tmp_path, form, level, labels):
    import pandas

    from elene import Encoding

    graph = Graph.from_networkx(nx.wheel_graph(7), labels=[labels[v % 2] for v in range(7)])
    spec, whole = EncodingSpec.of([2, 1], level, form=form), encode(graph, [2, 1], level=level, form=form)
    for name in ("e.npz", "e.parquet", "e.csv"):
        write_encoding(graph, spec, tmp_path / name, chunk=3)
    loaded = Encoding.load(tmp_path / "e.npz")
    assert loaded.columns == whole.columns and (loaded.matrix != whole.matrix).nnz == 0
    wide = pandas.read_csv(tmp_path / "e.csv")
    assert [*map(str, whole.columns)] == wide.columns[-whole.shape[1] :].tolist()
    assert (wide[[*map(str, whole.columns)]].to_numpy() == whole.matrix.toarray()).all()
    tidy = pandas.read_parquet(tmp_path / "e.parquet")
    assert tidy["count"].sum() == whole.matrix.sum()
    if form == "type":
        assert set(tidy["type"]) == {f"{column.color:016x}" for column in whole.columns}
    else:
        field = "label" if form == "marginal" or level == "node" else "label_2"
        assert set(tidy[field]) == set(labels)


def test_a_run_is_not_resumed_with_other_labels(tmp_path):
    graph, spec = nx.path_graph(6), EncodingSpec.of(1)

    def stop(stage, done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_encoding(labelled(list("abcabc")), spec, tmp_path / "e.npz", chunk=2, report=stop)
    for other in (labelled(list("abcabd")), graph):
        with pytest.raises(ValueError, match="were made with"):
            write_encoding(other, spec, tmp_path / "e.npz", chunk=2, resume=True)
    assert write_encoding(labelled(list("abcabc")), spec, tmp_path / "e.npz", chunk=2, resume=True).rows == 6
