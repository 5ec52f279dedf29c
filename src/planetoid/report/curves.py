"""Training curves from a model's ``history_``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from planetoid.report.drawing import Curve, line_chart

__all__ = ["training_charts"]

CURVE_NAMES = {
    "loss": "labelled nodes",
    "val_loss": "validation nodes",
    "context_loss": "context",
    "val_accuracy": "validation accuracy",
}


def training_charts(history: object) -> list[str]:
    """Return charts of the training history: a list of losses, or of records by iteration.

    >>> len(training_charts([0.9, 0.5, 0.4]))
    1
    >>> training_charts(None)
    []
    """
    if not isinstance(history, Sequence) or isinstance(history, str):
        return []
    if all(isinstance(value, (int, float)) for value in history):
        curve = _curve("loss", enumerate(history, 1))
        return [] if curve is None else [line_chart("Loss", [curve], "iteration")]
    records = [record for record in history if isinstance(record, dict)]
    pretraining = [record for record in records if "pretrained" in record]
    joint = [record for record in records if "pretrained" not in record]
    steps = [record.get("step", number) for number, record in enumerate(joint, 1)]
    names = dict.fromkeys(name for record in joint for name in record if name != "step")
    curves = {name: _curve(name, zip(steps, (record.get(name) for record in joint), strict=True)) for name in names}
    charts = []
    done = _curve("context_loss", ((100 * record["pretrained"], record.get("context_loss")) for record in pretraining))
    if done is not None:
        charts.append(line_chart("Pre-training: context loss", [done], "% done"))
    losses = [curve for name in ("loss", "val_loss") if (curve := curves.pop(name, None)) is not None]
    if losses:
        title = "Loss" if len(losses) > 1 else f"Loss, {losses[0].name}"
        charts.append(line_chart(title, losses, "iteration"))
    for name, curve in curves.items():
        if curve is not None:
            title = CURVE_NAMES[name] if name == "val_accuracy" else name.replace("_", " ")
            charts.append(line_chart(title.capitalize(), [curve], "iteration", mark_best=name == "val_accuracy"))
    return charts


def _curve(name: str, points: Iterable[tuple[float, object]]) -> Curve | None:
    """Return a curve of the finite points, ``None`` if there are fewer than two."""
    finite = [(float(x), float(y)) for x, y in points if isinstance(y, (int, float)) and math.isfinite(y)]
    if len(finite) < 2:
        return None
    return Curve(CURVE_NAMES.get(name, name), [x for x, _ in finite], [y for _, y in finite])
