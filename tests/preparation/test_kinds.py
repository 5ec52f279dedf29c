"""What a column is, from its cells."""

import datetime

import pyarrow as pa
import pytest

from planetoid.errors import ParameterError
from planetoid.preparation.cells import numbers_of
from planetoid.preparation.kinds import ColumnOptions, Guess, guess_kind

SENTENCES = [f"the {word} of a day in the life of number {k}" for k, word in enumerate(["end", "start"] * 10)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2, 2], "number"),
        ([0.5, None, 1e3], "number"),
        (["1", "2.5", "", "NA"], "number"),
        (["1 000", "2 %", "€ 5"], "number"),
        ([*["1.5"] * 19, "many"], "number"),  # a cell in twenty may be something else
        ([*["1.5"] * 18, "many", "few"], "category"),
        (["01067", "20095", "01067"], "category"),  # codes, not numbers
        ([True, False, None], "boolean"),
        (["yes", "no", "Yes", ""], "boolean"),
        (["t", "f", "t"], "boolean"),
        (["a", "b", "a"] * 5, "category"),
        ([datetime.date(2020, 1, 2), None], "date"),
        (["2020-01-02", "2021-12-31", "-"], "date"),
        (["2020-01-02T10:00:00Z", "2021-12-31T23:59:59Z"], "date"),
        (["31.12.2020", "01.02.2021"], "date"),
        (["12/31/2020", "02/28/2021"], "date"),
        (SENTENCES, "text"),
        (SENTENCES[:2] * 10, "category"),  # two values, however long
        ([[0.5, 1.0], None, [2.0, 3.0]], "embedding"),
        (["[0.5, 1.0]", "[1, 2]"] * 8, "embedding"),
        (["[0.5 1.0\n 3.0]", "[1. 2. 3.]"] * 8, "embedding"),  # as numpy prints arrays
        ([["a", "b"], ["c"], []], "tokens"),
        ([[1, 2], [3]], "tokens"),
        (["['a', 'b']", "['c']"] * 8, "tokens"),
        (["red|green", "blue", "red; blue"] * 8, "tokens"),
        ([f"name {k}" for k in range(30)], "none"),
        (["", None, "NA"], "none"),
        ([None, None], "none"),
        ([{"a": 1}, {"a": 2}], "none"),
    ],
)
def test_kind_of_cells(cells, kind):
    assert guess_kind("x", pa.chunked_array([pa.array(cells)]), ColumnOptions()).kind == kind


def test_a_second_column_of_ids_is_left_out_by_its_name():
    column = pa.chunked_array([list(range(100, 130))])
    assert guess_kind("user_id", pa.chunked_array([list(map(str, range(100, 130)))]), ColumnOptions()).kind == "none"
    assert guess_kind("user_id", pa.chunked_array([["1.5", "2.5"] * 9]), ColumnOptions()).kind == "number"
    assert guess_kind("user_id", column, ColumnOptions()).kind == "none"
    assert guess_kind("userId", column, ColumnOptions()).kind == "none"
    assert guess_kind("paid", column, ColumnOptions()).kind == "number"


def test_the_caller_knows_better():
    column = pa.chunked_array([["1", "2", "1"]])
    assert guess_kind("x", column, ColumnOptions(categorical=["x"])).kind == "category"
    assert guess_kind("x", column, ColumnOptions(text_columns=["x"])).kind == "text"
    written = guess_kind("x", pa.chunked_array([["1,5", "2,25"]]), ColumnOptions(decimal=","))
    assert written == ("number", ",")
    assert guess_kind("x", pa.chunked_array([["1,5", "2,25"]]), ColumnOptions()).kind != "number"


def test_contradictions_are_refused():
    with pytest.raises(ParameterError, match="both text and categorical"):
        ColumnOptions(["x"], ["x"])
    with pytest.raises(ParameterError, match=r"decimal must be '\.' or ','"):
        ColumnOptions(decimal=";")


def test_dates_with_dots_are_no_numbers_with_a_decimal_comma():
    dates = pa.chunked_array([["04.01.2021", "28.02.2023", "11.12.2022"]])
    assert guess_kind("joined", dates, ColumnOptions(), decimal=",") == Guess("date", "%d.%m.%Y")
    numbers = numbers_of(pa.chunked_array([["1.234.567,5", "1.234", "52.52", "1,5", "1.5,3", "12.34.56"]]), decimal=",")
    assert numbers.values[:4].tolist() == [1234567.5, 1234.0, 52.52, 1.5]
    assert (numbers.n_invalid, numbers.example) == (2, "1.5,3")
