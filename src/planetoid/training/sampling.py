"""``new_sampler``: Algorithm 1 with the parameters of a :class:`~planetoid.engine.contexts.Contexts` object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planetoid.engine.contexts import Contexts
from planetoid.graph import Graph

if TYPE_CHECKING:
    from planetoid.engine.sampler import ContextSampler

__all__ = ["new_sampler"]


def new_sampler(
    graph: Graph, contexts: Contexts, labels: npt.NDArray[np.int32] | None = None, *, seed: int = 0
) -> ContextSampler:
    """Return a sampler; ``contexts.r2`` is a number, or ``"auto"`` without labels."""
    from planetoid.engine.sampler import ContextSampler

    n_labelled = 0 if labels is None else int((labels >= 0).sum())
    return ContextSampler(
        graph,
        labels,
        r1=contexts.r1,
        r2=contexts.walk_share(n_labelled, graph.n_nodes),
        q=contexts.q,
        d=contexts.d,
        self_pairs=contexts.self_pairs,
        node2vec_p=contexts.node2vec_p,
        node2vec_q=contexts.node2vec_q,
        seed=seed,
    )
