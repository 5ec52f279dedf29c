"""Laplacian RLS and Laplacian SVM (Belkin, Niyogi and Sindhwani, 2006) in the primal.

With a feature map Phi, one row per node, both find the weights w of
``f = Phi w`` that minimise::

    mean loss over labelled nodes + ambient |w|^2 + intrinsic f^T L f / (sum of edge weights)

For the linear kernel Phi is X itself; for the RBF kernel it is the Nystroem map
to a sample of landmarks, exact if every node is one. So the largest matrix is
features x features or landmarks x landmarks, never nodes x nodes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from planetoid.data.scaling import Rows
from planetoid.errors import ParameterError
from planetoid.graph.adjacency import strengths
from planetoid.io.model_files import Tensors
from planetoid.utils.sparse_format import check_sparse_format

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["DENSE_LIMIT", "LandmarkMap", "Penalty", "fit_rls", "fit_svm", "is_factorised"]

DENSE_LIMIT = 4_096  # columns of Phi up to which the system is always solved by a dense factorisation
ENTRY_LIMIT = 250_000_000  # of an RBF map: 2 GB

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """The quadratic form ``w^T (ambient I + intrinsic Phi^T L Phi / total) w`` and solutions with it."""

    features: Rows
    laplacian: sparse.csr_array
    ambient: float
    intrinsic: float

    @classmethod
    def of(cls, features: Rows, adjacency: sparse.csr_array, ambient: float, intrinsic: float) -> Penalty:
        degrees = strengths(adjacency)
        total = max(degrees.sum() / 2, np.finfo(float).tiny)
        laplacian = sparse.csr_array(sparse.diags_array(degrees / total) - adjacency.astype(np.float64) / total)
        return cls(features, laplacian, ambient, intrinsic)

    def apply(self, w: Matrix) -> Matrix:
        smooth = self.features.T @ (self.laplacian @ (self.features @ w))
        return np.asarray(self.ambient * w + self.intrinsic * smooth)

    def solve(self, right: Matrix, *, labelled: Rows | None = None) -> Matrix:
        """Solve ``(penalty + labelled^T labelled / l) w = right``; without ``labelled``, ``penalty w = right``."""
        n_nodes, n = self.features.shape
        if is_factorised(n_nodes, n, right.shape[1]):
            matrix = self.intrinsic * _dense(self.features.T @ (self.laplacian @ self.features))
            matrix[np.diag_indices(n)] += self.ambient
            if labelled is not None:
                matrix += _dense(labelled.T @ labelled) / labelled.shape[0]
            return np.asarray(linalg.solve(matrix, right, assume_a="pos"))

        def apply(w: Matrix) -> Matrix:
            applied = self.apply(w)
            return applied if labelled is None else applied + labelled.T @ (labelled @ w) / labelled.shape[0]

        return _conjugate_gradients(apply, right, self._diagonal(labelled))

    def _diagonal(self, labelled: Rows | None) -> Matrix:
        """Return the approximate diagonal of the matrix, for preconditioning."""
        diagonal = self.ambient + self.intrinsic * (_squared(self.features).T @ self.laplacian.diagonal())
        if labelled is not None:
            diagonal = diagonal + np.asarray(_squared(labelled).sum(axis=0)).ravel() / labelled.shape[0]
        return np.asarray(diagonal)


def fit_rls(penalty: Penalty, rows: npt.NDArray[np.int64], targets: Matrix) -> tuple[Matrix, Matrix]:
    """Laplacian regularised least squares: weights per column of ``targets``; the intercepts are zero."""
    labelled = penalty.features[rows]
    w = penalty.solve(np.asarray(labelled.T @ targets) / len(rows), labelled=labelled)
    return w, np.zeros(targets.shape[1])


def fit_svm(penalty: Penalty, rows: npt.NDArray[np.int64], targets: Matrix) -> tuple[Matrix, Matrix]:
    """Laplacian SVM: an SVM on the labelled nodes with the kernel deformed by the penalty."""
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


def is_factorised(n_nodes: int, n_columns: int, n_right: int) -> bool:
    """Whether a system is solved by a dense factorisation; by conjugate gradients otherwise.

    Conjugate gradients multiply all right sides with Phi, which takes n_nodes x n_right numbers. Where the matrix has
    fewer, nothing speaks for them.
    """
    return n_columns <= DENSE_LIMIT or n_columns**2 <= n_nodes * n_right


class LandmarkMap:
    """The map whose inner products are the RBF kernel, exactly so at its landmarks."""

    landmarks: Rows
    whiten: Matrix

    def __init__(self, X: Rows, gamma: float, n_landmarks: int, random_state: int) -> None:
        from sklearn.metrics.pairwise import rbf_kernel

        if X.shape[0] * min(n_landmarks, X.shape[0]) > ENTRY_LIMIT:
            raise ParameterError(
                f"n_landmarks={n_landmarks} on {X.shape[0]:,} nodes makes an RBF map of more than {ENTRY_LIMIT:,} "
                "entries; use fewer landmarks, or kernel='linear', which needs none",
                parameter="n_landmarks",
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
        dense = {"whiten": self.whiten}
        if isinstance(self.landmarks, np.ndarray):
            return dense | {"landmarks": self.landmarks}
        parts = {f"landmarks.{name}": getattr(self.landmarks, name) for name in ("data", "indices", "indptr")}
        return dense | parts | {"landmarks.shape": np.array(self.landmarks.shape)}

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
            check_sparse_format(found.landmarks)
        return found

    def write(self, operators: Operators, rows: Value) -> Value:
        """Describe the map for an export."""
        distances = operators.squared_distances(rows, _dense(self.landmarks))
        return operators.linear(operators.exponential(operators.scaled(distances, -self.gamma)), self.whiten)

    def __call__(self, X: Rows) -> Matrix:
        from sklearn.metrics.pairwise import rbf_kernel

        return np.asarray(rbf_kernel(X, self.landmarks, gamma=self.gamma) @ self.whiten)


def _conjugate_gradients(apply: Callable[[Matrix], Matrix], right: Matrix, diagonal: Matrix) -> Matrix:
    """Conjugate gradients for a matrix given by its products, all columns at once."""
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


def _dense(matrix: Rows) -> Matrix:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray(), dtype=np.float64)


def _squared(matrix: Rows) -> Rows:
    return matrix**2 if isinstance(matrix, np.ndarray) else matrix.multiply(matrix).tocsr()
