"""A feed-forward network with a penalty on differences within walks; importing this imports torch.

Manifold regularization by a network and semi-supervised embedding minimise the same sum: the loss on labelled nodes,
plus a weight times the mean of ``|g(x_i) - g(x_j)|^2`` over pairs of nodes. They differ in what g is. As in the paper,
which built both by changing the objective of Planetoid, the pairs are those of Planetoid's walks; both nodes of a pair
have features.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows
from planetoid.engine.contexts import Contexts
from planetoid.errors import PlanetoidWarning, warn
from planetoid.explanation.contributions import Contributions, Question, by_label_gradient
from planetoid.training.batches import Batch, FeatureRows
from planetoid.training.callbacks import EarlyStopping, Record
from planetoid.training.distance_loss import PairDistanceLoss, WalkPairs
from planetoid.training.layers import Branch, InputLinear
from planetoid.training.loss import Loss
from planetoid.training.optimizers import NamedOptimizer
from planetoid.training.prediction import predict_in_batches
from planetoid.training.randomness import StepRandom, one_thread
from planetoid.training.softmax_reasons import products_with
from planetoid.training.supervised_loss import SupervisedLoss
from planetoid.training.trainer import Schedule, Trainer

__all__ = ["SmoothNetwork", "SmoothTraining", "embed", "label_reasons", "predict", "train"]

PREDICT_ROWS = 16_384
WALKS = Contexts(q=10, d=3)  # as the paper prints them


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

    def logits(self, x: Batch, random: StepRandom | None = None) -> torch.Tensor:
        """Return the scores of the classes; with dropout where ``random`` is given."""
        last, _ = self.hidden(x, random)
        return torch.as_tensor(self.output(last))

    def embed(self, x: Batch) -> torch.Tensor:
        """Return g(x), without dropout."""
        last, _ = self.hidden(x)
        if self.embedding == "hidden":
            return torch.as_tensor(last)
        if self.auxiliary is not None:
            return torch.as_tensor(self.auxiliary(last))
        return torch.softmax(self.output(last), dim=1)

    def loss(self, rows: npt.NDArray[np.int64], x: Batch | None, y: torch.Tensor, random: StepRandom) -> torch.Tensor:
        """Return the mean negative log-likelihood of a batch."""
        assert x is not None
        return functional.cross_entropy(self.logits(x, random), y)

    def log_probabilities(self, rows: npt.NDArray[np.int64], x: Batch | None) -> torch.Tensor:
        """Return log p(y | x)."""
        assert x is not None
        return torch.log_softmax(self.logits(x), dim=1)


@dataclass(frozen=True)
class SmoothTraining:
    """How a smooth network is trained.

    Attributes
    ----------
    penalty : float
        Weight of the loss over pairs.
    margin : float
        See :class:`~planetoid.training.distance_loss.PairDistanceLoss`.
    steps : int
    n_labelled, n_pairs : int
        Labelled nodes and pairs per step.
    learning_rate, weight_decay : float
        Of Adam.
    seed : int
    name : str
        Shown beside the progress bar.
    verbose : int
    """

    penalty: float
    margin: float
    steps: int
    n_labelled: int
    n_pairs: int
    learning_rate: float
    weight_decay: float
    seed: int
    name: str
    verbose: int = 0


def train(network: SmoothNetwork, features: FeatureRows, data: Dataset, plan: SmoothTraining) -> list[Record]:
    """Train in place and return the history; with validation labels the best network is restored at the end."""
    optimizer = NamedOptimizer("adam", (network.parameters(), plan.learning_rate), weight_decay=plan.weight_decay)
    supervised = SupervisedLoss(
        data, features, network, [optimizer], batch_size=plan.n_labelled, random=StepRandom(plan.seed), shuffle=True
    )
    losses: list[Loss] = [supervised]
    pairs = WalkPairs(data.graph, data.has_features, WALKS, plan.seed)
    if plan.penalty > 0 and pairs.share == 0 and data.graph.n_edges > 0:
        warn(PlanetoidWarning(f"{plan.name}: no walk joins two nodes with features, so the graph is not used"))
    if plan.penalty > 0 and pairs.share > 0:
        losses.append(
            PairDistanceLoss(
                pairs, features, network.embed, batch_size=plan.n_pairs, margin=plan.margin, seed=plan.seed
            )
        )
    trainer = Trainer(
        losses,
        Schedule(plan.steps, weights=(1.0, plan.penalty)[: len(losses)]),
        [EarlyStopping(patience=None)],
        name=plan.name,
        verbose=plan.verbose,
    )
    with one_thread():
        trainer.run()
    return trainer.history


def predict(network: SmoothNetwork, features: FeatureRows) -> npt.NDArray[np.float32]:
    """Return class probabilities of all rows."""
    return predict_in_batches(
        lambda rows: torch.softmax(network.logits(features.batch(rows)), dim=1), len(features), PREDICT_ROWS
    )


def label_reasons(network: SmoothNetwork, labelled: FeatureRows, row: FeatureRows, question: Question) -> Contributions:
    """Return what labelled nodes, whose features are ``labelled``, add to the score of a row through the last layer."""
    data = question.known_data()

    def last(features: FeatureRows) -> Rows:
        if not len(network.hidden.layers):
            return features.X

        def output(rows: slice) -> torch.Tensor:
            hidden, _ = network.hidden(features.batch(rows))
            return torch.as_tensor(hidden)

        return predict_in_batches(output, len(features), PREDICT_ROWS)

    products = products_with(last(labelled), last(row))
    return by_label_gradient(data, data.labelled, products, predict(network, labelled), question.contrast)


def embed(network: SmoothNetwork, features: FeatureRows) -> npt.NDArray[np.float32]:
    """Return g of all rows."""
    return predict_in_batches(lambda rows: network.embed(features.batch(rows)), len(features), PREDICT_ROWS)
