"""Splits into training, validation and test nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, ParameterError
from planetoid.labels import is_unlabelled, mask_labels
from planetoid.parameters import Integer, Real, check_parameters

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Split", "fold_split", "multi_label_split", "planetoid_split", "rate_split"]

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Split:
    """Row numbers of training, validation and test nodes.

    Attributes
    ----------
    train, val, test : int64 arrays
        Disjoint.
    protocol : str
        How the split was drawn, for tables and messages.
    """

    train: Rows
    val: Rows
    test: Rows
    protocol: str = "given"

    def __post_init__(self) -> None:
        for name in ("train", "val", "test"):
            rows = np.array(getattr(self, name), dtype=np.int64)
            rows.flags.writeable = False
            object.__setattr__(self, name, rows)
        together = np.concatenate([self.train, self.val, self.test])
        if len(np.unique(together)) != len(together):
            raise DataError("duplicate row in the split; train, val and test must not overlap")

    def train_labels(self, y: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return ``y`` with all labels but the training labels masked."""
        labels: npt.NDArray[Any] = mask_labels(y, self.train)
        return labels

    def val_labels(self, y: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return ``y`` with all labels but the validation labels masked."""
        labels: npt.NDArray[Any] = mask_labels(y, self.val)
        return labels

    def __repr__(self) -> str:
        sizes = f"train={len(self.train):,}, val={len(self.val):,}, test={len(self.test):,}"
        return f"Split({sizes}, protocol={self.protocol!r})"


def planetoid_split(
    y: npt.ArrayLike, per_class: int = 20, n_val: int = 500, n_test: int = 1000, seed: int = 0
) -> Split:
    """Draw a split of the paper's protocol: some labels per class, then validation and test nodes.

    Parameters
    ----------
    y : array
        Labels of all nodes; unlabelled nodes (-1, ``None``, NaN) are never drawn.
    per_class : int
        Training nodes per class.
    n_val, n_test : int
        Nodes drawn from the rest, regardless of class.
    seed : int
        Random seed; global generators are not used.

    Examples
    --------
    >>> import numpy as np
    >>> planetoid_split(np.arange(100) % 4, per_class=5, n_val=30, n_test=50)
    Split(train=20, val=30, test=50, protocol='5 per class, seed 0')
    """
    check_parameters("planetoid_split", {"per_class": per_class}, {"per_class": Integer(1)})
    rows, codes, names = _known(y)
    wanted = np.full(len(names), per_class, dtype=np.int64)
    return _draw(rows, codes, names, wanted, n_val, n_test, seed, f"{per_class} per class, seed {seed}")


def rate_split(y: npt.ArrayLike, rate: float, n_val: int = 0, n_test: int | None = None, seed: int = 0) -> Split:
    """Draw a split by labelling rate: max(rate x N, 1) nodes of a class with N, rounded down.

    Parameters
    ----------
    y : array
        Labels of all nodes; unlabelled nodes (-1, ``None``, NaN) are never drawn.
    rate : float
        The paper's beta, in (0, 1).
    n_val : int
    n_test : int or None
        ``None``: all remaining nodes.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> rate_split(np.repeat([0, 1], [990, 10]), 0.01)
    Split(train=10, val=0, test=990, protocol='rate 0.01, seed 0')
    """
    check_parameters("rate_split", {"rate": rate}, {"rate": Real(0, 1, closed="neither")})
    rows, codes, names = _known(y)
    sizes = np.bincount(codes, minlength=len(names))
    wanted = np.maximum(np.floor(rate * sizes + 1e-9).astype(np.int64), 1)
    return _draw(rows, codes, names, wanted, n_val, n_test, seed, f"rate {rate:g}, seed {seed}")


def fold_split(y: npt.ArrayLike, n_folds: int = 5, fold: int = 0, seed: int = 0) -> Split:
    """Return one fold of a stratified cross-validation: its labels are tested, all others are for training.

    Each label is tested in one of the folds. A class with a single label is never tested, for nothing would be left to
    learn it from.

    Parameters
    ----------
    y : array
        Labels of all nodes; unlabelled nodes (-1, ``None``, NaN) are never drawn.
    n_folds : int
    fold : int
        Which of them, from 0 to ``n_folds - 1``.
    seed : int
        Which division into folds.

    Examples
    --------
    >>> import numpy as np
    >>> fold_split(np.repeat([0, 1, 2], [10, 5, 1]), n_folds=5)
    Split(train=13, val=0, test=3, protocol='fold 1 of 5, seed 0')
    """
    given = {"n_folds": n_folds, "fold": fold}
    check_parameters("fold_split", given, {"n_folds": Integer(2), "fold": Integer(0, int(n_folds) - 1)})
    rows, codes, names = _known(y)
    if len(names) == 0:
        raise DataError("y has no labels to draw a split from")
    sizes = np.bincount(codes, minlength=len(names))
    order = np.random.default_rng(seed).permutation(len(rows))
    by_class = order[np.argsort(codes[order], kind="stable")]
    # Dealt to the folds in turn, class after class, so that the folds are of equal size.
    tested = np.zeros(len(rows), dtype=bool)
    tested[by_class[np.arange(len(rows)) % n_folds == fold]] = True
    left = sizes - np.bincount(codes[tested], minlength=len(names))
    tested &= left[codes] > 0
    return Split(rows[~tested], np.empty(0, np.int64), rows[tested], f"fold {fold + 1} of {n_folds}, seed {seed}")


def multi_label_split(
    Y: sparse.csr_array,
    *,
    rate: float | None = None,
    per_class: int | None = None,
    n_val: int = 0,
    n_test: int | None = None,
    seed: int = 0,
) -> Split:
    """Draw a split of nodes that may have several labels.

    Parameters
    ----------
    Y : csr_array of shape (n_nodes, n_classes)
        Labels of all nodes; nodes without any are never drawn.
    rate : float, optional
        Share of the labelled nodes to train on, drawn uniformly: the protocol of DeepWalk.
    per_class : int, optional
        Instead of a share: nodes are drawn until every class has so many, rare classes first. Frequent ones may get
        more.
    n_val : int
    n_test : int or None
        ``None``: all remaining nodes.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> Y = sparse.csr_array(np.random.default_rng(0).random((200, 5)) < 0.3)
    >>> multi_label_split(Y, rate=0.5, seed=1)
    Split(train=80, val=0, test=81, protocol='50% of the labelled nodes, seed 1')
    """
    if (rate is None) == (per_class is None):
        raise ParameterError("either rate or per_class is required", parameter="rate")
    check_parameters(
        "multi_label_split",
        {"rate": rate, "per_class": per_class, "n_val": n_val, "n_test": n_test},
        {
            "rate": (Real(0, 1, closed="neither"), None),
            "per_class": (Integer(1), None),
            "n_val": Integer(0),
            "n_test": (Integer(0), None),
        },
    )
    order = np.random.default_rng(seed).permutation(np.flatnonzero(np.diff(Y.indptr) > 0))
    if per_class is None:
        assert rate is not None
        chosen = order[: max(1, round(rate * len(order)))]
        protocol = f"{rate:.0%} of the labelled nodes, seed {seed}"
    else:
        chosen = _some_of_each(Y, order, per_class)
        protocol = f"at least {per_class} per class, seed {seed}"
    rest = order[~np.isin(order, chosen)]
    n_test = max(0, len(rest) - n_val) if n_test is None else n_test
    if n_val + n_test > len(rest):
        raise DataError(
            f"{len(rest):,} labelled nodes are left for validation and test, fewer than n_val + n_test = "
            f"{n_val:,} + {n_test:,}"
        )
    return Split(np.sort(chosen), np.sort(rest[:n_val]), np.sort(rest[n_val : n_val + n_test]), protocol)


def _some_of_each(Y: sparse.csr_array, order: Rows, per_class: int) -> Rows:
    """Return the first nodes in an order by which every class has so many labels."""
    columns = Y[order].tocsc()
    sizes = np.diff(columns.indptr)
    short = np.flatnonzero((sizes > 0) & (sizes < per_class))
    if len(short):
        raise DataError(
            f"class {int(short[0])} has {sizes[short[0]]} labelled nodes, fewer than the {per_class} to draw",
            hint="draw fewer per class, or drop small classes",
        )
    columns.sort_indices()
    chosen = np.zeros(len(order), dtype=bool)
    for column in np.argsort(sizes, kind="stable"):
        nodes = columns.indices[columns.indptr[column] : columns.indptr[column + 1]]
        missing = per_class - int(chosen[nodes].sum())
        if missing > 0:
            chosen[nodes[~chosen[nodes]][:missing]] = True
    return order[chosen]


def _known(y: npt.ArrayLike) -> tuple[Rows, npt.NDArray[np.int64], list[Any]]:
    """Return the rows that have a label, the number of its class, and the classes."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"y must have one dimension, a label per node, got {labels.ndim}")
    if labels.dtype.kind in "iu":
        known = labels != -1
        names, codes = np.unique(labels[known], return_inverse=True)
        rows = np.flatnonzero(known)
        return rows, codes.astype(np.int64), names.tolist()
    found: dict[Any, int] = {}
    pairs = [
        (row, found.setdefault(label, len(found)))
        for row, label in enumerate(labels.tolist())
        if not is_unlabelled(label)
    ]
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1], list(found)


