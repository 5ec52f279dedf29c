"""The meaning of ``n_jobs``."""

import sys

import pytest
from threadpoolctl import threadpool_info

from planetoid.errors import ParameterError
from planetoid.utils import threads
from planetoid.utils.threads import available_cores, one_blas_thread, resolve_n_jobs


def test_negative_numbers_count_down_from_all_cores(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 8)
    assert [resolve_n_jobs(n_jobs) for n_jobs in (None, 1, 3, 20, -1, -2, -8, -20)] == [1, 1, 3, 8, 8, 7, 1, 1]


@pytest.mark.parametrize("wrong", [0, 1.5, "2"])
def test_other_values_are_rejected(wrong):
    with pytest.raises(ParameterError, match=f"n_jobs must be an integer other than 0 or None, got {wrong!r}"):
        resolve_n_jobs(wrong)


def test_there_is_a_core():
    assert available_cores() >= 1


def test_one_blas_thread_also_in_libraries_that_are_imported_later(monkeypatch):
    def n_threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    import scipy.linalg  # noqa: F401 - which has a BLAS of its own

    before = n_threads()
    with one_blas_thread():
        assert set(n_threads()) == {1}
    assert n_threads() == before
    first = threads._libraries()
    assert threads._libraries() is first
    monkeypatch.setitem(sys.modules, "imported_since", sys)
    assert threads._libraries() is not first
