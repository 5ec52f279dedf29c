"""Learning with local and global consistency (Zhou et al., 2004), also called label spreading."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from planetoid.baselines.linear_system import System
from planetoid.baselines.propagation import Propagation, class_mass_normalized, filled, strengths, symmetric_adjacency
from planetoid.data.dataset import Dataset
from planetoid.errors import ParameterError
from planetoid.estimator import Probabilities
from planetoid.search_space import Categorical, SearchSpace

__all__ = ["LocalGlobalConsistency"]


class LocalGlobalConsistency(Propagation):
    """Labels spread over the symmetrically normalised graph, and may themselves be revised.

    The scores are ``(1 - alpha) (I - alpha S)^-1 Y`` with
    ``S = D^-1/2 A D^-1/2``. Unlike label propagation it does not hold the
    labelled nodes fixed, and a hub passes on less to each neighbour. A
    directed edge pulls at both of its ends (A + A^T). A node from which no
    labelled node can be reached gets the class prior.

    Parameters
    ----------
    alpha : float, default 0.99
        How much of a node's score comes from its neighbours, between 0 and 1.
    class_mass_normalization : bool, default True
        Scale the classes so that all nodes together have the class proportions
        of the labels. Without it the scores are those above to the letter.
    solver : {"auto", "direct", "cg", "iterative"}, default "auto"
        A sparse factorisation, conjugate gradients, or the paper's iteration
        ``F <- alpha S F + (1 - alpha) Y``; "auto" factorises small graphs and
        otherwise takes conjugate gradients.
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
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(solver=solver, tol=tol, max_iter=max_iter, n_jobs=n_jobs)
        self.alpha = alpha
        self.class_mass_normalization = class_mass_normalization

    def _fit(self, data: Dataset) -> Probabilities:
        self._check_parameters()
        if not 0 < self.alpha < 1:
            raise ParameterError(f"alpha={self.alpha!r}; it must lie between 0 and 1")
        adjacency = symmetric_adjacency(data.graph)
        degrees = strengths(adjacency)
        root = np.sqrt(degrees)[:, None]
        # With F = D^1/2 G the equation (I - alpha S) F = (1 - alpha) Y becomes
        # (D / alpha - A) G = (1 - alpha) / alpha D^1/2 Y, and A needs no copy.
        labels = data.one_hot()
        right = (1 - self.alpha) / self.alpha * root * labels
        values = self._solve(System(adjacency, degrees / self.alpha, right, degrees > 0))
        scores = np.clip(root * values, 0.0, None)
        alone = degrees == 0
        scores[alone] = (1 - self.alpha) * labels[alone]
        if self.class_mass_normalization:
            scores = class_mass_normalized(scores, data.class_prior)
        return filled(scores, data)
