"""Modified adsorption, MAD (Talukdar and Crammer, 2009), as the Junto toolkit runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.baselines.linear_system import System
from planetoid.baselines.propagation import Propagation, filled, strengths, symmetric_adjacency
from planetoid.data.dataset import Dataset
from planetoid.errors import ParameterError
from planetoid.estimator import Probabilities
from planetoid.search_space import Float, SearchSpace

__all__ = ["ModifiedAdsorption", "WalkProbabilities", "walk_probabilities"]

Vector = npt.NDArray[np.float64]


class ModifiedAdsorption(Propagation):
    """Labels spread by walks that may inject a label, go on, or give up at each node.

    A node whose neighbourhood is spread out (a high entropy of its edge
    weights) passes on less, and its labels, if it has any, count for more. A
    dummy label takes up what the walks abandon. The scores minimise, class by
    class, ``mu1`` times the distance from the labels, weighted by the chance of
    injection, plus ``mu2`` times the smoothness along the edges, weighted by
    the chance of going on, plus ``mu3`` times the distance from the prior, which
    is nothing but dummy. The optimum is one linear system; "iterative" solves
    it by the updates of the paper's algorithm.

    A directed edge pulls at both of its ends (A + A^T). A node from which no
    labelled node can be reached gets the class prior.

    Parameters
    ----------
    mu1, mu2, mu3 : float, default 1.0, 0.01, 0.01
        Weights of the three terms; Junto's defaults.
    beta : float, default 2.0
        How soon entropy stops a walk; above 1. The larger, the more go on.
    solver : {"auto", "direct", "cg", "iterative"}, default "auto"
        A sparse factorisation, conjugate gradients, or the paper's iteration;
        "auto" factorises small graphs and otherwise takes conjugate gradients.
    tol : float, default 1e-6
        For "cg", the residual relative to the right side; for "iterative", the
        largest change of an entry in one step.
    max_iter : int, default 1000
        A warning says if they did not suffice. (Junto stops after 10 unless told.)
    n_jobs : int or None, default None
        Threads; -1 for all cores. The result is the same to the bit.

    Attributes
    ----------
    n_iter_ : int
        Iterations that were made.
    dummy_ : array of shape (n_nodes,)
        Score of the dummy label ("none of these") before classes are scaled to
        sum to one.

    Notes
    -----
    The chances follow Junto rather than the letter of the paper: the entropy
    is in bits and enters as ``log(beta) / log(beta + H)``, and a labelled node
    with no entropy (one neighbour), which by the formula would inject nothing,
    injects with chance 0.99.

    References
    ----------
    P. P. Talukdar, K. Crammer, "New regularized algorithms for transductive
    learning", ECML PKDD 2009.

    Examples
    --------
    >>> import planetoid as pl
    >>> path = pl.Graph.from_edges("abcd", "bcde")
    >>> model = pl.ModifiedAdsorption().fit(y={"a": "left", "e": "right"}, graph=path)
    >>> model.predict(nodes=["b", "d"]).tolist()
    ['left', 'right']
    """

    search_space: ClassVar[SearchSpace] = {
        "mu1": Float(0.01, 100.0),
        "mu2": Float(0.0001, 1.0),
        "mu3": Float(0.0001, 1.0),
        "beta": Float(1.2, 10.0),
    }

    def __init__(
        self,
        *,
        mu1: float = 1.0,
        mu2: float = 0.01,
        mu3: float = 0.01,
        beta: float = 2.0,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(solver=solver, tol=tol, max_iter=max_iter, n_jobs=n_jobs)
        self.mu1 = mu1
        self.mu2 = mu2
        self.mu3 = mu3
        self.beta = beta

    def _fit(self, data: Dataset) -> Probabilities:
        self._check_parameters()
        for name in ("mu1", "mu2", "mu3"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it must be positive")
        if not self.beta > 1:
            raise ParameterError(f"beta={self.beta!r}; it must be above 1")
        adjacency = symmetric_adjacency(data.graph)
        walk = walk_probabilities(adjacency, data.y >= 0, self.beta)
        pull = _both_ways(adjacency, walk.go_on, self.mu2)
        diagonal = self.mu1 * walk.inject + strengths(pull) + self.mu3
        right = np.column_stack([self.mu1 * walk.inject[:, None] * data.one_hot(), self.mu3 * walk.abandon])
        everywhere = np.ones(data.n_nodes, dtype=bool)
        values = np.clip(self._solve(System(pull, diagonal, right, everywhere)), 0.0, None)
        self.dummy_ = values[:, -1]
        return filled(values[:, :-1], data)


@dataclass(frozen=True)
class WalkProbabilities:
    """What a walk does at each node; the three sum to one."""

    inject: Vector
    go_on: Vector
    abandon: Vector


def walk_probabilities(adjacency: sparse.csr_array, labelled: npt.NDArray[np.bool_], beta: float) -> WalkProbabilities:
    """Chances of injection, continuation and abandonment from the entropy of each neighbourhood."""
    entropy = _entropy(adjacency)
    go_on = np.log(beta) / np.log(beta + entropy)
    inject = np.where(labelled, (1 - go_on) * np.sqrt(entropy), 0.0)
    mute = labelled & (inject == 0)
    inject[mute], go_on[mute] = 0.99, 0.01
    total = np.maximum(inject + go_on, 1.0)
    inject, go_on = inject / total, go_on / total
    return WalkProbabilities(inject, go_on, np.maximum(1 - inject - go_on, 0.0))


def _entropy(adjacency: sparse.csr_array) -> Vector:
    """Entropy, in bits, of the step from each node: log2(d) - sum w log2(w) / d."""
    weights = adjacency.data.astype(np.float64)
    plogp = sparse.csr_array((weights * np.log2(weights), adjacency.indices, adjacency.indptr), adjacency.shape)
    degrees = strengths(adjacency)
    degrees[degrees == 0] = 1.0
    entropy = np.log2(degrees) - strengths(plogp) / degrees
    return np.where(entropy > 1e-9, entropy, 0.0)  # one neighbour: zero, not a rounding error


def _both_ways(adjacency: sparse.csr_array, go_on: Vector, mu2: float) -> sparse.csr_array:
    """``mu2 * (p_i + p_j) a_ij``: the pull of an edge, where p is the chance of going on."""
    source = np.repeat(go_on.astype(np.float32), np.diff(adjacency.indptr))
    data = np.float32(mu2) * adjacency.data * (source + go_on.astype(np.float32)[adjacency.indices])
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)
