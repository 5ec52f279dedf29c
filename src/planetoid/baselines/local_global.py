"""Learning with local and global consistency (Zhou et al., 2004), also called label spreading."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planetoid.baselines.label_equations import LabelEquations, unit_vector
from planetoid.baselines.linear_system import System
from planetoid.baselines.propagation import Propagation, class_mass_weights, filled
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.graph.adjacency import strengths, symmetric_adjacency
from planetoid.parameters import Constraints, Real
from planetoid.search_space import Categorical, SearchSpace

__all__ = ["LocalGlobalConsistency"]


class LocalGlobalConsistency(Propagation):
    """Labels spread over the symmetrically normalised graph, and may themselves be revised.

    The scores are ``(1 - alpha) (I - alpha S)^-1 Y`` with
    ``S = D^-1/2 A D^-1/2``. Unlike label propagation it does not fix the scores
    of labelled nodes, and a hub passes on less to each neighbour. A directed
    edge counts in both directions (A + A^T). A node from which no labelled node
    can be reached gets the class prior.

    Parameters
    ----------
    alpha : float, default 0.99
        Share of a node's score that comes from its neighbours, in (0, 1).
    class_mass_normalization : bool, default True
        Scale the classes so that all nodes together have the class proportions
        of the labels. Without it the scores are exactly those above.
    solver : {"auto", "direct", "cg", "iterative"}, default "auto"
        A sparse factorisation, conjugate gradients, or the paper's iteration
        ``F <- alpha S F + (1 - alpha) Y``; "auto" factorises where that is cheap and
        uses conjugate gradients otherwise.
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
    class_weights_ : array of shape (n_classes,)
        By which the scores of each class were multiplied.

    References
    ----------
    D. Zhou, O. Bousquet, T. N. Lal, J. Weston, B. Schoelkopf, "Learning with
    local and global consistency", NIPS 2003.

    Examples
    --------
    >>> import planetoid as pl
    >>> path = pl.Graph.from_edges("abcd", "bcde")
    >>> model = pl.LocalGlobalConsistency(alpha=0.5).fit(y={"a": "left", "e": "right"}, graph=path)
    >>> model.predict(nodes=["b", "d"]).tolist()
    ['left', 'right']
    """

    constraints: ClassVar[Constraints] = {
        **Propagation.constraints,
        "alpha": Real(0, 1, closed="neither"),
        "class_mass_normalization": bool,
    }
    search_space: ClassVar[SearchSpace] = {
        "alpha": Categorical((0.8, 0.9, 0.95, 0.99, 0.999)),
        "class_mass_normalization": Categorical((True, False)),
    }

    def __init__(
        self,
        *,
        alpha: float = 0.99,
        class_mass_normalization: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        calibrate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(solver=solver, tol=tol, max_iter=max_iter, calibrate=calibrate, n_jobs=n_jobs)
        self.alpha = alpha
        self.class_mass_normalization = class_mass_normalization

    def _fit(self, data: Dataset) -> Probabilities:
        adjacency = symmetric_adjacency(data.graph)
        degrees = strengths(adjacency)
        root = np.sqrt(degrees)[:, None]
        # With F = D^1/2 G the equation (I - alpha S) F = (1 - alpha) Y becomes
        # (D / alpha - A) G = (1 - alpha) / alpha D^1/2 Y, and A needs no copy.
        labels = data.one_hot()
        right = (1 - self.alpha) / self.alpha * root * labels
        values = self._solve(System(adjacency, degrees / self.alpha, right, degrees > 0))
        scores = np.clip(root * values, 0.0, None)
        isolated = degrees == 0
        scores[isolated] = (1 - self.alpha) * labels[isolated]
        self.class_weights_ = np.ones(data.n_classes)
        if self.class_mass_normalization:
            self.class_weights_ = class_mass_weights(scores, data.class_prior)
        return filled(scores * self.class_weights_, data)

    def _equations(self, data: Dataset) -> LabelEquations:
        adjacency = symmetric_adjacency(data.graph)
        degrees = strengths(adjacency)
        entering = (1 - self.alpha) / self.alpha * np.sqrt(degrees)
        return LabelEquations(
            adjacency,
            degrees / self.alpha,
            degrees > 0,
            fixed=degrees == 0,
            inject=lambda targets: entering * targets,
            collect=lambda z: entering * z,
            complete=lambda found, targets: found,
            scale=np.sqrt(degrees),
            start=unit_vector(data.n_nodes),
        )

    @property
    def _kept_share(self) -> float:
        return float(1 - self.alpha)
