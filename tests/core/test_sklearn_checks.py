"""scikit-learn's own checks. They know arrays only: so all run on an Encoder for which rows of numbers are graphs,
and all on the Encoder itself, where each that fails has its reason.
"""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from elene import Encoder

GRAPHS = [nx.cycle_graph(5), nx.star_graph(4)]


class CheckedEncoder(Encoder):
    """An Encoder that says it takes arrays, for scikit-learn checks nothing else."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.no_validation = True, False
        return tags


class EncoderOfRows(CheckedEncoder):
    """An Encoder of paths as long as the sum of each row says."""

    def fit(self, X, y=None):
        return super().fit(self._paths(X, reset=True))

    def fit_transform(self, X, y=None):
        return super().fit_transform(self._paths(X, reset=True))

    def transform(self, X):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return super().transform(self._paths(X, reset=False))

    def _paths(self, X, reset):
        rows = validate_data(self, X, reset=reset)
        return [nx.path_graph(1 + int(abs(row.sum())) % 7) for row in rows]


NO_ARRAY = dict.fromkeys(
    [
        "check_complex_data",
        "check_dict_unchanged",
        "check_dont_overwrite_parameters",
        "check_dtype_object",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimator_sparse_tag",
        "check_estimators_dtypes",
        "check_estimators_fit_returns_self",
        "check_estimators_nan_inf",
        "check_estimators_overwrite_params",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_fit1d",
        "check_fit2d_1feature",
        "check_fit2d_1sample",
        "check_fit2d_predict1d",
        "check_fit_check_is_fitted",
        "check_fit_idempotent",
        "check_fit_score_takes_y",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_n_features_in",
        "check_n_features_in_after_fitting",
        "check_pipeline_consistency",
        "check_positive_only_tag_during_fit",
        "check_readonly_memmap_input",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
    ],
    "X is a list of graphs, and the check passes numbers",
) | {"check_estimators_empty_data_messages": "no graphs are no rows, and an empty list of graphs is fitted"}


@parametrize_with_checks([CheckedEncoder(k=1)], expected_failed_checks=lambda estimator: NO_ARRAY, xfail_strict=True)
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_what_needs_no_data(estimator, check):
    check(estimator)


@parametrize_with_checks([EncoderOfRows(k=1, per="graph", sparse_output=False)])
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_with_rows_that_stand_for_graphs(estimator, check):
    check(estimator)


@pytest.mark.parametrize("per", ["row", "graph", "mean"])
@pytest.mark.parametrize("container, frame", [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_tables(per, container, frame):
    encoder = Encoder(k=1, per=per, sparse_output=False).set_output(transform=container)
    table = encoder.fit_transform(GRAPHS)
    assert isinstance(table, frame) and list(table.columns) == encoder.get_feature_names_out().tolist()
    assert np.array_equal(table.to_numpy(), Encoder(k=1, per=per).fit_transform(GRAPHS).toarray())


@pytest.mark.parametrize("per, reduce", [("graph", np.sum), ("mean", np.mean)])
def test_means_and_sums_are_those_of_the_rows(per, reduce):
    rows = [Encoder(k=1, max_degree=4).fit(GRAPHS).transform([graph]).toarray() for graph in GRAPHS]
    found = Encoder(k=1, max_degree=4, per=per).fit_transform(GRAPHS).toarray()
    assert np.allclose(found, [reduce(each, axis=0) for each in rows])


def test_a_radius_of_the_encoder_is_that_of_encode():
    from elene import encode

    rows = Encoder(k=1, level="pair", radius=2).fit_transform([GRAPHS[0]])
    assert (rows != encode(GRAPHS[0], 1, level="pair", radius=2).matrix).nnz == 0
    with pytest.raises(ValueError, match="radius=1 is for level='pair'"):
        Encoder(k=1, radius=1).fit(GRAPHS)
