from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.validation import NotFittedError

import elene
import naive
from elene import Encoder

GRAPHS = [nx.cycle_graph(5), nx.star_graph(4), nx.empty_graph(2), nx.barbell_graph(3, 1)]


@pytest.mark.parametrize("form", ["marginal", "joint", "type"])
@pytest.mark.parametrize("level", ["node", "edge", "pair"])
def test_rows_are_those_of_the_graphs_one_by_one(level, form):
    encoder = Encoder(k=[1, 2], level=level, form=form).fit(GRAPHS)
    together = encoder.transform(GRAPHS).toarray()
    apart = np.vstack([encoder.transform([graph]).toarray() for graph in GRAPHS])
    assert (together == apart).all()
    sums = clone(encoder).set_params(per="graph").fit(GRAPHS).transform(GRAPHS).toarray()
    assert (sums == np.array([encoder.transform([graph]).sum(axis=0) for graph in GRAPHS])).all()
    assert together.shape[1] == len(encoder.get_feature_names_out())


def test_counts_against_the_oracle():
    encoder = Encoder(k=2, form="joint").fit(GRAPHS)
    names = encoder.get_feature_names_out().tolist()
    row = encoder.transform([GRAPHS[3]]).toarray()[0]
    expected = naive.node_encoding(GRAPHS[3], 0, 2)
    assert {name: int(count) for name, count in zip(names, row, strict=True) if count} == {
        f"k2.({','.join(map(str, quadruplet))})": count for quadruplet, count in expected.items()
    }


def test_unseen_quadruplets_are_counted_as_unknown():
    encoder = Encoder(k=1, form="joint").fit([nx.cycle_graph(5)])
    columns = encoder.get_feature_names_out().tolist()
    assert columns == ["k1.(0,0,2,2)", "k1.(1,1,1,0)", "k1.unknown"]
    assert encoder.transform([nx.complete_graph(3)]).toarray().tolist() == [[1, 0, 2]] * 3
    assert encoder.get_feature_names_out().tolist() == columns


def test_larger_degrees_are_clipped_to_those_of_the_training_graphs():
    encoder = Encoder(k=1).fit([nx.cycle_graph(5)])
    row = encoder.transform([nx.star_graph(7)]).toarray()[0]
    names = encoder.get_feature_names_out().tolist()
    assert row[names.index("k1.distance0.degree2")] == 1 and row.sum() == 3 * 8


def test_log1p():
    encoder = Encoder(k=1, per="graph", log1p=True)
    counts = clone(encoder).set_params(log1p=False).fit_transform(GRAPHS).toarray()
    assert np.allclose(encoder.fit_transform(GRAPHS).toarray(), np.log1p(counts))


def test_clone_params_and_pickle():
    encoder = Encoder(k=[1, 2], level="edge", form="joint", per="graph").fit(GRAPHS)
    assert clone(encoder).get_params() == encoder.get_params()
    again = pickle.loads(pickle.dumps(encoder))
    assert (again.transform(GRAPHS) != encoder.transform(GRAPHS)).nnz == 0
    assert "k=[1, 2]" in repr(encoder)


def test_pipeline_and_grid_search():
    graphs = [nx.cycle_graph(n) for n in range(4, 14)] + [nx.path_graph(n) for n in range(4, 14)]
    labels = [0] * 10 + [1] * 10
    model = make_pipeline(Encoder(per="graph", log1p=True), LogisticRegression())
    search = GridSearchCV(model, {"encoder__k": [0, 1]}, cv=2).fit(graphs, labels)
    assert search.best_params_ == {"encoder__k": 1} and search.score(graphs, labels) == 1


def test_a_vocabulary_of_another_depth_is_refused():
    encoder = Encoder(k=1).fit(GRAPHS).set_params(k=2)
    with pytest.raises(ValueError, match=r"depths=\(1,\).*depths=\(2,\).*call fit again"):
        encoder.transform(GRAPHS)


