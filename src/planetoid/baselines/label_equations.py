"""How the scores of one node depend on the labels, for methods that solve a linear system.

The scores are linear in the labels: with the score of the class in question times a factor per class as the target t_j
of each labelled node j, the score of node i is ``sum_j g_ij t_j``. One solution with a unit vector on the right-hand
side gives g_ij for all j (the system is symmetric), and the equation of row i itself says what each neighbour adds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.baselines.linear_system import System, solve
from planetoid.data.dataset import Dataset
from planetoid.explanation.contributions import Answer, Contributions, Question

__all__ = ["LabelEquations", "explain_by_labels", "unit_vector"]

TOL, MAX_ITER = 1e-10, 10_000  # of conjugate gradients
NOTHING = "nothing is known about this node: no labelled node can be reached from it, so it has the class prior"
KEPT = "the node is labelled, and keeps the labels that it has"
ONE_CLASS = "all labels that can be reached from this node are of one class, which is therefore predicted"

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LabelEquations:
    """The system ``(M - A) g = B`` of a method, with B and the scores as functions of the labels.

    Attributes
    ----------
    adjacency, diagonal, free
        As in :class:`~planetoid.baselines.linear_system.System`.
    fixed : boolean array of shape (n_nodes,)
        Nodes without an equation: their score is that of their own label.
    inject : callable
        From targets t of all nodes (0 where there is no label) to B.
    collect : callable
        Its adjoint: from a solution z with a unit vector in place of B to the factor of each node's target.
    complete : callable
        From the solution and the targets to the scores, but for ``scale``.
    scale : array of shape (n_nodes,)
        By which scores are multiplied at the end.
    labels_at_neighbours : bool
        Whether B only holds labels of neighbours, which ``complete`` has too; else B_i is the node's own label.
    start : callable
        From a row to the right-hand side whose solution is z, a unit vector but for ``complete``.
    """

    adjacency: sparse.csr_array
    diagonal: Vector
    free: npt.NDArray[np.bool_]
    fixed: npt.NDArray[np.bool_]
    inject: Callable[[Vector], Vector]
    collect: Callable[[Vector], Vector]
    complete: Callable[[Vector, Vector], Vector]
    scale: Vector
    start: Callable[[int], Vector]
    labels_at_neighbours: bool = False

    def system(self, right: Vector) -> System:
        """Return the system with these right-hand sides, a column each."""
        return System(self.adjacency, self.diagonal, right, self.free)


def unit_vector(n: int) -> Callable[[int], Vector]:
    """Return a function from rows to unit vectors."""

    def start(row: int) -> Vector:
        found = np.zeros(n)
        found[row] = 1.0
        return found

    return start


def explain_by_labels(
    question: Question,
    data: Dataset,
    equations: LabelEquations,
    class_weights: Vector,
    *,
    known: npt.NDArray[np.bool_],
    kept: float,
    quantity: str,
    n_jobs: int | None,
) -> Answer:
    """Return what each labelled node and each neighbour adds to a score.

    Parameters
    ----------
    question : Question
    data : Dataset
    equations : LabelEquations
    class_weights : array of shape (n_classes,)
        By which the scores of the classes are multiplied.
    known : boolean array of shape (n_nodes,)
        Nodes that a label reaches.
    kept : float
        Factor of its own label at a node that has no equation.
    quantity : str
    n_jobs : int or None
    """
    row, none = question.row, np.empty(0, np.int64)
    assert row is not None
    labelled = data.labelled
    targets = data.one_hot() @ (class_weights * question.contrast)
    meaning = "share of the score that comes from this label; the shares add up to the score"
    if not known[row]:
        note = NOTHING if not data.reached[row] else ONE_CLASS
        return Answer(0.0, quantity, [Contributions("labels", none, np.empty(0), meaning, 0.0)], note)
    if equations.fixed[row]:
        own = np.array([kept * targets[row]])
        if question.multi_label:  # classes are weighted where the node is not labelled
            own = np.array([float(data.one_hot()[row] @ question.contrast)])
        note = KEPT if question.multi_label else ""
        return Answer(float(own[0]), quantity, [Contributions("labels", np.array([row]), own, meaning, 0.0)], note)
    right = np.column_stack([equations.start(row), equations.inject(targets)])
    solved = solve(equations.system(right), "auto", tol=TOL, max_iter=MAX_ITER, n_jobs=n_jobs).values
    shares = equations.scale[row] * equations.collect(solved[:, 0])[labelled] * targets[labelled]
    scores = equations.complete(solved[:, 1], targets)
    around = equations.adjacency[[row]]
    inverse = equations.scale[row] / equations.diagonal[row]
    parts = [Contributions("labels", labelled, shares, meaning, 0.0)]
    parts.append(
        Contributions(
            "neighbours",
            around.indices,
            inverse * around.data.astype(np.float64) * scores[around.indices],
            "score of the neighbour, times its weight in the equation of the node",
            0.0 if equations.labels_at_neighbours else float(inverse * right[row, 1]),
        )
    )
    return Answer(float(shares.sum()), quantity, parts)
