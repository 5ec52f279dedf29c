"""Modified adsorption, MAD (Talukdar and Crammer, 2009), as the Junto toolkit runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.baselines.label_equations import LabelEquations, unit_vector
from planetoid.baselines.linear_system import System
from planetoid.baselines.propagation import Propagation, filled
from planetoid.baselines.reference import NEAR, reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.graph.adjacency import strengths, symmetric_adjacency
from planetoid.parameters import Constraints, Real
from planetoid.search_space import Float, SearchSpace

__all__ = ["ModifiedAdsorption", "WalkProbabilities", "walk_probabilities"]

Vector = npt.NDArray[np.float64]


class ModifiedAdsorption(Propagation):
    """Labels spread by walks that inject a label, continue or give up at each node.

    A node whose edge weights have a high entropy passes on less, and its label,
    if it has one, counts for more. A dummy label absorbs what the walks abandon.
    The scores minimise, per class, ``mu1`` times the distance from the labels,
    weighted by the probability of injection, plus ``mu2`` times the smoothness
    along the edges, weighted by the probability of continuing, plus ``mu3``
    times the distance from the prior, which is all dummy. The optimum is one
    linear system; "iterative" solves it by the updates of the paper's algorithm.

    A directed edge counts in both directions (A + A^T). A node from which no
    labelled node can be reached gets the class prior.

    Parameters
    ----------
    mu1, mu2, mu3 : float, default 1.0, 0.01, 0.01
        Weights of the three terms; Junto's defaults.
    beta : float, default 2.0
        Base of the entropy heuristic, greater than 1; the larger, the more walks continue.
    solver : {"auto", "direct", "cg", "iterative"}, default "auto"
        A sparse factorisation, conjugate gradients, or the paper's iteration;
        "auto" factorises where that is cheap and uses conjugate gradients otherwise.
    tol : float, default 1e-6
        For "cg", the residual relative to the right-hand side; for
        "iterative", the largest change of an entry in one iteration.
    max_iter : int, default 1000
        Maximum number of iterations; a warning is issued if they did not
        converge. (Junto's default is 10.)
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    n_jobs : int or None, default None
        Number of threads; None is 1, -1 all cores. The result does not depend
        on it.

    Attributes
    ----------
    n_iter_ : int
        Number of iterations.
    dummy_ : array of shape (n_nodes,)
        Score of the dummy label ("none of these") before the classes are
        scaled to sum to one.

    Notes
    -----
    The probabilities follow Junto, not the paper to the letter: the entropy is
    in bits and enters as ``log(beta) / log(beta + H)``, and a labelled node of
    zero entropy (one neighbour), which by the formula would inject nothing,
    injects with probability 0.99.

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

    constraints: ClassVar[Constraints] = {
        **Propagation.constraints,
        "mu1": Real(0, closed="neither"),
        "mu2": Real(0, closed="neither"),
        "mu3": Real(0, closed="neither"),
        "beta": Real(1, closed="neither"),
    }
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
        calibrate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(solver=solver, tol=tol, max_iter=max_iter, calibrate=calibrate, n_jobs=n_jobs)
        self.mu1 = mu1
        self.mu2 = mu2
        self.mu3 = mu3
        self.beta = beta

    def _fit(self, data: Dataset) -> Probabilities:
        walk, flow, diagonal = self._walk_system(data)
        right = np.column_stack([self.mu1 * walk.p_inj[:, None] * data.one_hot(), self.mu3 * walk.p_abnd])
        everywhere = np.ones(data.n_nodes, dtype=bool)
        values = np.clip(self._solve(System(flow, diagonal, right, everywhere)), 0.0, None)
        self.dummy_ = values[:, -1]
        return filled(values[:, :-1], data)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        return reference_sample(data, probabilities, as_accurate=True, smoothing=NEAR)

    def _walk_system(self, data: Dataset) -> tuple[WalkProbabilities, sparse.csr_array, Vector]:
        """Return what walks do at each node, and the matrix of the system: its flow and its diagonal."""
        adjacency = symmetric_adjacency(data.graph)
        walk = walk_probabilities(adjacency, data.y >= 0, self.beta)
        flow = _symmetric_flow(adjacency, walk.p_cont, self.mu2)
        return walk, flow, self.mu1 * walk.p_inj + strengths(flow) + self.mu3

    def _equations(self, data: Dataset) -> LabelEquations:
        walk, flow, diagonal = self._walk_system(data)
        entering = self.mu1 * walk.p_inj
        return LabelEquations(
            flow,
            diagonal,
            np.ones(data.n_nodes, dtype=bool),
            fixed=np.zeros(data.n_nodes, dtype=bool),
            inject=lambda targets: entering * targets,
            collect=lambda z: entering * z,
            complete=lambda found, targets: found,
            scale=np.ones(data.n_nodes),
            start=unit_vector(data.n_nodes),
        )


@dataclass(frozen=True)
class WalkProbabilities:
    """Probabilities of what a walk does at each node; the three sum to one."""

    p_inj: Vector
    p_cont: Vector
    p_abnd: Vector


def walk_probabilities(adjacency: sparse.csr_array, labelled: npt.NDArray[np.bool_], beta: float) -> WalkProbabilities:
    """Return the probabilities of injection, continuation and abandonment, by the entropy of each neighbourhood."""
    entropy = _entropy(adjacency)
    p_cont = np.log(beta) / np.log(beta + entropy)
    p_inj = np.where(labelled, (1 - p_cont) * np.sqrt(entropy), 0.0)
    zero_entropy = labelled & (p_inj == 0)
    p_inj[zero_entropy], p_cont[zero_entropy] = 0.99, 0.01
    total = np.maximum(p_inj + p_cont, 1.0)
    p_inj, p_cont = p_inj / total, p_cont / total
    return WalkProbabilities(p_inj, p_cont, np.maximum(1 - p_inj - p_cont, 0.0))


def _entropy(adjacency: sparse.csr_array) -> Vector:
    """Entropy, in bits, of the step from each node: log2(d) - sum w log2(w) / d."""
    weights = adjacency.data.astype(np.float64)
    plogp = sparse.csr_array((weights * np.log2(weights), adjacency.indices, adjacency.indptr), adjacency.shape)
    degrees = strengths(adjacency)
    degrees[degrees == 0] = 1.0
    entropy = np.log2(degrees) - strengths(plogp) / degrees
    return np.where(entropy > 1e-9, entropy, 0.0)  # one neighbour: zero, not a rounding error


def _symmetric_flow(adjacency: sparse.csr_array, p_cont: Vector, mu2: float) -> sparse.csr_array:
    """Return ``mu2 * (p_i + p_j) a_ij`` for each edge, where p is the probability of continuing."""
    source = np.repeat(p_cont.astype(np.float32), np.diff(adjacency.indptr))
    data = np.float32(mu2) * adjacency.data * (source + p_cont.astype(np.float32)[adjacency.indices])
    return sparse.csr_array((data, adjacency.indices, adjacency.indptr), adjacency.shape)
