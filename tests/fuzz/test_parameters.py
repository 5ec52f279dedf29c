"""A fixed sample of ``python -m tests.fuzz.parameters``: methods that are fitted in no time, one value in seven."""

import pytest
from tests.fuzz.parameters import cases, set_and_fit

FAST = ["feat", "lp", "mad", "poisson", "manireg"]


@pytest.mark.parametrize("method", FAST)
def test_no_value_of_a_parameter_is_a_traceback(method):
    for number, case in enumerate(cases([method])):
        if number % 7 == len(method) % 7:
            set_and_fit(*case)
