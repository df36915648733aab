"""Loading by name: every data set at hand is what the registry says, and bad files are named with what mends them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import requests
import torch

import elene
from elene.datasets import DATASETS, Collection, is_strongly_regular, load, load_collection, loading, registry, remote
from elene.datasets.canonical import canonical, digest, narrowed
from elene.datasets.generators.makers import MAKERS
from elene.datasets.info import Edition
from elene.datasets.loading import Where, cache_folder, where
from elene.datasets.registry import find
from naive_datasets import STORED, canonical_form, equal, toy_collection, wl_equal

# One of the five h-Proximity data sets stands for all: they differ in h alone, and test_proximity.py looks at each.
HEAVY = {"proximity-1", "proximity-5", "proximity-8", "proximity-10"}
needs_data = pytest.mark.skipif(STORED is None, reason="ELENE_DATA does not name a folder with the collections")
BUILT = [info.name for info in DATASETS if info.generated and info.editions[0].graphs < loading.FEWEST_CACHED]
DRAWN = [info.name for info in DATASETS if info.generated and info.name not in {*BUILT, *HEAVY}]
KEPT = [info.name for info in DATASETS if any(edition.origin == "stored" for edition in info.editions)]
AT_HAND = [
    *BUILT,
    *(pytest.param(name, marks=pytest.mark.jit) for name in DRAWN),
    *(pytest.param(name, marks=needs_data) for name in KEPT),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One cache for all tests that do not harm it, so that each data set is made once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A row named toy, generated in no time; nothing is stored."""
    monkeypatch.delenv("ELENE_DATA", raising=False)
    monkeypatch.setattr(loading, "FEWEST_CACHED", 1)
    edition = Edition("generated", 12, 46, int(toy_collection().edge_ptr[-1]), digest(canonical(toy_collection())))
    info = replace(
        find("exp"), name="toy", title="Toy", editions=(edition,), node_categories=(4,), edge_categories=(3,)
    )
    monkeypatch.setitem(registry._BY_NAME, "toy", info)
    monkeypatch.setitem(MAKERS, "toy", toy_collection)
    return info


# What is at hand is what the registry says


@pytest.mark.parametrize("name", AT_HAND)
def test_graphs_are_simple_and_undirected(name, cache):
    collection = load_collection(name, cache)
    # The first graphs of the largest ones, for the sake of time.
    graphs = int(np.searchsorted(collection.edge_ptr, 3_000_000, side="right")) - 1
    arcs = collection.edge_index[:, : collection.edge_ptr[graphs]].astype(np.int64)
    counts, nodes = collection.num_arcs[:graphs], int(collection.node_ptr[graphs])
    assert (arcs >= 0).all() and (arcs < np.repeat(collection.num_nodes[:graphs], counts)).all()
    source, target = arcs + np.repeat(collection.node_ptr[:graphs], counts)
    assert (source != target).all()
    there, back = np.sort(source * nodes + target), np.sort(target * nodes + source)
    assert np.array_equal(there, back) and (np.diff(there) > 0).all()


@pytest.mark.parametrize("name", AT_HAND)
def test_data_sets_are_what_the_registry_says(name, cache):
    dataset = load(name, cache)
    info, edition = dataset.info, dataset.edition
    assert (len(dataset), dataset._data.num_nodes, dataset._data.num_edges) == (
        edition.graphs,
        edition.nodes,
        edition.arcs,
    )
    first = dataset[0]
    assert first.edge_index.dtype == torch.long
    for values, categories in ((first.x, info.node_categories), (first.edge_attr, info.edge_categories)):
        assert categories is None or (values.dtype == torch.long and values.shape[1] == len(categories))
    wide = info.task in ("regression", "multilabel")
    rows = first.num_nodes if info.level == "node" else 1
    assert first.y.shape == ((rows, info.outputs) if wide else (rows,))
    assert first.y.dtype == (torch.float32 if wide else torch.long)
    if not wide:
        assert set(dataset._data.y.unique().tolist()) == set(range(max(info.outputs, 2)))


@pytest.mark.parametrize("name", AT_HAND)
def test_splits_are_disjoint_and_complete(name, cache):
    dataset = load(name, cache)
    everything = torch.arange(len(dataset))
    assert len(dataset.splits) == (10 if dataset.info.split == "folds" else 1)
    for split in dataset.splits:
        assert all(part.dtype == torch.long and len(part) for part in split)
        if dataset.info.split == "all":
            assert all(torch.equal(part, everything) for part in split)
        else:
            assert torch.equal(torch.cat(split).sort().values, everything)
    if dataset.info.split == "folds":
        assert torch.equal(torch.cat([split.test for split in dataset.splits]).sort().values, everything)


