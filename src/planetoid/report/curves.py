"""Training curves from ``history_``, in whatever form a method keeps it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from planetoid.report.drawing import Line, line_chart

__all__ = ["training_charts"]

NAMES = {
    "loss": "labelled nodes",
    "val_loss": "validation nodes",
    "context_loss": "context",
    "val_accuracy": "validation accuracy",
}


def training_charts(history: Any) -> list[str]:
    """Return charts of what was recorded while training; none if nothing was.

    >>> len(training_charts([0.9, 0.5, 0.4]))
    1
    >>> training_charts([])
    []
    """
    if not isinstance(history, Sequence) or isinstance(history, str):
        return []
    if all(isinstance(value, (int, float)) for value in history):
        line = _line("loss", [(step, value) for step, value in enumerate(history, 1)])
        return [] if line is None else [line_chart("Loss", [line], "step")]
    records = [record for record in history if isinstance(record, dict)]
    joint = [record for record in records if "pretrained" not in record]
    before = [record for record in records if "pretrained" in record]
    keys = [key for record in joint for key in record if key != "step"]
    steps = [record.get("step", number) for number, record in enumerate(joint, 1)]
    lines = {
        key: _line(key, list(zip(steps, [record.get(key) for record in joint], strict=True)))
        for key in dict.fromkeys(keys)
    }
    charts = []
    pretraining = _line("context_loss", [(100 * record["pretrained"], record.get("context_loss")) for record in before])
    if pretraining is not None:
        charts.append(line_chart("Pre-training: context loss", [pretraining], "% done"))
    losses = [line for key in ("loss", "val_loss") if (line := lines.pop(key, None)) is not None]
    if losses:
        title = "Loss" if len(losses) > 1 else f"Loss, {losses[0].name}"
        charts.append(line_chart(title, losses, "step"))
    for key, line in lines.items():
        if line is not None:
            title = {"context_loss": "Context loss", "val_accuracy": "Validation accuracy"}.get(key, key)
            charts.append(line_chart(title, [line], "step", best=key == "val_accuracy"))
    return charts


def _line(key: str, points: Sequence[tuple[Any, Any]]) -> Line | None:
    """Return a curve of the points that are numbers, if there are two at least."""
    known = [(float(x), float(y)) for x, y in points if isinstance(y, (int, float)) and math.isfinite(y)]
    return Line(NAMES.get(key, key), *zip(*known, strict=True)) if len(known) > 1 else None
