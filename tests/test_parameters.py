"""Declared constraints: what they admit, what the error says, and parameter objects inside of models."""

from dataclasses import FrozenInstanceError, dataclass
from typing import ClassVar

import numpy as np
import pytest
from sklearn.base import clone

import planetoid as pl
from planetoid.errors import ParameterError
from planetoid.estimator.classifier import GraphClassifier
from planetoid.parameters import (
    N_JOBS,
    RANDOM_STATE,
    ROW_NORMALIZE,
    VERBOSE,
    Check,
    Constraints,
    Integer,
    Parameters,
    Real,
    check_parameters,
    set_nested,
)


def admits(constraint, value):
    try:
        check_parameters("Model", {"p": value}, {"p": constraint})
    except ParameterError:
        return False
    return True


@dataclass(frozen=True)
class Encoder(Parameters):
    width: int = 8
    rate: float = 0.5
    constraints: ClassVar[Constraints] = {"width": Integer(1), "rate": Real(0, 1)}


class Nested(GraphClassifier):
    """A method with a parameter object."""

    constraints: ClassVar[Constraints] = {"encoder": Encoder, "C": Real(0, closed="neither")}

    def __init__(self, *, encoder=Encoder(), C=1.0):
        self.encoder = encoder
        self.C = C

    def _fit(self, data):
        return data.one_hot() + 1.0


class TestConstraints:
    @pytest.mark.parametrize(
        ("constraint", "right", "wrong"),
        [
            (Integer(), [0, -3, np.int64(5)], [1.0, True, "1", None, np.float64(2)]),
            (Integer(1), [1, 10**12], [0, -1]),
            (Integer(1, 3), [1, 2, 3], [0, 4]),
            (Integer(high=3), [-5, 3], [4]),
            (Real(), [0, -1.5, np.float32(2), 10**9], [float("nan"), float("inf"), "1", True, None, [1.0]]),
            (Real(0), [0, 0.0, 1e9], [-1e-9]),
            (Real(0, closed="neither"), [1e-300], [0, 0.0, -1]),
            (Real(0, 1), [0, 1, 0.5], [-0.1, 1.1]),
            (Real(0, 1, closed="left"), [0, 0.999], [1, 1.0]),
            (Real(0, 1, closed="right"), [1, 0.001], [0]),
            (Real(high=2, closed="left"), [1.9, -1e9], [2]),
            (bool, [True, False], [0, 1, None, "True"]),
            (str, ["", "any"], [None, 1]),
            (("l1", "l2", None), ["l1", "l2", None], ["l3", 1, True]),
            ((Integer(1), "auto"), [1, "auto"], [0, "other", None]),
            (Check("even", lambda value: isinstance(value, int) and value % 2 == 0), [2], [3]),
            (Encoder, [Encoder(), Encoder(width=2)], [None, {"width": 2}]),
        ],
    )
    def test_what_is_admitted(self, constraint, right, wrong):
        for value in right:
            assert admits(constraint, value), value
        for value in wrong:
            assert not admits(constraint, value), value

    def test_values_of_another_type_are_not_equal(self):
        """1 == True and 0 == False in Python; as parameters they are different."""
        assert not admits((1, "auto"), True)
        assert not admits((False, "auto"), 0)

    @pytest.mark.parametrize(
        ("constraint", "words"),
        [
            (Integer(), "an integer"),
            (Integer(1), "an integer >= 1"),
            (Integer(high=3), "an integer <= 3"),
            (Integer(1, 3), "an integer from 1 to 3"),
            (Real(), "a number"),
            (Real(0), "a number >= 0"),
            (Real(0, closed="neither"), "a number > 0"),
            (Real(high=2), "a number <= 2"),
            (Real(high=2, closed="left"), "a number < 2"),
            (Real(0, 1), "a number in [0, 1]"),
            (Real(0, 1, closed="left"), "a number in [0, 1)"),
            (Real(0, 1, closed="right"), "a number in (0, 1]"),
            (Real(0, 1, closed="neither"), "a number in (0, 1)"),
            (bool, "True or False"),
            (str, "a string"),
            (Encoder, "an Encoder object"),
            (np.ndarray, "a ndarray object"),
            (Check("an even number", lambda value: False), "an even number"),
            (ROW_NORMALIZE, "'l1', 'l2' or None"),
            (RANDOM_STATE, "an integer >= 0 or None"),
            (N_JOBS, "an integer other than 0 or None"),
            ((Real(0, closed="neither"), "auto"), "a number > 0 or 'auto'"),
        ],
    )
    def test_the_error_repeats_the_constraint(self, constraint, words):
        with pytest.raises(ParameterError) as caught:
            check_parameters("Model", {"p": b"wrong"}, {"p": constraint})
        assert str(caught.value) == f"Model: p must be {words}, got b'wrong'"
        assert caught.value.parameter == "p"

    def test_the_first_wrong_value_is_reported(self):
        with pytest.raises(ParameterError, match=r"^Model: b must be"):
            check_parameters("Model", {"a": 1, "b": 0, "c": 0}, {name: Integer(1) for name in "abc"})

    def test_shared_constraints(self):
        for value in (None, 0, 2**40):
            assert admits(RANDOM_STATE, value)
        assert not admits(RANDOM_STATE, -1)
        for value in (None, 1, 2, -1, -2):
            assert admits(N_JOBS, value)
        assert not admits(N_JOBS, 0)
        for value in (True, False, 0, 2):
            assert admits(VERBOSE, value)
        assert not admits(VERBOSE, -1)


