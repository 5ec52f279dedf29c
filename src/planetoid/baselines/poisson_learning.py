"""Poisson learning (Calder, Cook, Thorpe and Slepcev, 2020), for very few labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from planetoid.baselines.label_equations import LabelEquations
from planetoid.baselines.linear_system import System
from planetoid.baselines.propagation import Propagation
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.errors import ParameterError
from planetoid.graph.adjacency import mean_weight, strengths, symmetric_adjacency
from planetoid.parameters import Check, Constraints, Real

__all__ = ["PoissonLearning"]

Matrix = npt.NDArray[np.float64]
SHARPNESS = 2.0  # scale of the scores in the softmax, chosen by log loss on random splits of the citation networks


def _is_prior(value: object) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(map(Real(0, closed="neither").admits, value))


class PoissonLearning(Propagation):
    """Labels are the sources and sinks of a Poisson equation on the graph.

    The scores u solve ``L u = sum_j (y_j - ybar) delta_j`` with the graph
    Laplacian L = D - A, the labelled nodes j and the mean ybar of their one-hot
    labels y_j; the solution with the degree-weighted mean 0 is taken. With one to
    five labels per class, the harmonic scores of label propagation are almost
    constant away from the labels; these are not.

    Each connected component is a problem of its own, with the ybar of its own
    labels, and is solved exactly instead of by the paper's random-walk iteration,
    which approaches the same solution on a connected graph but diverges on the
    components of a disconnected one. Nodes of a component whose labels are all of
    one class get that class; nodes of a component without a label get the class
    prior. A directed edge counts in both directions (A + A^T).

    Parameters
    ----------
    class_prior : list of float of length n_classes, or None, default None
        Known share of each class among all nodes, in the order of ``classes_``.
        The scores of a class are multiplied by its share over its share among
        the labels, as in the paper. With None the labels are assumed to have the
        shares of the classes, and nothing is multiplied.
    solver : {"auto", "direct", "cg"}, default "auto"
        A sparse factorisation or conjugate gradients; "auto" factorises where
        that is cheap and uses conjugate gradients otherwise.
    tol : float, default 1e-6
        For "cg", the residual relative to the right-hand side.
    max_iter : int, default 1000
        Maximum number of iterations of "cg"; a warning is issued if they did not
        converge.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    n_jobs : int or None, default None
        Number of threads; None is 1, -1 all cores. The result does not depend
        on it.

    Attributes
    ----------
    scores_ : array of shape (n_nodes, n_classes)
        The solution u, multiplied by the correction for ``class_prior``; 0 in
        components with labels of less than two classes.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    The degrees by which nodes are weighted include a self-loop of the mean edge
    weight; L does not change by it. Without, a node between two labels of
    different classes and no other edges has the score 0 for both, whatever the
    weights.

    Scores are no probabilities. They are divided by their degree-weighted root
    mean square and doubled; the probabilities are the softmax of that over the
    classes that have a label in the node's component.

    References
    ----------
    J. Calder, B. Cook, M. Thorpe, D. Slepcev, "Poisson learning: graph based
    semi-supervised learning at very low label rates", ICML 2020.

    Examples
    --------
    Between two labels on a path the scores decrease linearly:

    >>> import planetoid as pl
    >>> path = pl.Graph.from_edges("abcd", "bcde")
    >>> model = pl.PoissonLearning().fit(y={"a": "left", "e": "right"}, graph=path)
    >>> model.scores_[:, 0].round(4).tolist()
    [1.0, 0.5, 0.0, -0.5, -1.0]
    >>> model.predict(nodes=["b", "d"]).tolist()
    ['left', 'right']
    """

    constraints: ClassVar[Constraints] = {
        **Propagation.constraints,
        "solver": ("auto", "direct", "cg"),
        "class_prior": (Check("a list of positive numbers", _is_prior), None),
    }

    def __init__(
        self,
        *,
        class_prior: Sequence[float] | None = None,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 1000,
        calibrate: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(solver=solver, tol=tol, max_iter=max_iter, calibrate=calibrate, n_jobs=n_jobs)
        self.class_prior = class_prior

    def _fit(self, data: Dataset) -> Probabilities:
        correction = self._correction(data)
        adjacency = symmetric_adjacency(data.graph)
        degrees = strengths(adjacency)
        volume = degrees + mean_weight(adjacency)
        components = data.graph.components()
        counts = _label_counts(data, components)
        solved = (np.count_nonzero(counts, axis=1) > 1)[components]

        labels, rows = data.one_hot(), data.labelled
        labels[rows] -= (counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))[components[rows]]
        # L is singular: constants per component are free. One node of each is fixed at 0 first.
        free = solved.copy()
        free[_hubs(components, degrees)] = False
        scores = self._solve(System(adjacency, degrees, labels, free))
        scores -= _weighted_means(scores, components, volume)[components]
        scores[~solved] = 0.0
        self.scores_ = scores * correction
        return _softmax(_standardized(self.scores_, np.where(solved, volume, 0.0)), counts[components] > 0)

    _quantity = "score u of the class minus that of the other"

    def _equations(self, data: Dataset) -> LabelEquations:
        adjacency = symmetric_adjacency(data.graph)
        degrees = strengths(adjacency)
        volume = degrees + mean_weight(adjacency)
        components = data.graph.components()
        labelled = (data.y >= 0).astype(np.float64)
        solved = self._known(data)
        free = solved.copy()
        free[_hubs(components, degrees)] = False

        def centred(values: Matrix, weights: Matrix) -> Matrix:
            """Subtract the weighted mean of each component."""
            return np.asarray(values - _weighted_means(values[:, None], components, weights)[components, 0])

        def start(row: int) -> Matrix:
            own = (components == components[row]) * volume
            found = np.asarray(-own / own.sum())
            found[row] += 1.0
            return found

        return LabelEquations(
            adjacency,
            degrees,
            free,
            fixed=np.zeros(data.n_nodes, dtype=bool),
            inject=lambda targets: labelled * centred(targets, labelled),
            collect=lambda z: labelled * centred(z, labelled),
            complete=lambda found, targets: centred(found, volume),
            scale=np.ones(data.n_nodes),
            start=start,
        )

    def _class_weights(self, data: Dataset) -> Matrix:
        return self._correction(data)

    def _known(self, data: Dataset) -> npt.NDArray[np.bool_]:
        components = data.graph.components()
        return np.asarray((np.count_nonzero(_label_counts(data, components), axis=1) > 1)[components])

    def _correction(self, data: Dataset) -> Matrix:
        """Return the factor of each class by which its share differs from that among the labels."""
        if self.class_prior is None:
            return np.ones(data.n_classes)
        if len(self.class_prior) != data.n_classes:
            raise ParameterError(
                f"PoissonLearning: class_prior has {len(self.class_prior)} entries, but y has {data.n_classes} classes",
                parameter="class_prior",
            )
        prior = np.asarray(self.class_prior, dtype=np.float64)
        return np.asarray(prior / prior.sum() / data.class_prior)


def _label_counts(data: Dataset, components: npt.NDArray[np.int32]) -> Matrix:
    """Return the number of labels of each class in each component."""
    counts = np.zeros((int(components.max()) + 1, data.n_classes))
    np.add.at(counts, (components[data.labelled], data.y[data.labelled]), 1.0)
    return counts


def _hubs(components: npt.NDArray[np.int32], degrees: Matrix) -> npt.NDArray[np.int64]:
    """Return the node of the highest degree of each component; fixing it makes the best-conditioned system."""
    order = np.lexsort((degrees, components))
    last = np.append(np.diff(components[order]) > 0, True)
    return np.asarray(order[last])


def _weighted_means(scores: Matrix, components: npt.NDArray[np.int32], weights: Matrix) -> Matrix:
    """Return the weighted mean score of each component."""
    sums = np.stack([np.bincount(components, weights=weights * column) for column in scores.T], axis=1)
    total = np.bincount(components, weights=weights)[:, None]
    return np.asarray(np.divide(sums, total, out=np.zeros_like(sums), where=total > 0))


def _standardized(scores: Matrix, weights: Matrix) -> Matrix:
    """Divide by the weighted root mean square."""
    total = weights.sum() * scores.shape[1]
    return scores / np.sqrt(weights @ (scores**2).sum(axis=1) / total) if total > 0 else scores


def _softmax(scores: Matrix, possible: npt.NDArray[np.bool_]) -> Matrix:
    """Return the softmax over the possible classes; a row of zeros where there is none."""
    highest = np.max(scores, axis=1, keepdims=True, where=possible, initial=-np.inf)
    powers = np.exp(SHARPNESS * np.where(possible, scores - highest, -np.inf))
    total = powers.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(powers, total, out=powers, where=total > 0))
