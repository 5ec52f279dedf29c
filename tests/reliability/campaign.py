"""Let every file operation of every writer fail, end the process, or be cut by a power failure.

``python -m tests.reliability.campaign`` prints a summary as JSON; ``--every 7`` takes every seventh case.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.reliability.faults import FAILURES, KILLS, Mode, environment, in_a_fork
from tests.reliability.power_loss import read_trace, states

ROOT = Path(__file__).parents[2]
ONLY_WRITES = (Mode.TORN, Mode.SHORT_WRITE)


@dataclass
class Summary:
    """What was tried, and everything that went wrong."""

    cases: Counter = field(default_factory=Counter)  # by what happened
    operations: dict[str, int] = field(default_factory=dict)  # by writer
    power_losses: dict[str, int] = field(default_factory=dict)  # distinct states, by writer
    findings: list[str] = field(default_factory=list)


class Campaign:
    """The cases of one writer, each in a copy of the folder that it starts from."""

    def __init__(self, writer, where, summary, every):
        self.writer, self.summary, self.every = writer, summary, every
        self.where = Path(where)
        self.before, self.after = self.where / "before", self.where / "after"
        self.before.mkdir(parents=True)
        writer.prepare(self.before)
        shutil.copytree(self.before, self.after)
        self.trace = self.where / "trace"
        # Once for what is compiled and imported, then with a trace.
        assert in_a_fork(lambda promise: writer.run(self.after, promise), self.after).code == 0
        shutil.rmtree(self.after)
        shutil.copytree(self.before, self.after)
        self.start = self.where / "start"
        shutil.copytree(self.after, self.start)
        self.inodes = {path: path.stat().st_ino for path in [self.after, *self.after.rglob("*")]}
        ended = in_a_fork(lambda promise: writer.run(self.after, promise), self.after, trace=self.trace)
        assert ended.code == 0, ended.printed
        assert not hidden(self.after)
        self.kinds = [event.first for event in read_trace(self.trace) if event.what == "#"]
        assert len(self.kinds) == ended.n_operations
        learned = self.where / "learned"
        shutil.copytree(self.after, learned)
        writer.learn(self.before_copy(), learned)
        summary.operations[writer.name] = len(self.kinds)

    def before_copy(self):
        return Path(shutil.copytree(self.before, self.where / "before copy", dirs_exist_ok=True))

    def run(self, modes, offset=0):
        cases = [
            (mode, number)
            for number, kind in enumerate(self.kinds)
            for mode in modes
            if kind == "W" or mode not in ONLY_WRITES
        ]
        for mode, number in cases[offset % self.every :: self.every]:
            self._case(mode, number)

    def _case(self, mode, number):
        folder = Path(shutil.copytree(self.before, self.where / "case"))
        ended = in_a_fork(lambda promise: self.writer.run(folder, promise), folder, mode, number)
        self.summary.cases[mode.name] += 1
        try:
            assert "Traceback" not in ended.printed, ended.printed[-2000:]
            assert ended.killed or ended.code in (0, 2), f"exit code {ended.code}"
            assert ended.killed == (mode in KILLS), "killed" if ended.killed else "not killed"
            assert ended.code != 2 or "error: " in ended.printed
            assert ended.code != 2 or mode is not Mode.SHORT_WRITE, "a short write is no error"
            if not ended.killed:
                assert len(hidden(folder)) <= 1, f"left behind: {hidden(folder)}"  # if its removal has failed
            seen = Path(shutil.copytree(folder, self.where / "seen"))
            rank = self.writer.observe(seen)
            assert rank >= ended.n_promises, f"{ended.n_promises} promises, but {rank} found"
            assert ended.code != 0 or rank == len(self.writer.contents) - 1, "the command succeeded without its result"
            if tree(folder) != tree(self.before):  # else it was run at the beginning
                self._run_again(folder)
        except Exception as error:
            self.summary.findings.append(f"{self.writer.name}, {mode.name} at {number}: {error}")
        for name in ("case", "seen"):
            shutil.rmtree(self.where / name, ignore_errors=True)

    def _run_again(self, folder):
        again = in_a_fork(lambda promise: self.writer.run(folder, promise), folder)
        assert again.code == 0, f"the same command fails afterwards: {again.printed[-1000:]}"
        assert not hidden(folder), f"left behind: {hidden(folder)}"
        assert self.writer.observe(folder) == len(self.writer.contents) - 1

    def lose_power(self, limit):
        n = 0
        for state in states(read_trace(self.trace), self.start, self.inodes, self.after, limit):
            folder = self.where / "case"
            state.write(folder)
            n += 1
            try:
                rank = self.writer.observe(folder)
                assert rank >= state.n_promises, f"{state.n_promises} promises, but {rank} found"
            except Exception as error:
                self.summary.findings.append(f"{self.writer.name}, power failure {state.describe()}: {error}")
            shutil.rmtree(folder)
        self.summary.power_losses[self.writer.name] = n


def hidden(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob(".*"))


def tree(folder):
    return {path.relative_to(folder): path.is_dir() or path.read_bytes() for path in folder.rglob("*")}


def main(options):
    from tests.reliability.writers import Data, all_writers

    summary = Summary()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as where:
        (Path(where) / "data").mkdir()
        writers = all_writers(Data(Path(where) / "data"))
        part, n_parts = options.part
        for number, writer in enumerate(writers):
            if number % n_parts != part or (options.only and writer.name not in options.only):
                continue
            campaign = Campaign(writer, Path(where) / str(number), summary, options.every)
            campaign.run((*KILLS, *FAILURES), offset=number)
            campaign.lose_power(options.states)
            print(writer.name, dict(summary.cases), len(summary.findings), file=sys.stderr)
    print(json.dumps(asdict(summary) | {"cases": dict(summary.cases)}))


def run(*arguments, jobs=1):
    """Start the campaign in processes that have the library of faults; return its summary."""
    whole = Summary()
    with tempfile.TemporaryDirectory() as folder:
        call = [sys.executable, "-m", "tests.reliability.campaign", "--here", *map(str, arguments)]
        started = [
            subprocess.Popen(
                [*call, "--part", str(part), str(jobs)],
                cwd=ROOT,
                env=environment(folder),
                stdout=subprocess.PIPE,
                text=True,
            )
            for part in range(jobs)
        ]
        printed = [process.communicate()[0] for process in started]
    assert not any(process.returncode for process in started)
    for text in printed:
        found = json.loads(text.splitlines()[-1])
        whole.cases.update(found["cases"])
        whole.operations |= found["operations"]
        whole.power_losses |= found["power_losses"]
        whole.findings += found["findings"]
    return asdict(whole) | {"cases": dict(whole.cases)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="one case in so many")
    parser.add_argument("--states", type=int, default=10**6, help="most states of a power failure per writer")
    parser.add_argument("--only", action="append", help="only the writer of this name; may be repeated")
    parser.add_argument("--part", type=int, nargs=2, default=(0, 1), help="which part of the writers, of how many")
    parser.add_argument("--here", action="store_true", help="in this process, which has the library of faults")
    given = parser.parse_args()
    if given.here:
        main(given)
    else:
        print(json.dumps(run(*sys.argv[1:]), indent=1))
