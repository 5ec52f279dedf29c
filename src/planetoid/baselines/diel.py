"""DIEL (Bing et al., 2015): labels spread through coordinate lists and train a classifier."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from planetoid.baselines.linear_svm import fit_linear_svm, liblinear_rows
from planetoid.baselines.linear_system import System, solve
from planetoid.baselines.reference import NEAR_ALONE, reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset, Features
from planetoid.data.scaling import Rows
from planetoid.data.types import Probabilities
from planetoid.errors import PlanetoidWarning, warn
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.explanation.contributions import MARGIN, Answer, Contributions, Question, linear_answer
from planetoid.graph.adjacency import strengths, symmetric_adjacency
from planetoid.parameters import N_JOBS, RANDOM_STATE, ROW_NORMALIZE, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, SearchSpace

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["Diel", "Ranking", "walk_scores"]

Scores = npt.NDArray[np.float64]


class Ranking(NamedTuple):
    """The best (node, class) pairs, best first: three arrays of one length."""

    nodes: npt.NDArray[np.generic]
    classes: npt.NDArray[np.generic]
    scores: Scores


class Diel(InductiveClassifier):
    """An SVM trained on the labelled nodes and on those that random walks from them score best.

    Designed for coordinate lists: a bipartite graph of lists, which have
    features, and the items in them, which have none. Walks with restart from the
    labelled nodes of each class (MultiRankWalk) score all nodes; of those with
    features, the best of each class become further examples for a linear SVM,
    which then scores every node by its features. A node without features, an
    item, has the mean score of its neighbours, the lists.

    It works on any graph in which some nodes have features. A directed edge
    counts in both directions.

    Parameters
    ----------
    growth : float, default 8.0
        Number of examples that the walks add per label of a class; with 0 the
        graph is not used for training.
    damping : float, default 0.85
        Probability that a walk continues instead of restarting.
    C : float, default 1.0
        Weight of the SVM's loss.
    row_normalize : {"l1", "l2", None}, default "l2"
        Norm to which each feature row is scaled.
    tol : float, default 0.01
        Tolerance of the SVM's solver (liblinear). The examples are noisy; a more
        precise solution takes long and ranks no better.
    max_iter : int, default 2000
        Maximum number of iterations of the SVM's solver.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None, default 0
        Seed of the order in which the SVM's solver visits rows.
    n_jobs : int or None, default None
        Number of threads for the walks; None is 1, -1 all cores. The result does
        not depend on it.

    Attributes
    ----------
    scores_ : array of shape (n_nodes, n_classes)
        Distance to each class's hyperplane; NaN where nothing is known.
    is_item_ : boolean array of shape (n_nodes,)
        Which nodes have no features.
    n_examples_ : int
        Number of rows that the SVM was trained on.
    coef_, intercept_ : arrays
        Hyperplanes of the SVM.

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

    constraints: ClassVar[Constraints] = {
        "growth": Real(0),
        "damping": Real(0, 1, closed="neither"),
        "C": Real(0, closed="neither"),
        "row_normalize": ROW_NORMALIZE,
        "tol": Real(0, closed="neither"),
        "max_iter": Integer(1),
        "calibrate": bool,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
    }
    search_space: ClassVar[SearchSpace] = {
        "growth": Float(2.0, 50.0),
        "damping": Categorical((0.5, 0.7, 0.85, 0.95)),
        "C": Float(0.01, 100.0),
    }

    scores_: Scores

    def __init__(
        self,
        *,
        growth: float = 8.0,
        damping: float = 0.85,
        C: float = 1.0,
        row_normalize: str | None = "l2",
        tol: float = 0.01,
        max_iter: int = 2000,
        calibrate: bool = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.growth = growth
        self.damping = damping
        self.C = C
        self.row_normalize = row_normalize
        self.tol = tol
        self.max_iter = max_iter
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit(self, data: Dataset) -> Probabilities:
        assert data.X is not None
        adjacency = symmetric_adjacency(data.graph)
        self.is_item_ = ~data.has_features
        labels = self._examples(data, adjacency)
        rows = np.flatnonzero(labels >= 0)
        self.n_examples_ = len(rows)
        X = liblinear_rows(data.X, self.row_normalize)
        self._fit_svm(X[rows], labels[rows])
        self.scores_ = _mean_over_neighbours(self._decision_function(X), data.has_features, adjacency)
        self._unit_rows = X if self.row_normalize == "l2" and self._asks_for_sample(data) else None
        return np.asarray(softmax(self.scores_, axis=1))

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        unit_rows, self._unit_rows = self._unit_rows, None  # as large as the features
        if sparse.issparse(unit_rows):  # a matrix for liblinear
            unit_rows = sparse.csr_array(unit_rows)
        return reference_sample(data, probabilities, smoothing=NEAR_ALONE, unit_rows=unit_rows)

    def _examples(self, data: Dataset, adjacency: sparse.csr_array) -> npt.NDArray[np.int32]:
        """Return the labels to train on: the known ones, and those of the best-scoring nodes."""
        labels: npt.NDArray[np.int32] = data.y.copy()
        if self.growth > 0:
            scores = walk_scores(adjacency, data.y, data.n_classes, self.damping, self.n_jobs)
            best = scores.argmax(axis=1)
            candidate = data.has_features & (data.y < 0) & (scores.max(axis=1) > 0)
            for k in range(data.n_classes):
                rows = np.flatnonzero(candidate & (best == k))
                count = round(self.growth * np.count_nonzero(data.y == k))
                labels[rows[np.argsort(-scores[rows, k], kind="stable")[:count]]] = k
        if len(np.unique(labels[data.has_features & (labels >= 0)])) == data.n_classes:
            labels[~data.has_features] = -1  # a row of zeros would train the intercept only
        return labels

    def _fit_svm(self, X: Rows, labels: npt.NDArray[np.int32]) -> None:
        svm = fit_linear_svm(X, labels, C=self.C, loss="hinge", tol=self.tol, max_iter=self.max_iter, seed=self._seed)
        self.coef_, self.intercept_ = svm.coef, svm.intercept
        if not svm.converged:
            warn(
                PlanetoidWarning(
                    f"Diel: the SVM did not converge; raise max_iter={self.max_iter} or tol={self.tol:g}, or lower C"
                )
            )

    def _decision_function(self, X: Rows) -> Scores:
        scores = np.asarray(X @ self.coef_.T + self.intercept_, dtype=np.float64)
        return np.hstack([-scores, scores]) if scores.shape[1] == 1 else scores

    def _explain(self, question: Question) -> Answer:
        if question.row is None or not self.is_item_[question.row]:
            x = liblinear_rows(question.known_row(), self.row_normalize, np.float64)
            return linear_answer(question, x, self.coef_, self.intercept_, -1, 1)
        around = symmetric_adjacency(question.known_data().graph)[[question.row]]
        with_features = ~self.is_item_[around.indices]
        lists, weights = around.indices[with_features], around.data[with_features].astype(np.float64)
        if len(lists) == 0:
            return Answer(0.0, MARGIN, [], "nothing is known about this node: no neighbour has features")
        values = weights / weights.sum() * (self.scores_[lists] @ question.contrast)
        meaning = "score of the neighbour, by its features, times its share of the node's edges"
        return Answer(values.sum(), MARGIN, [Contributions("neighbours", lists, values, meaning, 0.0)])

    def _predict_rows(self, X: Features) -> Probabilities:
        return np.asarray(softmax(self._decision_function(liblinear_rows(X, self.row_normalize)), axis=1))

    def _write_scores(self, operators: Operators) -> Value:
        scores = operators.linear(operators.rows(self.row_normalize), self.coef_.T, self.intercept_)
        return scores if len(self.classes_) > 2 else operators.both_signs(scores)

    def rank(self, k: int, nodes: Iterable[Hashable] | None = None) -> Ranking:
        """Return the ``k`` best (node, class) pairs: node ids, classes and scores, best first.

        ``nodes`` are the candidates; by default the fitted nodes without
        features (the items), or all nodes if each has features.
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
        return Ranking(self.node_ids_.to_numpy()[rows[row]], self.classes_[column], scores[best])


def _mean_over_neighbours(scores: Scores, has_features: npt.NDArray[np.bool_], adjacency: sparse.csr_array) -> Scores:
    """Give nodes without features the mean score of their neighbours that have features."""
    items = np.flatnonzero(~has_features)
    if len(items):
        to_lists = adjacency[items]
        to_lists.data = to_lists.data * has_features[to_lists.indices]
        total = strengths(to_lists)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            scores[items] = np.where(total > 0, to_lists @ scores / total, np.nan)
    return scores


def walk_scores(
    adjacency: sparse.csr_array,
    y: npt.NDArray[np.int32],
    n_classes: int,
    damping: float = 0.85,
    n_jobs: int | None = None,
) -> Scores:
    """Return MultiRankWalk's scores (Lin and Cohen, 2010): random walks with restart from each class, by degree.

    The walk of a class solves ``v = (1 - damping) r + damping A D^-1 v`` with the
    restart distribution r uniform on its labels. With v = D u this is one
    symmetric system; u, the walk's probability per unit of edge weight, is
    returned.
    """
    degrees = strengths(adjacency)
    restart = np.zeros((len(y), n_classes))
    rows = np.flatnonzero(y >= 0)
    restart[rows, y[rows]] = 1.0
    restart /= restart.sum(axis=0)
    system = System(adjacency, degrees / damping, (1 - damping) / damping * restart, degrees > 0)
    return np.clip(solve(system, "auto", tol=1e-8, max_iter=1000, n_jobs=n_jobs).values, 0.0, None)