def _draw(
    rows: Rows,
    codes: npt.NDArray[np.int64],
    names: list[Any],
    wanted: npt.NDArray[np.int64],
    n_val: int,
    n_test: int | None,
    seed: int,
    protocol: str,
) -> Split:
    check_parameters("split", {"n_val": n_val, "n_test": n_test}, {"n_val": Integer(0), "n_test": (Integer(0), None)})
    if len(names) == 0:
        raise DataError("y has no labels to draw a split from")
    sizes = np.bincount(codes, minlength=len(names))
    short = np.flatnonzero(sizes < wanted)
    if len(short):
        worst = short[np.argmin(sizes[short])]
        more = f" ({len(short) - 1} more classes are too small)" if len(short) > 1 else ""
        raise DataError(
            f"class {names[worst]!r} has {sizes[worst]} labelled nodes, fewer than the {wanted[worst]} to draw{more}",
            hint="draw fewer per class, or drop small classes",
        )
    generator = np.random.default_rng(seed)
    order = generator.permutation(len(rows))
    by_class = order[np.argsort(codes[order], kind="stable")]
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.zeros(len(rows), dtype=bool)
    chosen[by_class[rank < np.repeat(wanted, sizes)]] = True
    rest = rows[order[~chosen[order]]]
    n_test = len(rest) - n_val if n_test is None else n_test
    if n_val + max(n_test, 0) > len(rest):
        raise DataError(
            f"{len(rest):,} labelled nodes are left for validation and test, fewer than n_val + n_test = "
            f"{n_val:,} + {max(n_test, 0):,}"
        )
    train, val, test = rows[chosen], rest[:n_val], rest[n_val : n_val + n_test]
    return Split(np.sort(train), np.sort(val), np.sort(test), protocol)
