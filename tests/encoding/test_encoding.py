from __future__ import annotations

import json
import zipfile
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import hstack

import elene
import graphs as shapes
import naive
from elene.encoding import Encoding, JointColumn
from elene.engine.policy import POLICY
from elene.graph import Graph
from graphs import graphs, relabelled
from tuning import tune

depths = st.integers(0, 4)
clips = st.sampled_from([None, 0, 1, 3, 50])


def rows_of(encoding):
    """Each row as a dict from what its nonzero columns count, depth left out."""
    names = [
        column.quadruplet if isinstance(column, JointColumn) else (column.distance, column.kind, column.value)
        for column in encoding.columns
    ]
    dense = encoding.matrix.toarray()
    return [{names[j]: int(row[j]) for j in np.flatnonzero(row)} for row in dense]


def largest_degree(graph):
    return max((degree for _, degree in graph.degree), default=0)


def number_nodes(how, monkeypatch):
    """Let the engine number the nodes of small graphs as it does those of large ones."""
    tune(monkeypatch, shared_paths=0 if how == "by degree" else 10**9)


@settings(max_examples=40, deadline=None)
@given(graph=graphs, k=depths, clip=clips, absolute=st.booleans(), together=st.booleans())
def test_nodes_agree_with_the_oracle(graph, k, clip, absolute, together):
    rho = largest_degree(graph) if clip is None else clip
    options = {"max_degree": clip, "degrees": "absolute" if absolute else "relative"}
    with pytest.MonkeyPatch.context() as patch:
        tune(patch, shared_paths=0 if together else 10**9)
        marginal = elene.encode(graph, k, **options)
    joint = elene.encode(graph, k, form="joint", **options)
    expected = [naive.node_encoding(graph, node, k) for node in graph]
    assert rows_of(marginal) == [naive.marginal(multiset, rho, absolute) for multiset in expected]
    assert rows_of(joint) == [naive.joint(multiset, rho, absolute) for multiset in expected]
    assert marginal.nodes.tolist() == list(graph.nodes)
    assert marginal.matrix.shape == (len(graph), (1 if absolute else 3) * (k + 1) * (rho + 1))


@settings(max_examples=40, deadline=None)
@given(graph=graphs, k=depths, clip=clips, absolute=st.booleans(), level=st.sampled_from(["edge", "pair"]))
def test_edges_and_pairs_agree_with_the_oracle(graph, k, clip, absolute, level):
    rho = largest_degree(graph) if clip is None else clip
    options = {"level": level, "max_degree": clip, "degrees": "absolute" if absolute else "relative"}
    marginal = elene.encode(graph, k, **options)
    joint = elene.encode(graph, k, form="joint", **options)
    expected = [naive.pair_encoding(graph, u, v, k) for u, v in marginal.edges.tolist()]
    assert rows_of(marginal) == [naive.marginal(naive.both_readings(pairs), rho, absolute) for pairs in expected]
    assert rows_of(joint) == [naive.joint_pairs(pairs, rho, absolute) for pairs in expected]
    if level == "edge":
        assert {frozenset(edge) for edge in marginal.edges.tolist()} == {frozenset(edge) for edge in graph.edges}


@settings(max_examples=30, deadline=None)
@given(graph=graphs, k=depths)
def test_multisets_agree_with_the_oracle(graph, k):
    for node in graph:
        assert elene.quadruplets(graph, node, k) == naive.node_encoding(graph, node, k)
    for u, v in graph.edges:
        assert elene.edge_quadruplets(graph, (u, v), k) == naive.pair_encoding(graph, u, v, k)
        assert elene.edge_quadruplets(graph, (v, u), k) == naive.pair_encoding(graph, v, u, k)


@pytest.mark.parametrize("name", shapes.SHAPES)
@pytest.mark.parametrize("k", range(5))
@pytest.mark.parametrize("numbers", ["by degree", "own"])
def test_named_shapes(name, k, numbers, monkeypatch):
    number_nodes(numbers, monkeypatch)
    graph = shapes.SHAPES[name]
    expected = [naive.marginal(naive.node_encoding(graph, node, k), largest_degree(graph)) for node in graph]
    assert rows_of(elene.encode(graph, k)) == expected


