"""Iterative classification, ICA (Sen et al., 2008)."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from planetoid.baselines.propagation import strengths, symmetric_adjacency
from planetoid.baselines.softmax_regression import fit_softmax
from planetoid.data.dataset import Dataset
from planetoid.errors import ParameterError, PlanetoidWarning
from planetoid.estimator import GraphClassifier, Probabilities
from planetoid.search_space import Categorical, Float, Int, SearchSpace

__all__ = ["IterativeClassification"]

Labels = npt.NDArray[np.int64]
Matrix = npt.NDArray[np.float64]


class IterativeClassification(GraphClassifier):
    """A classifier on a node's features and its neighbours' labels, applied until labels settle.

    First a classifier on features alone guesses every label. Then a local
    classifier is fitted to the labelled nodes, on their features and on how
    often each class occurs among their neighbours (known or guessed), and the
    unlabelled nodes are visited, one after the other, each taking the best
    label by its neighbours' labels of that moment, until a sweep changes none.
    Since most neighbours of a few labelled nodes are guesses, fitting and
    sweeping are repeated ``n_rounds`` times with the better guesses. A directed
    edge counts at both of its ends; edge weights count as given.

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the local classifier's L2 penalty.
    aggregate : {"proportion", "count"}, default "proportion"
        How the labels around a node become features.
    order : {"degree", "confidence", "random"}, default "degree"
        Who is visited first: those with most neighbours, the most certain, or
        as drawn anew for each sweep.
    n_rounds : int, default 5
        Fits of the local classifier.
    max_iter : int, default 50
        Most sweeps a round; a warning says if labels still changed in the last.
    row_normalize : {"l1", "l2", None}, default "l2"
        Scale each feature row.
    random_state : int, default 0
        Of the "random" order.

    Attributes
    ----------
    n_iter_ : int
        Sweeps that were made in all rounds.

    References
    ----------
    P. Sen, G. Namata, M. Bilgic, L. Getoor, B. Gallagher, T. Eliassi-Rad,
    "Collective classification in network data", AI Magazine 29(3), 2008.

    Examples
    --------
    The last node has no features of its own but three neighbours:

    >>> import planetoid as pl
    >>> X = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 0]]
    >>> graph = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (6, 3), (6, 4), (6, 5)]
    >>> model = pl.IterativeClassification().fit(X, {0: "a", 1: "a", 3: "b", 4: "b"}, graph=graph)
    >>> model.predict(nodes=[2, 5, 6]).tolist()
    ['a', 'b', 'b']
    """

    uses_features = "required"

    search_space: ClassVar[SearchSpace] = {
        "C": Float(0.1, 1000.0),
        "aggregate": Categorical(("proportion", "count")),
        "n_rounds": Int(1, 10),
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        aggregate: str = "proportion",
        order: str = "degree",
        n_rounds: int = 5,
        max_iter: int = 50,
        row_normalize: str | None = "l2",
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.aggregate = aggregate
        self.order = order
        self.n_rounds = n_rounds
        self.max_iter = max_iter
        self.row_normalize = row_normalize
        self.random_state = random_state

    def _fit(self, data: Dataset) -> Probabilities:
        self._check_parameters()
        X: Any = data.X if self.row_normalize is None else normalize(data.X, norm=self.row_normalize)
        adjacency = _shares(symmetric_adjacency(data.graph), self.aggregate)
        known = data.labelled
        local = LogisticRegression(C=self.C, max_iter=1000)
        labels = fit_softmax(local, X[known], data.y[known]).predict(X).astype(np.int64)
        labels[known] = data.y[known]
        generator = np.random.default_rng(self.random_state)
        self.n_iter_ = 0
        for _ in range(self.n_rounds):
            around = (adjacency @ _one_hot(labels, data.n_classes))[known]
            fit_softmax(local, _beside(X[known], around), data.y[known])
            content, relation = _parts(local, X)
            self._sweep(adjacency, labels, np.flatnonzero(data.y < 0), content, relation, generator)
        around = adjacency @ _one_hot(labels, data.n_classes)
        return np.asarray(softmax(content + around @ relation, axis=1))

    def _sweep(
        self,
        adjacency: sparse.csr_array,
        labels: Labels,
        nodes: Labels,
        content: Matrix,
        relation: Matrix,
        generator: np.random.Generator,
    ) -> None:
        """Visit the unlabelled nodes until their labels stand still."""
        from planetoid.baselines.kernels import visit_nodes

        changed = 0
        for _ in range(self.max_iter):
            self.n_iter_ += 1
            order = self._ordered(adjacency, labels, nodes, content, relation, generator)
            csr = (adjacency.indptr, adjacency.indices, adjacency.data)
            changed = visit_nodes(*csr, order, content, relation, labels)
            if not changed:
                return
        warnings.warn(
            f"IterativeClassification did not converge: {changed:,} of {len(nodes):,} labels changed "
            f"in the last of max_iter={self.max_iter} sweeps",
            PlanetoidWarning,
            stacklevel=4,
        )

    def _ordered(
        self,
        adjacency: sparse.csr_array,
        labels: Labels,
        nodes: Labels,
        content: Matrix,
        relation: Matrix,
        generator: np.random.Generator,
    ) -> Labels:
        if self.order == "random":
            return generator.permutation(nodes)
        if self.order == "degree":
            return nodes[np.argsort(-np.diff(adjacency.indptr)[nodes], kind="stable")]
        scores = content + (adjacency @ _one_hot(labels, len(relation))) @ relation
        best = np.partition(scores[nodes], -2, axis=1)[:, -2:]
        return nodes[np.argsort(best[:, 0] - best[:, 1], kind="stable")]

    def _check_parameters(self) -> None:
        if not self.C > 0:
            raise ParameterError(f"C={self.C!r}; it must be positive")
        for name in ("n_rounds", "max_iter"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it must be 1 at least")
        for name, allowed in (
            ("aggregate", ("proportion", "count")),
            ("order", ("degree", "confidence", "random")),
            ("row_normalize", ("l1", "l2", None)),
        ):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it is one of {', '.join(map(repr, allowed))}")


def _shares(adjacency: sparse.csr_array, aggregate: str) -> sparse.csr_array:
    """Weigh each neighbour by its edge, or by its share of all edges of the node."""
    if aggregate == "count":
        return adjacency
    total = np.repeat(strengths(adjacency), np.diff(adjacency.indptr))
    data = (adjacency.data / total).astype(np.float32)
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)


def _one_hot(labels: Labels, n_classes: int) -> Matrix:
    return np.eye(n_classes)[labels]


def _beside(X: Any, around: Matrix) -> Any:
    return sparse.hstack([X, sparse.csr_array(around)], format="csr") if sparse.issparse(X) else np.hstack([X, around])


def _parts(local: LogisticRegression, X: Any) -> tuple[Matrix, Matrix]:
    """Split the local classifier: scores by content, and what each neighbouring class adds."""
    weights, intercept = local.coef_, local.intercept_
    if len(weights) == 1:  # two classes: one score, which speaks for the second
        weights, intercept = np.vstack([-weights, weights]) / 2, np.append(-intercept, intercept) / 2
    n_features = X.shape[1]
    content = np.asarray(X @ weights[:, :n_features].T + intercept, dtype=np.float64)
    return content, np.ascontiguousarray(weights[:, n_features:].T)
