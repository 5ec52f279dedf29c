"""Softmax regression on propagated features: SGC (Wu et al., 2019) and SSGC (Zhu and Koniusz, 2021).

With A_hat = D^-1/2 (A + I) D^-1/2 the features of all nodes become ``X' = S X``, where S is A_hat^K (SGC) or
``(1 - alpha) / K * sum_{k=1..K} A_hat^k + alpha I`` (SSGC). X' has a dense row per node and is never formed: the
regression needs its labelled rows only, and the scores of all nodes, ``S X W = S (X W)``, are a propagation of n x
classes numbers. Propagation is in float32, which is two to three times as fast and changes scores by about 1e-6.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.special import softmax

from planetoid.baselines.reference import with_labels_beside
from planetoid.calibration import Sample, with_usual_values
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows, scale_rows
from planetoid.data.types import Probabilities
from planetoid.engine.filters import Filter, one_thread_if_loaded
from planetoid.estimator.classifier import GraphClassifier
from planetoid.explanation.contributions import (
    LOG_ODDS,
    Answer,
    Contributions,
    Question,
    by_weight,
    two_class_weights,
)
from planetoid.explanation.memory import remember
from planetoid.graph.adjacency import normalized_adjacency, symmetric_adjacency
from planetoid.parameters import ROW_NORMALIZE, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.softmax_reasons import by_optimality
from planetoid.training.softmax_regression import (
    SoftmaxRegression,
    fit_softmax,
    fit_softmax_coarsely,
    labels_to_leave_out,
    left_out_sample,
    products,
    with_first_class,
)

__all__ = ["PropagatedFeatures"]

TOLERANCE, COARSE = 1e-6, 1e-3  # of the solver; of a reference, and then a coarse one will do
MOST_COARSE = 200  # labels up to which that is faster
NEARLY_ZERO = 1e-10  # squared distance of rows that are the same, relative to the mean square of rows
AUTO_C = 0.3  # times labels per class; this, K and alpha: chosen on random splits of the citation networks


class PropagatedFeatures(GraphClassifier):
    """Features averaged over the neighbourhood of each node, then softmax regression (SGC, SSGC).

    SGC replaces the features X by A_hat^K X, SSGC by the mean over k = 1..K of
    ``(1 - alpha) A_hat^k X + alpha X``, where A_hat = D^-1/2 (A + I) D^-1/2. Nothing
    is random, and no dense nodes x features matrix is formed. In a weighted graph
    the self-loops I have the mean edge weight, so that the unit of the weights does
    not matter. A directed edge counts in both directions (A + A^T). An isolated
    node keeps its own features.

    Parameters
    ----------
    variant : {"ssgc", "sgc"}, default "ssgc"
        Mean of all steps, or the last one only.
    K : int, default 16
        Number of propagation steps. SGC smooths more per step; its paper has
        K = 2.
    alpha : float, default 0.1
        Share of a node's own features, in [0, 1); not used by SGC.
    C : float or "auto", default "auto"
        Inverse of the regularisation strength, for propagated rows scaled to a
        mean squared norm of 1. ``"auto"`` is 0.3 times the number of labels per
        class: with very few labels a strong penalty, close to a nearest-centroid
        classifier, is more accurate.
    row_normalize : {"l1", "l2", None}, default "l2"
        Norm to which each feature row is scaled before the propagation.
    max_iter : int, default 1000
        Maximum number of L-BFGS iterations; a warning is issued if they did not
        converge.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.

    Attributes
    ----------
    coef_ : array of shape (n_classes, n_features), or (1, n_features) for two classes
        Weights of the (propagated) features.
    intercept_ : array
    n_iter_ : int
        Number of L-BFGS iterations.

    References
    ----------
    F. Wu, T. Zhang, A. H. de Souza Jr., C. Fifty, T. Yu, K. Q. Weinberger,
    "Simplifying graph convolutional networks", ICML 2019.

    H. Zhu, P. Koniusz, "Simple spectral graph convolution", ICLR 2021.

    Examples
    --------
    The last node has no features, but three neighbours:

    >>> import planetoid as pl
    >>> X = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 0]]
    >>> graph = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (6, 3), (6, 4), (6, 5)]
    >>> model = pl.PropagatedFeatures().fit(X, {0: "a", 3: "b"}, graph=graph)
    >>> model.predict(nodes=[2, 5, 6]).tolist()
    ['a', 'b', 'b']
    """

    uses_features = "required"
    _tolerance = TOLERANCE
    constraints: ClassVar[Constraints] = {
        "variant": ("ssgc", "sgc"),
        "K": Integer(1),
        "alpha": Real(0, 1, closed="left"),
        "C": (Real(0, closed="neither"), "auto"),
        "row_normalize": ROW_NORMALIZE,
        "max_iter": Integer(1),
        "calibrate": bool,
    }
    search_space: ClassVar[SearchSpace] = {
        "variant": Categorical(("ssgc", "sgc")),
        "K": Categorical((2, 4, 8, 16, 32)),
        "alpha": Categorical((0.0, 0.05, 0.1, 0.2, 0.5)),
        "C": Float(0.01, 100.0),
        "row_normalize": Categorical(("l2", "l1", None)),
    }

    def __init__(
        self,
        *,
        variant: str = "ssgc",
        K: int = 16,
        alpha: float = 0.1,
        C: float | str = "auto",
        row_normalize: str | None = "l2",
        max_iter: int = 1000,
        calibrate: bool = True,
    ) -> None:
        self.variant = variant
        self.K = K
        self.alpha = alpha
        self.C = C
        self.row_normalize = row_normalize
        self.max_iter = max_iter
        self.calibrate = calibrate

    def _fit(self, data: Dataset) -> Probabilities:
        X, filter_, rows = self._propagated(data)
        some = np.searchsorted(data.labelled, labels_to_leave_out(data))
        gram = products(rows) if len(rows) < rows.shape[1] else None
        own_scores = self._fit_softmax(rows, data.y[data.labelled], gram)
        of_some = products(rows[some]) if gram is None else gram[np.ix_(some, some)]
        self._left_out = of_some, own_scores[some]
        scores = filter_(np.asarray(X @ self.coef_.T.astype(np.float32))) + self.intercept_
        return np.asarray(softmax(with_first_class(scores), axis=1))

    def _propagated(self, data: Dataset) -> tuple[Rows, Filter, npt.NDArray[Any]]:
        """Return scaled features, the filter, and the propagated rows of the labelled nodes (single, if coarse)."""
        assert data.X is not None
        X = scale_rows(data.X, self.row_normalize)
        adjacency = normalized_adjacency(symmetric_adjacency(data.graph))
        filter_ = Filter(adjacency, self.variant, self.K, self.alpha, one_thread_if_loaded())
        return X, filter_, filter_.rows(X, data.labelled, np.float32 if self._is_coarse else np.float64)

    def _explain(self, question: Question) -> Answer:
        if question.row is None:
            return super()._explain(question)
        data = question.known_data()
        key = ("propagated", self.variant, self.K, self.alpha, self.row_normalize)
        X, filter_, rows = remember(data, key, lambda: self._propagated(data))
        share = np.zeros((data.n_nodes, 1), dtype=np.float32)
        share[question.row] = 1.0
        share = filter_(share)  # S is symmetric: a column of it is a row
        weights = two_class_weights(self.coef_, 0, 1).T @ question.contrast
        base = float(two_class_weights(self.intercept_[:, None], 0, 1)[:, 0] @ question.contrast)
        x = np.asarray(X.T @ share, dtype=np.float64).T
        features = by_weight(x, weights, base, "propagated value of the feature times its weight")
        around = np.flatnonzero(share)
        neighbours = share[around, 0].astype(np.float64) * (X[around] @ weights)
        meaning = "score of the features of this node, times their share in the propagated features"
        C = self._inverse_penalty(len(data.labelled)) / _mean_square(rows)
        labels = by_optimality(question, data.labelled, rows, x, SoftmaxRegression(self.coef_, self.intercept_, C))
        parts = [labels, Contributions("neighbours", around, neighbours, meaning, base), features]
        return Answer(base + features.values.sum(), LOG_ODDS, parts)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        return with_labels_beside(self._left_out_sample(data, probabilities), data)

    def _left_out_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        gram, scores = self._left_out
        C = self._inverse_penalty(len(data.labelled)) / self._mean_square
        sample = left_out_sample(gram, scores, labels_to_leave_out(data), C, data, probabilities)
        if not isinstance(self.C, str):
            return sample
        return with_usual_values(sample, data.labels_per_class)._replace(fewest=0)  # usual values are some guide

    @property
    def _is_coarse(self) -> bool:
        return self._tolerance >= COARSE

    def _inverse_penalty(self, n_labels: int) -> float:
        return AUTO_C * n_labels / len(self.classes_) if isinstance(self.C, str) else float(self.C)

    def _fit_softmax(
        self, rows: npt.NDArray[Any], codes: npt.NDArray[np.int32], gram: npt.NDArray[np.float64] | None
    ) -> npt.NDArray[np.float64]:
        """Fit the regression; return the scores of the rows."""
        self._mean_square = _mean_square(rows)
        C, n_classes = self._inverse_penalty(len(codes)), len(self.classes_)
        if gram is not None:
            # The weights are in the span of the rows: in an orthonormal basis of it the problem is
            # the same, and small. Products of the rows are enough to have their coordinates.
            products_of_unit = gram / self._mean_square
            if self._is_coarse and len(rows) <= MOST_COARSE:
                coarse = fit_softmax_coarsely(products_of_unit, codes, n_classes, C, tol=self._tolerance)
                shares, self.intercept_, self.n_iter_ = coarse
            else:
                rounding = len(rows) * float(np.finfo(rows.dtype).eps)  # of eigenvalues, of rows in that precision
                nearly_zero = max(NEARLY_ZERO, rounding)
                coordinates = np.linalg.cholesky(products_of_unit + nearly_zero * np.eye(len(rows)))
                fitted = self._regression(coordinates, codes, C)
                shares = solve_triangular(coordinates, fitted.coef.T, lower=True, trans="T")
            shares /= self._mean_square
            self.coef_, scores = shares.T.astype(rows.dtype, copy=False) @ rows, gram @ shares
        else:
            scale = np.sqrt(self._mean_square)
            self.coef_ = self._regression(rows / scale, codes, C).coef / scale
            scores = rows @ self.coef_.T
        return with_first_class(scores + self.intercept_)

    def _regression(self, X: Rows, codes: npt.NDArray[np.int32], C: float) -> SoftmaxRegression:
        fitted = fit_softmax(X, codes, len(self.classes_), C, tol=self._tolerance, max_iter=self.max_iter)
        self.intercept_, self.n_iter_ = fitted.intercept, fitted.n_iter
        return fitted


def _mean_square(rows: npt.NDArray[Any]) -> float:
    """Return the mean of the squared norms of rows; 1 if all are zero."""
    return float(np.einsum("ij,ij->", rows, rows)) / len(rows) or 1.0
