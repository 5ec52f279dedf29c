"""Recall on coordinate lists."""

import pytest
from tests.experiments.conftest import TINY

from planetoid.experiments.cells import RunTask, run_task


@pytest.mark.parametrize("method", ["feat", "diel"])
def test_recall_on_lists_is_below_the_upper_bound(method):
    result = run_task(RunTask("lists:0.001", method, TINY, {}, 0))
    assert 0 < result.metrics["recall"] <= result.metrics["upper_bound"] < 1