@pytest.mark.jit
@pytest.mark.parametrize("k", [1, 2, 3])
def test_several_groups_of_lanes_and_pieces(k, monkeypatch):
    """More than 64 roots, hubs of more than 255 neighbours, and several ranges of rows."""
    tune(monkeypatch, shared_paths=0)
    graph = nx.barabasi_albert_graph(400, 4, seed=1)
    graph.add_edges_from((0, node) for node in range(1, 330))
    encoding = elene.encode(graph, k, threads=2)
    rho = largest_degree(graph)
    rows = rows_of(encoding)
    for node in range(0, 400, 37):
        assert rows[node] == naive.marginal(naive.node_encoding(graph, node, k), rho)
    edges = elene.encode(graph, k, level="edge", max_degree=40, threads=2)
    rows = rows_of(edges)
    for i in range(0, len(rows), 211):
        pairs = naive.pair_encoding(graph, *edges.edges[i].tolist(), k)
        assert rows[i] == naive.marginal(naive.both_readings(pairs), 40)


@pytest.mark.parametrize("k", [1, 2])
def test_lists_of_any_length_are_scanned(k, monkeypatch):
    """More lists than are copied at a time, some longer than what is copied, and the last one at the end of all."""
    number_nodes("own", monkeypatch)
    graph = nx.union(nx.gnp_random_graph(110, 0.7, seed=0), nx.gnp_random_graph(90, 0.06, seed=1), rename=("a", "b"))
    graph = nx.convert_node_labels_to_integers(graph)
    graph.add_edges_from((0, node) for node in range(110, 200))
    degrees = dict(graph.degree)
    above = [sum((degrees[w], w) > (degrees[v], v) for w in graph[v]) for v in graph]
    assert min(above) == 0 and sum(0 < length <= 16 for length in above) > 64 < sum(length > 16 for length in above)
    nodes = [0, 1, 50, 109, 110, 150, 199]
    rows = rows_of(elene.encode(graph, k, roots=nodes, threads=1))
    rho = largest_degree(graph)
    assert rows == [naive.marginal(naive.node_encoding(graph, node, k), rho) for node in nodes]


@settings(max_examples=25, deadline=None)
@given(graph=graphs, k=depths, seed=st.integers(0, 99))
def test_relabelling_moves_rows_and_nothing_else(graph, k, seed):
    copy, new = relabelled(graph, seed)
    before, after = elene.encode(graph, k), elene.encode(copy, k)
    order = [new[node] for node in graph]
    assert (before.matrix.toarray() == after.matrix.toarray()[order]).all()
    edges, moved = (elene.encode(g, k, level="edge", form="joint") for g in (graph, copy))
    found = {frozenset(edge): row for edge, row in zip(moved.edges.tolist(), rows_of(moved), strict=True)}
    for (u, v), row in zip(edges.edges.tolist(), rows_of(edges), strict=True):
        assert found[frozenset((new[u], new[v]))] == row


@pytest.mark.parametrize("options", [{}, {"form": "joint"}, {"level": "edge"}, {"level": "edge", "form": "joint"}])
def test_threads_change_no_byte(options, monkeypatch):
    tune(monkeypatch, hand_out=0.001, shared_paths=0)
    graph = nx.barabasi_albert_graph(60, 3, seed=3)
    one, *others = (elene.encode(graph, 2, threads=threads, **options) for threads in (1, 2, 5))
    for other in others:
        for part in ("data", "indices", "indptr"):
            mine, theirs = getattr(one.matrix, part), getattr(other.matrix, part)
            assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()
        assert one.table.tobytes() == other.table.tobytes()
    assert one.matrix.has_sorted_indices and (one.matrix.data > 0).all()


@settings(max_examples=40, deadline=None)
@given(graph=graphs, threads=st.integers(1, 3), max_degree=st.sampled_from([None, 0, 2]))
def test_the_order_in_which_edges_are_counted_changes_no_byte(graph, threads, max_degree):
    found = []
    for sorted_edges in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            tune(patch, hand_out=0.001, sorted_edges=sorted_edges)
            found.append(elene.encode(graph, 1, level="edge", max_degree=max_degree, threads=threads))
    for part in ("data", "indices", "indptr"):
        mine, theirs = (getattr(encoding.matrix, part) for encoding in found)
        assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()
    assert np.array_equal(found[0].edges, elene.Graph.from_networkx(graph).edges)


@pytest.mark.parametrize("degrees", ["relative", "absolute"])
@pytest.mark.parametrize("k", [2, 3])
def test_nodes_around_hubs_look_alike_from_many_roots(k, degrees, monkeypatch):
    tune(monkeypatch, shared_paths=0)
    graph = nx.complete_bipartite_graph(2, 90)
    graph.add_edges_from((leaf, leaf + 1) for leaf in range(5, 85, 7))
    rows, rho = rows_of(elene.encode(graph, k, degrees=degrees)), largest_degree(graph)
    for node in range(0, len(graph), 4):
        assert rows[node] == naive.marginal(naive.node_encoding(graph, node, k), rho, degrees == "absolute")


