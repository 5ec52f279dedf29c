"""Tasks in worker processes: order, errors, termination."""

import multiprocessing
import os
import time

import pytest

from planetoid.errors import DataError, ParameterError, PlanetoidError
from planetoid.evaluation.workers import each


def slow_if_first(task):
    time.sleep(0.5 if task == 0 else 0.0)
    return task, os.getpid()


def refuse(task):
    if task == 1:
        raise DataError(f"task {task} is wrong", path="labels.csv", line=7)
    time.sleep(600)  # nobody may wait for this one


def die(task):
    os._exit(3)


def threads(task):
    import numpy  # noqa: F401
    import torch
    from threadpoolctl import threadpool_info

    return [pool["num_threads"] for pool in threadpool_info()] + [torch.get_num_threads()]


def test_answers_come_in_order_from_other_processes():
    answers = list(each(slow_if_first, range(4), jobs=2))
    assert [task for task, _ in answers] == [0, 1, 2, 3]
    assert os.getpid() not in {process for _, process in answers}


def test_one_job_runs_lazily_in_this_process():
    done = []
    answers = each(lambda task: done.append(task), [1, 2, 3])
    next(answers)
    assert done == [1]


def test_an_error_terminates_the_other_tasks():
    with pytest.raises(DataError, match="task 1 is wrong") as caught:
        list(each(refuse, [1, 2, 3], jobs=2))
    assert (str(caught.value.path), caught.value.line) == ("labels.csv", 7)  # its fields come through
    assert not multiprocessing.active_children()


def test_closing_the_generator_terminates_the_tasks():
    answers = each(slow_if_first, range(1, 100), jobs=2)
    next(answers)
    answers.close()
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_an_error_and_not_a_hang():
    with pytest.raises(PlanetoidError, match=r"a worker process died.*use fewer jobs"):
        list(each(die, range(4), jobs=2))


def test_a_worker_uses_one_thread():
    (found,) = each(threads, [0], jobs=2)
    assert set(found) == {1}


def test_jobs_must_be_positive():
    with pytest.raises(ParameterError, match="jobs must be an integer >= 1, got 0"):
        list(each(abs, [1], jobs=0))
