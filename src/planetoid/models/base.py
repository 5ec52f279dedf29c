"""What the three Planetoid models have in common: parameters, contexts, training and its surroundings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.baselines.reference import reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.engine.contexts import Contexts
from planetoid.engine.shards import current_exchange
from planetoid.errors import ParameterError, PlanetoidWarning, warn
from planetoid.estimator.classifier import GraphClassifier
from planetoid.estimator.embedding import EmbeddingMixin
from planetoid.labels import mask_labels
from planetoid.parameters import RANDOM_STATE, VERBOSE, Constraints, Integer
from planetoid.search_space import Categorical, Float, Int, SearchSpace
from planetoid.training.callbacks import CALLBACKS, Callback, Record
from planetoid.training.fingerprints import fingerprint_of
from planetoid.training.modules import DEVICE
from planetoid.training.settings import Network, Training

if TYPE_CHECKING:
    from planetoid.engine.sampler import Classes, ContextSampler
    from planetoid.training.loss import Loss
    from planetoid.training.supervised_loss import SupervisedLoss
    from planetoid.training.trainer import Trainer

__all__ = ["CLASSIFIER_SPACE", "PlanetoidBase", "Samplers", "cpu_if_divided"]

# Upper limit of weight_decay="auto", which is 1 / (number of classes)^2 below that: among many classes the labels of
# one weigh little in the mean loss, and what suits seven classes would leave a hundred with the most frequent one.
MAX_WEIGHT_DECAY = 0.05

CLASSIFIER_SPACE: SearchSpace = {  # part of the search space of every Planetoid model
    "training__learning_rate": Float(0.005, 0.1),
    "training__weight_decay": Float(1e-5, 0.05),
    "training__steps": Int(50, 500),
    "network__dropout": Categorical((0.0, 0.3, 0.5)),
    "network__activation": Categorical(("softmax", "relu")),
    "network__auxiliary_losses": Categorical((True, False)),
    "network__width": Categorical((None, 64)),
}


def cpu_if_divided(device: str) -> str:
    """Return the device, which is the CPU for tables that are divided among processes."""
    if current_exchange() is None:
        return device
    if device not in ("auto", "cpu"):
        raise ParameterError(
            f"device={device!r}: tables that are divided among processes are trained on CPUs", parameter="device"
        )
    return "cpu"


class Samplers(NamedTuple):
    """Algorithm 1 in joint training and in pre-training, which may take its label pairs first."""

    joint: ContextSampler
    pretraining: ContextSampler
    labels: ContextSampler | None = None
    label_share: float = 0.0  # of the batches of pre-training, which ``labels`` draws


class PlanetoidBase(EmbeddingMixin, GraphClassifier):
    """Parameters and helpers of the Planetoid models; see the models themselves."""

    uses_validation = True
    multi_label = True
    weight_decay_factor: ClassVar[float]  # of weight_decay="auto"

    dimension: int
    network: Network
    contexts: Contexts
    training: Training
    callbacks: Sequence[Callback] | None
    device: str
    random_state: int | None
    verbose: int

    constraints: ClassVar[Constraints] = {
        "dimension": Integer(1),
        "network": Network,
        "contexts": Contexts,
        "training": Training,
        "callbacks": CALLBACKS,
        "device": DEVICE,
        "calibrate": bool,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }

    embedding_: npt.NDArray[np.float32]
    history_: list[Record]

    def _samplers(self, data: Dataset) -> Samplers | None:
        """Return Algorithm 1 over the data's graph, or None where there is nothing to draw."""
        if data.graph.n_edges == 0:
            warn(
                PlanetoidWarning(f"{type(self).__name__}: the graph has no edges, so there is no context to learn from")
            )
            return None
        r2 = self.contexts.walk_share(len(data.labelled), data.n_nodes)
        labels: Classes = data.y if data.Y is None else mask_labels(data.Y, data.labelled)
        counts = np.bincount(data.y[data.y >= 0] if data.Y is None else data.Y[data.labelled].indices)
        if r2 < 1 and not self.contexts.self_pairs and counts.max() < 2:
            if self.contexts.r2 != "auto":
                warn(
                    PlanetoidWarning(
                        f"{type(self).__name__}: each of the {len(counts)} classes has one label, so there is no "
                        f"positive pair of labels and r2={self.contexts.r2} is set to 1"
                    )
                )
            r2 = 1.0
        from planetoid.engine.sampler import ContextSampler

        def sampler(r2: float) -> ContextSampler:
            return ContextSampler(data.graph, self.contexts.replace(r2=r2), labels, seed=self._seed)

        joint = sampler(r2)
        if r2 == 1 or not self.contexts.labels_first:
            return Samplers(joint, joint)
        return Samplers(joint, sampler(1.0), sampler(0.0), 1 - r2)

    def _weight_decay(self, data: Dataset) -> float:
        """Return the weight decay; ``"auto"`` is small where there are many classes."""
        if isinstance(self.training.weight_decay, str):
            return self.weight_decay_factor * min(MAX_WEIGHT_DECAY, 1.0 / data.n_classes**2)
        return float(self.training.weight_decay)

    def _trainer(self, supervised: SupervisedLoss, context: Loss | None, data: Dataset) -> Trainer:
        """Return Algorithm 2 on L_s and, if there are edges, L_u."""
        from planetoid.training.trainer import Schedule, Trainer

        plan = self.training
        losses: list[Loss] = [supervised] if context is None else [supervised, context]
        n = len(losses)
        weights = None if plan.lambda_ is None else (1.0, plan.lambda_)[:n]
        schedule = Schedule(int(plan.steps), (plan.T1, plan.T2)[:n], weights, int(plan.evaluate_every))
        return Trainer(
            losses,
            schedule,
            self.callbacks or (),
            name=type(self).__name__,
            verbose=self.verbose,
            fingerprint=lambda: fingerprint_of(self, self._seed, data),
        )

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        # Features without a graph know less than these models; label propagation is about as accurate as embeddings.
        graph_alone = self.uses_features == "never"
        return reference_sample(data, probabilities, as_accurate=graph_alone, pooled=not graph_alone)