@pytest.mark.jit
@pytest.mark.parametrize(
    ("k", "level", "density", "room"),
    [(1, "node", 0.3, POLICY.shallow_room), (2, "node", 0.08, POLICY.deep_room), (1, "edge", 0.6, POLICY.shallow_room)],
)
def test_rows_may_be_longer_than_was_thought(k, level, density, room, monkeypatch):
    tune(monkeypatch, shared_paths=10**9)
    graph = nx.gnp_random_graph(150, density, seed=1)
    found = elene.encode(graph, k, level=level, threads=1)
    assert found.matrix.nnz > room * found.matrix.shape[0]
    rows, rho = rows_of(found), largest_degree(graph)
    for i in range(0, len(rows), len(rows) // 25):
        if level == "node":
            expected = naive.node_encoding(graph, i, k)
        else:
            expected = naive.both_readings(naive.pair_encoding(graph, *list(graph.edges)[i], k))
        assert rows[i] == naive.marginal(expected, rho)


@pytest.mark.jit
@pytest.mark.parametrize(
    "options",
    [
        {"k": 1},
        {"k": 1, "roots": range(100)},
        {"k": 2},
        {"k": 3, "form": "joint"},
        {"k": 1, "level": "edge"},
        {"k": 2, "level": "edge"},
    ],
)
def test_wide_pointers_and_states_change_no_count(options, monkeypatch):
    graph = nx.barabasi_albert_graph(300, 4, seed=1)
    narrow = elene.encode(graph, **options).matrix
    monkeypatch.setattr("elene.graph.arrays.WIDE", 0)
    tune(monkeypatch, shared_paths=0, narrow_bits=0)
    assert elene.Graph.from_networkx(graph).ranked[0].dtype == np.uint64
    assert (elene.encode(graph, **options).matrix != narrow).nnz == 0


def test_several_depths_stand_side_by_side():
    graph = nx.wheel_graph(6)
    both = elene.encode(graph, [2, 1])
    parts = [elene.encode(graph, k) for k in (2, 1)]
    assert (both.matrix.toarray() == np.hstack([part.matrix.toarray() for part in parts])).all()
    assert both.columns == parts[0].columns + parts[1].columns


@pytest.mark.parametrize("level", ["node", "edge", "pair"])
@pytest.mark.parametrize("chosen", [[7, 2, 2, 5], [9, 8, 4, 0, 1, 6, 3, 10]])
@pytest.mark.parametrize("numbers", ["by degree", "own"])
def test_roots_are_rows_of_the_whole(level, chosen, numbers, monkeypatch):
    """Few and many of the 11 nodes: the engine renumbers nodes for many."""
    number_nodes(numbers, monkeypatch)
    graph = nx.barbell_graph(4, 3)
    whole = elene.encode(graph, 2, level=level)
    names = (whole.nodes if level == "node" else whole.edges).tolist()
    some = elene.encode(graph, 2, level=level, roots=[names[i] for i in chosen])
    assert (some.matrix.toarray() == whole.matrix.toarray()[chosen]).all()
    assert (some.nodes if level == "node" else some.edges).tolist() == [names[i] for i in chosen]
    if level == "pair":
        assert some.distances.tolist() == whole.distances[chosen].tolist()


def test_pairs_within_a_radius():
    graph = nx.cycle_graph(9)
    pairs = elene.encode(graph, 1, level="pair", radius=2)
    distances = dict(nx.all_pairs_shortest_path_length(graph))
    expected = {(u, v): distances[u][v] for u in graph for v in graph if u <= v and distances[u][v] <= 2}
    assert dict(zip(map(tuple, pairs.edges.tolist()), pairs.distances.tolist(), strict=True)) == expected


def test_edges_do_not_depend_on_the_order_of_their_ends():
    graph = nx.barabasi_albert_graph(20, 3, seed=5)
    u, v = zip(*graph.edges, strict=True)
    for form in ("marginal", "joint", "product"):
        one = elene.encode(graph, 2, level="edge", form=form, roots=list(zip(u, v, strict=True)))
        other = elene.encode(graph, 2, level="edge", form=form, roots=list(zip(v, u, strict=True)))
        assert (one.matrix != other.matrix).nnz == 0


def test_product_multiplies_the_vectors_of_the_ends():
    graph = nx.wheel_graph(7)
    nodes = elene.encode(graph, 1).matrix.toarray()
    edges = elene.encode(graph, 1, level="edge", form="product")
    assert (edges.matrix.toarray() == np.array([nodes[u] * nodes[v] for u, v in edges.edges])).all()
    assert len(edges.columns) == edges.matrix.shape[1]


def test_labels_come_back():
    graph = nx.relabel_nodes(nx.path_graph(4), dict(enumerate("dbca")))
    assert elene.encode(graph, 1).nodes.tolist() == list("dbca")
    assert elene.encode(graph, 1, level="edge").edges.tolist() == [["d", "b"], ["b", "c"], ["c", "a"]]
    assert elene.encode(graph, 1, roots=["a"]).nodes.tolist() == ["a"]
    assert elene.quadruplets(graph, "a", 1) == {(0, 0, 1, 1): 1, (1, 1, 1, 0): 1}


@pytest.mark.parametrize("parameters", [(10, 3, 0, 1), (16, 6, 2, 2), (25, 12, 5, 6), (28, 12, 6, 4)])
def test_strongly_regular_graphs_have_the_quadruplets_of_the_theorem(parameters):
    from elene.datasets import rook, shrikhande, sr25, triangular

    n, d, lam, mu = parameters
    families = {10: [nx.petersen_graph()], 16: [rook(), shrikhande()], 25: sr25()[:3], 28: [triangular(8)]}
    expected = Counter({(0, 0, d, d): 1, (1, 1, d, d - lam - 1): d, (2, mu, d, 0): n - d - 1})
    for graph in families[n]:
        for node in range(n):
            assert elene.quadruplets(graph, node, 2) == expected


def test_save_and_load(tmp_path):
    graph = nx.relabel_nodes(nx.wheel_graph(6), str)
    for i, options in enumerate(({}, {"level": "edge", "form": "joint"}, {"level": "pair", "radius": 1})):
        saved = elene.encode(graph, [1, 2], **options)
        saved.save(tmp_path / f"{i}.npz")
        loaded = Encoding.load(tmp_path / f"{i}.npz")
        assert loaded.spec == saved.spec and loaded.columns == saved.columns
        assert (loaded.matrix != saved.matrix).nnz == 0 and loaded.matrix.shape == saved.matrix.shape
        for name in ("nodes", "edges", "distances"):
            assert np.array_equal(getattr(loaded, name), getattr(saved, name))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.npz", "1.npz", "2.npz"]


def test_objects_as_labels_are_saved_as_text(tmp_path):
    elene.encode(nx.grid_2d_graph(2, 2), 1).save(tmp_path / "grid.npz")
    assert Encoding.load(tmp_path / "grid.npz").nodes.tolist() == ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)"]


