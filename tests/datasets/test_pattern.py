from __future__ import annotations

import numpy as np
import pytest

from elene.datasets.generators.pattern import pattern


@pytest.fixture(scope="module")
def data():
    return pattern((700, 100, 100))


def matrices(data):
    for i in range(len(data)):
        nodes = slice(data.node_ptr[i], data.node_ptr[i + 1])
        matrix = np.zeros((data.num_nodes[i],) * 2, dtype=bool)
        matrix[tuple(data.edge_index[:, data.edge_ptr[i] : data.edge_ptr[i + 1]])] = True
        yield matrix, data.x[nodes, 0], data.y[nodes] == 1


def test_sizes_are_those_of_the_paper(data):
    assert data.num_nodes.mean() == pytest.approx(118.9, rel=0.03)
    assert data.num_arcs.mean() == pytest.approx(6079.8, rel=0.03)
    assert data.num_nodes.min() >= 30 and data.num_nodes.max() <= 204
    assert np.bincount(data.extra["split"]).tolist() == [700, 100, 100]


def test_one_node_in_six_is_of_the_pattern(data):
    assert data.y.mean() == pytest.approx(1 / 6, rel=0.1)
    assert set(data.y.tolist()) == {0, 1}
    values = np.bincount(data.x[:, 0])
    assert len(values) == 3 and values.min() > 0.95 * values.max()


def test_a_pattern_is_the_same_wherever_it_is_planted(data):
    def trace(matrix, values, planted):
        inside = matrix[np.ix_(planted, planted)]
        return sorted(zip(values[planted].tolist(), inside.sum(axis=0).tolist(), strict=True))

    traces = [trace(*parts) for parts in matrices(data)]
    number = data.extra["pattern"].tolist()
    assert all(trace == traces[number.index(i)] for trace, i in zip(traces, number, strict=True))
    assert len({str(trace) for trace in traces}) == 100
    assert {len(trace) for trace in traces} <= set(range(5, 35))
    for part in range(3):
        assert np.unique(data.extra["pattern"][data.extra["split"] == part]).tolist() == list(range(100))


def test_edges_come_with_their_chances(data):
    inside, across, rest = [], [], []
    for matrix, _, planted in matrices(data):
        assert (matrix == matrix.T).all() and not matrix.diagonal().any()
        n = int(planted.sum())
        inside.append(matrix[np.ix_(planted, planted)].sum() / (n * (n - 1)))
        across.append(matrix[np.ix_(planted, ~planted)].mean())
        others = int((~planted).sum())
        rest.append(matrix[np.ix_(~planted, ~planted)].sum() / (others * (others - 1)))
    assert np.mean(inside) == pytest.approx(0.5, abs=0.02)
    assert np.mean(across) == pytest.approx(0.5, abs=0.01)
    # Of the pairs outside the pattern, between a fifth and a third lie in one community.
    assert 0.35 + 0.15 / 5 < np.mean(rest) < 0.35 + 0.15 / 3


def test_nodes_are_shuffled(data):
    last = [planted[-1] for _, _, planted in matrices(data)]
    assert 0.1 < np.mean(last) < 0.25


def test_the_seed_decides():
    first, again, other = (pattern((2, 1, 1), seed=seed) for seed in (1, 1, 2))
    assert first.edge_index.tolist() == again.edge_index.tolist() != other.edge_index.tolist()
    assert first.x.tolist() == again.x.tolist() and first.y.tolist() == again.y.tolist()


def test_parts_may_be_empty():
    assert len(pattern((0, 0, 0))) == 0
    assert pattern((0, 2, 0)).extra["split"].tolist() == [1, 1]


def test_three_numbers_are_wanted():
    with pytest.raises(ValueError, match="graphs must be three numbers"):
        pattern((3, 1))
    with pytest.raises(ValueError, match="graphs must be at least 0, got -1"):
        pattern((3, 1, -1))
