"""L_s + L_u of :class:`~planetoid.Planetoid`: labels, and the agreement of two samples of a node's contexts."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.engine.barrier import run_in_step
from planetoid.engine.consistency import Examples, FeatureArrays, Layers, Memory, Objective, read_batch, take_step
from planetoid.engine.neighbourhoods import Walks, new_visits
from planetoid.engine.shards import column_shard
from planetoid.training.callbacks import Record
from planetoid.training.loss import Loss
from planetoid.training.settings import Consistency
from planetoid.utils.memory import BYTES_PER_WEIGHT, require_memory

__all__ = ["ConsistencyLoss", "feature_arrays", "new_layers"]

MAX_WEIGHT_DECAY = 0.005
FEW_CLASSES = 6  # with fewer, the weight decay is smaller, since there are fewer labels in all
MANY_LABELS = 20  # per class, at which the weight decay is largest
UNITS_TOGETHER = 8  # hidden units that are in one process
UNITS_PER_THREAD = 64  # at least: with fewer, threads wait for each other longer than they work

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

    Several processes divide the hidden units: each has some columns of W1, and all have the rest.

    Parameters
    ----------
    layers : Layers
        Whole; where they are not divided, they are changed in place.
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
        self.x, self.walks, self.examples, self.plan = x, walks, examples, plan
        self.shard = column_shard(len(layers.b1), UNITS_TOGETHER)
        if self.shard is not None:
            layers = layers._replace(W1=np.ascontiguousarray(layers.W1[:, self.shard.columns]))
        self.layers, self.first_unit = layers, 0 if self.shard is None else self.shard.columns.start
        self.n_threads = max(1, min(n_threads, layers.W1.shape[1] // UNITS_PER_THREAD))
        self.has_validation = evaluate is not None
        self._evaluate = evaluate
        self.first, self.second, self.gradients = (Layers(*map(np.zeros_like, layers)) for _ in range(3))
        self.n_labelled = min(plan.n_labelled, len(examples.labelled))
        self.n_unlabelled = plan.n_unlabelled if len(examples.unlabelled) else 0
        self.weight_decay = self._weight_decay()
        self.memory = self._new_memory()

    def _weight_decay(self) -> float:
        """Return the weight decay; ``"auto"`` is small where there are few labels or very many, in all or per class."""
        if not isinstance(self.plan.weight_decay, str):
            return float(self.plan.weight_decay)
        n_classes = len(self.layers.b2)
        labels = len(self.examples.labelled) / n_classes / MANY_LABELS
        by_classes = min(MAX_WEIGHT_DECAY * min(1.0, n_classes / FEW_CLASSES), 0.25 / n_classes**2)
        return float(by_classes * min(labels**0.5, 1.0 / labels))

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
            projected=np.zeros((n_slots, self.layers.W1.shape[1]), np.float32),
            hidden=np.zeros((rows, n_units), np.float32),
            gate=np.zeros((rows, n_units), np.float32),
            probability=np.zeros((rows, n_classes), np.float32),
            target=np.zeros((self.n_unlabelled, n_classes), np.float32),
            W2_turned=np.zeros((n_classes, n_units), np.float32),
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
            confidence=float(plan.confidence) / (n_classes + 1),  # 2 / 2 would be a probability of 1
            consistency=float(plan.weight * min(1.0, step / plan.warmup if plan.warmup else 1.0)),
            alignment=float(plan.alignment),
            teaching=max(0.0, 1.0 - step / plan.teaching) if has_teacher else 0.0,
            learning_rate=float(plan.learning_rate * 0.5 * (1.0 + cos(pi * step / plan.steps))),
            weight_decay=self.weight_decay,
        )

    def step(self, number: int) -> float:
        objective, hidden = self._objective(number), self.memory.hidden
        if self.shard is not None:
            hidden.fill(0.0)
        run_in_step(
            read_batch, self.n_threads, number, self.walks, self.x, self.examples, objective, self.first_unit,
            self.layers.W1, self.memory,
        )  # fmt: skip
        if self.shard is not None:
            self.shard.complete(hidden)
        run_in_step(
            take_step, self.n_threads, number, self.walks.seed, self.examples, objective, self.first_unit, self.layers,
            self.gradients, self.first, self.second, self.memory,
        )  # fmt: skip
        return float(self.memory.losses[0])

    def whole_layers(self) -> Layers:
        """Return the layers with all units, in every process."""
        if self.shard is None:
            return self.layers
        return self.layers._replace(W1=self.shard.gathered(self.layers.W1))

    def evaluate(self) -> Record:
        record: Record = {"context_loss": float(self.memory.losses[1])}
        return record if self._evaluate is None else record | self._evaluate()

    def state(self) -> Arrays:  # type: ignore[override]
        named = {"layers": self.layers, "first": self.first, "second": self.second}
        arrays: Arrays = {"mean": self.memory.mean}
        for name, part in named.items():
            values = {f"{name}.{field}": value for field, value in part._asdict().items()}
            if self.shard is not None:
                values |= self.shard.split(f"{name}.W1", values.pop(f"{name}.W1"))
            arrays |= values
        return arrays

    def restore(self, state: Arrays) -> None:  # type: ignore[override]
        for name, value in self.state().items():
            value[...] = state[name]