SIZES = {
    "counting": (1500, 1000, 2500),
    "graph-properties": (5120, 640, 1280),
    "proximity-3": (7290, 810, 900),
    "pattern-generated": (10000, 2000, 2000),
}
STORED_SIZES = {"zinc12k": (10000, 1000, 1000), "molhiv": (32901, 4113, 4113), "counting-er": (1500, 1000, 2500)}


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        *(pytest.param(*row, marks=pytest.mark.jit) for row in SIZES.items()),
        *(pytest.param(*row, marks=needs_data) for row in STORED_SIZES.items()),
    ],
)
def test_splits_have_the_papers_sizes(name, sizes, cache):
    assert {tuple(map(len, split)) for split in load(name, cache).splits} == {sizes}


@pytest.mark.jit
def test_training_graphs_of_graph_properties_are_as_large_as_in_the_paper(cache):
    dataset = load("graph-properties", cache)
    train = dataset.splits[0].train
    averages = [dataset.slices[key].diff()[train].double().mean().item() for key in ("x", "edge_index")]
    assert averages == pytest.approx(dataset.info.paper, rel=0.03)


@pytest.mark.jit
def test_counting_targets_are_divided_by_their_deviation_over_all_graphs(cache):
    dataset, collection = load("counting", cache), load_collection("counting", cache)
    np.testing.assert_allclose(dataset.target_scale, collection.extra["scale"], rtol=1e-6)
    np.testing.assert_allclose(dataset._data.y * dataset.target_scale, collection.y, rtol=1e-5)
    assert torch.allclose(dataset._data.y.std(dim=0), torch.ones(4), atol=1e-3)


@pytest.mark.jit
def test_pairs_of_proximity_stay_on_one_side(cache):
    dataset = load("proximity-3", cache)
    for split in dataset.splits:
        pairs = [set(dataset._data.pair[part].tolist()) for part in split]
        assert not (pairs[0] & pairs[1] or pairs[0] & pairs[2] or pairs[1] & pairs[2])
        assert all(dataset._data.y[part].double().mean() == 0.5 for part in split)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("rook-shrikhande", (16, 6, 2, 2)), ("sr16", (16, 6, 2, 2)), ("sr25", (25, 12, 5, 6)), ("sr28", (28, 12, 6, 4))],
)
def test_families_are_strongly_regular_different_and_told_apart_by_ed(name, parameters):
    family = load_collection(name)
    members = [family.graph(i) for i in range(len(family))]
    assert {is_strongly_regular(graph) for graph in members} == {parameters}
    assert len({canonical_form(family, i) for i in range(len(family))}) == len(family)
    assert len({elene.fingerprint(graph, k=1, level="edge", refine=None) for graph in members}) == len(family)
    assert all(wl_equal(family, 0, i) for i in range(len(family)))


