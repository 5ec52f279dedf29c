"""The rows of a sparse matrix that are most similar to each row, in compiled code.

The similarity of two rows is their product. It is formed for pairs of rows that share a column, one row at a time, so
that memory is that of one row and of the result.
"""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Integers, Nodes, Row, Table
from planetoid.engine.compiling import entry, exact

__all__ = ["find_similar"]

ZERO = np.float32(0.0)


@exact
def insert(node: np.int32, similarity: np.float32, nodes: Nodes, similarities: Row) -> None:
    """Insert a node into a list, the most similar first and of equally similar ones the lowest number first."""
    at = np.int64(len(nodes)) - 1
    if similarity < similarities[at] or (similarity == similarities[at] and node > nodes[at]):
        return
    while at > 0 and (
        similarity > similarities[at - 1] or (similarity == similarities[at - 1] and node < nodes[at - 1])
    ):
        nodes[at], similarities[at] = nodes[at - 1], similarities[at - 1]
        at -= 1
    nodes[at], similarities[at] = node, similarity


@entry
def find_similar(
    indptr: Integers, indices: Nodes, values: Row, first_of: Integers, rows_of: Nodes, values_of: Row,
    without_itself: bool, sums: Row, last_seen: Nodes, touched: Nodes, nodes: Nodes, similarities: Table,
) -> None:  # fmt: skip
    """Set the known rows that are most similar to each row, and how similar they are; -1 and 0 if there are no more.

    ``first_of``, ``rows_of`` and ``values_of`` are the columns of the known rows. With ``without_itself`` the rows are
    the known ones, and none is similar to itself. ``sums``, ``last_seen``, of -1, and ``touched`` are memory for one
    number per known row.
    """
    for row in range(len(nodes)):
        n_touched = np.int64(0)
        for at in range(indptr[row], indptr[row + 1]):
            column, value = indices[at], values[at]
            for place in range(first_of[column], first_of[column + 1]):
                other = rows_of[place]
                if last_seen[other] != row:
                    last_seen[other], sums[other] = row, ZERO
                    touched[n_touched] = other
                    n_touched += 1
                sums[other] += value * values_of[place]
        for k in range(nodes.shape[1]):
            nodes[row, k], similarities[row, k] = -1, ZERO
        for at in range(n_touched):
            other = touched[at]
            if sums[other] > ZERO and not (without_itself and other == row):
                insert(other, sums[other], nodes[row], similarities[row])
