"""A linear SVM that is fitted to the same rows again and again, each time from its last solution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.baselines.kernels import descend_dual
from planetoid.data.scaling import Rows

__all__ = ["DualSVM"]

Vector = npt.NDArray[np.float64]


class DualSVM:
    """Minimises ``|w|^2 / 2 + sum_i cost_i loss(sign_i w . x_i)`` by coordinate descent on its dual, as liblinear does.

    The intercept is the weight of a column of ones, and is penalised too. Where signs and costs change a little from
    fit to fit, most of the last solution still holds: a row keeps the share of its cost that its dual variable had.

    Parameters
    ----------
    X : float64 array or csr_array
    loss : {"hinge", "squared_hinge"}
    tol : float
        Largest difference between two projected gradients at the end.
    max_iter : int
        Maximum number of passes over the rows.
    seed : int
        Of the order in which rows are visited.

    Attributes
    ----------
    converged : bool
        Whether the last fit did.
    """

    def __init__(self, X: Rows, loss: str, tol: float, max_iter: int, seed: int) -> None:
        self.rows = sparse.csr_array(X)
        self.squared = loss == "squared_hinge"
        self.tol, self.max_iter, self.seed = tol, max_iter, np.uint64(seed % 2**64)
        self.converged = True
        self._lengths = np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel() + 1.0
        self._share = np.zeros(self.rows.shape[0])

    def fit(self, sign: Vector, cost: Vector) -> Vector:
        """Return the hyperplane of these signs and costs, the intercept last; rows of cost 0 do not count."""
        dual = self._share * cost
        counts = cost > 0
        diagonal = np.divide(0.5, cost, out=np.zeros_like(cost), where=counts & self.squared)
        upper = np.where(counts & self.squared, np.inf, cost)
        plane = np.append(self.rows.T @ (dual * sign), dual @ sign)
        passes = descend_dual(
            self.rows.indptr, self.rows.indices, self.rows.data, sign, upper, diagonal, self._lengths + diagonal,
            self.seed, float(self.tol), int(self.max_iter), dual, plane, np.flatnonzero(counts),
        )  # fmt: skip
        self.converged = passes <= self.max_iter
        np.divide(dual, cost, out=self._share, where=counts)
        return np.asarray(plane)
