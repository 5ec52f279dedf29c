"""``NodeClassifier``: a method on a graph as an ordinary scikit-learn classifier, whose samples are nodes.

scikit-learn's tools take rows apart: ``cross_val_score``, ``GridSearchCV`` and ``CalibratedClassifierCV`` fit on some
of the rows and predict others. Nodes cannot be taken out of a graph like that; their labels can. So here a sample is
the id of a node. Graph and features stay whole, and a label is known to a fit only if its node is among the samples.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from planetoid.data.dataset import Dataset
from planetoid.errors import DataError
from planetoid.labels import encode

if TYPE_CHECKING:
    from typing_extensions import Self

    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["LabelledNodesKFold", "NodeClassifier"]

Rows = npt.NDArray[np.int64]


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


class LabelledNodesKFold(BaseEstimator):  # type: ignore[misc]
    """Folds of the labelled nodes, stratified by class; unlabelled nodes are never tested, and always there.

    With ``NodeClassifier``, all nodes are the samples and ``y`` has an entry for each, as ``fit`` of a method takes it.
    Each fold hides the labels of its test nodes; the nodes themselves stay in the graph.

    Parameters
    ----------
    n_splits : int, default 5
    shuffle : bool, default True
        Whether the labels of a class are shuffled before they are divided.
    random_state : int or None, default 0
        Seed of shuffling.

    Examples
    --------
    >>> import planetoid as pl
    >>> from sklearn.model_selection import cross_val_score
    >>> data = pl.datasets.make_citation(300, 3, seed=1)
    >>> y = pl.mask_labels(data.y, range(0, 300, 5))  # 60 labels, -1 elsewhere
    >>> model = pl.model_selection.NodeClassifier(pl.PropagatedFeatures(), data)
    >>> scores = cross_val_score(model, data.node_ids, y, cv=pl.model_selection.LabelledNodesKFold(4))
    >>> len(scores), bool(scores.mean() > 0.6)
    (4, True)
    """

    def __init__(self, n_splits: int = 5, *, shuffle: bool = True, random_state: int | None = 0) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state

    def split(self, X: object, y: npt.ArrayLike, groups: object = None) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows of each fold: those whose labels may be learned from, and those to test.

        The first are all rows but the second, so that the unlabelled nodes are among them.
        """
        from sklearn.model_selection import StratifiedKFold

        codes, _ = encode(np.asarray(y).tolist())
        labelled = np.flatnonzero(codes >= 0)
        if len(labelled) < self.n_splits:
            raise DataError(f"{len(labelled):,} labels are too few for n_splits={self.n_splits}")
        seed = self.random_state if self.shuffle else None
        folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=seed)
        for _, test in folds.split(labelled, codes[labelled]):
            hidden = np.zeros(len(codes), dtype=bool)
            hidden[labelled[test]] = True
            yield np.flatnonzero(~hidden), np.flatnonzero(hidden)

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return the number of folds."""
        return self.n_splits
