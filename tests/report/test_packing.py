"""Arrays and texts inside the page come out as they went in."""

import base64
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid.report.packing import KINDS, packed, script_json


def unpacked(pack):
    return np.frombuffer(base64.b64decode(pack["data"]), dtype=np.dtype(pack["type"]).newbyteorder("<"))


@pytest.mark.parametrize("kind", KINDS)
def test_round_trip_of_every_kind(kind):
    low, high = (-3.5, 7.25) if kind == "float32" else (np.iinfo(kind).min, np.iinfo(kind).max)
    array = np.array([low, 0, 1, high], dtype=kind)
    assert np.array_equal(unpacked(packed(array)), array)
    assert np.array_equal(unpacked(packed(array.astype(array.dtype.newbyteorder(">")))), array)
    assert np.array_equal(unpacked(packed(np.arange(6, dtype=kind)[::2])), [0, 2, 4])


def test_what_a_browser_has_no_array_for_is_refused():
    with pytest.raises(TypeError, match="int64"):
        packed(np.arange(3))


@given(st.text(), st.text())
def test_no_text_leaves_the_script(one, two):
    text = script_json({one: [two, "</script", "<!--", "]]>"]})
    assert not set(text) & set("<>&")
    assert text.isascii()
    assert json.loads(text) == {one: [two, "</script", "<!--", "]]>"]}
