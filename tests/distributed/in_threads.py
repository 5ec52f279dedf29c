"""Several processes played by threads of one: quick, and with the same calls as a real exchange."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from planetoid.engine.shards import exchanging


class Meeting:
    """Where threads put what they have; each takes what it needs when all have arrived."""

    def __init__(self, size):
        self.size, self.items = size, [None] * size
        self.barrier = threading.Barrier(size, timeout=60)

    def swap(self, rank, item):
        self.items[rank] = item
        self.barrier.wait()
        items = list(self.items)
        self.barrier.wait()
        return items


class ThreadExchange:
    def __init__(self, rank, meeting):
        self.rank, self.size, self._meeting = rank, meeting.size, meeting
        self.n_summed = 0

    def start_sum(self, values):
        total = np.sum(self._meeting.swap(self.rank, values.copy()), axis=0, dtype=np.int32)
        self.n_summed += len(values)
        return lambda: np.copyto(values, total)

    def gather(self, part, widths):
        parts = self._meeting.swap(self.rank, part.copy())
        assert [one.shape[1] for one in parts] == widths
        return np.concatenate(parts, axis=1)

    def gather_to_first(self, part, widths):
        whole = self.gather(part, widths)
        return whole if self.rank == 0 else None

    def share_rows(self, table, bounds):
        first, last = bounds[self.rank : self.rank + 2]
        for rows, start in zip(self._meeting.swap(self.rank, table[first:last].copy()), bounds, strict=False):
            table[start : start + len(rows)] = rows

    def texts(self, own):
        return self._meeting.swap(self.rank, own)


def run_together(size, work):
    """Return ``work(exchange)`` of each of so many processes."""
    meeting = Meeting(size)

    def one(rank):
        exchange = ThreadExchange(rank, meeting)
        try:
            with exchanging(exchange):
                return work(exchange)
        except BaseException:
            meeting.barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        answers = [pool.submit(one, rank) for rank in range(size)]
        errors = [error for answer in answers if (error := answer.exception()) is not None]
        for error in errors:
            if not isinstance(error, threading.BrokenBarrierError):
                raise error
        return [answer.result() for answer in answers]
