"""IdEncoder against a dictionary."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid.io.encode import IdEncoder, integers_if_canonical

integers = st.lists(st.integers(-(2**63), 2**63 - 1).map(int), max_size=8)
small = st.lists(st.integers(0, 5), max_size=8)
texts = st.lists(st.text("ab1", max_size=2), max_size=8)


@given(st.one_of(st.lists(st.one_of(integers, small)), st.lists(texts)))
def test_numbers_are_those_of_first_occurrence(batches):
    encoder = IdEncoder()
    seen: dict = {}
    for batch in batches:
        kind = pa.int64() if all(isinstance(node, int) for node in batch) else pa.string()
        expected = [seen.setdefault(node, len(seen)) for node in batch]
        if batch:
            assert encoder.encode(pa.array(batch, type=kind)).tolist() == expected
    assert len(encoder) == len(seen)
    if seen:
        assert encoder.distinct().to_pylist() == list(seen)
        ids, position = encoder.sorted()
        assert ids.to_numpy().tolist() == sorted(seen)  # ids so short have the same natural order
        assert [ids[int(position[number])] for number in range(len(seen))] == list(seen)
        assert len(encoder) == 0


def test_integers_become_strings_when_a_string_joins_them():
    encoder = IdEncoder()
    assert encoder.encode(pa.array([7, 8])).tolist() == [0, 1]
    assert encoder.encode(pa.array(["8", "x"]), pa.array([7, 9])).tolist() == [1, 2, 0, 3]
    assert encoder.sorted()[0].to_numpy().tolist() == ["7", "8", "9", "x"]


@pytest.mark.parametrize(
    ("values", "numbers"),
    [
        (["1", "-5", "0"], [1, -5, 0]),
        ([str(2**63 - 1), str(-(2**63))], [2**63 - 1, -(2**63)]),
        ([str(2**63)], None),
        (["1", "007"], None),
        (["-0"], None),
        (["+1"], None),
        (["1 "], None),
        ([""], None),
        (["1.0"], None),
        (["١"], None),  # a digit, but not one of ours
    ],
)
def test_what_counts_as_an_integer(values, numbers):
    found = integers_if_canonical(pa.array(values))
    assert found.to_pylist() == (values if numbers is None else numbers)


def test_ids_from_text_become_integers_and_other_strings_do_not():
    for text, expected in ((True, [2, 10]), (False, ["2", "10"])):
        encoder = IdEncoder()
        encoder.encode(pa.array(["10", "2"]))
        assert encoder.sorted(text=text)[0].to_numpy().tolist() == expected
