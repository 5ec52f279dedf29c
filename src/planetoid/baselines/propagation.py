"""What the methods that spread labels over a graph have in common."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.baselines.linear_system import System, check_solver, solve
from planetoid.data.dataset import Dataset
from planetoid.errors import PlanetoidWarning
from planetoid.estimator import GraphClassifier, Probabilities
from planetoid.graph import Graph

__all__ = ["Propagation", "class_mass_normalized", "filled", "reached", "strengths", "symmetric_adjacency"]


class Propagation(GraphClassifier):
    """Base of a method that is one linear system; it stores how to solve it.

    Parameters
    ----------
    solver : {"auto", "direct", "cg", "iterative"}, default "auto"
        A sparse factorisation, conjugate gradients, or the plain iteration of
        the method; "auto" factorises small graphs and otherwise takes
        conjugate gradients.
    tol : float, default 1e-6
        For "cg", the residual relative to the right side; for "iterative", the
        largest change of an entry in one step.
    max_iter : int, default 1000
        A warning says if they did not suffice.
    n_jobs : int or None, default None
        Threads; -1 for all cores. The result is the same to the bit.

    Attributes
    ----------
    n_iter_ : int
        Iterations that were made.
    """

    n_iter_: int

    def __init__(
        self, *, solver: str = "auto", tol: float = 1e-6, max_iter: int = 1000, n_jobs: int | None = None
    ) -> None:
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def _solve(self, system: System) -> npt.NDArray[Any]:
        solution = solve(system, self.solver, tol=self.tol, max_iter=self.max_iter, n_jobs=self.n_jobs)
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            warnings.warn(
                f"{type(self).__name__} did not converge: after {solution.n_iter:,} iterations the error is "
                f"{solution.error:.2g}, above tol={self.tol:g}; raise max_iter or tol",
                PlanetoidWarning,
                stacklevel=4,
            )
        return solution.values

    def _check_parameters(self) -> None:
        check_solver(self.solver, self.tol, self.max_iter)


def symmetric_adjacency(graph: Graph | None) -> sparse.csr_array:
    """Return the weights as a symmetric matrix; a directed edge pulls at both of its ends."""
    assert graph is not None
    matrix = graph.to_scipy()
    return sparse.csr_array(matrix + matrix.T) if graph.directed else matrix


def strengths(adjacency: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Sum of the weights of each row, in double precision (``adjacency.sum`` adds in single)."""
    return np.asarray(adjacency @ np.ones(adjacency.shape[1]))


def reached(data: Dataset) -> npt.NDArray[np.bool_]:
    """Which nodes lie in a component that has a label."""
    components = data.graph.components()
    has_label = np.zeros(int(components.max()) + 1, dtype=bool)
    has_label[components[data.labelled]] = True
    return np.asarray(has_label[components])


def class_mass_normalized(scores: Probabilities, prior: npt.NDArray[np.float64]) -> Probabilities:
    """Scale the columns so that their sums are as ``prior`` (Zhu et al. 2003, section 4).

    >>> class_mass_normalized(np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0.5, 0.5])).round(3)
    array([[0.286, 0.167],
           [0.214, 0.333]])
    """
    mass = scores.sum(axis=0, dtype=np.float64)
    weight = np.divide(prior, mass, out=np.zeros_like(prior), where=mass > 0)
    return np.asarray(scores * weight)


def filled(scores: Probabilities, data: Dataset) -> Probabilities:
    """Give the class prior to nodes that a label could reach but too faintly for floating point."""
    faint = reached(data) & ~(scores > 0).any(axis=1)
    scores[faint] = data.class_prior
    return scores
