"""Tasks in several processes: order, errors, ends."""

import multiprocessing
import os
import time

import pytest

from planetoid.errors import DataError, ParameterError, PlanetoidError
from planetoid.evaluation.workers import cores, each


def slow_if_first(task):
    time.sleep(0.5 if task == 0 else 0.0)
    return task, os.getpid()


def refuse(task):
    if task == 1:
        raise DataError(f"task {task} is wrong")
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


def test_one_job_is_this_process_and_works_when_asked():
    done = []
    answers = each(lambda task: done.append(task), [1, 2, 3])
    next(answers)
    assert done == [1]


def test_an_error_ends_the_others_at_once():
    with pytest.raises(DataError, match="task 1 is wrong"):
        list(each(refuse, [1, 2, 3], jobs=2))
    assert not multiprocessing.active_children()


def test_leaving_early_ends_them_too():
    answers = each(slow_if_first, range(1, 100), jobs=2)
    next(answers)
    answers.close()
    assert not multiprocessing.active_children()


def test_a_process_that_dies_is_an_error_not_a_hang():
    with pytest.raises(PlanetoidError, match="too little memory for so many jobs"):
        list(each(die, range(4), jobs=2))


def test_a_worker_keeps_to_one_thread():
    (found,) = each(threads, [0], jobs=2)
    assert set(found) == {1}


def test_bounds():
    with pytest.raises(ParameterError, match="jobs=0"):
        list(each(abs, [1], jobs=0))
    assert 1 <= cores() <= os.cpu_count()
