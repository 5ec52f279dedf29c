"""``launch``: several processes of one command on this machine, which end together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from planetoid.distributed.environment import LOST_PROCESS, STORE_VARIABLE
from planetoid.errors import PlanetoidError
from planetoid.utils.text import pluralize

__all__ = ["launch"]

SECONDS_TO_NOTICE = 20.0  # for the others, after one has ended with an error
SECONDS_TO_END = 10.0  # after they were asked to
POLL = 0.05
MEMORY = "/dev/shm"  # noqa: S108
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


@dataclass
class Child:
    """One of the processes, and the file that its messages go to; those of process 0 go to the terminal."""

    rank: int
    process: subprocess.Popen[bytes]
    messages: Path | None

    def say(self) -> str:
        """Return what it has written to stderr."""
        return "" if self.messages is None else self.messages.read_text(encoding="utf-8", errors="replace").strip()


def launch(command: Sequence[str], processes: int) -> int:
    """Run a command in so many processes, which find each other and end together; return an exit code.

    Process 0 writes to this process's stdout and stderr. The messages of the others are shown if one of them is the
    first to fail. They find each other by a file, share memory and talk over the loopback interface, so nothing listens
    to the network.

    Raises
    ------
    PlanetoidError
        If a process was killed.
    """
    with tempfile.TemporaryDirectory(prefix="planetoid-", dir=_memory()) as folder, _ended_at_the_end() as children:
        for rank in range(processes):
            children.append(_start(command, rank, processes, Path(folder)))
        failed = _first_failure(children)
        if failed is None:
            return 0
        _wait(children, SECONDS_TO_NOTICE)
        code = failed.process.returncode
        if code < 0:
            raise PlanetoidError(
                f"process {failed.rank} of {processes} was ended by {signal.Signals(-code).name}, "
                f"and {pluralize(processes - 1, 'other')} with it",
                hint="with --checkpoint FOLDER the same command goes on where it was",
            )
        if failed.rank > 0:
            print(failed.say(), file=sys.stderr)  # noqa: T201
        return code


def _memory() -> str | None:
    """Return a folder that is memory and no disk, for what processes share; ``None`` where there is none."""
    return MEMORY if os.path.isdir(MEMORY) and os.access(MEMORY, os.W_OK) else None


def _start(command: Sequence[str], rank: int, size: int, folder: Path) -> Child:
    own = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), STORE_VARIABLE: str(folder / "store")}
    environment = {**ONE_THREAD, **os.environ, **own}
    if rank == 0:
        return Child(rank, subprocess.Popen(command, env=environment), None)  # noqa: S603 - our own command
    messages = folder / f"process-{rank}.txt"
    with messages.open("wb") as stream:
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=stream)  # noqa: S603
    return Child(rank, process, messages)


def _first_failure(children: list[Child]) -> Child | None:
    """Wait until all have ended well, or one has not; a process that has only lost another one is not the first."""
    while True:
        codes = [child.process.poll() for child in children]
        failed = [child for child, code in zip(children, codes, strict=True) if code not in (None, 0, LOST_PROCESS)]
        if failed:
            return failed[0]
        if None not in codes:
            return next((child for child, code in zip(children, codes, strict=True) if code), None)
        time.sleep(POLL)


def _wait(children: list[Child], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and any(child.process.poll() is None for child in children):
        time.sleep(POLL)


@contextmanager
def _ended_at_the_end() -> Iterator[list[Child]]:
    """Yield a list of processes; whatever happens, none of them outlives this one."""
    children: list[Child] = []
    try:
        yield children
    finally:
        for end in (signal.SIGTERM, signal.SIGKILL):
            for child in children:
                if child.process.poll() is None:
                    child.process.send_signal(end)
            _wait(children, SECONDS_TO_END)
