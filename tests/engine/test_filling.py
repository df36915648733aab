from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

import elene
from elene.engine import filling
from elene.engine.codec import Codec
from elene.engine.counting import number_keys
from elene.engine.filling import Filled, make_room
from elene.kernels.data import Buffer, Progress
from tuning import tune


@pytest.mark.parametrize("shared_paths", [0, 10**9])
@pytest.mark.parametrize(
    "options",
    [
        {"k": 1},
        {"k": 2},
        {"k": 2, "form": "joint"},
        {"k": 1, "level": "edge"},
        {"k": 2, "level": "edge"},
        {"k": 2, "level": "edge", "form": "joint"},
        {"k": 1, "level": "pair", "radius": 2},
    ],
)
def test_room_is_made_row_by_row_and_changes_nothing(options, shared_paths, monkeypatch):
    """Rooms so small that every few rows, groups of lanes and keys wait for more."""
    graph = nx.barabasi_albert_graph(150, 3, seed=1)
    roomy = elene.encode(graph, **options)
    grown = []

    def watched(out, progress, expected):
        grown.append(progress)
        return make_room(out, progress, 0)

    monkeypatch.setattr(filling, "make_room", watched)
    monkeypatch.setattr(filling, "KEYS", 2)
    tune(monkeypatch, shared_paths=shared_paths, shallow_room=0, deep_room=0, tallying_threads=0)
    tight = elene.encode(graph, **options)
    assert len(grown) > 1 and all(progress.wanted > 0 for progress in grown)
    assert (tight.matrix != roomy.matrix).nnz == 0 and (tight.table == roomy.table).all()


def test_room_grows_for_what_is_too_small_only():
    out = Buffer(np.zeros(4, np.int64), np.arange(8), np.zeros(16, np.int32), np.arange(24).reshape(8, 3))
    more = make_room(out, Progress(done=2, used=3, known=7, wanted=2), expected=0)
    assert more.entries is out.entries and more.keys[:7].tolist() == out.keys[:7].tolist()
    assert len(more.keys) == 16 and len(more.table) == 32 and sorted(more.table[more.table > 0]) == list(range(1, 8))
    more = make_room(out, Progress(done=2, used=7, known=1, wanted=2), expected=100)
    assert more.keys is out.keys and more.entries[:7].tolist() == list(range(7)) and len(more.entries) == 110


@pytest.mark.parametrize("upper", [False, True])
def test_keys_of_all_pieces_are_numbered_together(upper):
    half, other = (32, 0) if upper else (0, 32)

    def piece(keys, numbers):
        entries = np.array([number << half | 5 << other for number in numbers])
        return 0, 1, Filled(np.array([len(numbers)]), entries, np.array(keys))

    distinct, found = number_keys([piece([[9, 1], [2, 2]], [0, 1, 0]), piece([[2, 2], [4, 0]], [0, 1])], upper)
    assert distinct.tolist() == [[2, 2], [4, 0], [9, 1]]
    mask = 2**31 - 1
    assert [(e >> half & mask).tolist() for _, _, (_, e, _) in found] == [[2, 0, 2], [0, 1]]
    assert all((e >> other & mask == 5).all() for _, _, (_, e, _) in found)


@pytest.mark.parametrize("absolute", [False, True])
def test_unpacking_undoes_packing(absolute):
    codec = Codec(6, absolute)
    rows = np.random.default_rng(0).integers(0, 7, (50, codec.width))
    assert (codec.unpack(codec.pack(rows)) == rows).all()
    both = np.stack([codec.pack(rows), codec.pack(rows[::-1])], axis=1)
    assert (codec.unpack(both) == np.hstack([rows, rows[::-1]])).all()


def test_quadruplets_that_no_integer_holds_are_refused():
    Codec(10**6).check(5)
    with pytest.raises(ValueError, match=r"degrees up to 3000000 .* pass max_degree=1000000 or less"):
        Codec(3 * 10**6).check(1)
