"""mask_labels: labels outside of some rows become unlabelled."""

import numpy as np
import pandas as pd
import pytest

from planetoid import mask_labels
from planetoid.errors import PlanetoidWarning
from planetoid.labels import is_unlabelled


def test_the_given_labels_do_not_change():
    y = np.array([3, 1, 2])
    assert mask_labels(y, [1]).tolist() == [-1, 1, -1]
    assert y.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    ("y", "dtype", "mark"),
    [
        (np.array([3, 1], dtype=np.int8), np.int8, -1),
        (np.array([3, 1], dtype=np.int32), np.int32, -1),
        (np.array([3, 1], dtype=np.uint8), np.int16, -1),  # -1 is not unsigned
        (np.array(["xx", "y"]), "<U2", ""),
        (np.array(["xx", "y"], dtype=object), object, None),
        (np.array([True, False]), object, None),
    ],
)
def test_the_type_is_kept_where_it_has_a_value_for_unlabelled(y, dtype, mark):
    masked = mask_labels(y, [0])
    assert masked.dtype == dtype
    assert masked.tolist() == [y.tolist()[0], mark]
    assert is_unlabelled(masked.tolist()[1])


def test_floats_are_masked_by_nan():
    masked = mask_labels(np.array([0.5, 1.5], dtype=np.float32), np.array([False, True]))
    assert masked.dtype == np.float32
    np.testing.assert_array_equal(masked, np.array([np.nan, 1.5], dtype=np.float32))


@pytest.mark.parametrize("dtype", ["int16", "Int64", "str", "category", "float32", object])
def test_a_series_keeps_its_index_type_and_name(dtype):
    labels = ["x", "y", "x"] if dtype in ("str", "category", object) else [3, 1, 3]
    y = pd.Series(labels, index=["c", "a", "b"], dtype=dtype, name="topic")
    masked = mask_labels(y, [0, 2])  # row numbers
    assert masked.dtype == y.dtype
    assert masked.name == "topic"
    assert masked.index.tolist() == ["c", "a", "b"]
    assert [is_unlabelled(label) for label in masked.tolist()] == [False, True, False]
    assert masked.iloc[[0, 2]].tolist() == labels[::2]


def test_a_minus_one_among_the_labels_that_stay_is_questioned():
    truth = np.array([-1, 0, 1, -1, 0, 1])
    with pytest.warns(PlanetoidWarning, match="1 node with -1 is unlabelled"):
        assert mask_labels(truth, [0, 1, 2]).tolist() == [-1, 0, 1, -1, -1, -1]
    assert mask_labels(truth, [1, 2]).tolist() == [-1, 0, 1, -1, -1, -1]
