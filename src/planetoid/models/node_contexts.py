"""``NodeContexts``: the contexts of the nodes of a graph, sampled for training or averaged for a prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.shards import by_columns
from planetoid.graph.adjacency import mean_weight, strengths
from planetoid.models.views import OF_OWN_ROWS
from planetoid.training.settings import Neighbourhood

if TYPE_CHECKING:
    from planetoid.engine.neighbourhoods import Walks

__all__ = ["USUAL_RESTART", "NodeContexts"]

USUAL_RESTART = 0.15

SMALLEST = 1e-12


class NodeContexts(NamedTuple):
    """The nodes that walks with restart visit; see :mod:`planetoid.engine.neighbourhoods`.

    ``counted``, where it is given, says which nodes are contexts; the others are passed over.
    """

    adjacency: sparse.csr_array  # symmetric
    neighbourhood: Neighbourhood
    restart: float  # with 1, the only context of a node is the node itself
    n_threads: int = 1

    @classmethod
    def of(
        cls,
        adjacency: sparse.csr_array,
        neighbourhood: Neighbourhood,
        view: str,
        n_threads: int = 1,
        *,
        restart: float = USUAL_RESTART,
    ) -> NodeContexts:
        """Return the contexts that a view of a graph looks at; ``restart`` is that of a neighbourhood with "auto"."""
        given = restart if isinstance(neighbourhood.restart, str) else float(neighbourhood.restart)
        return cls(adjacency, neighbourhood, 1.0 if view in OF_OWN_ROWS else given, n_threads)

    def around(self) -> NodeContexts:
        """Return contexts beyond the node itself, if these are not."""
        return self if self.restart < 1 else self._replace(restart=USUAL_RESTART)

    def walks(self, seed: int) -> Walks:
        """Return how contexts are sampled."""
        from planetoid.engine.alias import alias_tables
        from planetoid.engine.arrays import GraphArrays
        from planetoid.engine.neighbourhoods import Walks

        adjacency, restart = self.adjacency, self.restart
        accept, alias = np.empty(0, np.float32), np.empty(0, np.int32)
        if adjacency.nnz and (adjacency.data != adjacency.data[0]).any():
            accept, alias = alias_tables(adjacency.indptr, adjacency.data)
        return Walks(
            seed=np.uint64(seed % 2**64),
            graph=GraphArrays(adjacency.indptr, adjacency.indices, accept, alias),
            importance=self.importance(),
            per_sample=int(self.neighbourhood.walks) if restart < 1 else 1,
            length=self.length,
            log_continue=float(np.log1p(-restart)) if restart < 1 else -np.inf,
        )

    @property
    def length(self) -> int:
        """Steps of a walk at most."""
        return int(self.neighbourhood.length) if self.restart < 1 else 0

    def importance(self, counted: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float32]:
        """Return what a visit of each node counts."""
        degrees = strengths(self.adjacency) / mean_weight(self.adjacency) + 1.0
        importance = np.asarray(degrees**-self.neighbourhood.degree_power, dtype=np.float32)
        return importance if counted is None else importance * counted

    def mean(
        self, values: npt.NDArray[np.float32], counted: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.float32]:
        """Return the mean of the rows of each node's contexts, over all walks."""
        from planetoid.engine.neighbourhoods import expected_contexts

        importance = self.importance(counted)
        return by_columns(
            lambda some: expected_contexts(self.adjacency, importance, self.restart, self.length, some, self.n_threads),
            values,
        )

    def shares(self, row: int, counted: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return the share of every node in the contexts of one node: its row of the matrix of :meth:`mean`.

        >>> path = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], np.float32))
        >>> NodeContexts(path, Neighbourhood(length=1, degree_power=0), 0.0).shares(1).tolist()
        [0.25, 0.5, 0.25]
        """
        degrees = strengths(self.adjacency)
        inverse = np.divide(1.0, degrees, out=np.zeros_like(degrees), where=degrees > 0)
        visits = np.zeros(self.adjacency.shape[0])
        visits[row] = 1.0
        total = visits.copy()
        for _ in range(self.length):
            visits = self.adjacency.T @ ((1.0 - self.restart) * inverse * visits)
            total += visits
        total *= self.importance(counted)
        return np.asarray(total / max(float(total.sum()), SMALLEST))
