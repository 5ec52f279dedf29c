"""``NodeClassifier``: a method on a graph as an ordinary scikit-learn classifier, whose samples are nodes.

scikit-learn's tools take rows apart: ``cross_val_score``, ``GridSearchCV`` and ``CalibratedClassifierCV`` fit on some
of the rows and predict others. Nodes cannot be taken out of a graph like that; their labels can. So here a sample is
the id of a node. Graph and features stay whole, and a label is known to a fit only if its node is among the samples.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from planetoid.data.dataset import Dataset
from planetoid.errors import DataError

if TYPE_CHECKING:
    from typing_extensions import Self

    from planetoid.estimator import GraphClassifier

__all__ = ["NodeClassifier"]


class NodeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A method on one graph, with node ids as samples.

    Parameters
    ----------
    estimator : GraphClassifier
        Any method; it is cloned before each fit. Its parameters are ``estimator__...`` in a grid.
    data : Dataset
        Graph and features; its labels are not used. It is shared by all clones, never copied.

    Attributes
    ----------
    classes_ : array
    estimator_ : GraphClassifier
        The fitted method.

    Examples
    --------
    >>> import planetoid as pl
    >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
    >>> data = pl.datasets.make_citation(300, 3, seed=1)
    >>> nodes = data.node_ids[::5]  # the labelled ones
    >>> y = data.y[::5]
    >>> folds = StratifiedKFold(5, shuffle=True, random_state=0)
    >>> model = pl.model_selection.NodeClassifier(pl.PropagatedFeatures(), data)
    >>> bool(cross_val_score(model, nodes, y, cv=folds).mean() > 0.6)
    True
    >>> search = GridSearchCV(model, {"estimator__C": [1.0, 100.0]}, cv=folds).fit(nodes, y)
    >>> search.predict(data.node_ids).shape
    (300,)
    """

    classes_: npt.NDArray[Any]
    estimator_: GraphClassifier

    def __init__(self, estimator: GraphClassifier, data: Dataset) -> None:
        self.estimator = estimator
        self.data = data

    def fit(self, X: Sequence[Hashable] | npt.NDArray[Any], y: npt.ArrayLike) -> Self:
        """Fit on the whole graph, with the labels ``y`` of the nodes ``X``.

        Parameters
        ----------
        X : array of shape (n,) or (n, 1)
            Node ids.
        y : array of shape (n,)
        """
        nodes, labels = _node_ids(X), np.asarray(y).tolist()
        if len(nodes) != len(labels):
            raise DataError(f"{len(labels):,} labels for {len(nodes):,} nodes")
        method = clone(self.estimator)
        self.estimator_ = method.fit(
            None if method.uses_features == "never" else self.data.X,
            self._in_graph_order(nodes, labels),
            graph=None if method.uses_graph == "never" else self.data.graph,
        )
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: Sequence[Hashable] | npt.NDArray[Any]) -> npt.NDArray[np.floating[Any]]:
        """Return the class probabilities of nodes."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba()[self.data.ids.known_rows(_node_ids(X))]

    def predict(self, X: Sequence[Hashable] | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the labels of nodes."""
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]  # type: ignore[no-any-return]

    def _in_graph_order(self, nodes: list[Hashable], labels: list[object]) -> npt.NDArray[Any]:
        y = np.full(self.data.n_nodes, None, dtype=object)
        y[self.data.ids.known_rows(nodes)] = labels
        return y

    def __sklearn_clone__(self) -> NodeClassifier:
        return NodeClassifier(clone(self.estimator), self.data)


def _node_ids(X: Sequence[Hashable] | npt.NDArray[Any]) -> list[Hashable]:
    nodes = np.asarray(X)
    if nodes.ndim > 2 or (nodes.ndim == 2 and nodes.shape[1] != 1):
        raise DataError(f"X must have one node id per row, got an array of shape {nodes.shape}")
    return list(nodes.ravel().tolist())
