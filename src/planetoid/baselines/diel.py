"""DIEL (Bing et al., 2015): labels spread through coordinate lists, then teach a classifier."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from planetoid.baselines.linear_system import System, solve
from planetoid.baselines.propagation import strengths, symmetric_adjacency
from planetoid.data.dataset import Dataset, Features
from planetoid.errors import ParameterError, PlanetoidWarning
from planetoid.estimator import InductiveClassifier, Probabilities
from planetoid.search_space import Categorical, Float, SearchSpace

__all__ = ["Diel", "walk_scores"]

Scores = npt.NDArray[np.float64]


class Diel(InductiveClassifier):
    """Few distant labels spread over the graph, and the best of what they reach trains an SVM.

    Made for coordinate lists: a bipartite graph of lists, which have features,
    and the items that stand in them, which have none. Walks with restart from
    the labelled nodes of each class (MultiRankWalk) score all nodes; of those
    with features, the best of each class join the labelled ones as examples of a
    linear SVM, which then scores every node by its features. A node without
    features, an item, has the mean score of its neighbours, the lists.

    Works on any graph whose nodes have features, at least in part. A directed
    edge counts at both of its ends.

    Parameters
    ----------
    growth : float, default 8.0
        Examples that the walks add for each label of a class; 0 leaves the
        graph out.
    damping : float, default 0.85
        Chance that a walk goes on instead of starting anew.
    C : float, default 1.0
        Weight of the SVM's loss.
    row_normalize : {"l1", "l2", None}, default "l2"
        Scale each feature row before fitting and predicting.
    tol : float, default 0.01
        Of the SVM's solver (liblinear). The examples are noisy, and a solution
        to more digits takes long and ranks no better.
    max_iter : int, default 2000
        Of the SVM's solver.
    random_state : int, default 0
        Order in which the SVM's solver visits rows.
    n_jobs : int or None, default None
        Threads for the walks; the result is the same to the bit.

    Attributes
    ----------
    scores_ : array of shape (n_nodes, n_classes)
        Distance to each class's hyperplane; NaN where nothing is known.
    is_item_ : boolean array of shape (n_nodes,)
        Which nodes have no features.
    n_examples_ : int
        Rows that the SVM was trained on.
    coef_, intercept_ : arrays
        Its hyperplanes.

    References
    ----------
    L. Bing, S. Chaudhari, R. C. Wang, W. W. Cohen, "Improving distant supervision
    for information extraction using label propagation through lists", EMNLP 2015.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_coordinate_lists(scale=0.001, seed=1)
    >>> model = pl.Diel().fit(data.X, data.y, graph=data.graph)
    >>> items, categories, scores = model.rank(3)
    >>> len(items), bool(scores[0] >= scores[2])
    (3, True)
    """

    scores_: Scores

    search_space: ClassVar[SearchSpace] = {
        "growth": Float(2.0, 50.0),
        "damping": Categorical((0.5, 0.7, 0.85, 0.95)),
        "C": Float(0.01, 100.0),
    }

    def __init__(
        self,
        *,
        growth: float = 8.0,
        damping: float = 0.85,
        C: float = 1.0,
        row_normalize: str | None = "l2",
        tol: float = 0.01,
        max_iter: int = 2000,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.growth = growth
        self.damping = damping
        self.C = C
        self.row_normalize = row_normalize
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, data: Dataset) -> Probabilities:
        self._check_parameters()
        adjacency = symmetric_adjacency(data.graph)
        described = data.has_features
        self.is_item_ = ~described
        labels = self._examples(data, adjacency, described)
        rows = np.flatnonzero(labels >= 0)
        self.n_examples_ = len(rows)
        X = self._scaled(data.X)
        self.coef_, self.intercept_ = self._hyperplanes(X[rows], labels[rows])
        self.scores_ = _over_neighbours(self._decide(X), described, adjacency)
        return np.asarray(softmax(self.scores_, axis=1))

    def _examples(
        self, data: Dataset, adjacency: sparse.csr_array, described: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int32]:
        """Return the labels to train on: those given, and the best that walks reach."""
        labels: npt.NDArray[np.int32] = data.y.copy()
        if self.growth > 0:
            scores = walk_scores(adjacency, data.y, data.n_classes, self.damping, self.n_jobs)
            best = scores.argmax(axis=1)
            open_to = described & (data.y < 0) & (scores.max(axis=1) > 0)
            for k in range(data.n_classes):
                found = np.flatnonzero(open_to & (best == k))
                count = round(self.growth * np.count_nonzero(data.y == k))
                labels[found[np.argsort(-scores[found, k], kind="stable")[:count]]] = k
        if len(np.unique(labels[described & (labels >= 0)])) == data.n_classes:
            labels[~described] = -1  # an empty row teaches nothing but the intercept
        return labels

    def _hyperplanes(self, X: Any, labels: npt.NDArray[np.int32]) -> tuple[Scores, Scores]:
        svm = LinearSVC(C=self.C, loss="hinge", tol=self.tol, max_iter=self.max_iter, random_state=self.random_state)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            svm.fit(X, labels)
        if any(issubclass(one.category, ConvergenceWarning) for one in caught):
            warnings.warn(
                f"Diel: the SVM ran out of iterations; raise max_iter={self.max_iter} or tol={self.tol:g}, or lower C",
                PlanetoidWarning,
                stacklevel=4,
            )
        return np.asarray(svm.coef_), np.asarray(svm.intercept_)

    def _decide(self, X: Any) -> Scores:
        scores = np.asarray(X @ self.coef_.T + self.intercept_, dtype=np.float64)
        return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores

    def _predict_rows(self, X: Features) -> Probabilities:
        return np.asarray(softmax(self._decide(self._scaled(X)), axis=1))

    def rank(self, k: int, nodes: Any = None) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return the ``k`` best (node, class) pairs: node ids, classes and scores, the best first.

        ``nodes`` are those to choose from; without it, the fitted nodes that
        have no features (the items), or all nodes if each has some.
        """
        check_is_fitted(self, "scores_")
        if nodes is not None:
            rows = self.node_ids_.known_rows(nodes)
        else:
            rows = np.flatnonzero(self.is_item_) if self.is_item_.any() else np.arange(len(self.scores_))
        scores = self.scores_[rows].ravel()
        usable = np.flatnonzero(~np.isnan(scores))
        best = usable[np.argsort(-scores[usable], kind="stable")[:k]]
        row, column = np.divmod(best, len(self.classes_))
        return self.node_ids_.to_numpy()[rows[row]], self.classes_[column], scores[best]

    def _scaled(self, X: Features) -> Any:
        if self.row_normalize is not None:
            X = normalize(X, norm=self.row_normalize)
        return sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X)

    def _check_parameters(self) -> None:
        if self.row_normalize not in ("l1", "l2", None):
            raise ParameterError(f"row_normalize={self.row_normalize!r}; it is 'l1', 'l2' or None")
        if not self.growth >= 0:
            raise ParameterError(f"growth={self.growth!r}; it must not be negative")
        if not 0 < self.damping < 1:
            raise ParameterError(f"damping={self.damping!r}; it must lie between 0 and 1")
        if not self.C > 0:
            raise ParameterError(f"C={self.C!r}; it must be positive")


