"""``cross_validate``: what a model says about its own labels when it does not know them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset
from planetoid.data.splits import fold_split
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.labels import mask_labels
from planetoid.utils.progress import progress

if TYPE_CHECKING:
    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["HeldOut", "cross_validate"]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions for labelled nodes by models that were fitted without their labels.

    Attributes
    ----------
    rows : int64 array
        The nodes, in ascending order; a label that is the only one of its class cannot be held out.
    probabilities : array of shape (len(rows), n_classes)
        Columns are the classes of the data.
    n_folds : int
    """

    rows: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.floating[Any]]
    n_folds: int


def cross_validate(
    model: GraphClassifier, data: Dataset, *, n_folds: int = 5, seed: int = 0, verbose: int = 0
) -> HeldOut:
    """Predict each label by a copy of the model that is fitted without a fold of the labels.

    The nodes stay in the graph, as in the fit; validation labels are used as in the fit.

    Parameters
    ----------
    model : estimator
        Its parameters are used; it need not be fitted, and is not changed.
    data : Dataset
    n_folds : int
        Stratified: every fold has about the same share of each class.
    seed : int
        Of the folds.
    verbose : int
        Whether to show progress.

    Returns
    -------
    HeldOut

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_citation(200, 2, 40, seed=0)
    >>> held_out = cross_validate(pl.LabelPropagation(), data)
    >>> len(held_out.rows), held_out.probabilities.shape
    (200, (200, 2))
    """
    from sklearn.base import clone

    if data.multi_label:
        raise DataError("cross_validate is for one label per node", hint="for several, use evaluate")
    parts, found = [], []
    with progress("cross-validation", n_folds, verbose) as advance:
        for fold in range(n_folds):
            split = fold_split(data.y, n_folds, fold, seed=seed)
            if len(split.test):
                advance(0, f"fold {fold + 1} of {n_folds}")
                copy = cast("GraphClassifier", clone(model))
                if "verbose" in copy.get_params(deep=False):
                    copy.set_params(verbose=0)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", PlanetoidWarning)  # those of the fit on all labels
                    copy.fit(replace(data, y=mask_labels(data.y, split.train)))
                parts.append(split.test)
                found.append(copy.label_distributions_[split.test])
            advance(1)
    if not parts:
        raise DataError("cross-validation requires a class with at least two labels")
    rows = np.concatenate(parts)
    order = np.argsort(rows)
    return HeldOut(rows[order], np.concatenate(found)[order], n_folds)
