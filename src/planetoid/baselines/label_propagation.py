"""Label propagation (Zhu, Ghahramani and Lafferty, 2003): the harmonic solution."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from sklearn.base import clone

from planetoid.baselines.label_equations import LabelEquations, unit_vector
from planetoid.baselines.linear_system import System
from planetoid.baselines.propagation import Propagation, class_mass_weights
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.graph.adjacency import strengths, symmetric_adjacency
from planetoid.labels import mask_labels
from planetoid.multi_label import SetSample, class_logits
from planetoid.parameters import Constraints
from planetoid.search_space import Categorical, SearchSpace

__all__ = ["LabelPropagation"]

HIDDEN = 4  # one label in so many is hidden to calibrate several labels per node


class LabelPropagation(Propagation):
    """Labelled nodes keep their labels; every other node is the weighted mean of its neighbours.

    The score of class c at an unlabelled node is the probability that a random
    walk from it meets a labelled node of class c first. A directed edge counts
    in both directions (A + A^T), because the harmonic solution is defined on
    undirected graphs. A node from which no labelled node can be reached gets the
    class prior. If nodes may have several labels, so may the labelled node that the
    walk meets: scores of a node need not sum to one.

    Parameters
    ----------
    class_mass_normalization : bool, default True
        Scale the classes so that all nodes together have the class proportions
        of the labels (Zhu et al., section 4, with the mass of the labelled
        nodes included, so that edge weights decide on small graphs too).
        Without it, a few well-connected labels can flood the graph with their
        class (on Pubmed the accuracy is 72 % with it and 22 % without); the
        scores are then the harmonic solution itself.
    solver : {"auto", "direct", "cg", "iterative"}, default "auto"
        A sparse factorisation, conjugate gradients, or the plain iteration
        ``F <- D^-1 A F``; "auto" factorises where that is cheap and uses conjugate
        gradients otherwise.
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
    X. Zhu, Z. Ghahramani, J. Lafferty, "Semi-supervised learning using Gaussian
    fields and harmonic functions", ICML 2003.

    Examples
    --------
    On a path the scores decrease linearly between two labels:

    >>> import planetoid as pl
    >>> path = pl.Graph.from_edges("abcd", "bcde")
    >>> lp = pl.LabelPropagation().fit(y={"a": "left", "e": "right"}, graph=path)
    >>> lp.predict_proba(nodes=["b", "c", "d"])[:, 0].round(4).tolist()
    [0.75, 0.5, 0.25]
    """

    multi_label = True
    constraints: ClassVar[Constraints] = {**Propagation.constraints, "class_mass_normalization": bool}
    search_space: ClassVar[SearchSpace] = {"class_mass_normalization": Categorical((True, False))}

    def __init__(
        self,
        *,
        class_mass_normalization: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        calibrate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(solver=solver, tol=tol, max_iter=max_iter, calibrate=calibrate, n_jobs=n_jobs)
        self.class_mass_normalization = class_mass_normalization

    def _fit(self, data: Dataset) -> Probabilities:
        adjacency = symmetric_adjacency(data.graph)
        labelled = data.y >= 0
        free = ~labelled & data.reached
        # A constant is harmonic, so we solve for the deviation from the class prior: nodes that
        # an iteration has not reached when it stops then have the prior, not zero.
        prior, labels = data.class_prior, data.one_hot()
        deviation = np.where(labelled[:, None], labels - prior, 0.0)
        values = self._solve(System(adjacency, strengths(adjacency), adjacency @ deviation, free))
        scores = np.where(free[:, None], np.clip(values + prior, 0.0, None), 0.0) + labels
        self.class_weights_ = np.ones(len(prior))
        if data.multi_label and self.class_mass_normalization:
            self.class_weights_ = class_mass_weights(scores[free], prior) * free.sum()
            scores[free] = np.clip(scores[free] * self.class_weights_, 0.0, 1.0)
            return scores
        if self.class_mass_normalization:
            self.class_weights_ = class_mass_weights(scores, prior)
        return scores * self.class_weights_

    def _equations(self, data: Dataset) -> LabelEquations:
        adjacency = symmetric_adjacency(data.graph)
        labelled = data.y >= 0
        return LabelEquations(
            adjacency,
            strengths(adjacency),
            ~labelled & data.reached,
            fixed=labelled,
            inject=lambda targets: np.asarray(adjacency @ targets),
            collect=lambda z: np.asarray(adjacency @ z),
            complete=lambda found, targets: np.where(labelled, targets, found),
            scale=np.ones(data.n_nodes),
            start=unit_vector(data.n_nodes),
            labels_at_neighbours=True,
        )

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample:
        """Hide some of the labels, and propagate the others once more."""
        assert data.Y is not None
        hidden = data.labelled[np.random.default_rng(0).permutation(len(data.labelled)) % HIDDEN == 0]
        seen = mask_labels(data.y, np.setdiff1d(data.labelled, hidden))
        if not (seen >= 0).any():
            return SetSample(np.empty((0, data.n_classes)), data.Y[:0], "cross-fitting")
        found = clone(self)._fit(replace(data, y=seen, validation=None))
        hidden = hidden[found[hidden].any(axis=1)]
        return SetSample(class_logits(found[hidden]), data.Y[hidden], "cross-fitting")
