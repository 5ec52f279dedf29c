"""``PredictionMixin``: probabilities, labels and prediction sets of fitted nodes and new rows, and their accuracy."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from planetoid.data.label_arrays import encode_labels
from planetoid.data.label_sets import encode_label_sets
from planetoid.data.types import FeaturesLike, Probabilities
from planetoid.errors import DataError
from planetoid.estimator.base import MethodBase, not_inductive
from planetoid.ids import NodeIds
from planetoid.labels import Labels
from planetoid.multi_label import Top, indicator
from planetoid.prediction_sets import members
from planetoid.utils.failures import explain_failures
from planetoid.utils.threads import one_blas_thread

__all__ = ["PredictionMixin"]


class PredictionMixin(MethodBase):
    """What a fitted method predicts."""

    def predict_proba(self, X: FeaturesLike | None = None, *, nodes: Iterable[Hashable] | None = None) -> Probabilities:
        """Return class probabilities: of all fitted nodes, of ``nodes``, or of new rows ``X``."""
        if not hasattr(self, "label_distributions_"):
            check_is_fitted(self, "label_distributions_")  # raises; by itself it takes as long as a row
        if X is not None:
            if nodes is not None:
                raise DataError("pass either X (new rows) or nodes (fitted nodes), not both")
            with explain_failures(type(self).__name__), one_blas_thread():
                return self._predict_new(X)
        rows = slice(None) if nodes is None else self.node_ids_.known_rows(nodes)
        return np.array(self.label_distributions_[rows])

    def predict(
        self, X: FeaturesLike | None = None, *, nodes: Iterable[Hashable] | None = None, top: Top | None = None
    ) -> npt.NDArray[Any]:
        """Return labels: of all fitted nodes, of ``nodes``, or of new rows ``X``.

        If nodes may have several labels, the result is an indicator matrix with a column for each of ``classes_``: 1
        where the probability is at least ``threshold_``, and for the most probable class. With ``top``, an integer or
        one per node, it has so many labels instead, the most probable ones.
        """
        return self._labels(self.predict_proba(X, nodes=nodes), top)

    def _labels(self, probabilities: Probabilities, top: Top | None = None) -> npt.NDArray[Any]:
        if self.multi_label_:
            return indicator(probabilities, self.threshold_, top)
        if top is not None:
            raise DataError("top is for several labels per node; this model has one", parameter="top")
        return self.classes_[probabilities.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_set(
        self, X: FeaturesLike | None = None, *, nodes: Iterable[Hashable] | None = None, alpha: float = 0.1
    ) -> npt.NDArray[np.bool_]:
        """Return the classes that contain the true one with probability 1 - alpha.

        A boolean array with a row for each of all fitted nodes, of ``nodes``, or of new rows ``X``, and a column for
        each of ``classes_``. The documentation says what is guaranteed under which assumptions.
        """
        return self._sets(self.predict_proba(X, nodes=nodes), alpha, nodes, fitted=X is None)

    def _sets(
        self, probabilities: Probabilities, alpha: float, nodes: Iterable[Hashable] | None = None, *, fitted: bool
    ) -> npt.NDArray[np.bool_]:
        """Return the sets of all fitted nodes, of ``nodes``, or of new ones."""
        if self.multi_label_:
            raise DataError(
                "prediction sets are for one label per node: they contain its true class with a stated probability",
                hint="for several, use predict_proba, the calibrated probability of each label, or predict(top=...), "
                "the most probable ones",
            )
        if not hasattr(self, "set_thresholds_"):
            raise DataError(
                f"{type(self).__name__} was fitted without the labels that prediction sets are chosen by",
                hint="fit with calibrate=True and at least ten labels, or with validation labels",
            )
        if not fitted or not hasattr(self, "set_scores_"):
            return members(probabilities, self.set_thresholds_, alpha)
        rows = slice(None) if nodes is None else self.node_ids_.known_rows(nodes)
        return members(probabilities, self.node_set_thresholds_, alpha, self.set_scores_[rows])

    @property
    def transduction_(self) -> npt.NDArray[Any]:
        """Label of every fitted node."""
        check_is_fitted(self, "label_distributions_")
        return self._labels(self.label_distributions_)

    def _predict_new(self, X: FeaturesLike) -> Probabilities:
        raise not_inductive(self)

    def score(
        self,
        X: FeaturesLike | None = None,
        y: Labels | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
    ) -> float:
        """Return the accuracy on labels that were not fitted: of new rows ``X``, or of fitted nodes.

        Several labels per node: the share of nodes whose labels are all correct, as in scikit-learn.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, optional
            New rows, for an inductive method.
        y : array, Series or dict
            Their labels, as in scikit-learn. Without ``X``: one label per fitted node (unlabelled nodes do not count),
            ``{node id: label}``, or one label for each of ``nodes``.
        sample_weight : array, optional
            A weight for each of the rows or labels.
        nodes : iterable of ids, optional
        """
        if y is None:
            raise DataError("score requires y, the labels to compare with", parameter="y")
        weights = None if sample_weight is None else np.asarray(sample_weight)
        if self.multi_label_:
            return float(np.average(self._correct_sets(X, y, nodes), weights=weights))
        if X is None:
            predicted, true = self._labels_to_score(y, nodes)
        else:
            predicted, true = self.predict(X, nodes=nodes), np.asarray(y)
        if len(predicted) != len(true):
            raise DataError(f"{len(true):,} labels for {len(predicted):,} predictions", parameter="y")
        return float(np.average(predicted == true, weights=weights))

    def _correct_sets(
        self, X: FeaturesLike | None, y: Labels, nodes: Iterable[Hashable] | None
    ) -> npt.NDArray[np.bool_]:
        """Return which nodes with labels have exactly these."""
        predicted = self.predict(X, nodes=nodes)
        all_nodes = X is None and nodes is None
        ids = NodeIds(self.node_ids_ if all_nodes else len(predicted))
        labels = encode_label_sets(y, ids, given_ids=all_nodes)
        by_number = labels.Y.shape[1] == len(self.classes_) and labels.classes.dtype.kind in "iu"
        columns = {label: column for column, label in enumerate(self.classes_.tolist())}
        names = range(labels.Y.shape[1]) if by_number else map(columns.get, labels.classes.tolist())
        true, correct = np.zeros_like(predicted), np.ones(len(predicted), bool)
        for column, at in enumerate(names):
            has = labels.Y[:, [column]].toarray()[:, 0]
            if at is None:
                correct &= ~has  # a label that is never predicted
            else:
                true[has, at] = 1
        known = np.diff(labels.Y.indptr) > 0
        if not known.any():
            raise DataError("y has no labels: every entry is unlabelled", parameter="y")
        return np.asarray((correct & (predicted == true).all(axis=1))[known])

    def _labels_to_score(
        self, y: Labels, nodes: Iterable[Hashable] | None
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        if nodes is not None:
            return self.predict(nodes=nodes), np.asarray(y)
        predicted = self.predict()
        codes, classes = encode_labels(y, self.node_ids_, "y")
        known = codes >= 0
        if not known.any():
            raise DataError("y has no labels: every entry is unlabelled", parameter="y")
        return predicted[known], classes[codes[known]]