class TestParameterObjects:
    def test_names_and_values(self):
        assert Encoder.parameter_names() == ["width", "rate"]
        assert Encoder(width=3).get_params() == {"width": 3, "rate": 0.5}

    def test_replace_returns_a_changed_copy(self):
        first = Encoder()
        assert first.replace(width=3) == Encoder(width=3)
        assert first == Encoder()
        with pytest.raises(FrozenInstanceError):
            first.width = 3
        with pytest.raises(ParameterError, match="Encoder has no parameter 'depth'; valid parameters are width, rate"):
            first.replace(depth=1)

    def test_nested_values_are_checked_with_their_path(self):
        with pytest.raises(ParameterError) as caught:
            check_parameters("Model", {"encoder": Encoder(width=0)}, {"encoder": (Encoder, None)})
        assert str(caught.value) == "Model: encoder.width must be an integer >= 1, got 0"
        assert caught.value.parameter == "encoder.width"

    def test_set_nested(self):
        values = {"encoder": Encoder(), "C": 1.0}
        changed = set_nested(values, {"encoder__width": 2, "C": 3.0, "encoder__rate": 0.1}, "Model")
        assert changed == {"encoder": Encoder(2, 0.1), "C": 3.0}
        assert values == {"encoder": Encoder(), "C": 1.0}
        # a new object and a change of it in one call
        assert set_nested(values, {"encoder__width": 2, "encoder": Encoder(rate=0.9)}, "Model")["encoder"] == Encoder(
            2, 0.9
        )
        with pytest.raises(ParameterError, match="Model has no parameter 'D'; valid parameters are encoder, C"):
            set_nested(values, {"D": 1}, "Model")
        with pytest.raises(ParameterError, match="Encoder has no parameter 'depth'"):
            set_nested(values, {"encoder__depth": 1}, "Model")
        with pytest.raises(ParameterError, match=r"Model: C has no parameters of its own"):
            set_nested(values, {"C__width": 1}, "Model")


class TestModels:
    def test_fit_checks_before_it_looks_at_the_data(self):
        with pytest.raises(ParameterError) as caught:
            pl.Feat(C=0.0).fit("no data at all", None)
        assert str(caught.value) == "Feat: C must be a number > 0, got 0.0"
        assert caught.value.parameter == "C"

    def test_a_parameter_object_in_a_model(self):
        model = Nested().set_params(encoder__width=3, C=2.0)
        assert model.encoder == Encoder(width=3)
        assert Nested().encoder == Encoder()  # the default is not touched
        assert clone(model).encoder == Encoder(width=3)
        assert model.get_params()["encoder__width"] == 3
        with pytest.raises(ParameterError, match=r"^Nested: encoder.rate must be a number in \[0, 1\], got 2$"):
            model.set_params(encoder__rate=2).fit(y=[0, 1], graph=[(0, 1)])
        with pytest.raises(ParameterError, match=r"^Nested: encoder must be an Encoder object, got None$"):
            Nested(encoder=None).fit(y=[0, 1], graph=[(0, 1)])
