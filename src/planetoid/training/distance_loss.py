"""The squared distance of embeddings along edges: the graph term of manifold regularization and of SemiEmb."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from planetoid.graph import Graph
from planetoid.training.batches import Batch, FeatureRows
from planetoid.training.loss import Loss, Tensors

__all__ = ["EdgeSampler", "Edges", "PairDistanceLoss", "squared_distance"]


class Edges(NamedTuple):
    """The two ends of some edges."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int32]


class EdgeSampler:
    """Draws edges with probability proportional to their weight."""

    def __init__(self, graph: Graph) -> None:
        self.source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        self.target = graph.indices
        self.cumulative = None if graph.weights is None else np.cumsum(graph.weights, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.target)

    def draw(self, count: int, generator: np.random.Generator) -> Edges:
        """Return ``count`` edges, drawn with replacement."""
        if self.cumulative is None:
            chosen = generator.integers(0, len(self), count)
        else:
            chosen = np.searchsorted(self.cumulative, generator.random(count) * self.cumulative[-1], side="right")
            chosen = np.minimum(chosen, len(self) - 1)
        return Edges(self.source[chosen], self.target[chosen])


def squared_distance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the squared distance of each row of one embedding from that of the other."""
    return (one - other).square().sum(dim=1)


class PairDistanceLoss(Loss):
    """Mean of |g(x_i) - g(x_j)|^2 over edges drawn by weight; random pairs are pushed apart up to a margin.

    It owns no parameters: in a weighted sum the supervised loss takes the step. Edges have a generator of their own, so
    that the weight of this loss changes neither the labelled batches nor their dropout.

    Parameters
    ----------
    edges : EdgeSampler
    features : FeatureRows
    embed : callable
        g: maps a batch of features to embeddings.
    batch_size : int
        Edges per step.
    margin : float
        Squared distance up to which random pairs repel each other (Weston et al.); 0: not at all.
    seed : int
    """

    name = "pair_loss"

    def __init__(
        self,
        edges: EdgeSampler,
        features: FeatureRows,
        embed: Callable[[Batch], torch.Tensor],
        *,
        batch_size: int,
        margin: float,
        seed: int,
    ) -> None:
        self.edges, self.features, self.embed = edges, features, embed
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
        """Return the loss of the next edges."""
        source, target = self.edges.draw(self.batch_size, self.generator)
        centre = self._embedded(source)
        near = squared_distance(centre, self._embedded(target)).mean()
        if self.margin == 0:
            return near
        others = self.generator.integers(0, len(self.features), len(source))
        apart = squared_distance(centre, self._embedded(others))
        return near + (self.margin - apart).clamp(min=0).mean()

    def _embedded(self, rows: npt.NDArray[np.int64] | npt.NDArray[np.int32]) -> torch.Tensor:
        return self.embed(self.features.batch(rows))

    def state(self) -> Tensors:
        text = json.dumps(self.generator.bit_generator.state)
        return {"generator": torch.tensor(list(text.encode()), dtype=torch.uint8)}

    def restore(self, state: Tensors) -> None:
        self.generator.bit_generator.state = json.loads(bytes(state["generator"].tolist()))