def test_unreadable_encodings(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.raises(FileNotFoundError, match=r"x\.npz"):
        Encoding.load(path)
    elene.encode(nx.path_graph(3), 1).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="not whole"):
        Encoding.load(path)
    np.savez(path, something=np.arange(3))
    with pytest.raises(ValueError, match=r"x\.npz.*not an encoding"):
        Encoding.load(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("spec.npy", json.dumps("no array"))
    with pytest.raises(ValueError, match="not an encoding"):
        Encoding.load(path)
    with pytest.raises(ValueError, match=r"must end in \.npz"):
        elene.encode(nx.path_graph(3), 1).save(tmp_path / "x.txt")
    with pytest.raises(FileNotFoundError, match="create it first"):
        elene.encode(nx.path_graph(3), 1).save(tmp_path / "no" / "x.npz")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "x.npz"
    elene.encode(nx.path_graph(3), 1).save(path)
    before = path.read_bytes()

    def half_written(temporary, **arrays):
        temporary.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("numpy.savez_compressed", half_written)
    with pytest.raises(OSError, match="disk full"):
        elene.encode(nx.path_graph(3), 2).save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"k": -1}, ValueError, "k must be at least 0, got -1"),
        ({"k": 1.5}, TypeError, "k must be an integer, got 1.5"),
        ({"k": True}, TypeError, "k must be an integer, got True"),
        ({"k": "2"}, TypeError, "k must be an integer, got '2'"),
        ({"k": []}, ValueError, "at least one depth"),
        ({"k": [1, 1]}, ValueError, r"each depth once, got \[1, 1\]"),
        ({"level": "graph"}, ValueError, "level must be one of 'node', 'edge', 'pair'; got 'graph'"),
        ({"degrees": "none"}, ValueError, "degrees must be one of"),
        ({"form": "dense"}, ValueError, "form must be one of"),
        ({"form": "product"}, ValueError, "level='edge'"),
        ({"max_degree": -2}, ValueError, "max_degree must be at least 0, got -2"),
        ({"max_degree": 2.0}, TypeError, "max_degree must be an integer"),
        ({"radius": 2}, ValueError, "radius=2 is for level='pair'"),
        ({"level": "pair", "radius": -1}, ValueError, "radius must be at least 0"),
        ({"threads": 0}, ValueError, "threads must be at least 1, got 0"),
        ({"threads": 1.0}, TypeError, "threads must be an integer"),
        ({"roots": [99]}, ValueError, "roots: node 99 is not in the graph, whose nodes are 0 to 4"),
        ({"roots": [-1]}, ValueError, "roots: node -1"),
        ({"roots": [0.5]}, TypeError, "roots must be integers"),
        ({"roots": [[0, 1]]}, ValueError, "roots must be a list of nodes"),
        ({"level": "edge", "roots": [(0, 2)]}, ValueError, r"\(0, 2\) is not an edge"),
        ({"level": "edge", "roots": [(0, 1, 2)]}, ValueError, "pairs of nodes"),
        ({"level": "pair", "radius": 1, "roots": [(0, 2)]}, ValueError, r"\(0, 2\) is not within radius=1"),
        ({"max_degree": 2**31}, ValueError, "pass a smaller max_degree"),
    ],
)
def test_bad_arguments_are_named(options, error, message):
    with pytest.raises(error, match=message):
        elene.encode(nx.path_graph(5), options.pop("k", 1), **options)


