"""Break the code on purpose and see whether the tests notice: ``python scripts/mutants.py``.

``mutants.toml`` beside this file declares the mutants: a file, an original text and its replacement, and the tests
that should fail with it. Each mutant is applied to a copy of the source, never to the checkout. A process is forked for
its tests, from one that has imported the libraries but not planetoid, and ends at the first failure.

Compiled kernels are what is tested: a mutant of a compiled module gets an empty cache, so that numba compiles it anew.
All others share the cache of the run without a mutant, which has to pass.

The outcome is written to ``benchmarks/results/mutants.json``, from which ``update_docs.py`` makes a table. With
``--missing`` only mutants that have no outcome there are run, such as those of changed code.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "mutants.json"
COMPILED = ("engine/", "baselines/kernels.py")
CPU_SECONDS = 200  # a mutant whose tests take longer counts as killed
PASSED, FAILED, BROKEN = 0, 1, 2  # exit codes of pytest; 2: the tests cannot be imported


@dataclass(frozen=True)
class Mutant:
    """A change of one file, the tests that should notice, and why they cannot if they do not."""

    file: str
    original: str
    replacement: str
    tests: tuple[str, ...]
    reason: str = ""

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) or "nothing" for text in (self.original, self.replacement))
        return f"`{before}` → `{after}`"


@dataclass(frozen=True)
class Outcome:
    """What the tests said about a mutant."""

    mutant: Mutant
    killed: bool
    seconds: float
    noticed_by: str  # the first test that failed, and how


def read_mutants(path: Path) -> list[Mutant]:
    """Return the declared mutants; a text that is not in its file exactly once is an error."""
    groups = tomllib.loads(path.read_text(encoding="utf-8"))
    mutants = [Mutant(name, *entry[:2], tuple(group["tests"]), *entry[2:]) for name, group in groups.items()
               for entry in group["mutants"]]  # fmt: skip
    for mutant in mutants:
        count = (ROOT / "src" / "planetoid" / mutant.file).read_text(encoding="utf-8").count(mutant.original)
        if count != 1:
            sys.exit(f"{path.name}: {mutant.file} has {count} times, not once: {mutant.original}")
    return mutants


class Copy:
    """A copy of the source and the tests, in which mutants are run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("src", "tests", "pyproject.toml"):
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, folder / name)

    def run(self, mutant: Mutant) -> Outcome:
        """Run the tests of a mutant."""
        path = self.folder / "src" / "planetoid" / mutant.file
        text, stamp = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(text.replace(mutant.original, mutant.replacement), encoding="utf-8")
        started = time.perf_counter()
        try:
            if mutant.file.startswith(COMPILED):
                with tempfile.TemporaryDirectory(dir=self.folder) as cache:
                    code = self.test(mutant.tests, Path(cache))
            else:
                code = self.test(mutant.tests, self.folder / "cache")
        finally:
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        output = (self.folder / "output.txt").read_text(encoding="utf-8").splitlines()
        failures = [line for line in output if line.startswith(("FAILED ", "ERROR "))]
        noticed_by = failures[0] if failures else f"exit code {code}"
        return Outcome(mutant, code != PASSED, time.perf_counter() - started, noticed_by if code != PASSED else "")

    def test(self, tests: Sequence[str], cache: Path) -> int:
        """Return the exit code of pytest in a forked process."""
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))  # ends the process
            os._exit(self._test_here(tests, cache))
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        if code > BROKEN:
            sys.exit(f"pytest {' '.join(tests)}: exit code {code}; see {self.folder / 'output.txt'}")
        return code

    def _test_here(self, tests: Sequence[str], cache: Path) -> int:
        import numba
        import pytest

        numba.config.CACHE_DIR = str(cache)
        os.chdir(self.folder)
        sys.path[:0] = [str(self.folder / "src"), str(self.folder)]
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(output, stream)
        import planetoid

        assert Path(planetoid.__file__).is_relative_to(self.folder), planetoid.__file__
        return int(pytest.main(["-x", "-q", "-p", "no:xdist", *tests]))


