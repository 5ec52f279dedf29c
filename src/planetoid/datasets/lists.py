"""Coordinate lists with distant labels, and the recall of true items."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset
from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["CoordinateLists", "recall_of_pairs", "vote"]

Scores = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateLists(Dataset):
    """Lists (the instances, with features) and the items they contain.

    Rows ``0..n_lists-1`` are lists, the others items. ``y`` holds the distant
    labels: a list that contains a seed item of a category has that category.

    Attributes
    ----------
    n_lists : int
    truth_rows : int64 array
        The row of each true item, -1 if it occurs in no list.
    truth_categories : int32 array
        The category of each.
    k : int
        Number of (item, category) pairs that a method predicts.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_coordinate_lists(scale=0.001, seed=0)
    >>> model = pl.Feat().fit(data.X, data.y)
    >>> recall = data.recall_at_k(data.item_scores(model.predict_proba()))
    >>> 0 < recall <= data.upper_bound
    True
    """

    n_lists: int = 0
    truth_rows: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    truth_categories: npt.NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    k: int = 240_000

    @property
    def n_items(self) -> int:
        """Number of items that occur in a list."""
        return self.n_nodes - self.n_lists

    @property
    def upper_bound(self) -> float:
        """Share of the true items that occur in a list: the upper bound of recall."""
        return float((self.truth_rows >= 0).mean()) if len(self.truth_rows) else 0.0

    def item_scores(self, scores: npt.ArrayLike, how: Literal["max", "mean", "sum"] = "max") -> Scores:
        """Score every item by the lists that contain it.

        Parameters
        ----------
        scores : array of shape (n_nodes or n_lists, n_categories)
            For example ``model.predict_proba()``; only the rows of lists are used.
        how : {"max", "mean", "sum"}
            Maximum, mean or sum over the lists.

        Returns
        -------
        array of shape (n_items, n_categories)
        """
        table = self._checked(scores, (self.n_nodes, self.n_lists))[: self.n_lists]
        graph = self.graph
        start = int(graph.indptr[self.n_lists])
        indptr = graph.indptr[self.n_lists :].astype(np.int64) - start
        lists = graph.indices[start:]
        counts = np.diff(indptr)
        result = np.zeros((self.n_items, table.shape[1]), dtype=table.dtype)
        some = np.flatnonzero(counts)
        if how == "max":
            for column in range(table.shape[1]) if len(some) else ():
                result[some, column] = np.maximum.reduceat(table[lists, column], indptr[some])
            return result
        if how not in ("mean", "sum"):
            raise ParameterError(f"how must be 'max', 'mean' or 'sum', got {how!r}", parameter="how")
        for column in range(table.shape[1]) if len(some) else ():
            result[some, column] = np.add.reduceat(table[lists, column], indptr[some])
        if how == "mean":
            result[some] /= counts[some, None]
        return result

    def recall_at_k(self, scores: npt.ArrayLike, k: int | None = None) -> float:
        """Return the share of true (item, category) pairs among the ``k`` best-scored pairs.

        Of pairs that tie for rank k, the share that fits is counted, so that the
        order of the rows does not matter.

        Parameters
        ----------
        scores : array of shape (n_items or n_nodes, n_categories)
            For example :meth:`item_scores`, or ``predict_proba()`` of a method that scores items itself.
        k : int, optional
            By default ``self.k``.
        """
        k = self.k if k is None else k
        if k < 1:
            raise ParameterError(f"k must be an integer >= 1, got {k}", parameter="k")
        if len(self.truth_rows) == 0:
            raise DataError(f"{self.name} has no ground truth")
        table = self._checked(scores, (self.n_items, self.n_nodes))[-self.n_items :]
        flat = table.ravel()
        found = self.truth_rows >= 0
        pairs = (self.truth_rows[found] - self.n_lists) * table.shape[1] + self.truth_categories[found]
        return recall_of_pairs(flat, pairs, k, len(self.truth_rows))

    def without(self, rows: npt.ArrayLike) -> Self:
        """Return the data without these lists or items; see :meth:`Dataset.without`."""
        part = super().without(rows)
        assert part.parent_rows is not None
        moved = np.full(len(self.truth_rows), -1, dtype=np.int64)
        found = self.truth_rows >= 0
        moved[found] = part.rows_from_parent(self.truth_rows[found])
        return replace(part, n_lists=int((part.parent_rows < self.n_lists).sum()), truth_rows=moved)

    def _checked(self, scores: npt.ArrayLike, lengths: tuple[int, ...]) -> Scores:
        table = np.asarray(scores)
        if table.dtype.kind != "f":
            table = table.astype(np.float64)
        if table.ndim != 2 or table.shape[1] != self.n_classes or table.shape[0] not in lengths:
            wanted = " or ".join(f"{length:,}" for length in lengths)
            raise DataError(f"scores must have the shape ({wanted}, {self.n_classes}), got {table.shape}")
        if not np.isfinite(table).all():
            raise DataError("scores have a NaN or an infinity")
        return table

    def details(self) -> list[tuple[str, str]]:
        return [
            ("lists", f"{self.n_lists:,} lists and {self.n_items:,} items"),
            ("truth", f"{len(self.truth_rows):,} items, recall at most {self.upper_bound:.3f}; k = {self.k:,}"),
        ]


def recall_of_pairs(scores: Scores, pairs: npt.NDArray[np.int64], k: int, n_true: int) -> float:
    """Return the share of ``n_true`` pairs that the ``k`` best of flat ``scores`` have; ties count in proportion."""
    if k >= len(scores):
        return len(pairs) / n_true
    bar = np.partition(scores, len(scores) - k)[len(scores) - k]
    above, level = int((scores > bar).sum()), int((scores == bar).sum())
    hits = (scores[pairs] > bar).sum() + (scores[pairs] == bar).sum() * (k - above) / level
    return float(hits / n_true)


def vote(
    list_rows: npt.NDArray[Any], seed_categories: npt.NDArray[Any], n_nodes: int, n_categories: int
) -> npt.NDArray[np.int32]:
    """Label each list by the majority of its seeds; a list with a tie stays unlabelled.

    ``list_rows`` and ``seed_categories`` have, for each seed in each list, the list and the category.
    """
    key = np.asarray(list_rows, dtype=np.int64) * n_categories + seed_categories
    pairs, votes = np.unique(key, return_counts=True)
    order = np.lexsort((votes, pairs // n_categories))
    lists, categories, votes = pairs[order] // n_categories, pairs[order] % n_categories, votes[order]
    y = np.full(n_nodes, -1, dtype=np.int32)
    if len(lists) == 0:
        return y
    last = np.append(lists[1:] != lists[:-1], True)
    tie = np.zeros(len(lists), dtype=bool)
    tie[1:] = (lists[1:] == lists[:-1]) & (votes[1:] == votes[:-1])
    winner = last & ~tie
    y[lists[winner]] = categories[winner]
    return y
