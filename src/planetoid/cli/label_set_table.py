"""Predictions of several labels per node as tables."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from planetoid.errors import ParameterError
from planetoid.multi_label import indicator
from planetoid.utils.arrow import numbers_to_arrow, strings_to_arrow

__all__ = ["LabelSetTable"]


class LabelSetTable:
    """Converts ids and class probabilities to rows of id, labels and their probabilities, the most probable first.

    Parameters
    ----------
    classes : array
        The label of each column of probabilities.
    threshold : float
        Probability from which on a label is predicted.
    top : int, optional
        Number of labels per node instead.
    separator : str
        Between labels, and between probabilities.
    all_probabilities : bool
        Add a column ``probability_CLASS`` for each class.
    integer_ids : bool
        Whether ids are integers; else they are strings.

    Examples
    --------
    >>> table = LabelSetTable(np.array(["art", "jazz", "tea"]), 0.5, None, ";", False, integer_ids=True)
    >>> table.rows(pa.array([7]), np.array([[0.6, 0.2, 0.9]])).to_pylist()
    [{'id': 7, 'labels': 'tea;art', 'probabilities': '0.9000;0.6000'}]
    """

    def __init__(
        self,
        classes: npt.NDArray[Any],
        threshold: float,
        top: int | None,
        separator: str,
        all_probabilities: bool,
        *,
        integer_ids: bool,
    ) -> None:
        names = [str(label) for label in classes.tolist()]
        if any(separator in name for name in names):
            raise ParameterError(f"--label-separator {separator}: a class has it in its name; pass another")
        if top is not None and top > len(names):
            raise ParameterError(f"--top must be an integer from 0 to {len(names)}, the number of classes, got {top}")
        self.counts: Counter[str] = Counter()
        self.n_rows = 0
        self._names, self._threshold, self._top, self._separator = names, threshold, top, separator
        self._id_type = pa.int64() if integer_ids else pa.string()
        more = [f"probability_{name}" for name in names] if all_probabilities else []
        self._all_probabilities = all_probabilities
        self.schema = pa.schema(
            [
                ("id", self._id_type),
                ("labels", pa.string()),
                ("probabilities", pa.string()),
                *((name, pa.float32()) for name in more),
            ]
        )

    def rows(self, ids: pa.Array, probabilities: npt.NDArray[np.floating[Any]], set_scores: object = None) -> pa.Table:
        """Return a table of some nodes, and count their labels; there are no prediction sets, and no scores of them."""
        table = np.asarray(probabilities, dtype=np.float32)
        chosen = indicator(table, self._threshold, self._top)
        for name, count in zip(self._names, chosen.sum(axis=0).tolist(), strict=True):
            self.counts[name] += count
        self.n_rows += len(table)
        order = np.argsort(-table, axis=1, kind="stable")
        labels, values = [], []
        for row, count in enumerate(chosen.sum(axis=1).tolist()):
            best = order[row, :count].tolist()
            labels.append(self._separator.join(self._names[code] for code in best))
            values.append(self._separator.join(f"{table[row, code]:.4f}" for code in best))
        columns = [ids.cast(self._id_type), strings_to_arrow(labels), strings_to_arrow(values)]
        if self._all_probabilities:
            columns += [numbers_to_arrow(column) for column in table.T]
        return pa.table(columns, schema=self.schema)
