"""Targets for what long work leaves behind: journals, finished runs and checkpoints.

These files end with checksums, which a changed byte would not get past: here entries are sealed after they were
changed, as by somebody who can compute checksums too.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import planetoid as pl
from planetoid.cli.outcomes import open_outcomes
from planetoid.evaluation import Protocol
from planetoid.evaluation.journal import open_journal
from planetoid.training.checkpoint import Checkpoint
from planetoid.training.trainer import Schedule, Trainer
from planetoid.utils.sealed import seal

__all__ = ["checkpoint", "journal"]

os.environ["PLANETOID_NO_SYNC"] = "1"


@cache
def _data() -> pl.Dataset:
    return pl.datasets.make_citation(20, 2, 5, seed=0)


def journal(data: bytes, folder: Path) -> None:
    """A journal of ``tune`` or of ``compare``, by the first byte; all lines but the first are from the input."""
    choice, lines = data[0] if data else 0, data[1:].split(b"\n")
    path = folder / "journal.log"
    path.unlink(missing_ok=True)
    openers: tuple[Callable[[], object], ...] = (
        lambda: open_journal(path, lambda: ""),
        lambda: open_outcomes(path, _data(), Protocol()),
    )
    opener = openers[choice % 2]
    with opener():  # type: ignore[attr-defined]
        pass
    with path.open("ab") as file:
        for line in lines:
            file.write(_sealed(line) if choice < 128 else line + b"\n")
    with opener() as found:  # type: ignore[attr-defined]
        getattr(found, "trials", None)
    with opener():  # type: ignore[attr-defined]  # what was half a line is removed
        pass


def checkpoint(data: bytes, folder: Path) -> None:
    """A checkpoint with another ``checkpoint.json``, sealed again, or other tensors."""
    choice, content = data[0] if data else 0, data[1:]
    run = folder / "run"
    shutil.rmtree(run, ignore_errors=True)
    _train(run, 2)
    document = run / "checkpoint.json"
    if choice % 2:
        (tensors,) = run.glob("*.safetensors")
        tensors.write_bytes(content)
        import hashlib

        changed = json.loads(document.read_text())
        del changed["sha256"]
        changed["tensors"] = {tensors.name: hashlib.sha256(content).hexdigest()}
        document.write_bytes(seal(changed))
    else:
        document.write_bytes(_sealed(content) if choice < 128 else content)
    _train(run, 4)


def _train(folder: Path, steps: int) -> None:
    from tests.reliability.sum_loss import Sum

    callbacks = [Checkpoint(folder, every=0)]
    Trainer([Sum(5)], Schedule(steps, per_iteration=(1.0,)), callbacks, fingerprint=lambda: "").run()


def _sealed(line: bytes) -> bytes:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return line + b"\n"
    if not isinstance(entry, dict):
        return line + b"\n"
    try:
        return seal(entry)
    except (ValueError, RecursionError):  # a lone surrogate
        return line + b"\n"
