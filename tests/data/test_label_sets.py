"""Several labels per node as arguments: what is recognised, and what it is encoded as."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.data.checks import check_fit
from planetoid.data.label_sets import encode_label_sets, is_multi_label, one_label_each
from planetoid.errors import DataError
from planetoid.ids import NodeIds

IDS = NodeIds(["a", "b", "c", "d"])
EXPECTED = [[1, 0, 1], [0, 0, 0], [0, 1, 0], [0, 0, 0]]
EDGES = [("a", "b"), ("b", "c"), ("c", "d")]
LISTS = [["x", "z"], None, ["y"], []]
MATRIX = np.array(EXPECTED)


def nan_rows():
    return np.where(MATRIX.any(axis=1, keepdims=True), MATRIX, np.nan)


FORMS = {
    "lists": LISTS,
    "sets": [{"x", "z"}, None, {"y"}, float("nan")],
    "tuples beside a list": [("x", "z"), None, ["y"], None],
    "arrays": [np.array(["x", "z"]), None, np.array(["y"]), None],
    "dict": {"a": ["x", "z"], "c": ["y"]},
    "series": pd.Series({"c": ["y"], "a": ["z", "x", "x"]}),
    "int": MATRIX,
    "bool": MATRIX.astype(bool),
    "nested lists": MATRIX.tolist(),
    "nan rows": nan_rows(),
    "minus one rows": np.where(MATRIX.any(axis=1, keepdims=True), MATRIX, -1),
    "csr": sparse.csr_array(MATRIX),
    "coo with an explicit zero": sparse.coo_matrix(([1, 1, 1, 0], ([0, 0, 2, 1], [0, 2, 1, 1])), shape=(4, 3)),
    "frame by id": pd.DataFrame(MATRIX[[2, 0]], index=["c", "a"], columns=["x", "y", "z"]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_matrix(form):
    assert is_multi_label(FORMS[form])
    found = encode_label_sets(FORMS[form], IDS)
    assert found.Y.toarray().astype(int).tolist() == EXPECTED
    assert found.Y.dtype == bool
    numbered = form == "nested lists" or isinstance(FORMS[form], np.ndarray | sparse.sparray | sparse.spmatrix)
    assert found.classes.tolist() == ([0, 1, 2] if numbered else ["x", "y", "z"])


def test_lists_that_repeat_nothing_are_lists_of_labels():
    found = encode_label_sets([[0, 1], [1], [], [1, 0]], IDS)
    assert found.Y.toarray().astype(int).tolist() == [[1, 1], [0, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize(
    "y", [["a", None], np.array([1, -1]), [("a", 1), None], {"a": "x"}, pd.Series(["a", "b"]), np.ones((2, 1)), "ab"]
)
def test_one_label_per_node_is_not_taken_for_several(y):
    assert not is_multi_label(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (MATRIX[:3], "y has 3 rows but there are 4 nodes"),
        (2 * MATRIX, r"indicator matrix of 0 and 1, got 2.0 in row 0, column 0"),
        (sparse.csr_array(0.5 * MATRIX), r"got 0.5 in row 0, column 0"),
        (np.array([[1, np.nan, 0]] * 4), "got nan in row 0, column 1"),
        ([["x"], "y", None, None], "a list of labels for some nodes, but 'y' in row 1"),
        ([["x", {}], None, None, None], "lists of hashable labels"),
        ([["x"], None], "y has 2 entries but there are 4 nodes"),
    ],
)
def test_what_is_wrong_is_said(y, message):
    with pytest.raises(DataError, match=message):
        encode_label_sets(y, IDS)


def test_the_rarest_label_stands_for_a_node():
    Y = sparse.csr_array(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 1, 0]], dtype=bool))
    assert one_label_each(Y).tolist() == [1, 0, 2, -1, 1]


def test_validation_is_merged_and_keeps_its_own_nodes():
    data = check_fit(None, {"a": ["x", "y"]}, EDGES, {"d": ["y"]}, uses_features="never")
    assert data.Y.toarray().astype(int).tolist() == [[1, 1], [0, 0], [0, 0], [0, 1]]
    assert data.labelled.tolist() == [0]
    assert data.validation_nodes[0].tolist() == [3]
    assert data.labels.tolist() == [["x", "y"], None, None, ["y"]]
    assert data.class_prior.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("validation", "message"),
    [
        ({"d": ["new"]}, "the class 'new'"),
        ({"d": "x"}, "validation has one"),
        ({"a": ["x"]}, "validation labels differ"),
        ({"d": []}, "validation has no labels"),
    ],
)
def test_wrong_validation_labels(validation, message):
    with pytest.raises(DataError, match=message):
        check_fit(None, {"a": ["x", "y"]}, EDGES, validation, uses_features="never")


def test_masking_keeps_the_form():
    rows = [0]
    np.testing.assert_array_equal(pl.mask_labels(MATRIX, rows), [[1, 0, 1], [-1] * 3, [-1] * 3, [-1] * 3])
    np.testing.assert_array_equal(pl.mask_labels(MATRIX > 0, rows)[0], [1, 0, 1])
    assert pl.mask_labels(sparse.csr_array(MATRIX), rows).toarray().tolist() == [[1, 0, 1]] + [[0, 0, 0]] * 3
    assert pl.mask_labels(LISTS, [2]).tolist() == [None, None, ["y"], None]
    frame = pl.mask_labels(pd.DataFrame(MATRIX, columns=list("xyz")), rows)
    assert frame.isna().all(axis=1).tolist() == [False, True, True, True]
    for form in (MATRIX, MATRIX > 0, sparse.csr_array(MATRIX), LISTS, pd.DataFrame(MATRIX)):
        assert encode_label_sets(pl.mask_labels(form, rows), NodeIds(4)).Y.sum() == 2


def test_hidden_labels_leave_the_dataset():
    from dataclasses import replace

    data = pl.datasets.make_multilabel(60, 4, seed=0)
    split = data.split("rate", rate=0.5, seed=1)
    seen = replace(data, y=pl.mask_labels(data.y, split.train))
    assert seen.Y[split.test].nnz == 0
    assert (seen.Y[split.train] != data.Y[split.train]).nnz == 0
    held_out = data.hold_out(0.25)
    assert held_out.Y.nnz == data.Y.nnz
    assert data.without(split.test).Y.nnz == data.Y[split.train].nnz


def test_splits_of_several_labels():
    data = pl.datasets.make_multilabel(400, 6, seed=3)
    rate = data.split("rate", rate=0.1, seed=5)
    assert (len(rate.train), len(rate.test)) == (40, 360)
    assert len(data.split("random", per_class=5, n_val=20, n_test=0, seed=5).test) == 0
    random = data.split("random", per_class=5, n_val=20, n_test=50, seed=5)
    assert data.Y[random.train].sum(axis=0).min() >= 5
    assert data.Y[random.train].sum(axis=0).min() < 10
    tested = np.concatenate([data.split("folds", seed=fold).test for fold in range(5)])
    assert sorted(tested) == list(range(400))
