"""The squared distance of embeddings within walks: the graph term of manifold regularization and of SemiEmb."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from planetoid.engine.contexts import Contexts
from planetoid.graph import Graph
from planetoid.training.batches import Batch, FeatureRows
from planetoid.training.loss import Loss, Tensors

__all__ = ["NodePairs", "PairDistanceLoss", "WalkPairs", "squared_distance"]

PROBED = 2**14  # draws that tell how many pairs have features at both ends


class NodePairs(NamedTuple):
    """Two nodes each, as rows."""

    one: npt.NDArray[np.int64]
    other: npt.NDArray[np.int64]


class WalkPairs:
    """Draws two different nodes of a random walk that are less than d steps apart and both have features.

    These are the positive pairs of Algorithm 1 with i != c. Walks pass through nodes without features, so that also
    the rows of a bipartite graph, of which one side has features, are drawn together.

    Parameters
    ----------
    graph : Graph
    has_features : array of bool
    contexts : Contexts
        Walk length q and window d; the share of positive pairs does not apply.
    seed : int

    Attributes
    ----------
    share : float
        Of all pairs, roughly: those of two nodes with features; 0 if none was found.
    position : int
        Number of the next draw.
    """

    def __init__(self, graph: Graph, has_features: npt.NDArray[np.bool_], contexts: Contexts, seed: int) -> None:
        from planetoid.engine.sampler import ContextSampler

        self.has_features, self.position, self.share = has_features, 0, 0.0
        if graph.n_edges > 0:
            chosen = contexts.replace(r1=1.0, r2=1.0, self_pairs=False)
            self.sampler = ContextSampler(graph, chosen, seed=seed)
            self.share = len(self._next(PROBED).one) / PROBED

    def draw(self, count: int) -> NodePairs:
        """Return the next ``count`` pairs."""
        parts: list[NodePairs] = []
        missing = count
        while missing > 0:
            parts.append(self._next(int(np.ceil(missing / self.share))))
            missing -= len(parts[-1].one)
        one, other = (np.concatenate(columns)[:count] for columns in zip(*parts, strict=True))
        return NodePairs(one, other)

    def _next(self, size: int) -> NodePairs:
        """Return those of the next ``size`` pairs that are two nodes with features."""
        pairs = self.sampler.draw(size, self.position)
        self.position += size
        kept = self.has_features[pairs.i] & self.has_features[pairs.c] & (pairs.i != pairs.c)
        return NodePairs(pairs.i[kept], pairs.c[kept])


def squared_distance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the squared distance of each row of one embedding from that of the other."""
    return (one - other).square().sum(dim=1)


class PairDistanceLoss(Loss):
    """Mean of |g(x_i) - g(x_j)|^2 over pairs of nodes from walks; random pairs are pushed apart up to a margin.

    It owns no parameters: in a weighted sum the supervised loss takes the step. Pairs have a generator of their own, so
    that the weight of this loss changes neither the labelled batches nor their dropout.

    Parameters
    ----------
    pairs : WalkPairs
    features : FeatureRows
    embed : callable
        g: maps a batch of features to embeddings.
    batch_size : int
        Pairs per step.
    margin : float
        Squared distance up to which random pairs of nodes with features repel each other (Weston et al.); 0: not at
        all.
    seed : int
    """

    name = "pair_loss"

    def __init__(
        self,
        pairs: WalkPairs,
        features: FeatureRows,
        embed: Callable[[Batch], torch.Tensor],
        *,
        batch_size: int,
        margin: float,
        seed: int,
    ) -> None:
        self.pairs, self.features, self.embed = pairs, features, embed
        self.nodes = np.flatnonzero(pairs.has_features)
        self.batch_size, self.margin = batch_size, margin
        self.generator = np.random.default_rng(seed)

    def zero_grad(self) -> None:
        """Nothing: the network's gradients belong to the supervised loss."""

    def add_gradient(self, number: int, weight: float) -> float:
        loss = self.loss()
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def apply(self) -> None:
        """Nothing: the network's parameters belong to the supervised loss."""

    def loss(self) -> torch.Tensor:
        """Return the loss of the next pairs."""
        one, other = self.pairs.draw(self.batch_size)
        centre = self._embedded(one)
        near = squared_distance(centre, self._embedded(other)).mean()
        if self.margin == 0:
            return near
        others = self.nodes[self.generator.integers(0, len(self.nodes), len(one))]
        apart = squared_distance(centre, self._embedded(others))
        return near + (self.margin - apart).clamp(min=0).mean()

    def _embedded(self, rows: npt.NDArray[np.int64]) -> torch.Tensor:
        return self.embed(self.features.batch(rows))

    def state(self) -> Tensors:
        text = json.dumps(self.generator.bit_generator.state)
        return {
            "generator": torch.tensor(list(text.encode()), dtype=torch.uint8),
            "position": torch.tensor(self.pairs.position),
        }

    def restore(self, state: Tensors) -> None:
        self.generator.bit_generator.state = json.loads(bytes(state["generator"].tolist()))
        self.pairs.position = int(state["position"])
