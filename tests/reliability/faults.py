"""Run a piece of work in a fork of this process, in which one file operation fails or is the last one.

The process has to be started with the library of ``faults.c`` in ``LD_PRELOAD``; see ``environment``.
"""

import ctypes
import os
import shutil
import subprocess
import sys
import traceback
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("faults.c")
COMPILER = shutil.which("cc") or shutil.which("gcc")
AVAILABLE = sys.platform == "linux" and COMPILER is not None
PROMISE = b"!"


class Mode(IntEnum):
    """What happens at the chosen operation; the numbers are those of ``faults.c``."""

    COUNT = 0  # nothing
    KILL_BEFORE = 1
    KILL_AFTER = 2
    TORN = 3  # half of a write is made, then the process is killed
    NO_SPACE = 4
    IO_ERROR = 5
    SHORT_WRITE = 6  # half of a write is made, which the caller is told


KILLS = (Mode.KILL_BEFORE, Mode.KILL_AFTER, Mode.TORN)
FAILURES = (Mode.NO_SPACE, Mode.IO_ERROR, Mode.SHORT_WRITE)


class Ended(NamedTuple):
    """How a fork ended."""

    killed: bool
    code: int
    printed: str
    n_operations: int
    n_promises: int


def environment(folder):
    """Compile the library and return the environment of a process that has it."""
    library = Path(folder) / "faults.so"
    command = [COMPILER, "-O1", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    own = {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1", "PLANETOID_NO_SYNC": "0"}
    return {**os.environ, **own}


def in_a_fork(work, root, mode=Mode.COUNT, number=-1, trace=None):
    """Call ``work(promise)``; ``promise()`` says that from then on something must never be lost."""
    library = ctypes.CDLL(None)
    reading, writing = os.pipe()
    with open(f"{root}.printed", "w+b") as printed, open(trace or os.devnull, "wb") as recorded:
        child = os.fork()
        if child == 0:
            os.dup2(printed.fileno(), 1)
            os.dup2(printed.fileno(), 2)
            code = 1

            def promise():
                library.faults_mark(b"promise")
                os.write(writing, PROMISE)

            try:
                library.faults_start(os.fsencode(root), int(mode), number, recorded.fileno() if trace else -1)
                code = work(promise) or 0
            except BaseException:
                traceback.print_exc()
            finally:
                os.write(writing, str(library.faults_stop()).encode())
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        os.close(writing)
        with os.fdopen(reading, "rb") as answers:
            said = answers.read()
        _, status = os.waitpid(child, 0)
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    count = said.lstrip(PROMISE)
    return Ended(os.WIFSIGNALED(status), os.waitstatus_to_exitcode(status), text, int(count or 0), said.count(PROMISE))
