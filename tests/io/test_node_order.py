"""Natural order: the one order of nodes."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid import Graph
from planetoid.io.encode import IdEncoder
from planetoid.io.node_order import natural_order, sorted_ids

integers = st.lists(st.integers(-(2**63), 2**63 - 1), unique=True)
counted = st.lists(st.integers(0, 10**6), unique=True)
texts = st.lists(st.text(), unique=True)


def ordered(values: list) -> list:
    kind = pa.int64() if all(isinstance(value, int) for value in values) else pa.large_string()
    return [values[row] for row in natural_order(pa.array(values, type=kind))]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["paper_10", "paper_9", "paper_100"], ["paper_9", "paper_10", "paper_100"]),
        (["b2", "a10", "b1", "a9"], ["a9", "a10", "b1", "b2"]),
        (["10", "9", "007"], ["007", "9", "10"]),
        (["p1", "p01"], ["p01", "p1"]),  # equal numbers: by code point
        (["p10", "p9", "x"], ["p10", "p9", "x"]),  # not all have a number: by code point
        (["x", "p10", "p9"], ["p10", "p9", "x"]),
        (["v1.10", "v1.9"], ["v1.10", "v1.9"]),  # more than one number: by code point
        (["n" + "9" * 18, "n" + "1" * 19], ["n" + "1" * 19, "n" + "9" * 18]),  # a number beyond int64
        (["Ä", "B", "a"], ["B", "a", "Ä"]),
        ([10, -2, 9], [-2, 9, 10]),
    ],
)
def test_natural_order(ids, expected):
    assert ordered(ids) == expected


@given(counted)
def test_counted_ids_have_the_order_of_their_numbers(numbers):
    assert ordered([f"paper_{number}" for number in numbers]) == [f"paper_{number}" for number in sorted(numbers)]


@given(st.one_of(integers, texts.filter(lambda ids: any(not any(map(str.isdecimal, text[-1:])) for text in ids))))
def test_other_ids_are_sorted_by_value(ids):
    assert ordered(ids) == sorted(ids)


@given(st.one_of(integers, texts, counted.map(lambda numbers: [f"n{number}" for number in numbers])).filter(len))
def test_position_leads_back_to_the_values(values):
    kind = pa.int64() if isinstance(values[0], int) else pa.large_string()
    ids, position = sorted_ids(pa.array(values, type=kind))
    assert [ids[int(row)] for row in position] == values


def test_files_and_arrays_have_the_same_order(tmp_path):
    source, target = ["paper_10", "paper_9"], ["paper_9", "paper_1"]
    path = tmp_path / "edges.csv"
    path.write_text("source,target\n" + "".join(f"{s},{t}\n" for s, t in zip(source, target, strict=True)))
    expected = ["paper_1", "paper_9", "paper_10"]
    assert Graph.from_file(path).node_ids.tolist() == expected
    assert Graph.from_edges(source, target).node_ids.tolist() == expected
    encoder = IdEncoder()
    encoder.encode(pa.array(source), pa.array(target))
    assert encoder.sorted().ids.to_numpy().tolist() == expected