def recorded() -> list[dict[str, Any]]:
    """Return the outcomes of earlier runs."""
    return json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []


def without_outcome(mutants: Sequence[Mutant]) -> list[Mutant]:
    """Return the mutants that were never run, and those that survived without a reason."""
    settled = {(entry["file"], entry["change"]) for entry in recorded() if entry["killed"] or entry["reason"]}
    return [mutant for mutant in mutants if (mutant.file, str(mutant)) not in settled]


def record(outcomes: Sequence[Outcome], declared: Sequence[Mutant]) -> None:
    """Write the outcomes to ``RESULTS``, beside earlier ones of mutants that are still declared."""
    new = {(outcome.mutant.file, str(outcome.mutant)) for outcome in outcomes}
    kept = {(mutant.file, str(mutant)) for mutant in declared} - new
    entries = [entry for entry in recorded() if (entry["file"], entry["change"]) in kept]
    entries += [
        {
            "file": outcome.mutant.file,
            "change": str(outcome.mutant),
            "killed": outcome.killed,
            "seconds": round(outcome.seconds, 1),
            "noticed_by": outcome.noticed_by,
            "reason": outcome.mutant.reason,
        }
        for outcome in outcomes
    ]
    entries.sort(key=lambda entry: entry["file"])
    RESULTS.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run_file(copy: Copy, mutants: Sequence[Mutant]) -> list[Outcome]:
    """Run the mutants of one file, after its tests without a mutant, which have to pass."""
    if copy.test(mutants[0].tests, copy.folder / "cache") != PASSED:
        sys.exit((copy.folder / "output.txt").read_text(encoding="utf-8"))
    outcomes = []
    for mutant in mutants:
        outcomes.append(copy.run(mutant))
        word = "killed  " if outcomes[-1].killed else "SURVIVED"
        print(f"{word} {outcomes[-1].seconds:5.1f} s  {mutant.file}: {mutant}", flush=True)
    return outcomes


def import_libraries() -> None:
    """Import what the tests need, once for all processes."""
    import hypothesis  # noqa: F401
    import numba  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.compute  # noqa: F401
    import pytest  # noqa: F401
    import scipy.optimize
    import scipy.stats  # noqa: F401
    import sklearn.linear_model
    import sklearn.metrics
    import sklearn.svm  # noqa: F401
    import torch

    torch.set_num_threads(1)


def main() -> None:
    """Run the mutants, print what happened to each, and write it down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", help="run only mutants of these files, for example engine/draws.py")
    parser.add_argument("--missing", action="store_true", help="run only mutants without an outcome")
    arguments = parser.parse_args()
    declared = mutants = read_mutants(Path(__file__).with_suffix(".toml"))
    if arguments.files:
        mutants = [mutant for file in arguments.files for mutant in mutants if mutant.file == file]
    if arguments.missing:
        mutants = without_outcome(mutants)
    data = ROOT.parent / "shared" / "data"
    if data.is_dir():
        os.environ.setdefault("PLANETOID_DATA", str(data))
    sys.dont_write_bytecode = True  # of a mutant, which the next process would take for the original
    import_libraries()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for file in dict.fromkeys(mutant.file for mutant in mutants):
            of_file = run_file(copy, [mutant for mutant in mutants if mutant.file == file])
            outcomes += of_file
            record(of_file, declared)
    entries = recorded()
    killed = sum(entry["killed"] for entry in entries)
    print(f"{killed} of {len(entries)} mutants killed ({killed / len(entries):.1%})")
    if any(not outcome.killed and not outcome.mutant.reason for outcome in outcomes):
        sys.exit("a mutant survived without a reason: write a test that notices it, or say why there can be none")


if __name__ == "__main__":
    main()
