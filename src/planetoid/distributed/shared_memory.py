"""``SharedSums``: processes of one machine add up integers in memory that they share, instead of sending them.

Every process copies its integers to a place of its own in a file that all have mapped, and adds itself to a counter.
When the counter says that all have come, each adds up what all have written. Two sets of places take turns: who writes
to one of them again has seen everyone come to the other one, and so leave the first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from planetoid.engine.arrays import Nodes
from planetoid.engine.barrier import arrive_once, wait_a_while
from planetoid.errors import LostProcessError

__all__ = ["SharedSums"]

HEADER = 64  # bytes, of which the counter takes the first eight
NAP = 5e-5  # seconds between two looks at the counter, after a while
SECONDS_TO_CHECK = 0.5  # between two looks at whether the others are alive


class SharedSums:
    """Sums of integers over processes on one machine.

    Parameters
    ----------
    file : Path
        Does not exist yet, and has no name any more when all have mapped it.
    rank, processes : int, list of int
        The number of this process, and the process ids of all.
    capacity : int
        Integers that can be added up at once.
    agree : callable
        Gives a text of each process, for a text of this one: so that all go on together.

    Raises
    ------
    OSError
        In all processes, if one of them cannot map the file.
    """

    def __init__(
        self, file: Path, rank: int, processes: list[int], capacity: int, agree: Callable[[str], list[str]]
    ) -> None:
        self.rank, self.processes, self.capacity, self._round = rank, processes, capacity, 0
        n_bytes = HEADER + 8 * len(processes) * capacity
        failed = ""
        if rank == 0:
            failed = _attempt(lambda: _create(file, n_bytes))
        if not any(agree(failed)):
            failed = _attempt(lambda: self._map(file))
        if any(agree(failed)):
            raise OSError("memory cannot be shared")
        if rank == 0:
            file.unlink()  # all have it, and nothing is left behind whatever happens to them

    def _map(self, file: Path) -> None:
        self._counter = np.memmap(file, np.int64, "r+", shape=(HEADER // 8,))
        shape = (2, len(self.processes), self.capacity)
        self._places = np.memmap(file, np.int32, "r+", offset=HEADER, shape=shape)

    def start(self, values: Nodes) -> Callable[[], None]:
        """Start to replace integers by their sums; the returned function waits for the others."""
        places = self._places[self._round % 2, :, : len(values)]
        places[self.rank] = values
        self._round += 1
        arrive_once(self._counter)
        complete = self._round * len(self.processes)

        def finish() -> None:
            self._wait(complete)
            np.add.reduce(places, axis=0, dtype=np.int32, out=values)

        return finish

    def _wait(self, complete: int) -> None:
        looked = time.monotonic()
        while not wait_a_while(self._counter, complete):
            time.sleep(NAP)
            if time.monotonic() - looked > SECONDS_TO_CHECK:
                looked = time.monotonic()
                self._check_others()

    def _check_others(self) -> None:
        for process in self.processes:
            try:
                os.kill(process, 0)
            except ProcessLookupError:
                raise LostProcessError("another process of this training has ended") from None


def _create(file: Path, n_bytes: int) -> None:
    """Create a file of zeros whose memory is there; a write to memory that is not would end the process."""
    with file.open("xb") as stream:
        os.posix_fallocate(stream.fileno(), 0, n_bytes)


def _attempt(action: Callable[[], None]) -> str:
    try:
        action()
    except (OSError, AttributeError) as error:  # posix_fallocate is not everywhere
        return str(error) or "failed"
    return ""
