"""drop_small_classes, for dictionaries and arrays."""

import numpy as np
import pytest

from planetoid.errors import ParameterError
from planetoid.graph.construct import drop_small_classes


def test_small_classes():
    labels = {"a": "x", "b": "x", "c": "y", "d": None}
    assert drop_small_classes(labels, 2) == {"a": "x", "b": "x"}
    assert labels["c"] == "y"
    y = np.array([0, 0, 1, -1, -1, -1])
    assert drop_small_classes(y, 2).tolist() == [0, 0, -1, -1, -1, -1]
    assert y.tolist() == [0, 0, 1, -1, -1, -1]
    assert drop_small_classes(["x", "x", "y", None], 2).tolist() == ["x", "x", None, None]
    with pytest.raises(ParameterError) as caught:
        drop_small_classes(y, 0)
    assert str(caught.value) == "drop_small_classes: min_class_size must be an integer >= 1, got 0"
