"""Transductive support vector machine (Joachims, 1999), linear, one class against the rest."""

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

from planetoid.data.dataset import Dataset, Features
from planetoid.errors import ParameterError, PlanetoidWarning
from planetoid.estimator import InductiveClassifier, Probabilities
from planetoid.search_space import Float, SearchSpace

__all__ = ["TransductiveSVM"]

Vector = npt.NDArray[np.float64]
ANNEAL_FROM = 1e-4  # the weight of the unlabelled loss starts here, relative to its goal, and doubles
MOST_ROUNDS = 100  # of labelling and fitting at one weight


class TransductiveSVM(InductiveClassifier):
    """A linear SVM that also wants a wide margin among the unlabelled rows.

    For each class against the rest it looks for labels of the unlabelled rows
    and a hyperplane that together minimise ``|w|^2 / 2`` plus the hinge losses
    of labelled rows, weighted by ``C``, and of unlabelled ones, weighted by
    ``unlabelled_C``. The share of positives among the unlabelled is held at that
    among the labels, and the weight of their loss grows from almost nothing to
    its goal. At each weight, fitting alternates with switching labels.

    Joachims switches one pair of opposite labels at a time, wherever that lowers
    the objective. With the hyperplane fixed that is so for exactly those pairs
    whose scores stand in the wrong order, so all such switches together give the
    highest scores the positive label; we make them at once. Neither a fit nor
    a switch ever raises the objective, so it ends; and then no switch of a
    pair lowers it.

    Parameters
    ----------
    C : float, default 1.0
        Weight of a labelled row's loss.
    unlabelled_C : float, default 0.1
        Weight of an unlabelled row's loss; 0 gives the plain SVM.
    loss : {"hinge", "squared_hinge"}, default "hinge"
    row_normalize : {"l1", "l2", None}, default "l2"
        Scale each feature row before fitting and predicting.
    tol : float, default 1e-4
        Of the solver (liblinear).
    max_iter : int, default 2000
        Of the solver.
    random_state : int, default 0
        Order in which the solver visits rows.

    Attributes
    ----------
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array
    objective_ : list of float
        The objective of each class against the rest at the end.

    Notes
    -----
    Probabilities are the softmax of the distances to the hyperplanes: good for
    ranking, not calibrated. Rows without any feature are left out of the fit.

    References
    ----------
    T. Joachims, "Transductive inference for text classification using support
    vector machines", ICML 1999.

    Examples
    --------
    Two labels, and two clouds that the labels alone would cut the wrong way:

    >>> import numpy as np, planetoid as pl
    >>> height = np.linspace(-1, 1, 5)
    >>> left, right = np.c_[[-1.0] * 5, height], np.c_[[1.0] * 5, height]
    >>> y = ["left"] + [None] * 8 + ["right"]
    >>> model = pl.TransductiveSVM(unlabelled_C=1.0, row_normalize=None)
    >>> predicted = model.fit(np.r_[left, right], y).predict()
    >>> set(predicted[:5]), set(predicted[5:])
    ({'left'}, {'right'})
    """

    uses_graph = "never"

    search_space: ClassVar[SearchSpace] = {"C": Float(0.1, 100.0), "unlabelled_C": Float(0.01, 10.0)}

    def __init__(
        self,
        *,
        C: float = 1.0,
        unlabelled_C: float = 0.1,
        loss: str = "hinge",
        row_normalize: str | None = "l2",
        tol: float = 1e-4,
        max_iter: int = 2000,
        random_state: int = 0,
    ) -> None:
        self.C = C
        self.unlabelled_C = unlabelled_C
        self.loss = loss
        self.row_normalize = row_normalize
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _fit(self, data: Dataset) -> Probabilities:
        self._check_parameters()
        X = self._scaled(data.X)
        known = data.y >= 0
        use = known | data.has_features if self.unlabelled_C > 0 else known
        rows, codes = X[use], data.y[use]
        positives = range(data.n_classes) if data.n_classes > 2 else (1,)
        self.objective_: list[float] = []
        self._unfinished = 0
        planes = [self._one_against_rest(rows, codes, k) for k in positives]
        if self._unfinished:
            warnings.warn(
                f"TransductiveSVM: the solver ran out of iterations in {self._unfinished} of its fits; "
                f"raise max_iter={self.max_iter} or tol={self.tol:g}, or lower C",
                PlanetoidWarning,
                stacklevel=3,
            )
        self.coef_ = np.stack([plane[:-1] for plane in planes])
        self.intercept_ = np.array([plane[-1] for plane in planes])
        return self._predict_scaled(X)

    def _predict_rows(self, X: Features) -> Probabilities:
        return self._predict_scaled(self._scaled(X))

    def _predict_scaled(self, X: Any) -> Probabilities:
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores]) / 2
        return np.asarray(softmax(scores, axis=1))

    def _one_against_rest(self, X: Any, codes: npt.NDArray[np.int32], positive: int) -> Vector:
        """Return the hyperplane of one class, the intercept last."""
        hidden = codes < 0
        sign = np.where(codes == positive, 1.0, -1.0)
        cost = np.full(int((~hidden).sum()), self.C)
        plane = self._plane(X[~hidden], sign[~hidden], cost)
        if not hidden.any():
            self.objective_.append(self._objective(X, sign, cost, plane))
            return plane
        n_hidden = int(hidden.sum())
        n_positive = int(np.clip(round((sign[~hidden] > 0).mean() * n_hidden), min(1, n_hidden - 1), n_hidden - 1))
        goal = self.unlabelled_C
        down = ANNEAL_FROM * goal
        up = down * max(n_positive, 1) / max(n_hidden - n_positive, 1)
        while True:
            plane, value = self._settle(X, sign, hidden, n_positive, (up, down), plane)
            if min(up, down) >= goal:
                self.objective_.append(value)
                return plane
            up, down = min(2 * up, goal), min(2 * down, goal)

    def _settle(
        self,
        X: Any,
        sign: Vector,
        hidden: npt.NDArray[np.bool_],
        n_positive: int,
        weights: tuple[float, float],
        plane: Vector,
    ) -> tuple[Vector, float]:
        """Alternate labels and hyperplane at one weight until no label changes."""
        best = np.inf
        for _ in range(MOST_ROUNDS):
            labels = _highest(_scores(X[hidden], plane), n_positive)
            if best < np.inf and np.array_equal(sign[hidden], labels):
                break
            sign[hidden] = labels
            cost = np.where(hidden, np.where(sign > 0, *weights), self.C)
            found = self._plane(X, sign, cost)
            value = self._objective(X, sign, cost, found)
            if value >= best:  # what is left is within the solver's tolerance
                break
            best, plane = value, found
        return plane, best

    def _plane(self, X: Any, sign: Vector, cost: Vector) -> Vector:
        solver = LinearSVC(C=1.0, loss=self.loss, tol=self.tol, max_iter=self.max_iter, random_state=self.random_state)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            solver.fit(X, sign, sample_weight=cost)
        self._unfinished += any(issubclass(one.category, ConvergenceWarning) for one in caught)
        return np.append(solver.coef_[0], solver.intercept_[0])

    def _objective(self, X: Any, sign: Vector, cost: Vector, plane: Vector) -> float:
        slack = np.maximum(0.0, 1.0 - sign * _scores(X, plane))
        loss = slack if self.loss == "hinge" else slack**2
        return float(plane @ plane / 2 + cost @ loss)  # liblinear's intercept is a weight like others

    def _scaled(self, X: Features) -> Any:
        if self.row_normalize is not None:
            X = normalize(X, norm=self.row_normalize)
        if sparse.issparse(X):
            return sparse.csr_matrix(X, dtype=np.float64)
        return np.ascontiguousarray(X, dtype=np.float64)

    def _check_parameters(self) -> None:
        if not self.C > 0:
            raise ParameterError(f"C={self.C!r}; it must be positive")
        if not self.unlabelled_C >= 0:
            raise ParameterError(f"unlabelled_C={self.unlabelled_C!r}; it must not be negative")
        for name, allowed in (
            ("loss", ("hinge", "squared_hinge")),
            ("row_normalize", ("l1", "l2", None)),
        ):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it is one of {', '.join(map(repr, allowed))}")


def _highest(scores: Vector, count: int) -> Vector:
    """Label the ``count`` highest scores 1, the others -1; of equal ones the first."""
    labels = np.full(len(scores), -1.0)
    labels[np.argsort(-scores, kind="stable")[:count]] = 1.0
    return labels


def _scores(X: Any, plane: Vector) -> Vector:
    return np.asarray(X @ plane[:-1] + plane[-1])
