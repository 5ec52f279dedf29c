"""A feed-forward network with a penalty on what differs along edges; importing this imports torch.

Manifold regularization by a network and semi-supervised embedding are the same
training: a loss on labelled rows, plus a weight times the mean, over edges by
their weight, of ``|g(x_i) - g(x_j)|^2``. They differ in what g is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from planetoid.graph import Graph
from planetoid.training import Branch, FeatureRows, InputLinear, StepRandom
from planetoid.training.batches import Batch

__all__ = [
    "EdgeSampler",
    "Schedule",
    "SmoothNetwork",
    "predict",
    "set_weights",
    "squared_distance",
    "train",
    "weights_of",
]

ROWS_AT_ONCE = 16_384
EVALUATE_EVERY = 10  # steps, where there are validation labels


class SmoothNetwork(nn.Module):
    """Hidden layers and a softmax; g is "output", "hidden" (the last layer) or "auxiliary" (a layer beside it)."""

    def __init__(
        self,
        n_features: int,
        n_classes: int,
        *,
        layers: int,
        width: int,
        activation: str,
        dropout: float,
        embedding: str,
        dimension: int,
        random: StepRandom,
    ) -> None:
        super().__init__()
        self.hidden = Branch(n_features, layers, width, activation, dropout, random)
        self.output = InputLinear(self.hidden.n_outputs, n_classes, random)
        self.auxiliary = InputLinear(self.hidden.n_outputs, dimension, random) if embedding == "auxiliary" else None
        self.embedding = embedding

    def logits(self, rows: Batch, random: StepRandom | None = None) -> torch.Tensor:
        """Scores of the classes; with dropout where ``random`` is given."""
        last, _ = self.hidden(rows, random)
        return torch.as_tensor(self.output(last))

    def embed(self, rows: Batch) -> torch.Tensor:
        """Return g(x), without dropout."""
        last, _ = self.hidden(rows)
        if self.embedding == "hidden":
            return torch.as_tensor(last)
        if self.auxiliary is not None:
            return torch.as_tensor(self.auxiliary(last))
        return torch.softmax(self.output(last), dim=1)


@dataclass(frozen=True)
class Schedule:
    """How long and how fast to train, and how much the parts count.

    ``margin`` above zero also pushes random pairs apart until their squared
    distance is that large (Weston et al.'s loss for pairs that are no neighbours).
    """

    penalty: float
    margin: float
    steps: int
    labelled_batch: int
    edge_batch: int
    learning_rate: float
    weight_decay: float
    seed: int


class EdgeSampler:
    """Draws edges with a probability in proportion to their weight."""

    def __init__(self, graph: Graph) -> None:
        self.source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
        self.target = graph.indices
        self.ends = None if graph.weights is None else np.cumsum(graph.weights, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.target)

    def draw(self, count: int, generator: np.random.Generator) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the two ends of ``count`` edges, drawn with replacement."""
        if self.ends is None:
            chosen = generator.integers(0, len(self), count)
        else:
            chosen = np.searchsorted(self.ends, generator.random(count) * self.ends[-1], side="right")
            chosen = np.minimum(chosen, len(self) - 1)
        return self.source[chosen], self.target[chosen]


def squared_distance(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Squared distance of each row of one embedding from that of the other."""
    return (one - other).square().sum(dim=1)


def train(
    network: SmoothNetwork,
    rows: FeatureRows,
    y: npt.NDArray[np.int32],
    edges: EdgeSampler,
    plan: Schedule,
    validation: npt.NDArray[np.int32] | None = None,
) -> list[float]:
    """Train in place; return the loss of each step.

    Labelled rows and edges have generators of their own, so the penalty changes
    neither the batches of the loss nor its dropout. With validation labels the
    network ends as it was when it labelled most of those nodes rightly.
    """
    labelled = np.flatnonzero(y >= 0)
    targets = torch.from_numpy(y[labelled].astype(np.int64))
    random, pairs = StepRandom(plan.seed), np.random.default_rng(plan.seed)
    optimizer = torch.optim.Adam(
        network.parameters(), lr=plan.learning_rate, weight_decay=plan.weight_decay, fused=True
    )
    best = Best(network, rows, validation)
    history = []
    for step in range(plan.steps):
        random.at(step + 1)
        chosen = random.permutation(len(labelled), plan.labelled_batch)
        logits = network.logits(rows.batch(labelled[chosen.numpy()]), random)
        loss = functional.cross_entropy(logits, targets[chosen])
        if plan.penalty > 0 and len(edges):
            loss = loss + plan.penalty * _pair_loss(network, rows, edges, plan, pairs)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        history.append(float(loss.detach()))
        if (step + 1) % EVALUATE_EVERY == 0 or step + 1 == plan.steps:
            best.look()
    best.restore()
    return history


class Best:
    """Remembers the network at its best on validation labels; without them it does nothing."""

    def __init__(self, network: SmoothNetwork, rows: FeatureRows, validation: npt.NDArray[np.int32] | None) -> None:
        self.network, self.rows = network, rows
        self.held = np.empty(0, np.int64) if validation is None else np.flatnonzero(validation >= 0)
        codes = np.empty(0, np.int64) if validation is None else validation[self.held].astype(np.int64)
        self.codes = torch.from_numpy(codes)
        self.accuracy = -1.0
        self.kept: dict[str, torch.Tensor] = {}

    def look(self) -> None:
        """Measure, and keep the network if it is better than ever."""
        if len(self.held) == 0:
            return
        with torch.no_grad():
            found = self.network.logits(self.rows.batch(self.held)).argmax(dim=1)
        accuracy = float(torch.eq(found, self.codes).float().mean())
        if accuracy > self.accuracy:
            self.accuracy = accuracy
            self.kept = {name: value.clone() for name, value in self.network.state_dict().items()}

    def restore(self) -> None:
        """Bring the best network back."""
        if self.kept:
            self.network.load_state_dict(self.kept)


def _pair_loss(
    network: SmoothNetwork, rows: FeatureRows, edges: EdgeSampler, plan: Schedule, pairs: np.random.Generator
) -> torch.Tensor:
    source, target = edges.draw(plan.edge_batch, pairs)
    placed = network.embed(rows.batch(source))
    near = squared_distance(placed, network.embed(rows.batch(target))).mean()
    if plan.margin == 0:
        return near
    anyone = pairs.integers(0, len(rows), len(source))
    apart = squared_distance(placed, network.embed(rows.batch(anyone)))
    return near + (plan.margin - apart).clamp(min=0).mean()


def predict(network: SmoothNetwork, rows: FeatureRows, *, embed: bool = False) -> npt.NDArray[np.float32]:
    """Return class probabilities, or g, of all rows, some at a time."""
    parts = []
    with torch.no_grad():
        for start in range(0, len(rows), ROWS_AT_ONCE):
            batch = rows.batch(slice(start, start + ROWS_AT_ONCE))
            part = network.embed(batch) if embed else torch.softmax(network.logits(batch), dim=1)
            parts.append(part.numpy())
    return np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)


def weights_of(network: SmoothNetwork) -> dict[str, npt.NDArray[Any]]:
    """Return the parameters as arrays, for saving."""
    return {name: value.numpy() for name, value in network.state_dict().items()}


def set_weights(network: SmoothNetwork, weights: dict[str, npt.NDArray[Any]]) -> SmoothNetwork:
    """Give a new network the parameters of a saved one."""
    network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
    return network