@needs_data
@pytest.mark.parametrize(("name", "equivalent"), [("exp", 600), ("cexp", 300)])
def test_pairs_have_opposite_labels_and_1_wl_does_not_tell_them_apart(name, equivalent):
    collection, dataset = load_collection(name), load(name)
    assert dataset._data.pair.tolist() == [i // 2 for i in range(1200)]
    assert all(collection.y[i] + collection.y[i + 1] == 1 for i in range(0, 1200, 2))
    assert sum(wl_equal(collection, i, i + 1) for i in range(0, 1200, 2)) == equivalent
    assert all(canonical_form(collection, i) != canonical_form(collection, i + 1) for i in range(0, 1200, 2))


@needs_data
def test_csl_has_ten_graphs_fifteen_times():
    collection = load_collection("csl")
    classes = Counter((int(collection.y[i]), canonical_form(collection, i)) for i in range(150))
    assert sorted(classes.values()) == [15] * 10 and len({label for label, _ in classes}) == 10


@needs_data
def test_brec_pairs_are_not_isomorphic():
    collection, dataset = load_collection("brec"), load("brec")
    assert dataset._data.pair.tolist() == [i // 2 for i in range(800)]
    assert dataset._data.y.tolist() == [0, 1] * 400
    assert all(canonical_form(collection, i) != canonical_form(collection, i + 1) for i in range(0, 120, 2))


@needs_data
def test_counts_of_counting_er_are_those_of_networkx():
    import networkx as nx

    collection = load_collection("counting-er")
    with np.load(STORED / "collections" / "counting-er.npz") as file:
        assert tuple(file["y_names"]) == find("counting-er").targets
    for i in range(0, 5000, 100):
        graph = nx.Graph(collection.graph(i).edges.tolist())
        triangles = sum(nx.triangles(graph).values()) // 3
        stars = sum(d * (d - 1) * (d - 2) // 6 for _, d in graph.degree)
        assert collection.y[i, [0, 2]].tolist() == [triangles, stars]


@needs_data
def test_a_substitute_says_that_it_is_one(cache):
    dataset = load("zinc12k", cache)
    assert dataset.title == "ZINC-12K, substitute train"
    assert "not the published ones" in dataset.provenance
    assert not (cache / "zinc12k.npz").exists()


# Cache


def test_a_second_load_is_from_the_cache_and_the_same(toy, tmp_path, monkeypatch):
    root = tmp_path / "new" / "folder"
    assert where(toy, root) is Where.generated
    first = load_collection("toy", root)
    assert where(toy, root) is Where.cache and [path.name for path in root.iterdir()] == ["toy.npz"]
    monkeypatch.setitem(MAKERS, "toy", None)
    assert equal(load_collection("toy", root), first) and equal(first, toy_collection())
    assert all(
        torch.equal(a.edge_index, b.edge_index) for a, b in zip(load("toy", root), load("toy", root), strict=True)
    )


def test_few_graphs_are_not_cached(tmp_path):
    load("sr25", tmp_path / "cache")
    assert not (tmp_path / "cache").exists()


def test_the_folder_of_the_cache(monkeypatch, tmp_path):
    monkeypatch.delenv("ELENE_CACHE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "elene"
    monkeypatch.setenv("ELENE_CACHE", "~/there")
    assert cache_folder() == tmp_path / "there"
    assert cache_folder("~/here") == tmp_path / "here"


def test_the_cache_comes_first_then_elene_data_then_the_maker(toy, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setitem(MAKERS, "toy", lambda: calls.append("made") or toy_collection())
    stored = tmp_path / "data" / "collections"
    stored.mkdir(parents=True)
    monkeypatch.setenv("ELENE_DATA", str(tmp_path / "data"))
    load("toy", tmp_path / "cache")
    assert calls == ["made"]
    (tmp_path / "cache" / "toy.npz").rename(stored / "toy.npz")
    assert where(toy, tmp_path / "cache") is Where.stored
    load("toy", tmp_path / "cache")
    assert calls == ["made"] and not list((tmp_path / "cache").iterdir())
    (tmp_path / "cache" / "toy.npz").write_bytes(b"")
    with pytest.raises(ValueError, match=re.escape(str(tmp_path / "cache" / "toy.npz"))):
        load("toy", tmp_path / "cache")


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, MemoryError, ValueError])
def test_interrupted_work_leaves_no_file(toy, tmp_path, monkeypatch, interruption):
    def write_half(path, **arrays):
        path.write_bytes(b"half")
        raise interruption

    monkeypatch.setattr(np, "savez", write_half)
    with pytest.raises(interruption):
        load("toy", tmp_path)
    assert not list(tmp_path.iterdir())


# Damage


def damaged_cache(tmp_path, change):
    load("toy", tmp_path)
    path = tmp_path / "toy.npz"
    path.write_bytes(change(path.read_bytes()))
    return path


@pytest.mark.parametrize("kept", [0, 1, 100, 0.3, 0.9, -1])
def test_a_truncated_file_is_named(toy, tmp_path, kept):
    path = damaged_cache(tmp_path, lambda whole: whole[: int(kept * len(whole)) if 0 < kept < 1 else kept])
    with pytest.raises(ValueError, match="cannot be read") as caught:
        load("toy", tmp_path)
    assert f"delete {path}, and it is made anew" in str(caught.value)
    path.unlink()
    load("toy", tmp_path)


@pytest.mark.parametrize("seed", range(20))
def test_a_changed_byte_is_noticed_or_changes_nothing(toy, tmp_path, seed):
    def change(whole):
        at = np.random.default_rng(seed).integers(len(whole))
        return whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :]

    path = damaged_cache(tmp_path, change)
    try:
        assert equal(load_collection("toy", tmp_path), toy_collection())
    except ValueError as error:
        assert f"delete {path}" in str(error)


@pytest.mark.parametrize(
    "changes",
    [
        {"y": np.ones(12, dtype=int)},
        {"x": None},
        {"extra": {"fold": np.zeros(12)}},
        {"edge_index": toy_collection().edge_index[::-1]},
    ],
)
def test_other_content_is_refused(toy, tmp_path, changes):
    replace(toy_collection(), **changes).save(tmp_path / "toy.npz")
    with pytest.raises(ValueError, match=r"toy\.npz is not Toy: 12 graphs, 46 nodes, .* is wanted: delete"):
        load("toy", tmp_path)


def test_another_collection_is_refused_by_its_counts(toy, tmp_path, monkeypatch):
    counted = replace(toy, editions=(Edition("https://example.org/toy.zip", 12, 46),))
    monkeypatch.setitem(registry._BY_NAME, "toy", counted)
    toy_collection(12).save(tmp_path / "toy.npz")
    # What was not known of the content beforehand is known once it is loaded.
    content = digest(canonical(toy_collection(12)))
    assert load("toy", tmp_path).edition == replace(counted.editions[0], sha256=content)
    toy_collection(13).save(tmp_path / "toy.npz")
    with pytest.raises(ValueError, match=r"13 graphs, .* but 12 graphs, 46 nodes is wanted"):
        load("toy", tmp_path)


def test_objects_are_not_unpickled(toy, tmp_path):
    np.savez(tmp_path / "toy.npz", node_ptr=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"cannot be read .*allow_pickle"):
        load("toy", tmp_path)


def test_a_damaged_stored_file_is_named_with_its_own_mending(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("ELENE_DATA", str(tmp_path))
    (tmp_path / "collections").mkdir()
    (tmp_path / "collections" / "toy.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"put a good copy in place of .*toy\.npz, or unset ELENE_DATA"):
        load("toy", tmp_path / "cache")


def test_generators_that_draw_other_numbers_are_noticed(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(MAKERS, "toy", lambda: toy_collection(seed=1))
    with pytest.raises(ValueError, match=f"numpy {np.__version__}.* is not Toy"):
        load("toy", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_cache_that_cannot_be_made_is_said_before_the_work(toy, tmp_path, monkeypatch):
    monkeypatch.setitem(MAKERS, "toy", None)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="pass another root, or set ELENE_CACHE"):
        load("toy", tmp_path / "file" / "cache")
    monkeypatch.setattr(loading.os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="pass another root, or set ELENE_CACHE"):
        load("toy", tmp_path)


# Offline


@pytest.mark.parametrize("name", ["cifar10", "molpcba", "zinc12k", "tu-mutag"])
def test_offline_it_says_what_to_download_from_where_and_where_to_put_it(monkeypatch, tmp_path, name):
    def no_network(*arguments, **named):
        raise requests.ConnectionError("no route to host")

    monkeypatch.delenv("ELENE_DATA", raising=False)
    monkeypatch.setattr(requests, "head", no_network)
    with pytest.raises(FileNotFoundError) as caught:
        load(name, tmp_path)
    message, info = str(caught.value), find(name)
    for part in (name, info.download.origin, "no route to host", str(tmp_path / f"{name}.npz"), "ELENE_DATA"):
        assert part in message
    assert f"collections/{name}.npz" in message and info.credit in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "file"), [("exp", "collections/exp.npz"), ("brec", "brec_pairs.tsv")])
def test_what_is_stored_only_says_where_to_put_it(monkeypatch, tmp_path, name, file):
    monkeypatch.setenv("ELENE_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=f"{name} is neither generated nor downloaded") as caught:
        load(name, tmp_path)
    assert file in str(caught.value) and str(tmp_path) in str(caught.value)
    assert where(find(name), tmp_path) is Where.missing


def test_a_download_is_converted_cached_and_then_found(toy, monkeypatch, tmp_path):
    edition = Edition("https://example.org/toy.zip", 12, note="By a fake.")
    monkeypatch.setitem(registry._BY_NAME, "toy", replace(toy, editions=(edition,)))
    monkeypatch.setattr(remote, "check_reachable", lambda address: None)
    monkeypatch.setitem(remote._DOWNLOADS, "toy", lambda folder: toy_collection())
    assert where(find("toy"), tmp_path) is Where.download
    content = digest(canonical(toy_collection()))
    assert load("toy", tmp_path).edition == replace(edition, sha256=content)
    monkeypatch.setitem(remote._DOWNLOADS, "toy", None)
    assert equal(load_collection("toy", tmp_path), toy_collection())


# Content


def test_the_hash_is_of_numbers_not_of_types():
    toy = toy_collection()
    wide = Collection(
        toy.node_ptr.astype(np.int32),
        toy.edge_ptr.astype(np.uint64),
        np.asfortranarray(toy.edge_index.astype(np.uint16)),
        toy.y.astype(np.int8),
        toy.x.astype(">i4"),
        toy.edge_attr,
        {"y_names": np.array(["a"])},
    )
    assert digest(canonical(wide)) == digest(canonical(toy))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([0, 255], "uint8"),
        ([0, 256], "int16"),
        ([-1, 0], "int16"),
        ([0, 2**15], "int32"),
        ([0, 2**31], "int64"),
        ([], "uint8"),
        ([0.5, np.nan], "float32"),
        ([True], "uint8"),
    ],
)
def test_arrays_are_narrowed_and_keep_their_numbers(values, dtype):
    array = np.array(values, dtype=None if values else int)
    assert narrowed(array).dtype == dtype
    assert np.array_equal(narrowed(array), array, equal_nan=array.dtype.kind == "f")


def test_only_numbers_are_narrowed():
    with pytest.raises(TypeError, match="hold numbers"):
        narrowed(np.array([1j]))
