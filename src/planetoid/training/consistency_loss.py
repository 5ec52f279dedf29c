"""L_s + L_u of :class:`~planetoid.Planetoid`: labels, and the agreement of two samples of a node's contexts."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.barrier import run_in_step
from planetoid.engine.consistency import Examples, FeatureArrays, Layers, Memory, Objective, train
from planetoid.engine.neighbourhoods import Walks, new_visits
from planetoid.training.callbacks import Record
from planetoid.training.loss import Loss
from planetoid.training.settings import Consistency
from planetoid.utils.memory import BYTES_PER_WEIGHT, require_memory

__all__ = ["ConsistencyLoss", "feature_arrays", "new_layers"]

MAX_WEIGHT_DECAY = 0.005
MANY_LABELS = 20  # per class, from which on the weight decay no longer grows

Arrays = dict[str, npt.NDArray[np.float32]]


def feature_arrays(x: sparse.csr_array) -> FeatureArrays:
    """Return features in the types of the compiled code."""
    return FeatureArrays(x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(np.float32))


def new_layers(n_features: int, n_units: int, n_classes: int, seed: int) -> Layers:
    """Return layers with random weights (Glorot and Bengio) and no bias."""
    require_memory(BYTES_PER_WEIGHT * n_units * (n_features + n_classes))
    random = np.random.default_rng([seed, 2])

    def uniform(rows: int, columns: int) -> npt.NDArray[np.float32]:
        limit = np.float32(np.sqrt(6 / (rows + columns)))
        return np.asarray((random.random((rows, columns), dtype=np.float32) * 2 - 1) * limit, dtype=np.float32)

    return Layers(
        uniform(n_features, n_units),
        np.zeros(n_units, np.float32),
        uniform(n_units, n_classes),
        np.zeros(n_classes, np.float32),
    )


class ConsistencyLoss(Loss):
    """One step at a time on L_s + weight L_u, by the compiled code of :mod:`planetoid.engine.consistency`.

    Parameters
    ----------
    layers : Layers
        Changed in place.
    x : FeatureArrays
    walks : Walks
    examples : Examples
    plan : Consistency
    n_threads : int
    evaluate : callable, optional
        Returns metrics on the validation labels.
    """

    name = "loss"

    def __init__(
        self,
        layers: Layers,
        x: FeatureArrays,
        walks: Walks,
        examples: Examples,
        plan: Consistency,
        *,
        n_threads: int = 1,
        evaluate: Callable[[], Record] | None = None,
    ) -> None:
        self.layers, self.x, self.walks, self.examples, self.plan = layers, x, walks, examples, plan
        self.n_threads = n_threads
        self.has_validation = evaluate is not None
        self._evaluate = evaluate
        self.first, self.second, self.gradients = (Layers(*map(np.zeros_like, layers)) for _ in range(3))
        self.n_labelled = min(plan.n_labelled, len(examples.labelled))
        self.n_unlabelled = plan.n_unlabelled if len(examples.unlabelled) else 0
        self.weight_decay = self._weight_decay()
        self.memory = self._new_memory()

    def _weight_decay(self) -> float:
        """Return the weight decay; ``"auto"`` is small where there are many classes or few labels."""
        if not isinstance(self.plan.weight_decay, str):
            return float(self.plan.weight_decay)
        n_classes = len(self.layers.b2)
        per_class = len(self.examples.labelled) / n_classes
        return float(min(MAX_WEIGHT_DECAY, 0.25 / n_classes**2) * min(1.0, per_class / MANY_LABELS) ** 0.5)

    def _new_memory(self) -> Memory:
        batch = self.n_labelled + self.n_unlabelled
        n_nodes = len(self.x.indptr) - 1
        (n_units, n_classes), rows = self.layers.W2.shape, 2 * batch
        visits = new_visits(n_nodes, rows, self.walks)
        n_slots = len(visits.contexts)
        per_node = np.sort(np.diff(self.x.indptr))
        most = int(per_node[-n_slots:].sum())  # features of the contexts of one batch
        return Memory(
            nodes=np.zeros(rows, np.int32),
            codes=np.zeros(self.n_labelled, np.int32),
            visits=visits,
            kept_first=np.zeros(n_slots, np.int64),
            kept_count=np.zeros(n_slots, np.int64),
            kept_column=np.zeros(most, np.int32),
            kept_value=np.zeros(most, np.float32),
            projected=np.zeros((n_slots, n_units), np.float32),
            hidden=np.zeros((rows, n_units), np.float32),
            gate=np.zeros((rows, n_units), np.float32),
            probability=np.zeros((rows, n_classes), np.float32),
            target=np.zeros((self.n_unlabelled, n_classes), np.float32),
            mean=np.full(n_classes, -1, np.float32),
            n_slots=np.zeros(1, np.int64),
            losses=np.zeros(2),
        )

    def _objective(self, step: int) -> Objective:
        plan, n_classes = self.plan, len(self.layers.b2)
        has_teacher = len(self.examples.teacher) > 0 and plan.teaching > 0
        return Objective(
            n_labelled=self.n_labelled,
            n_unlabelled=self.n_unlabelled,
            drop_features=round(256 * plan.feature_dropout),
            drop_units=round(256 * plan.dropout),
            temperature=float(plan.temperature),
            confidence=float(plan.confidence) / n_classes,
            consistency=float(plan.weight * min(1.0, step / plan.warmup if plan.warmup else 1.0)),
            alignment=float(plan.alignment),
            teaching=max(0.0, 1.0 - step / plan.teaching) if has_teacher else 0.0,
            learning_rate=float(plan.learning_rate * 0.5 * (1.0 + cos(pi * step / plan.steps))),
            weight_decay=self.weight_decay,
        )

    def step(self, number: int) -> float:
        run_in_step(
            train, self.n_threads, number, self.walks, self.x, self.examples, self._objective(number),
            self.layers, self.gradients, self.first, self.second, self.memory,
        )  # fmt: skip
        return float(self.memory.losses[0])

    def evaluate(self) -> Record:
        record: Record = {"context_loss": float(self.memory.losses[1])}
        return record if self._evaluate is None else record | self._evaluate()

    def state(self) -> Arrays:  # type: ignore[override]
        named = {"layers": self.layers, "first": self.first, "second": self.second}
        arrays = {f"{name}.{field}": value for name, part in named.items() for field, value in part._asdict().items()}
        return arrays | {"mean": self.memory.mean}

    def restore(self, state: Arrays) -> None:  # type: ignore[override]
        for name, value in self.state().items():
            value[...] = state[name]