def _over_neighbours(scores: Scores, described: npt.NDArray[np.bool_], adjacency: sparse.csr_array) -> Scores:
    """Give nodes without features the mean score of their neighbours that have some."""
    items = np.flatnonzero(~described)
    if len(items):
        around = adjacency[items]
        around.data = around.data * described[around.indices]
        total = strengths(around)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            scores[items] = np.where(total > 0, around @ scores / total, np.nan)
    return scores


def walk_scores(
    adjacency: sparse.csr_array,
    y: npt.NDArray[np.int32],
    n_classes: int,
    damping: float = 0.85,
    n_jobs: int | None = None,
) -> Scores:
    """MultiRankWalk (Lin and Cohen, 2010): where walks from each class's labels are found, by degree.

    The walk of a class solves ``v = (1 - damping) r + damping A D^-1 v`` with the
    restart r uniform on its labels. With v = D u that is one symmetric system;
    u, the share of the walk per unit of edge weight, is what is returned.
    """
    degrees = strengths(adjacency)
    restart = np.zeros((len(y), n_classes))
    rows = np.flatnonzero(y >= 0)
    restart[rows, y[rows]] = 1.0
    restart /= restart.sum(axis=0)
    system = System(adjacency, degrees / damping, (1 - damping) / damping * restart, degrees > 0)
    return np.clip(solve(system, "auto", tol=1e-8, max_iter=1000, n_jobs=n_jobs).values, 0.0, None)
