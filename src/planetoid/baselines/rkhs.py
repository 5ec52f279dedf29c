"""Laplacian RLS and Laplacian SVM (Belkin, Niyogi and Sindhwani, 2006) in the primal.

With a feature map Phi, one row a node, both look for the weights w of
``f = Phi w`` that minimise::

    mean loss over labelled nodes + ambient |w|^2 + intrinsic f^T L f / (sum of edge weights)

For the linear kernel Phi is X itself; for the RBF kernel it is the Nystroem map
to some landmarks, which is exact where every node is one. So the largest matrix
has a side of features or landmarks, never of nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from planetoid.baselines.propagation import strengths
from planetoid.errors import ParameterError
from planetoid.io.model_files import Tensors

__all__ = ["DENSE_LIMIT", "LandmarkMap", "Penalty", "fit_rls", "fit_svm"]

DENSE_LIMIT = 4_096  # columns of Phi up to which a factorisation is made
ENTRY_LIMIT = 250_000_000  # of an RBF map: two gigabytes

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """The quadratic form ``w^T (ambient I + intrinsic Phi^T L Phi / total) w`` and solutions with it."""

    features: Any
    laplacian: sparse.csr_array
    ambient: float
    intrinsic: float

    @classmethod
    def of(cls, features: Any, adjacency: sparse.csr_array, ambient: float, intrinsic: float) -> Penalty:
        degrees = strengths(adjacency)
        total = max(degrees.sum() / 2, np.finfo(float).tiny)
        laplacian = sparse.csr_array(sparse.diags_array(degrees / total) - adjacency.astype(np.float64) / total)
        return cls(features, laplacian, ambient, intrinsic)

    def apply(self, w: Matrix) -> Matrix:
        smooth = self.features.T @ (self.laplacian @ (self.features @ w))
        return np.asarray(self.ambient * w + self.intrinsic * smooth)

    def solve(self, right: Matrix, *, labelled: Any = None) -> Matrix:
        """Solve ``(penalty + labelled^T labelled / l) w = right``; the second term only where given."""
        n = self.features.shape[1]
        if n <= DENSE_LIMIT:
            matrix = self.intrinsic * _dense(self.features.T @ (self.laplacian @ self.features))
            matrix[np.diag_indices(n)] += self.ambient
            if labelled is not None:
                matrix += _dense(labelled.T @ labelled) / labelled.shape[0]
            return np.asarray(linalg.solve(matrix, right, assume_a="pos"))

        def apply(w: Matrix) -> Matrix:
            applied = self.apply(w)
            return applied if labelled is None else applied + labelled.T @ (labelled @ w) / labelled.shape[0]

        return _conjugate_gradients(apply, right, self._diagonal(labelled))

    def _diagonal(self, labelled: Any) -> Matrix:
        """About the diagonal of the matrix, to precondition with."""
        diagonal = self.ambient + self.intrinsic * (_squared(self.features).T @ self.laplacian.diagonal())
        if labelled is not None:
            diagonal = diagonal + np.asarray(_squared(labelled).sum(axis=0)).ravel() / labelled.shape[0]
        return np.asarray(diagonal)


def fit_rls(penalty: Penalty, rows: npt.NDArray[np.int64], targets: Matrix) -> tuple[Matrix, Matrix]:
    """Laplacian regularised least squares: the weights of each column of ``targets``, and no intercept."""
    labelled = penalty.features[rows]
    w = penalty.solve(np.asarray(labelled.T @ targets) / len(rows), labelled=labelled)
    return w, np.zeros(targets.shape[1])


def fit_svm(penalty: Penalty, rows: npt.NDArray[np.int64], targets: Matrix) -> tuple[Matrix, Matrix]:
    """Laplacian SVM: an ordinary SVM on the labelled nodes with the kernel that the penalty deforms."""
    from sklearn.svm import SVC

    labelled = penalty.features[rows]
    lifted = penalty.solve(_dense(labelled.T))
    kernel = np.asarray(labelled @ lifted)
    weights, intercepts = [], []
    for sign in targets.T:
        svm = SVC(C=1 / (2 * len(rows)), kernel="precomputed", tol=1e-6, cache_size=100).fit(kernel, sign)
        weights.append(lifted[:, svm.support_] @ svm.dual_coef_[0])
        intercepts.append(svm.intercept_[0])
    return np.column_stack(weights), np.array(intercepts)


class LandmarkMap:
    """The map whose inner products are the RBF kernel, exactly so at its landmarks."""

    landmarks: Any
    whiten: Matrix

    def __init__(self, X: Any, gamma: float, n_landmarks: int, random_state: int) -> None:
        from sklearn.metrics.pairwise import rbf_kernel

        if X.shape[0] * min(n_landmarks, X.shape[0]) > ENTRY_LIMIT:
            raise ParameterError(
                f"n_landmarks={n_landmarks} on {X.shape[0]:,} nodes makes an RBF map of more than {ENTRY_LIMIT:,} "
                "entries; take fewer landmarks, or kernel='linear', which needs none"
            )
        generator = np.random.default_rng(random_state)
        count = min(n_landmarks, X.shape[0])
        rows = np.arange(count) if count == X.shape[0] else np.sort(generator.permutation(X.shape[0])[:count])
        self.gamma, self.landmarks = gamma, X[rows]
        values, vectors = linalg.eigh(rbf_kernel(self.landmarks, gamma=gamma))
        keep = values > values[-1] * count * np.finfo(float).eps
        self.whiten = vectors[:, keep] / np.sqrt(values[keep])

    def tensors(self) -> Tensors:
        """Return the map as arrays; sparse landmarks as the parts of a CSR matrix."""
        kept = {"whiten": self.whiten}
        if not sparse.issparse(self.landmarks):
            return kept | {"landmarks": np.asarray(self.landmarks)}
        parts = {f"landmarks.{name}": getattr(self.landmarks, name) for name in ("data", "indices", "indptr")}
        return kept | parts | {"landmarks.shape": np.array(self.landmarks.shape)}

    @classmethod
    def of(cls, tensors: Tensors, gamma: float) -> LandmarkMap:
        """Return the map that :meth:`tensors` came from."""
        found = cls.__new__(cls)
        found.gamma, found.whiten = gamma, tensors["whiten"]
        if "landmarks" in tensors:
            found.landmarks = tensors["landmarks"]
        else:
            parts = tuple(tensors[f"landmarks.{name}"] for name in ("data", "indices", "indptr"))
            found.landmarks = sparse.csr_array(parts, shape=tuple(tensors["landmarks.shape"].tolist()))
        return found

    def __call__(self, X: Any) -> Matrix:
        from sklearn.metrics.pairwise import rbf_kernel

        return np.asarray(rbf_kernel(X, self.landmarks, gamma=self.gamma) @ self.whiten)


def _conjugate_gradients(apply: Callable[[Matrix], Matrix], right: Matrix, diagonal: Matrix) -> Matrix:
    """All columns at once, for matrices that are known by their products alone."""
    inverse = 1 / diagonal[:, None]
    w, residual = np.zeros_like(right), right.copy()
    direction = inverse * residual
    slope = (residual * direction).sum(axis=0)
    goal = 1e-16 * (right**2).sum(axis=0)
    for _ in range(2_000):
        if ((residual**2).sum(axis=0) <= goal).all():
            break
        weighed = apply(direction)
        curve = (direction * weighed).sum(axis=0)
        length = np.divide(slope, curve, out=np.zeros_like(slope), where=curve > 0)
        w += length * direction
        residual -= length * weighed
        before, slope = slope, (inverse * residual**2).sum(axis=0)
        turn = np.divide(slope, before, out=np.zeros_like(slope), where=before > 0)
        direction = inverse * residual + turn * direction
    return w


def _dense(matrix: Any) -> Matrix:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix, dtype=np.float64)


def _squared(matrix: Any) -> Any:
    return matrix.multiply(matrix).tocsr() if sparse.issparse(matrix) else matrix**2
