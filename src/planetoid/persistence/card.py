"""``write_card``: a model card, ``card.md`` in the folder of a saved model, for whoever is to use the model.

It says what the model was fitted on and how, how often it is correct as far as that is known, and where it should not
be trusted. What only the user can say (the licence of the data, whom to ask, what the model is for) stands below the
last heading, which is kept when the model is replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from planetoid.utils.intervals import wilson_interval
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from planetoid.estimator.classifier import GraphClassifier
    from planetoid.persistence.record import FitRecord

__all__ = ["CARD_NAME", "card_text", "own_notes", "write_card"]

CARD_NAME = "card.md"
NOTES_HEADING = "## Licence, contact and notes"
NOTES = """
Not filled in. Write here under which licence the data may be used, whom to ask about the model, and what it is meant
for. `planetoid fit --force` keeps this section.
"""


def write_card(folder: Path, model: GraphClassifier, record: FitRecord, notes: str | None = None) -> None:
    """Write the card of a model into a folder; ``notes`` are those of a former card."""
    (folder / CARD_NAME).write_text(card_text(model, record, notes), encoding="utf-8")


def own_notes(folder: Path) -> str | None:
    """Return what the user wrote into the card of a model, ``None`` if there is no card or nothing in it."""
    try:
        text = (folder / CARD_NAME).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    _, heading, notes = text.partition(f"\n{NOTES_HEADING}\n")
    return notes if heading and notes.strip() != NOTES.strip() else None


def card_text(model: GraphClassifier, record: FitRecord, notes: str | None = None) -> str:
    """Return the card as Markdown.

    >>> import planetoid as pl
    >>> from planetoid.persistence import FitRecord
    >>> data = pl.datasets.make_citation(60, n_classes=3, seed=1)
    >>> text = card_text(pl.Feat().fit(data.X, data.y), FitRecord.of(data))
    >>> text.splitlines()[0]
    '# Feat, 3 classes, 60 nodes'
    """
    title = f"# {type(model).__name__}, {pluralize(len(model.classes_), 'class', 'classes')}"
    parts = [
        f"{title}, {pluralize(len(model.node_ids_), 'node')}\n",
        f"{_summary(model)}\n",
        _section("Data", _data(record)),
        _section("Protocol", _protocol(model, record)),
        _section("Accuracy", _accuracy(model, record)),
        _section("Calibration", _calibration(model)),
        _section("Limits", _limits(model, record)),
        f"{NOTES_HEADING}\n{NOTES if notes is None else notes}",
    ]
    return "\n".join(parts)


def _section(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {heading}", "", *lines, ""])


def _summary(model: GraphClassifier) -> str:
    labels = (
        "nodes of this graph, and new rows by their features"
        if model.inductive and hasattr(model, "n_features_in_")
        else "nodes of this graph, and no others"
    )
    return f"Predicts the class of {labels}. Written by `planetoid fit`; read it with `planetoid.load`."


def _data(record: FitRecord) -> list[str]:
    lines = [f"- {name}: {_plain(text)}" for name, text in record.facts]
    inputs = ((file["role"], Path(file["path"]).name, file["sha256"]) for file in record.inputs)
    files = [f"- {role} file: `{name}`, SHA-256 `{checksum}`" for role, name, checksum in inputs]
    return [*lines, *files] or ["Not recorded."]


def _protocol(model: GraphClassifier, record: FitRecord) -> list[str]:
    n_labels = int((record.y >= 0).sum())
    lines = [f"- fitted on {pluralize(n_labels, 'label')}, in {record.seconds:.1f} s, {record.created or 'no date'}"]
    if record.validation is not None:
        count = int((record.validation >= 0).sum())
        use = "for early stopping and calibration" if model.uses_validation else "for calibration"
        lines.append(f"- {pluralize(count, 'validation label')}, {use}, not for fitting")
    if record.command:
        lines.append(f"- command: `{_plain(record.command)}`")
    seed = model.get_params(deep=False).get("random_state", "none")
    lines.append(f"- random seed: {seed}")
    if record.versions:
        lines.append("- versions: " + ", ".join(f"{name} {version}" for name, version in record.versions.items()))
    return lines


def _accuracy(model: GraphClassifier, record: FitRecord) -> list[str]:
    expected = _expected_accuracy(model, record)
    if record.validation is None or not (record.validation >= 0).any():
        return [
            "Not measured: all labels were used for fitting. `planetoid evaluate` with the same files measures it by",
            f"cross-validation, `planetoid fit --hold-out 0.2` by labels that are held out.{expected}",
        ]
    rows = np.flatnonzero(record.validation >= 0)
    correct = int((model.label_distributions_[rows].argmax(axis=1) == record.validation[rows]).sum())
    low, high = wilson_interval(correct, len(rows))
    count = pluralize(len(rows), "validation label")
    return [
        f"{correct / len(rows):.1%} of {count} are predicted correctly (95 % interval",
        f"{low:.1%} to {high:.1%}). The model was calibrated by these labels, or stopped by them, which may make the",
        f"figure slightly optimistic.{expected}",
    ]


def _expected_accuracy(model: GraphClassifier, record: FitRecord) -> str:
    unlabelled = record.y < 0
    if model.calibration_.source == "none" or not unlabelled.any():
        return ""
    expected = float(model.label_distributions_[unlabelled].max(axis=1).mean())
    return f" The model itself expects {expected:.0%} of its predictions for unlabelled nodes to be correct."


def _calibration(model: GraphClassifier) -> list[str]:
    found = model.calibration_
    if found.source == "none":
        return ["Probabilities are raw scores: they were not calibrated, or by too few labels. There are no sets."]
    lines = [
        f"Probabilities are calibrated by {found.source}, from {pluralize(found.n_labels, 'label')}: temperature "
        f"{found.temperature:.3g}, uniform share {found.uniform:.3g}."
    ]
    if hasattr(model, "set_thresholds_"):
        sets = model.predict_set(alpha=0.1)
        size = sets.sum(axis=1).mean()
        lines.append(f"Prediction sets for a coverage of 90 % have {size:.2f} classes on average.")
    return lines


def _limits(model: GraphClassifier, record: FitRecord) -> list[str]:
    sizes = np.bincount(record.y[record.y >= 0], minlength=len(model.classes_))
    lines = [
        "- Every node gets one of the classes below, also a node that belongs to none of them: "
        + _enumeration([_plain(str(name)) for name in model.classes_.tolist()])
        + "."
    ]
    few = [_plain(str(name)) for name, size in zip(model.classes_.tolist(), sizes.tolist(), strict=True) if size < 5]
    if few:
        lines.append(f"- Classes with fewer than 5 labels, which are hardly learned: {_enumeration(few)}.")
    lines += [f"- {_plain(note)}" for note in record.notes]
    lines.append("- What is said about accuracy holds for nodes like the labelled ones, not for nodes of another kind.")
    if model.inductive:
        lines.append("- New rows are labelled by features alone, usually less accurately than fitted nodes.")
    return lines


def _enumeration(names: Sequence[str], most: int = 30) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _plain(text: str) -> str:
    """Return a text in one line, without what Markdown would take for a heading, a link or code."""
    return " ".join(text.split()).replace("`", "'").replace("<", "&lt;").replace("[", "\\[")
