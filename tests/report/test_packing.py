"""Round trips of arrays and texts through the page."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid.report.packing import TYPED_ARRAYS, packed, script_json


def unpacked(pack):
    return np.frombuffer(base64.b64decode(pack["data"]), dtype=np.dtype(pack["type"]).newbyteorder("<"))


@pytest.mark.parametrize("name", TYPED_ARRAYS)
def test_round_trip_of_every_type(name):
    low, high = (-3.5, 7.25) if name == "float32" else (np.iinfo(name).min, np.iinfo(name).max)
    array = np.array([low, 0, 1, high], dtype=name)
    assert np.array_equal(unpacked(packed(array)), array)
    assert np.array_equal(unpacked(packed(array.astype(array.dtype.newbyteorder(">")))), array)
    assert np.array_equal(unpacked(packed(np.arange(6, dtype=name)[::2])), [0, 2, 4])


def test_a_type_without_a_typed_array_is_an_error():
    with pytest.raises(TypeError, match="int64"):
        packed(np.arange(3))


@given(st.text(), st.text())
def test_no_text_ends_the_script(one, two):
    text = script_json({one: [two, "</script", "<!--", "]]>"]})
    assert not set(text) & set("<>&")
    assert text.isascii()
    assert json.loads(text) == {one: [two, "</script", "<!--", "]]>"]}
