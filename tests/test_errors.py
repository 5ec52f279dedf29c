"""Errors and warnings: fields, and how they are rendered."""

import pickle
import warnings

import pytest

from planetoid import errors
from planetoid.errors import (
    DataError,
    DatasetNotFoundError,
    Fix,
    NotInductiveError,
    ParameterError,
    PlanetoidError,
    PlanetoidWarning,
    warn,
)

ERRORS = [DataError, ParameterError, NotInductiveError, DatasetNotFoundError]
HEADER = (Fix("header", True, "if the line is a header"), Fix("header", False, "if it is not"))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "wrong"),
        ({"hint": "do this"}, "wrong; do this"),
        ({"path": "f.csv"}, "f.csv: wrong"),
        ({"path": "f.csv", "line": 3}, "f.csv, line 3: wrong"),
        ({"path": "f.parquet", "row": 0}, "f.parquet, row 0: wrong"),
        ({"column": "age"}, "column 'age': wrong"),
        ({"column": 2}, "column 2 (counted from 0): wrong"),
        ({"node": 0}, "node 0: wrong"),
        ({"line": 3, "edge": ("a", 7), "column": "weight"}, "line 3, edge ('a', 7), column 'weight': wrong"),
        ({"parameter": "q"}, "wrong"),  # the message names it
        ({"fix": Fix("overwrite", True, "to replace it")}, "wrong; pass overwrite=True to replace it"),
        ({"fix": Fix("separator")}, "wrong; pass separator=..."),
        ({"fix": Fix("names", ["x", "y"])}, "wrong; pass names=['x', 'y']"),
        (
            {"hint": "look", "fix": HEADER},
            "wrong; look; pass header=True if the line is a header or header=False if it is not",
        ),
    ],
)
@pytest.mark.parametrize("kind", [*ERRORS, PlanetoidWarning])
def test_text(kind, fields, text):
    assert str(kind("wrong", **fields)) == text


def test_fixes_are_spelled_by_whoever_shows_them():
    error = DataError("wrong", path="m", fix=(Fix("overwrite", True, "to replace it"), Fix("encoder", purpose="again")))
    assert (
        error.render(lambda fix: f"--{fix.parameter}") == "m: wrong; pass --overwrite to replace it or --encoder again"
    )
    options = {"overwrite": "--force"}
    assert error.render(lambda fix: options.get(fix.parameter)) == "m: wrong; pass --force to replace it"
    assert error.render(lambda fix: None) == "m: wrong"


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_survive_pickling(kind):
    error = kind("wrong", path="f.csv", line=3, node=("a", 1), hint="look", fix=HEADER, parameter="header")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert (again.path, again.line, again.node, again.fixes) == (error.path, error.line, error.node, error.fixes)


def test_errors_are_the_usual_errors_of_python():
    assert issubclass(DataError, ValueError)
    assert issubclass(ParameterError, ValueError)
    assert issubclass(NotInductiveError, TypeError)
    assert issubclass(DatasetNotFoundError, FileNotFoundError)
    assert all(issubclass(kind, PlanetoidError) for kind in ERRORS)
    assert not issubclass(PlanetoidWarning, PlanetoidError)
    assert issubclass(PlanetoidWarning, UserWarning)


def test_a_warning_points_to_the_caller_outside_of_the_package(monkeypatch):
    with pytest.warns(PlanetoidWarning) as caught:
        warn(PlanetoidWarning("wrong", path="f.csv"))
    assert caught[0].filename == __file__
    assert caught[0].message.message == "wrong"
    monkeypatch.setattr(errors, "PACKAGE_FOLDER", __file__)  # as if this module were part of it

    def inner():
        warn(PlanetoidWarning("wrong"))

    with pytest.warns(PlanetoidWarning) as caught:
        inner()
    assert caught[0].filename != __file__


def test_a_warning_can_be_turned_into_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlanetoidWarning)
        with pytest.raises(PlanetoidWarning, match=r"^f\.csv: wrong$"):
            warn(PlanetoidWarning("wrong", path="f.csv"))