def test_bad_input():
    with pytest.raises(NotFittedError):
        Encoder().transform(GRAPHS)
    with pytest.raises(NotFittedError):
        Encoder().get_feature_names_out()
    for single in (nx.path_graph(3), elene.Graph.from_edges([(0, 1)])):
        with pytest.raises(TypeError, match="wrap a single graph in a list"):
            Encoder().fit(single)
    with pytest.raises(ValueError, match="per must be one of 'row', 'graph'"):
        Encoder(per="edge").fit(GRAPHS)
    with pytest.raises(ValueError, match="k must be at least 0"):
        Encoder(k=-1).fit(GRAPHS)


@pytest.mark.parametrize("per", ["graph", "mean"])
@pytest.mark.parametrize("form", ["marginal", "joint", "type"])
def test_several_levels_stand_side_by_side(form, per):
    depths, settings = {"edge": 1, "node": [0, 2], "pair": [1]}, {"form": form, "per": per, "log1p": True, "radius": 1}
    both = Encoder(k=depths, level=["node", "edge", "pair"], weights={"edge": 0.5, "pair": 3}, **settings)
    found = both.fit(GRAPHS[:2]).transform(GRAPHS)
    assert (found.toarray() == both.transform(GRAPHS).toarray()).all()
    parts, names = [], []
    for level, weight in (("node", 1), ("edge", 0.5), ("pair", 3)):
        rest = settings if level == "pair" else {**settings, "radius": None}
        alone = Encoder(k=depths[level], level=level, **rest).fit(GRAPHS[:2])
        parts.append(weight * alone.transform(GRAPHS).toarray())
        names += [f"{level}.{name}" for name in alone.get_feature_names_out()]
    assert (found.toarray() == np.hstack(parts)).all() and both.get_feature_names_out().tolist() == names
    assert (clone(both).fit_transform(GRAPHS[:2]) != both.transform(GRAPHS[:2])).nnz == 0
    found.sort_indices()
    assert found.has_canonical_format and found.indices.dtype == np.int32


def test_several_levels_that_do_not_fit():
    for settings, said in (
        ({"per": "row"}, "pass per='graph'"),
        ({"k": {"node": 1}}, r"k must have depths for the levels \['node', 'edge'\]"),
        ({"level": ["node", "node"]}, "each once"),
        ({"level": []}, "several of them"),
        ({"level": ["node", "nodes"]}, "level must be one of"),
        ({"weights": {"pair": 1}}, "weights must be numbers for some of the levels"),
        ({"weights": 2}, "weights must be numbers for some of the levels"),
        ({"weights": {"edge": "2"}}, r"weights\['edge'\] must be a number, got '2'"),
        ({"weights": {"edge": float("nan")}}, r"weights\['edge'\] must be a number, got nan"),
    ):
        with pytest.raises(ValueError, match=said):
            Encoder(**{"k": 1, "level": ["node", "edge"], "per": "graph", **settings}).fit(GRAPHS)
    encoder = Encoder(k=1, level=["node", "edge"], per="graph").fit(GRAPHS)
    with pytest.raises(ValueError, match="call fit again"):
        encoder.set_params(level="node").transform(GRAPHS)


def test_no_graphs_and_empty_graphs():
    encoder = Encoder(k=1, per="graph").fit([nx.empty_graph(0)])
    assert encoder.transform([]).shape == (0, 6)
    assert encoder.transform([nx.empty_graph(0), nx.empty_graph(3)]).sum(axis=1).tolist() == [0, 9]


@pytest.mark.parametrize("form", ["marginal", "joint"])
@pytest.mark.parametrize("per", ["row", "graph"])
def test_indices_are_narrow_enough_for_any_estimator(form, per):
    vectors = Encoder(k=2, form=form, per=per).fit_transform([nx.cycle_graph(5), nx.path_graph(6)])
    assert vectors.indices.dtype == vectors.indptr.dtype == np.int32
    SVC().fit(vectors, np.arange(vectors.shape[0]) % 2)
