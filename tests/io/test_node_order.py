"""The order of nodes."""

import pyarrow as pa
import pytest

from planetoid.io.node_order import natural_order, sorted_ids


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["p10", "p9", "p1"], ["p1", "p9", "p10"]),
        (["b2", "a10", "a9"], ["a9", "a10", "b2"]),
        (["10", "9"], ["9", "10"]),
        (["p007", "p6", "p7"], ["p6", "p007", "p7"]),
        (["p10", "p9", "x"], ["p10", "p9", "x"]),  # not all have a number: by code point
        (["p1a", "p1", "p02"], ["p02", "p1", "p1a"]),
        ([12, 3, -4], [-4, 3, 12]),
    ],
)
def test_ids_are_in_natural_order(given, expected):
    values = pa.array(given)
    assert values.take(pa.array(natural_order(values))).to_pylist() == expected
    ids, rows = sorted_ids(values)
    assert [ids[int(row)] for row in rows] == given
