"""``python -m tests.fuzz SECONDS [TARGET ...]``: coverage-guided fuzzing of all targets, one after the other.

Needs atheris. Each target runs in a process of its own, because a segmentation fault ends it. A finding is an exception
that is no ``PlanetoidError``, a crash, an input that takes more than 10 seconds, or more than 2 GB of memory; it is
written to ``build/fuzz/findings/TARGET``, and new inputs that reach new code to ``build/fuzz/corpus/TARGET``, from
where the next run goes on. ``build/fuzz/summary.json`` has the number of inputs and findings of each target. Ends with
1 if there is a finding.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import traceback
from pathlib import Path

HERE = Path(__file__).parent
CORPUS, BUILD = HERE / "corpus", Path("build/fuzz")
SECONDS_PER_INPUT, MEGABYTES, LONGEST_INPUT = 10, 2048, 4096


def main(seconds: float, names: list[str]) -> int:
    from tests.fuzz.targets import TARGETS

    summary: dict[str, dict[str, int]] = {}
    findings: list[Path] = []
    names = names or list(TARGETS)
    for name in names:
        n_inputs, found = run_target(name, max(1, round(seconds / len(names))))
        findings += found
        summary[name] = {"inputs": n_inputs, "findings": len(found)}
        print(f"{name}: {n_inputs:,} inputs, {len(found)} findings", flush=True)
        (BUILD / "summary.json").write_text(json.dumps({"seconds": seconds, "targets": summary}, indent=1) + "\n")
    print(f"{sum(one['inputs'] for one in summary.values()):,} inputs, {len(findings)} findings")
    for path in findings:
        print(path)
    return 1 if findings else 0


def run_target(name: str, seconds: int) -> tuple[int, list[Path]]:
    """Fuzz one target in a process of its own; return the number of inputs and the findings of this run."""
    corpus, found = BUILD / "corpus" / name, BUILD / "findings" / name
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(found.iterdir())
    command = [sys.executable, "-m", "tests.fuzz", "--target", name]
    options = [
        f"-max_total_time={seconds}",
        f"-timeout={SECONDS_PER_INPUT}",
        f"-rss_limit_mb={MEGABYTES}",
        f"-max_len={LONGEST_INPUT}",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
        "-reload=0",
    ]
    run = subprocess.run([*command, *options, corpus, CORPUS / name], capture_output=True, text=True, errors="replace")
    counts = re.findall(r"^(?:#(\d+)\s|stat::number_of_executed_units:\s+(\d+))", run.stderr, re.MULTILINE)
    after = sorted(set(found.iterdir()) - before)
    if run.returncode and not after:  # a crash before the first input
        path = found / "output.txt"
        path.write_text(run.stdout + run.stderr)
        after = [path]
    return max((int(one or other) for one, other in counts), default=0), after


def fuzz(name: str, arguments: list[str]) -> None:
    """Run libFuzzer on one target; exceptions are written down, so that one finding does not hide the next."""
    import atheris

    with atheris.instrument_imports(include=["planetoid"]):
        from tests.fuzz import targets

        from planetoid.registry import METHODS

        # Readers and methods are imported by their first use: now, so that they are instrumented.
        for method in METHODS if name == "settings" else ():
            METHODS[method]
        for path in sorted((CORPUS / name).iterdir()):
            targets.run(name, path.read_bytes())

    found = BUILD / "findings" / name
    seen: set[str] = set()

    def one_input(data: bytes) -> None:
        try:
            targets.run(name, data)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            key = hashlib.sha256(f"{type(error)} {place.filename} {place.lineno}".encode()).hexdigest()[:12]
            if key not in seen:
                seen.add(key)
                (found / f"{key}.input").write_bytes(data)
                (found / f"{key}.txt").write_text("".join(traceback.format_exception(error)))

    atheris.Setup([sys.argv[0], *arguments], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--target"]:
        fuzz(sys.argv[2], sys.argv[3:])
    else:
        sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
