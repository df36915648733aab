"""What is read from .npz files is checked before it is used: saved encodings, mutated and made up."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

from elene.arrays import opened
from elene.datasets.collection import Collection
from elene.encoding import Encoding, encode
from elene.graph import Graph

GRAPH = Graph.from_edges([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 6)], num_nodes=8)
SAVED = [
    {"k": 1},
    {"k": [2, 1], "form": "joint"},
    {"k": 1, "level": "edge", "degrees": "absolute"},
    {"k": 2, "level": "pair", "form": "joint"},
]


def arrays_of(path):
    with np.load(path) as file:
        return dict(file)


def use(encoding):
    """Everything that would read beyond the arrays if they did not fit."""
    encoding.matrix.toarray()
    (encoding.matrix @ np.ones(encoding.matrix.shape[1])).sum()
    encoding.matrix.T.tocsr()
    assert len(encoding.columns) == encoding.matrix.shape[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"indices": lambda a: a + 10**6}, "indices must be columns from 0 to 23, got 1000000 to"),
        ({"indices": lambda a: a - 5}, "indices must be columns from 0 to 23, got -5"),
        ({"indices": lambda a: a[:-1]}, "there are [0-9]+ counts in [0-9]+ places"),
        ({"indices": lambda a: a.astype(float)}, "indices must be one row of integers, got float64"),
        ({"data": lambda a: a[:-1]}, "there are [0-9]+ counts in [0-9]+ places"),
        ({"data": lambda a: a.reshape(1, -1)}, "data must be one row of integers"),
        ({"indptr": lambda a: a[::-1]}, "indptr must rise from 0"),
        ({"indptr": lambda a: a + 1}, "indptr must rise from 0"),
        ({"indptr": lambda a: np.append(a[:-1], 10**9)}, "indptr must rise from 0"),
        ({"indptr": lambda a: a[:0]}, "indptr must rise from 0"),
        ({"indptr": lambda a: np.concatenate([a[:2], [10**7], a[3:]])}, "indptr must rise from 0"),
        ({"shape": lambda a: np.array([8, 3])}, "indices must be columns from 0 to 2"),
        ({"shape": lambda a: np.array([7, 24])}, "indptr must rise from 0"),
        ({"shape": lambda a: np.array([8, 25])}, r"table must be integers of shape \(25, 4\)"),
        ({"shape": lambda a: np.array([8, -24])}, "indices must be columns"),
        ({"shape": lambda a: np.array([8.0, 24.0])}, "shape must be two integers"),
        ({"shape": lambda a: np.array(8)}, "shape must be two integers"),
        ({"table": lambda a: a[:, :3]}, r"table must be integers of shape \(24, 4\)"),
        ({"table": lambda a: a + np.array([1, 0, 0, 0])}, r"table must have the depths \[1\]"),
        ({"table": lambda a: a + np.array([0, 0, 7, 0])}, "one of three kinds"),
        ({"table": lambda a: a - [0, 0, 9, 0]}, "must not hold numbers below 0"),
        ({"nodes": lambda a: a[:-1]}, r"nodes has the shape \(7,\) of int64, for 8 rows"),
        ({"nodes": lambda a: None}, r"at level='node' there must be \['nodes'\], got \[\]"),
        ({"edges": lambda a: np.zeros((8, 2))}, r"there must be \['nodes'\], got \['edges', 'nodes'\]"),
        ({"spec": lambda a: np.array("{")}, "not an encoding saved by elene"),
        ({"spec": lambda a: np.array("[1]")}, "spec must hold the parameters of an encoding"),
        ({"spec": lambda a: np.array("{}")}, "spec must hold the parameters of an encoding"),
        ({"spec": lambda a: np.array(str(a).replace("[1]", "[-1]"))}, "k must be at least 0"),
        ({"spec": lambda a: np.array(str(a).replace("marginal", "sum"))}, "form must be one of"),
        ({"data": lambda a: None}, "there is no array 'data'"),
    ],
)
def test_an_encoding_whose_parts_do_not_fit_is_refused(change, message, tmp_path):
    path = tmp_path / "a.npz"
    encode(GRAPH, 1).save(path)
    arrays = arrays_of(path)
    for name, make in change.items():
        arrays[name] = make(arrays.get(name))
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    with pytest.raises(ValueError, match=message):
        Encoding.load(path)


@pytest.mark.parametrize("options", SAVED, ids=str)
def test_what_was_saved_is_loaded(options, tmp_path):
    encoding = encode(GRAPH, **options)
    encoding.save(tmp_path / "a.npz")
    found = Encoding.load(tmp_path / "a.npz")
    use(found)
    assert (found.matrix != encoding.matrix).nnz == 0
    assert found.columns == encoding.columns
    assert found.matrix.data.flags.writeable
    found.matrix.sort_indices()


@pytest.mark.parametrize("load", [Encoding.load, Graph.read, Graph.read_all, Collection.load])
@pytest.mark.parametrize("path", [0, 3, True, 1.5, None, b"a.npz", ["a.npz"]])
def test_only_names_are_paths(load, path):
    with pytest.raises(TypeError, match="path must be the name of a file"):
        load(path)


def test_a_saved_encoding_is_no_pickle(tmp_path):
    path = tmp_path / "a.npz"
    encode(GRAPH, 1).save(path)
    np.savez(path, **(arrays_of(path) | {"nodes": np.array([None] * 8, dtype=object)}))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        Encoding.load(path)


def lying_archive(path, **members):
    """An archive whose members are as long as they say, in the header of the array and in the directory."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, shape in members.items():
            with archive.open(f"{name}.npy", "w") as file:
                header = {"descr": "<i8", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
                file.write(bytes(64))


def test_the_memory_of_an_array_is_bounded_by_its_file(tmp_path):
    path = tmp_path / "a.npz"
    lying_archive(path, edges=(2**40, 2))
    with opened(path) as file, pytest.raises(ValueError, match="larger than the memory that the file has for it"):
        file["edges"]
    # The directory at the end of the archive may lie as well.
    content = bytearray(path.read_bytes())
    info = zipfile.ZipFile(path).infolist()[0]
    place = content.rindex(b"PK\x01\x02") + 24
    assert int.from_bytes(content[place : place + 4], "little") == info.file_size
    content[place : place + 4] = (2**31).to_bytes(4, "little")
    path.write_bytes(content)
    with opened(path) as file, pytest.raises(ValueError, match="cannot have the 2147483648 bytes"):
        file["edges"]


@pytest.mark.parametrize("options", SAVED, ids=str)
def test_mutated_encodings_are_refused_or_the_same(options, tmp_path):
    path, random = tmp_path / "a.npz", np.random.default_rng(1)
    encoding = encode(GRAPH, **options)
    encoding.save(path)
    whole = np.frombuffer(path.read_bytes(), np.uint8)
    refused = 0
    for _ in range(150):
        content = whole.copy()
        for place in random.integers(len(content), size=random.integers(1, 4)):
            content[place] = random.integers(256)
        if random.random() < 0.2:
            content = content[: random.integers(len(content))]
        path.write_bytes(content.tobytes())
        try:
            found = Encoding.load(path)
        except ValueError as error:
            assert str(path) in str(error)
            refused += 1
        else:
            use(found)
            assert (found.matrix != encoding.matrix).nnz == 0 and found.spec == encoding.spec
    assert refused > 50


@pytest.mark.parametrize("options", SAVED, ids=str)
def test_arrays_of_a_saved_encoding_changed_at_random(options, tmp_path):
    """Archives that are whole, with arrays that are not."""
    path, random = tmp_path / "a.npz", np.random.default_rng(2)
    encode(GRAPH, **options).save(path)
    whole = arrays_of(path)
    for _ in range(150):
        arrays = dict(whole)
        name = str(random.choice([name for name in arrays if name != "spec"]))
        arrays[name] = changed(arrays[name], random)
        np.savez(path, **arrays)
        try:
            found = Encoding.load(path)
        except ValueError as error:
            assert str(path) in str(error)
        else:
            use(found)


def changed(array, random):
    """The array with some numbers or its size changed."""
    how = random.integers(4)
    if how == 0 and array.size:
        array = array.copy()
        array.flat[random.integers(array.size)] = random.choice([-(2**31), -1, 0, 1, 7, 1000, 2**31 - 1])
    elif how == 1:
        array = array[: random.integers(len(array) + 1)]
    elif how == 2:
        array = np.concatenate([array, array[: random.integers(1, 3)]])
    else:
        array = array.astype(random.choice(["int8", "float32", "uint64", "bool"]))
    return array


# Graph


@pytest.mark.parametrize(
    ("indptr", "indices", "error", "message"),
    [
        ([0, 1, 2], [1, 10**8], ValueError, "indices must be nodes from 0 to 1, got 1 to 100000000"),
        ([0, 1, 2], [1, -1], ValueError, "indices must be nodes from 0 to 1, got -1 to 1"),
        ([0, 10**9, 2], [1, 0], ValueError, "indptr must rise from 0 to 2"),
        ([0, 2, 1, 2], [1, 0], ValueError, "indptr must rise from 0 to 2"),
        ([0, 1, 5], [1, 0], ValueError, "indptr must rise from 0 to 2"),
        ([1, 1, 2], [1, 0], ValueError, "indptr must rise from 0 to 2"),
        ([0, 1], [0], ValueError, "indices must hold no self-loops; node 0 has one"),
        ([0, 1, 1], [1], ValueError, "indices must hold every edge twice"),
        ([0, 1, 2, 3], [1, 2, 0], ValueError, "indices must hold every edge twice"),
        ([0, 2, 3, 4], [2, 1, 0, 0], ValueError, "indices must be ascending for each node.* those of node 0 are not"),
        ([0, 2, 4], [1, 1, 0, 0], ValueError, "each neighbour once"),
        ([], [], ValueError, "indptr must have one entry more than there are nodes"),
        ([0.0, 1.0, 2.0], [1, 0], TypeError, "indptr must be one row of integers, got float64"),
        ([[0, 1, 2]], [1, 0], TypeError, "indptr must be one row of integers"),
        ([0, 1, 2], [1.5, 0], TypeError, "indices must be one row of integers, got float64"),
        ([0, 1, 2], None, TypeError, "indices must be one row of integers, got object"),
    ],
)
def test_arrays_that_are_no_graph_are_refused(indptr, indices, error, message):
    with pytest.raises(error, match=message):
        Graph(indptr, indices)


def test_arrays_that_are_a_graph_are_copied():
    indptr, indices = np.array([0, 1, 2], np.uint8), np.array([1, 0], np.int64)
    graph = Graph(indptr, indices, names=["a", "b"])
    indices[0] = 77
    assert graph.edges.tolist() == [[0, 1]]
    assert (graph.indptr.dtype, graph.indices.dtype) == (np.int64, np.int32)
    assert graph.nodes.tolist() == ["a", "b"]
    assert Graph([0], []).num_nodes == 0
    with pytest.raises(ValueError, match="names must name all 2 nodes, got 1"):
        Graph([0, 1, 2], [1, 0], names=["a"])


def test_random_arrays_are_refused_or_a_graph():
    random = np.random.default_rng(3)
    for _ in range(500):
        indptr, indices = GRAPH.indptr, GRAPH.indices
        for _ in range(random.integers(0, 3)):
            if random.random() < 0.5:
                indptr = changed(indptr, random)
            else:
                indices = changed(indices, random)
        try:
            graph = Graph(indptr, indices)
        except (ValueError, TypeError):
            continue
        dense = graph.to_scipy().toarray()
        assert (dense == dense.T).all() and not dense.diagonal().any() and dense.max(initial=0) <= 1
        encode(graph, 2)


# Memory that goes by a number


def test_a_number_of_nodes_in_a_small_file_does_not_cost_gigabytes(tmp_path):
    import scipy.sparse as sp

    path = tmp_path / "a.npz"
    np.savez(path, edges=[[0, 1]], num_nodes=2**28)
    with pytest.raises(ValueError, match=r"num_nodes is 268435456, .* Graph\.from_edges"):
        Graph.read(path)
    sp.save_npz(path, sp.coo_array(([1, 1], ([0, 1], [1, 0])), shape=(2**28, 2**28)))
    with pytest.raises(ValueError, match=r"268435456 nodes for 1 edge"):
        Graph.read(path)
    np.savez(path, node_ptr=[0, 2**28], edge_ptr=[0, 2], edge_index=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"268435456 nodes for 1 edge"):
        Graph.read(path)


def test_a_large_position_does_not_cost_gigabytes():
    with pytest.raises(ValueError, match=r"300000000, so there would be 300000001 nodes for 1 edge.* np\.unique"):
        Graph.from_edges([(5, 300_000_000)])
    names, ends = np.unique([(5, 300_000_000)], return_inverse=True)
    assert Graph.from_edges(ends.reshape(-1, 2), names=names).nodes.tolist() == [5, 300_000_000]
    with pytest.raises(ValueError, match="300000001 nodes for 2 edges"):
        Graph.from_pyg(np.array([[5, 300_000_000], [300_000_000, 5]]))
    # As many as this are allowed, and as many as are asked for.
    assert Graph.from_edges([(5, 1_000_000)]).num_nodes == 1_000_001
    assert Graph.from_edges([(0, 1)], num_nodes=5_000_000).num_nodes == 5_000_000
