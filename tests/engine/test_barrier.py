"""Threads that proceed in step."""

import numpy as np
import pytest
from numba import njit

from planetoid.engine.barrier import barrier, run_in_step


@njit(nogil=True)
def count_in_step(thread, n_threads, arrivals, n_rounds, counts, seen):
    """Count, wait, look at what all have counted, wait."""
    for number in range(n_rounds):
        counts[thread] += 1
        barrier(arrivals, n_threads)
        for other in range(n_threads):
            seen[thread, number] += counts[other]
        barrier(arrivals, n_threads)


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_no_thread_is_ahead_of_another(n_threads):
    n_rounds = 300
    seen = np.zeros((n_threads, n_rounds), np.int64)
    run_in_step(count_in_step, n_threads, n_rounds, np.zeros(n_threads, np.int64), seen)
    np.testing.assert_array_equal(seen, np.tile(n_threads * np.arange(1, n_rounds + 1), (n_threads, 1)))


def test_an_error_in_a_thread_is_raised():
    def task(thread, n_threads, arrivals):
        if thread == 1:
            raise RuntimeError("out of step")

    with pytest.raises(RuntimeError, match="out of step"):
        run_in_step(task, 2)
