"""Threads that proceed in step."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from threading import get_ident

import numpy as np
import pytest
from numba import njit

from planetoid.engine import barrier as engine_barrier
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


def test_an_error_is_raised_after_the_other_threads_have_ended():
    ended = []

    def task(thread, n_threads, arrivals):
        if thread == 0:
            raise RuntimeError("out of step")
        time.sleep(0.2)
        ended.append(thread)

    with pytest.raises(RuntimeError, match="out of step"):
        run_in_step(task, 3)
    assert sorted(ended) == [1, 2]


def test_calls_at_once_from_several_threads_all_end():
    def call(number):
        seen = np.zeros((3, 50), np.int64)
        run_in_step(count_in_step, 3, 50, np.zeros(3, np.int64), seen)
        return seen[0, -1]

    with ThreadPoolExecutor(8) as callers:
        assert list(callers.map(call, range(40), timeout=60)) == [150] * 40


def test_the_threads_of_a_call_start_before_those_of_another(monkeypatch):
    # Of two calls that wait for half of their threads each, none would end.
    class Slow(ThreadPoolExecutor):
        def submit(self, run, thread):
            started.append(get_ident())  # of the thread that calls run_in_step
            time.sleep(0.001)
            return super().submit(run, thread)

    started: list[int] = []
    with Slow(2) as pool, ThreadPoolExecutor(8) as callers:
        monkeypatch.setitem(engine_barrier._pools, 2, pool)
        list(callers.map(lambda _: run_in_step(lambda *arguments: None, 3), range(20)))
    assert started == [caller for caller in started[::2] for _ in range(2)]


@pytest.mark.parametrize("failing", [0, 1])
def test_no_thread_waits_for_one_that_failed(failing):
    def task(thread, n_threads, arrivals):
        if thread == failing:
            raise RuntimeError("out of step")
        count_in_step(thread, n_threads, arrivals, 3, np.zeros(n_threads, np.int64), seen)
        ended.append(thread)

    ended: list[int] = []
    seen = np.zeros((3, 3), np.int64)
    with ThreadPoolExecutor(1) as caller, pytest.raises(RuntimeError, match="out of step"):
        caller.submit(run_in_step, task, 3).result(timeout=60)
    assert sorted(ended) == sorted({0, 1, 2} - {failing})  # all have come to their end before the error is raised


def test_no_thread_waits_for_one_that_a_signal_kept_from_starting(monkeypatch):
    class Interrupted(ThreadPoolExecutor):
        def submit(self, run, thread):
            submitted.append(super().submit(run, thread))
            if thread == 2:
                raise KeyboardInterrupt
            return submitted[-1]

    submitted = []
    with Interrupted(2) as pool:
        monkeypatch.setitem(engine_barrier._pools, 2, pool)
        with pytest.raises(KeyboardInterrupt):
            run_in_step(count_in_step, 3, 3, np.zeros(3, np.int64), np.zeros((3, 3), np.int64))
        for other in submitted:
            other.result(timeout=60)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    run_in_step(count_in_step, 2, 1, np.zeros(2, np.int64), np.zeros((2, 1), np.int64))
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that waits for the threads of its parent
        seen = np.zeros((2, 5), np.int64)
        run_in_step(count_in_step, 2, 5, np.zeros(2, np.int64), seen)
        os._exit(0 if seen[1, -1] == 10 else 1)
    assert os.waitpid(child, 0)[1] == 0
