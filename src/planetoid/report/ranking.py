"""Which nodes to label next: those the model is unsure of and that many others hang on."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.ids import NodeIds

__all__ = ["as_csv", "label_next", "uncertainty"]


def uncertainty(probabilities: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the entropy of each row, 0 for certainty and 1 for no idea.

    >>> uncertainty([[1.0, 0.0], [0.5, 0.5]]).tolist()
    [0.0, 1.0]
    """
    table = np.asarray(probabilities, dtype=np.float64)
    terms = np.where(table > 0, -table * np.log(np.where(table > 0, table, 1.0)), 0.0)
    return np.asarray(np.clip(terms.sum(axis=1) / np.log(max(table.shape[1], 2)), 0.0, 1.0))


def label_next(
    probabilities: npt.ArrayLike,
    known: npt.NDArray[np.bool_],
    degrees: npt.NDArray[np.int64] | None,
    count: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the rows to label next and their scores, best first.

    The score is uncertainty times centrality, log(1 + degree) over its
    greatest value: a label on a node without neighbours tells of that node
    alone. Without a graph it is the uncertainty.

    Parameters
    ----------
    probabilities : array of shape (n, n_classes)
    known : bool array of shape (n,)
        Nodes that have a label already; they are left out.
    degrees : int array of shape (n,), or None
    count : int
        How many, at most.

    Examples
    --------
    >>> sure, unsure = [0.9, 0.1], [0.5, 0.5]
    >>> known = np.array([False, False, False, True])
    >>> rows, scores = label_next([sure, unsure, unsure, unsure], known, np.array([3, 1, 3, 9]), 2)
    >>> rows.tolist(), scores.round(2).tolist()
    ([2, 1], [1.0, 0.5])
    """
    scores = uncertainty(probabilities)
    open_rows = np.flatnonzero(~known)
    if degrees is not None and len(open_rows):
        central = np.log1p(degrees)
        most = central[open_rows].max()
        if most > 0:
            scores = scores * central / most
    order = open_rows[np.argsort(-scores[open_rows], kind="stable")[:count]]
    return order, scores[order]


def as_csv(
    rows: npt.NDArray[np.int64],
    scores: npt.NDArray[np.float64],
    ids: NodeIds,
    class_names: Sequence[str],
    probabilities: npt.NDArray[Any],
    degrees: npt.NDArray[np.int64] | None,
) -> str:
    """Return the list as CSV with an empty column ``label``, to be filled in and read back as labels."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(("id", "label", "predicted", "probability", "runner_up", "its_probability", "degree", "score"))
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        first, second = np.argsort(-probabilities[row], kind="stable")[:2].tolist()
        degree = "" if degrees is None else int(degrees[row])
        one, two = probabilities[row][first], probabilities[row][second]
        names = class_names[first], class_names[second]
        table.writerow((ids[row], "", names[0], f"{one:.4f}", names[1], f"{two:.4f}", degree, f"{score:.4f}"))
    return text.getvalue()
