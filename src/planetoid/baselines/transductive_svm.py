"""Transductive support vector machine (Joachims, 1999), linear, one class against the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import log_expit, softmax

from planetoid.baselines.dual_svm import DualSVM
from planetoid.baselines.reference import reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset, Features
from planetoid.data.scaling import Rows, scale_rows
from planetoid.data.types import Probabilities
from planetoid.errors import PlanetoidWarning, warn
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.explanation.contributions import Answer, Question, linear_answer
from planetoid.parameters import RANDOM_STATE, ROW_NORMALIZE, Constraints, Integer, Real
from planetoid.search_space import Float, SearchSpace
from planetoid.training.softmax_regression import with_usual_size

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["TransductiveSVM"]

Vector = npt.NDArray[np.float64]
ANNEAL_FROM = 1e-4  # initial weight of the unlabelled loss, relative to its final one; it doubles
MAX_ROUNDS = 100  # of labelling and fitting at one weight


class Weights(NamedTuple):
    """Weights of an unlabelled row's loss, by the sign that it has at the moment."""

    positive: float
    negative: float


class TransductiveSVM(InductiveClassifier):
    """A linear SVM that also maximises the margin to the unlabelled rows.

    For each class against the rest it searches labels of the unlabelled rows
    and a hyperplane that together minimise ``|w|^2 / 2`` plus the hinge losses
    of labelled rows, weighted by ``C``, and of unlabelled ones, weighted by
    ``unlabelled_C``. The share of positives among the unlabelled rows is fixed
    to that among the labels, and the weight of their loss is annealed from
    almost zero to its final value. At each weight, fitting alternates with
    switching labels.

    Joachims switches one pair of opposite labels at a time, wherever that lowers
    the objective. With the hyperplane fixed this holds for exactly those pairs
    whose scores are in the wrong order, so all such switches together give the
    highest scores the positive label; they are made at once here. Neither a fit
    nor a switch ever raises the objective, so the alternation terminates, and
    then no switch of a pair lowers it.

    Parameters
    ----------
    C : float, default 1.0
        Weight of a labelled row's loss.
    unlabelled_C : float, default 0.1
        Weight of an unlabelled row's loss; 0 gives the plain SVM.
    loss : {"hinge", "squared_hinge"}, default "hinge"
    row_normalize : {"l1", "l2", None}, default "l2"
        Norm to which each feature row is scaled.
    tol : float, default 1e-2
        Tolerance of the solver: the largest difference between two projected gradients of the dual.
    max_iter : int, default 2000
        Maximum number of passes of the solver over the rows.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None, default 0
        Seed of the order in which the solver visits rows.

    Attributes
    ----------
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
    intercept_ : array
    objective_ : list of float
        Final objective of each class against the rest.

    Notes
    -----
    Before calibration, the probability of a class is the logistic function of
    the distance to its hyperplane, and those of a row are scaled to sum to one,
    as usual for classes against the rest: rows are pushed out of the margin, so
    that how far they are on the positive side says little. Rows of zeros are
    left out of the fit.

    References
    ----------
    T. Joachims, "Transductive inference for text classification using support
    vector machines", ICML 1999.

    Examples
    --------
    Two labels, and two clusters that the labels alone would separate wrongly:

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
    constraints: ClassVar[Constraints] = {
        "C": Real(0, closed="neither"),
        "unlabelled_C": Real(0),
        "loss": ("hinge", "squared_hinge"),
        "row_normalize": ROW_NORMALIZE,
        "tol": Real(0, closed="neither"),
        "max_iter": Integer(1),
        "calibrate": bool,
        "random_state": RANDOM_STATE,
    }
    search_space: ClassVar[SearchSpace] = {"C": Float(0.1, 100.0), "unlabelled_C": Float(0.01, 10.0)}

    def __init__(
        self,
        *,
        C: float = 1.0,
        unlabelled_C: float = 0.1,
        loss: str = "hinge",
        row_normalize: str | None = "l2",
        tol: float = 1e-2,
        max_iter: int = 2000,
        calibrate: bool = True,
        random_state: int | None = 0,
    ) -> None:
        self.C = C
        self.unlabelled_C = unlabelled_C
        self.loss = loss
        self.row_normalize = row_normalize
        self.tol = tol
        self.max_iter = max_iter
        self.calibrate = calibrate
        self.random_state = random_state

    def _fit(self, data: Dataset) -> Probabilities:
        assert data.X is not None
        X = self._scaled(data.X)
        known = data.y >= 0
        use = known | data.has_features if self.unlabelled_C > 0 else known
        rows, codes = X[use], data.y[use]
        positives = range(data.n_classes) if data.n_classes > 2 else (1,)
        self.objective_: list[float] = []
        self._n_unconverged = 0
        planes = [self._one_against_rest(rows, codes, k) for k in positives]
        if self._n_unconverged:
            warn(
                PlanetoidWarning(
                    f"TransductiveSVM: the solver did not converge in {self._n_unconverged} of its fits; "
                    f"raise max_iter={self.max_iter} or tol={self.tol:g}, or lower C"
                )
            )
        self.coef_ = np.stack([plane[:-1] for plane in planes])
        self.intercept_ = np.array([plane[-1] for plane in planes])
        return self._predict_scaled(X)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        return with_usual_size(reference_sample(data, probabilities), data, probabilities)

    def _explain(self, question: Question) -> Answer:
        return linear_answer(question, self._scaled(question.known_row()), self.coef_, self.intercept_, -0.5, 0.5)

    def _predict_rows(self, X: Features) -> Probabilities:
        return self._predict_scaled(self._scaled(X))

    def _predict_scaled(self, X: Rows) -> Probabilities:
        scores = np.asarray(X @ self.coef_.T + self.intercept_)
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
        return np.asarray(softmax(log_expit(scores), axis=1))

    def _write_scores(self, operators: Operators) -> Value:
        scores = operators.linear(operators.rows(self.row_normalize), self.coef_.T, self.intercept_)
        if len(self.classes_) == 2:
            scores = operators.both_signs(scores)
        return operators.log_sigmoid(scores)

    def _one_against_rest(self, X: Rows, codes: npt.NDArray[np.int32], positive: int) -> Vector:
        """Return the hyperplane of one class, the intercept last."""
        hidden = codes < 0
        sign = np.where(codes == positive, 1.0, -1.0)
        cost = np.where(hidden, 0.0, self.C)
        svm = DualSVM(X, self.loss, self.tol, self.max_iter, self._seed)
        plane = self._plane(svm, sign, cost)
        if not hidden.any():
            self.objective_.append(self._objective(X, sign, cost, plane))
            return plane
        n_hidden = int(hidden.sum())
        n_positive = int(np.clip(round((sign[~hidden] > 0).mean() * n_hidden), min(1, n_hidden - 1), n_hidden - 1))
        final = self.unlabelled_C
        negative = ANNEAL_FROM * final
        weights = Weights(negative * max(n_positive, 1) / max(n_hidden - n_positive, 1), negative)
        while True:
            plane, value = self._alternate(svm, X, sign, hidden, n_positive, weights, plane)
            if min(weights) >= final:
                self.objective_.append(value)
                return plane
            weights = Weights(min(2 * weights.positive, final), min(2 * weights.negative, final))

    def _alternate(
        self,
        svm: DualSVM,
        X: Rows,
        sign: Vector,
        hidden: npt.NDArray[np.bool_],
        n_positive: int,
        weights: Weights,
        plane: Vector,
    ) -> tuple[Vector, float]:
        """Alternate labels and hyperplane at one weight until no label changes."""
        best = np.inf
        for _ in range(MAX_ROUNDS):
            labels = _highest(_scores(X, plane)[hidden], n_positive)
            if best < np.inf and np.array_equal(sign[hidden], labels):
                break
            sign[hidden] = labels
            cost = np.where(hidden, np.where(sign > 0, weights.positive, weights.negative), self.C)
            found = self._plane(svm, sign, cost)
            value = self._objective(X, sign, cost, found)
            if value >= best:  # any further gain is within the solver's tolerance
                break
            best, plane = value, found
        return plane, best

    def _plane(self, svm: DualSVM, sign: Vector, cost: Vector) -> Vector:
        plane = svm.fit(sign, cost)
        self._n_unconverged += not svm.converged
        return plane

    def _objective(self, X: Rows, sign: Vector, cost: Vector, plane: Vector) -> float:
        slack = np.maximum(0.0, 1.0 - sign * _scores(X, plane))
        loss = slack if self.loss == "hinge" else slack**2
        return float(plane @ plane / 2 + cost @ loss)  # the intercept is penalised too

    def _scaled(self, X: Features) -> Rows:
        return scale_rows(X, self.row_normalize, np.float64)


def _highest(scores: Vector, count: int) -> Vector:
    """Label the ``count`` highest scores 1, the others -1; ties go to the first."""
    labels = np.full(len(scores), -1.0)
    labels[np.argsort(-scores, kind="stable")[:count]] = 1.0
    return labels


def _scores(X: Rows, plane: Vector) -> Vector:
    return np.asarray(X @ plane[:-1] + plane[-1])
