"""The meaning of ``n_jobs``."""

import pytest

from planetoid.errors import ParameterError
from planetoid.utils import threads
from planetoid.utils.threads import available_cores, resolve_n_jobs


def test_negative_numbers_count_down_from_all_cores(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    assert [resolve_n_jobs(n_jobs) for n_jobs in (None, 1, 3, 20, -1, -2, -8, -20)] == [1, 1, 3, 8, 8, 7, 1, 1]


@pytest.mark.parametrize("wrong", [0, 1.5, "2"])
def test_other_values_are_rejected(wrong):
    with pytest.raises(ParameterError, match=f"n_jobs must be an integer other than 0 or None, got {wrong!r}"):
        resolve_n_jobs(wrong)


def test_there_is_a_core():
    assert available_cores() >= 1
