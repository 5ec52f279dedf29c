"""Manifold regularization (Belkin, Niyogi and Sindhwani, 2006)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.preprocessing import normalize

from planetoid.baselines.propagation import symmetric_adjacency
from planetoid.baselines.rkhs import LandmarkMap, Penalty, fit_rls, fit_svm
from planetoid.errors import ParameterError
from planetoid.estimator import InductiveClassifier, Probabilities
from planetoid.io.model_files import Tensors
from planetoid.problem import Features, Problem

__all__ = ["ManifoldRegularization"]


class ManifoldRegularization(InductiveClassifier):
    """A classifier on features whose scores are to differ little along the edges.

    Besides the loss on labelled nodes and the norm of the function it pays
    ``intrinsic`` times the mean, over the edges by their weight, of
    ``(f(x_i) - f(x_j))^2``. The graph is needed to fit, not to predict. A
    directed edge counts at both of its ends.

    Parameters
    ----------
    kind : {"rls", "svm"}, default "rls"
        Laplacian regularised least squares, or the Laplacian SVM (hinge loss);
        one class against the rest.
    kernel : {"linear", "rbf"}, default "linear"
        The function space. No n x n kernel is ever formed: "linear" works on
        sparse features as they are, "rbf" on ``n_landmarks`` of the nodes (the
        Nystroem method; exact where there are as many landmarks as nodes).
    ambient : float, default 0.01
        Weight of the norm of f.
    intrinsic : float, default 10.0
        Weight of the differences along edges; 0 leaves the graph out.
    gamma : float, default 1.0
        Of the RBF kernel ``exp(-gamma |x - z|^2)``.
    n_landmarks : int, default 1000
        For the RBF kernel.
    row_normalize : {"l1", "l2", None}, default "l2"
        Scale each feature row before fitting and predicting.
    random_state : int, default 0
        Choice of landmarks.

    Attributes
    ----------
    coef_ : array of shape (n_features or at most n_landmarks, n_classes)
    intercept_ : array of shape (n_classes,)

    Notes
    -----
    Belkin et al. divide ``f^T L f`` by the square of the number of nodes; here it
    is divided by the sum of the edge weights, so that one value of ``intrinsic``
    suits graphs of different size. Probabilities are the softmax of the scores:
    good for ranking, not calibrated.

    References
    ----------
    M. Belkin, P. Niyogi, V. Sindhwani, "Manifold regularization: a geometric
    framework for learning from labeled and unlabeled examples", JMLR 7, 2006.

    Examples
    --------
    The last column never occurs on a labelled node; the edges tell what it means:

    >>> import planetoid as pl
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> model = pl.ManifoldRegularization().fit(X, ["a", "b", None, None], graph=[(1, 2), (1, 3)])
    >>> model.predict([[0.0, 0.0, 1.0]]).tolist()
    ['b']
    """

    def __init__(
        self,
        *,
        kind: str = "rls",
        kernel: str = "linear",
        ambient: float = 0.01,
        intrinsic: float = 10.0,
        gamma: float = 1.0,
        n_landmarks: int = 1000,
        row_normalize: str | None = "l2",
        random_state: int = 0,
    ) -> None:
        self.kind = kind
        self.kernel = kernel
        self.ambient = ambient
        self.intrinsic = intrinsic
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.row_normalize = row_normalize
        self.random_state = random_state

    def _fit(self, problem: Problem) -> Probabilities:
        self._check_parameters()
        X = self._scaled(problem.X)
        self._map = LandmarkMap(X, self.gamma, self.n_landmarks, self.random_state) if self.kernel == "rbf" else None
        features = self._mapped(X)
        adjacency = symmetric_adjacency(problem.graph)
        penalty = Penalty.of(features, adjacency, self.ambient, self.intrinsic)
        rows = problem.labelled
        targets = 2.0 * problem.one_hot()[rows] - 1.0
        if problem.n_classes == 2:
            targets = targets[:, 1:]  # the other is its opposite
        self.coef_, self.intercept_ = (fit_rls if self.kind == "rls" else fit_svm)(penalty, rows, targets)
        return self._probabilities(features)

    def _predict_rows(self, X: Features) -> Probabilities:
        return self._probabilities(self._mapped(self._scaled(X)))

    def _tensors(self) -> Tensors:
        return {} if self._map is None else self._map.tensors()

    def _take_tensors(self, tensors: Tensors) -> None:
        self._map = LandmarkMap.of(tensors, self.gamma) if self.kernel == "rbf" else None

    def _probabilities(self, features: Any) -> Probabilities:
        scores = np.asarray(features @ self.coef_ + self.intercept_)
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
        return np.asarray(softmax(scores, axis=1))

    def _mapped(self, X: Any) -> Any:
        return X if self._map is None else self._map(X)

    def _scaled(self, X: Features) -> Any:
        if self.row_normalize is not None:
            X = normalize(X, norm=self.row_normalize)
        return sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("kind", ("rls", "svm")),
            ("kernel", ("linear", "rbf")),
            ("row_normalize", ("l1", "l2", None)),
        ):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it is one of {', '.join(map(repr, allowed))}")
        for name in ("ambient", "gamma"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it must be positive")
        if not self.intrinsic >= 0:
            raise ParameterError(f"intrinsic={self.intrinsic!r}; it must not be negative")
        if self.n_landmarks < 1:
            raise ParameterError(f"n_landmarks={self.n_landmarks!r}; it must be 1 at least")
