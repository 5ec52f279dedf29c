"""Which nodes to label next: uncertain ones with many neighbours."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from planetoid.report.nodes import ReportNodes

__all__ = ["Ranking", "as_csv", "label_next", "uncertainty"]


class Ranking(NamedTuple):
    """Rows of nodes and their scores, highest first."""

    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]


def uncertainty(probabilities: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the normalized entropy of each row: 0 for a certain prediction, 1 for a uniform one.

    >>> uncertainty([[1.0, 0.0], [0.5, 0.5]]).tolist()
    [0.0, 1.0]
    """
    table = np.asarray(probabilities, dtype=np.float64)
    terms = np.where(table > 0, -table * np.log(np.where(table > 0, table, 1.0)), 0.0)
    return np.asarray(np.clip(terms.sum(axis=1) / np.log(max(table.shape[1], 2)), 0.0, 1.0))


def set_uncertainty(probabilities: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the mean entropy of independent classes, in bits: 1 if every label is as likely as not.

    >>> set_uncertainty([[0.5, 0.5, 0.5], [0.5, 0.0, 1.0]]).round(2).tolist()
    [1.0, 0.33]
    """
    table = np.asarray(probabilities, dtype=np.float64)
    pairs = np.stack([table, 1 - table], axis=-1).reshape(-1, 2)
    return np.asarray(uncertainty(pairs).reshape(table.shape).mean(axis=1))


def label_next(
    probabilities: npt.ArrayLike,
    known: npt.NDArray[np.bool_],
    degrees: npt.NDArray[np.int64] | None,
    count: int,
    *,
    independent: bool = False,
) -> Ranking:
    """Rank nodes by how useful their label would be.

    The score is uncertainty times centrality, which is log(1 + degree) relative to its maximum: the label of a node
    without neighbours says nothing about other nodes. Without a graph it is the uncertainty.

    Parameters
    ----------
    probabilities : array of shape (n, n_classes)
    known : bool array of shape (n,)
        Nodes that have a label already; they are excluded.
    degrees : int array of shape (n,), or None
    count : int
        Maximum number of nodes.
    independent : bool
        Whether nodes may have several labels.

    Examples
    --------
    >>> certain, uncertain = [0.9, 0.1], [0.5, 0.5]
    >>> known = np.array([False, False, False, True])
    >>> ranking = label_next([certain, uncertain, uncertain, uncertain], known, np.array([3, 1, 3, 9]), 2)
    >>> ranking.rows.tolist(), ranking.scores.round(2).tolist()
    ([2, 1], [1.0, 0.5])
    """
    scores = set_uncertainty(probabilities) if independent else uncertainty(probabilities)
    candidates = np.flatnonzero(~known)
    if degrees is not None and len(candidates):
        centrality = np.log1p(degrees)
        highest = centrality[candidates].max()
        if highest > 0:
            scores = scores * centrality / highest
    rows = candidates[np.argsort(-scores[candidates], kind="stable")[:count]]
    return Ranking(rows, scores[rows])


CSV_COLUMNS = (
    "id",
    "label",
    "predicted",
    "probability",
    "runner_up",
    "runner_up_probability",
    "degree",
    "score",
)


def as_csv(ranking: Ranking, nodes: ReportNodes) -> str:
    """Return the ranking as CSV with an empty column ``label``, to be filled in and used as labels."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow([*CSV_COLUMNS, *(name for name in nodes.shown.cells if name not in CSV_COLUMNS)])
    for row, score in zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True):
        probabilities = nodes.probabilities[row]
        first, second = np.argsort(-probabilities, kind="stable")[:2].tolist()
        table.writerow(
            (
                nodes.ids[row],
                "",
                nodes.class_names[first],
                f"{probabilities[first]:.4f}",
                nodes.class_names[second],
                f"{probabilities[second]:.4f}",
                "" if nodes.degrees is None else int(nodes.degrees[row]),
                f"{score:.4f}",
                *(cells[row] for name, cells in nodes.shown.cells.items() if name not in CSV_COLUMNS),
            )
        )
    return text.getvalue()