def test_bad_graphs_are_named():
    with pytest.raises(TypeError, match="got list"):
        elene.encode([(0, 1)], 1)
    with pytest.raises(ValueError, match="directed"):
        elene.encode(nx.DiGraph([(0, 1)]), 1)


def test_bad_nodes_and_edges_of_multisets():
    graph = nx.path_graph(4)
    with pytest.raises(ValueError, match="node: node 9 is not in the graph"):
        elene.quadruplets(graph, 9, 1)
    with pytest.raises(ValueError, match=r"\(0, 2\) is not an edge"):
        elene.edge_quadruplets(graph, (0, 2), 1)
    with pytest.raises(ValueError, match="pair of nodes"):
        elene.edge_quadruplets(graph, (0, 1, 2), 1)
    with pytest.raises(TypeError, match="k must be an integer"):
        elene.quadruplets(graph, 0, None)


def test_a_depth_beyond_the_graph_changes_nothing():
    graph = nx.path_graph(6)
    deep = elene.encode(graph, 70_000, form="joint")
    assert rows_of(deep) == rows_of(elene.encode(graph, 5, form="joint"))
    assert elene.quadruplets(graph, 0, 10**6) == elene.quadruplets(graph, 0, 5)
    assert rows_of(elene.encode(graph, 70_000, level="edge", form="joint")) == rows_of(
        elene.encode(graph, 5, level="edge", form="joint")
    )


@pytest.mark.jit
def test_long_paths_are_too_deep_with_a_clear_error():
    path = elene.Graph.from_edges(np.stack([np.arange(70_000), np.arange(1, 70_001)], axis=1))
    with pytest.raises(ValueError, match="k=69000 is deeper"):
        elene.encode(path, 69_000, level="edge", form="joint", max_degree=1, roots=[(0, 1)])


def test_onto_keeps_every_count():
    known = elene.encode(nx.cycle_graph(5), [1, 2], form="joint")
    other = elene.encode(nx.star_graph(4), [1, 2], form="joint").onto(known.table)
    assert [str(column) for column in other.columns[-2:]] == ["k1.unknown", "k2.unknown"]
    assert other.matrix.sum() == sum(1 + nx.star_graph(4).degree(v) for v in range(5)) + 25
    again = known.onto(known.table)
    assert (again.matrix.toarray()[:, :-2] == known.matrix.toarray()).all()
    assert again.onto(again.table).table.tolist() == again.table.tolist()


# Depths beyond the diameter


