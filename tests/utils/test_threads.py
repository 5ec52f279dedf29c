"""The meaning of ``n_jobs``."""

import pytest

from planetoid.errors import ParameterError
from planetoid.utils import threads
from planetoid.utils.threads import available_cores, resolve_n_jobs


def test_negative_numbers_count_from_all_cores(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    assert [resolve_n_jobs(n_jobs) for n_jobs in (None, 1, 3, 20, -1, -2, -8, -20)] == [1, 1, 3, 20, 8, 7, 1, 1]


def test_zero_is_refused():
    with pytest.raises(ParameterError, match="n_jobs must be an integer other than 0 or None, got 0"):
        resolve_n_jobs(0)


def test_there_is_a_core():
    assert available_cores() >= 1
