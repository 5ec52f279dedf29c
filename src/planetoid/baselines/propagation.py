"""Base and helpers of the methods that spread labels over a graph."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from planetoid.baselines.label_equations import LabelEquations, explain_by_labels
from planetoid.baselines.linear_system import SOLVERS, Array, System, solve
from planetoid.baselines.reference import reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.errors import PlanetoidWarning, warn
from planetoid.estimator.classifier import GraphClassifier
from planetoid.explanation.contributions import Answer, Question
from planetoid.explanation.memory import remember
from planetoid.parameters import N_JOBS, Constraints, Integer, Real

__all__ = [
    "Propagation",
    "class_mass_normalized",
    "class_mass_weights",
    "filled",
]

SET_QUANTITY = (
    "probability that a random walk first meets a labelled node with the label, times the weight of the label, before "
    "calibration"
)


class Propagation(GraphClassifier):
    """Base of methods that solve one linear system.

    Parameters
    ----------
    solver : {"auto", "direct", "cg", "iterative"}, default "auto"
        A sparse factorisation, conjugate gradients, or the plain iteration of
        the method; "auto" factorises where that is cheap and uses conjugate gradients
        otherwise.
    tol : float, default 1e-6
        For "cg", the residual relative to the right-hand side; for
        "iterative", the largest change of an entry in one iteration.
    max_iter : int, default 1000
        Maximum number of iterations; a warning is issued if they did not
        converge.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    n_jobs : int or None, default None
        Number of threads; None is 1, -1 all cores. The result does not depend
        on it.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations.
    """

    uses_processes = True

    constraints: ClassVar[Constraints] = {
        "solver": SOLVERS,
        "tol": Real(0),
        "max_iter": Integer(1),
        "calibrate": bool,
        "n_jobs": N_JOBS,
    }

    n_iter_: int

    def __init__(
        self,
        *,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        calibrate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.calibrate = calibrate
        self.n_jobs = n_jobs

    def _solve(self, system: System) -> Array:
        solution = solve(system, self.solver, tol=self.tol, max_iter=self.max_iter, n_jobs=self.n_jobs)
        self.n_iter_ = solution.n_iter
        if not solution.converged:
            warn(
                PlanetoidWarning(
                    f"{type(self).__name__} did not converge: after {solution.n_iter:,} iterations the error is "
                    f"{solution.error:.2g}, above tol={self.tol:g}; raise max_iter or tol"
                )
            )
        return solution.values

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        return reference_sample(data, probabilities, as_accurate=True)

    def _explain(self, question: Question) -> Answer:
        if question.row is None:
            return super()._explain(question)
        data = question.known_data()
        return explain_by_labels(
            question,
            data,
            remember(data, repr(self), lambda: self._equations(data)),
            self._class_weights(data),
            known=self._known(data),
            kept=self._kept_share,
            quantity=SET_QUANTITY if question.multi_label else self._quantity,
            n_jobs=self.n_jobs,
        )

    _quantity: ClassVar[str] = "score of the class minus that of the other, before they are scaled to sum to one"

    def _equations(self, data: Dataset) -> LabelEquations:
        """Return the linear system, as a function of the labels."""
        raise NotImplementedError

    def _class_weights(self, data: Dataset) -> npt.NDArray[np.float64]:
        """Return by what the scores of each class were multiplied, relative to their mean."""
        found = getattr(self, "class_weights_", np.ones(data.n_classes))
        if data.multi_label:
            return np.asarray(found)
        return np.asarray(found / max(float(np.mean(found)), np.finfo(float).tiny))

    def _known(self, data: Dataset) -> npt.NDArray[np.bool_]:
        """Return which nodes a label reaches."""
        return data.reached

    @property
    def _kept_share(self) -> float:
        """Score of its own label at a node that has no equation."""
        return 1.0


def class_mass_normalized(scores: Probabilities, prior: npt.NDArray[np.float64]) -> Probabilities:
    """Scale the columns so that their sums are proportional to ``prior`` (Zhu et al. 2003, section 4).

    >>> class_mass_normalized(np.array([[0.8, 0.2], [0.6, 0.4]]), np.array([0.5, 0.5])).round(3)
    array([[0.286, 0.167],
           [0.214, 0.333]])
    """
    return np.asarray(scores * class_mass_weights(scores, prior))


def class_mass_weights(scores: Probabilities, prior: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the factor of each class that makes the sums of the columns proportional to ``prior``."""
    mass = scores.sum(axis=0, dtype=np.float64)
    return np.asarray(np.divide(prior, mass, out=np.zeros_like(prior), where=mass > 0))


def filled(scores: Probabilities, data: Dataset) -> Probabilities:
    """Give the class prior to nodes that a label reaches with a score that underflows to zero."""
    underflown = data.reached & ~(scores > 0).any(axis=1)
    scores[underflown] = data.class_prior
    return scores