@pytest.mark.parametrize("form", ["marginal", "joint", "product"])
@pytest.mark.parametrize("level", ["node", "edge", "pair"])
def test_depths_beyond_the_diameter_are_what_each_is_alone(level, form, monkeypatch):
    if (level, form) == ("node", "product"):
        pytest.skip("no such form")
    graph = Graph.from_networkx(nx.disjoint_union(nx.path_graph(4), nx.star_graph(3)))
    depths = [7, 1, 3, 300, 4]
    counted = []
    for name in ("count_marginal", "count_joint"):
        kernel = getattr(elene.encoding.counts, name)

        def count(graph, rows, depth, *rest, kernel=kernel):
            counted.append(depth)
            return kernel(graph, rows, depth, *rest)

        monkeypatch.setattr(elene.encoding.counts, name, count)
    together = elene.encode(graph, depths, level=level, form=form)
    if form != "product":
        assert counted == [1, 3, 4], "nothing is farther than 3, which depth 4 shows"
    alone = [elene.encode(graph, depth, level=level, form=form) for depth in depths]
    assert together.columns == [column for encoding in alone for column in encoding.columns]
    assert (together.matrix != hstack([encoding.matrix for encoding in alone])).nnz == 0


def test_named_pairs_that_are_farther_apart_than_the_depth_are_counted_at_greater_ones():
    encoding = elene.encode(nx.path_graph(9), [1, 2, 4, 5], level="pair", roots=[(0, 8)])
    per_depth = [
        sum(encoding.matrix[0, i] for i, c in enumerate(encoding.columns) if c.depth == k) for k in (1, 2, 4, 5)
    ]
    assert per_depth[:2] == [0, 0]
    assert 0 < per_depth[2] < per_depth[3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: elene.encode(nx.path_graph(3), 10_000_000), "k=10000000 and degrees up to 2 need 90000009 columns"),
        (lambda: elene.encode(nx.path_graph(3), 1, max_degree=10**8), "need 600000006 columns"),
        (lambda: elene.Encoder(k=10**9).fit([nx.path_graph(3)]), "k=1000000000 and degrees up to 2 need"),
        (lambda: elene.encode(nx.path_graph(3), 2**40), "k must be at most 2147483647, got 1099511627776"),
    ],
)
def test_columns_that_can_only_be_zero_are_bounded(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_great_depth_costs_nothing_where_it_has_no_columns():
    for level in ("node", "edge"):
        deep = elene.encode(nx.path_graph(3), 10**9, level=level, form="joint")
        assert (deep.matrix != elene.encode(nx.path_graph(3), 2, level=level, form="joint").matrix).nnz == 0
        assert {column.depth for column in deep.columns} == {10**9}


@pytest.mark.parametrize("k", [b"1", bytearray(b"12"), memoryview(b"1"), "1", "12", np.array(2), np.array([1.0])])
def test_bytes_are_no_depths(k):
    with pytest.raises(TypeError, match="k must be an integer"):
        elene.encode(nx.path_graph(3), k)


# Pairs that no path joins


@pytest.mark.parametrize("form", ["marginal", "joint"])
def test_a_pair_that_no_path_joins_is_an_empty_row(form):
    graph = nx.disjoint_union(nx.path_graph(3), nx.path_graph(2))
    encoding = elene.encode(graph, 2, level="pair", form=form, roots=[(0, 2), (0, 4), (3, 4), (1, 1)])
    assert encoding.distances.tolist() == [2, -1, 1, 0]
    counts = encoding.matrix.sum(axis=1)
    assert counts[1] == 0 and (counts[[0, 2, 3]] > 0).all()
    alone = elene.encode(graph, 2, level="pair", form=form, roots=[(0, 2), (3, 4), (1, 1)])
    assert (encoding.matrix[[0, 2, 3]] != alone.matrix).nnz == 0


def test_a_pair_beyond_the_radius_names_the_option():
    with pytest.raises(ValueError, match=r"\(0, 2\) is not within radius=1: leave it out, or leave radius out"):
        elene.encode(nx.path_graph(3), 1, level="pair", radius=1, roots=[(0, 1), (0, 2)])


@pytest.mark.jit
def test_a_pair_that_is_farther_apart_than_distances_can_be():
    n = 2**16 + 10
    path = Graph.from_edges(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))
    with pytest.raises(ValueError, match=rf"\(0, {n - 1}\) is too far apart to be encoded"):
        elene.encode(path, 1, level="pair", roots=[(0, n - 1)])
    for radius in (n, 10**6):
        with pytest.raises(ValueError, match="is not within radius"):
            elene.encode(path, 1, level="pair", radius=radius, roots=[(0, n - 1)])
