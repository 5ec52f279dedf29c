"""Sums in shared memory: any number of rounds, and a process that is not there any more."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.distributed.in_threads import run_together

from planetoid.distributed.shared_memory import SharedSums
from planetoid.errors import LostProcessError


@pytest.mark.parametrize("size", [1, 2, 3])
def test_sums_of_many_rounds(size, tmp_path):
    """Every round has other numbers and another length; a place that was overwritten too soon would show."""

    def work(exchange):
        sums = SharedSums(tmp_path / "sums", exchange.rank, [os.getpid()] * size, 50, exchange.texts)
        found = []
        for number in range(200):
            values = np.arange(1 + number % 50, dtype=np.int32) * (exchange.rank + 1) + number
            sums.start(values)()
            found.append(values)
        return found

    answers = run_together(size, work)
    assert not any(tmp_path.iterdir())  # nothing is left behind
    factor = sum(range(1, size + 1))
    for found in answers:
        for number, values in enumerate(found):
            np.testing.assert_array_equal(values, np.arange(1 + number % 50) * factor + size * number)


def test_integers_overflow_as_in_any_other_sum(tmp_path):
    def work(exchange):
        sums = SharedSums(tmp_path / "sums", exchange.rank, [os.getpid()] * 2, 1, exchange.texts)
        values = np.array([2**31 - 1], np.int32)
        sums.start(values)()
        return values.tolist()

    assert run_together(2, work) == [[-2], [-2]]


def test_a_process_that_is_gone_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr("planetoid.distributed.shared_memory.SECONDS_TO_CHECK", 0.01)
    gone = subprocess.Popen([sys.executable, "-S", "-c", ""])
    gone.wait()
    sums = SharedSums(tmp_path / "sums", 0, [os.getpid(), gone.pid], 4, lambda text: [text])
    with pytest.raises(LostProcessError, match="another process of this training has ended"):
        sums.start(np.zeros(4, np.int32))()


def test_all_give_up_if_one_cannot_share(tmp_path):
    """The first cannot create the file, because it exists."""
    (tmp_path / "sums").write_bytes(b"")

    def work(exchange):
        with pytest.raises(OSError, match="memory cannot be shared"):
            SharedSums(tmp_path / "sums", exchange.rank, [os.getpid()] * 2, 4, exchange.texts)
        return True

    assert run_together(2, work) == [True, True]
