"""L_s of Algorithm 2: the classification loss over batches of labelled nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from planetoid.data.dataset import Dataset
from planetoid.engine.shards import ColumnShard
from planetoid.multi_label import evaluate_sets
from planetoid.training.batches import Batch, FeatureRows
from planetoid.training.callbacks import Record
from planetoid.training.loss import NetworkLoss, Stateful, Tensors
from planetoid.training.network import Head
from planetoid.training.optimizers import Optimizer
from planetoid.training.randomness import StepRandom
from planetoid.training.table_loss import restore_tables, state_of_table

__all__ = ["Classifier", "EmbeddingTable", "ShardedEmbeddingTable", "SupervisedLoss", "TableClassifier"]

Rows = npt.NDArray[np.int64]


class Classifier(Stateful, Protocol):
    """A torch module that predicts the class of nodes, given as row numbers and a batch of their features."""

    def loss(self, rows: Rows, x: Batch | None, y: torch.Tensor, random: StepRandom) -> torch.Tensor:
        """Return the mean negative log-likelihood, with dropout."""

    def log_probabilities(self, rows: Rows, x: Batch | None) -> torch.Tensor:
        """Return log p(y) of each node, without dropout."""


class EmbeddingTable:
    """Free embeddings e: a table whose rows take plain SGD steps on L_s, as an optimizer of them."""

    def __init__(self, e: torch.Tensor, learning_rate: float) -> None:
        self.e, self.learning_rate = e, learning_rate
        self._used: tuple[torch.Tensor, torch.Tensor] | None = None  # row numbers and the rows themselves

    def __call__(self, rows: Rows, *, track: bool = False) -> torch.Tensor:
        """Return rows of e; :meth:`step` moves those that were tracked last."""
        index = torch.from_numpy(np.asarray(rows)).to(self.e.device)
        values = self.rows(index)
        if track and self.learning_rate > 0:
            values.requires_grad_()
            self._used = index, values
        return values

    def rows(self, index: torch.Tensor | slice) -> torch.Tensor:
        """Return rows of e, with all of their columns."""
        return self.e[index]

    def whole(self, table: torch.Tensor) -> npt.NDArray[np.float32]:
        """Return e, or a table like it, as an array with all columns."""
        return table.cpu().numpy()

    def zero_grad(self) -> None:
        self._used = None

    def step(self) -> None:
        if self._used is not None:
            index, values = self._used
            assert values.grad is not None
            self._add(index, values.grad)
            self._used = None

    def _add(self, index: torch.Tensor, gradient: torch.Tensor) -> None:
        self.e.index_add_(0, index, gradient, alpha=-self.learning_rate)

    def state(self) -> Tensors:
        return {"e": self.e}

    def restore(self, state: Tensors) -> None:
        self.e.copy_(state["e"])


class ShardedEmbeddingTable(EmbeddingTable):
    """Free embeddings of which this process has some columns: rows are put together, steps change the own columns."""

    def __init__(self, e: torch.Tensor, learning_rate: float, shard: ColumnShard) -> None:
        super().__init__(e, learning_rate)
        self.shard = shard

    def rows(self, index: torch.Tensor | slice) -> torch.Tensor:
        rows = index if isinstance(index, slice) else index.numpy()
        return torch.from_numpy(self.shard.rows(self.e.numpy(), rows))

    def whole(self, table: torch.Tensor) -> npt.NDArray[np.float32]:
        """Return the table with all columns in process 0, and with those that they have in the others."""
        return self.shard.whole(table.numpy())

    def _add(self, index: torch.Tensor, gradient: torch.Tensor) -> None:
        # A product and a difference, each rounded: a fused step would depend on the number of columns.
        self.e.index_add_(0, index, gradient[:, self.shard.columns] * self.learning_rate, alpha=-1.0)

    def state(self) -> Tensors:
        return state_of_table("e", self.e, self.shard)

    def restore(self, state: Tensors) -> None:
        restore_tables(self.state(), state)


class TableClassifier(nn.Module):
    """p(y | x, e) of Equation 4, with e from a table."""

    def __init__(self, head: Head, table: EmbeddingTable) -> None:
        super().__init__()
        self.head, self.table = head, table

    def loss(self, rows: Rows, x: Batch | None, y: torch.Tensor, random: StepRandom) -> torch.Tensor:
        """Return L_s of a batch."""
        return self.head.loss(x, self.table(rows, track=True), y, random)

    def log_probabilities(self, rows: Rows, x: Batch | None) -> torch.Tensor:
        """Return log p(y | x, e)."""
        return self.head.log_probabilities(x, self.table(rows))


class _LabelledBatch(NamedTuple):
    rows: Rows
    x: Batch | None
    y: torch.Tensor


class SupervisedLoss(NetworkLoss[Classifier]):
    """L_s = -1/N1 sum log p(y_i | x_i, e_i) over batches of N1 labelled nodes.

    Parameters
    ----------
    data : Dataset
    features : FeatureRows or None
    classifier : Classifier
    optimizers : list of Optimizer
        Of all parameters that L_s changes.
    batch_size : int
        N1; all labelled nodes where there are fewer.
    random : StepRandom
    rows : array, optional
        The labelled nodes to learn from, if not all of them.
    shuffle : bool
        Whether a batch of all labelled nodes is shuffled too.
    """

    name = "loss"

    def __init__(
        self,
        data: Dataset,
        features: FeatureRows | None,
        classifier: Classifier,
        optimizers: Sequence[Optimizer],
        *,
        batch_size: int,
        random: StepRandom,
        rows: Rows | None = None,
        shuffle: bool = False,
    ) -> None:
        super().__init__(classifier, optimizers)
        self.features, self.random = features, random
        self.codes, self.label_sets = data.y, data.Y
        self.rows = data.labelled if rows is None else rows
        self.batch_size = min(batch_size, len(self.rows))
        self.validation_rows, codes = data.validation_nodes
        self.validation_codes = codes.astype(np.int64)
        self.has_validation = len(self.validation_rows) > 0
        takes_all = self.batch_size == len(self.rows) and not shuffle
        self._whole = self._batch(self.rows) if takes_all else None

    def _batch(self, rows: Rows) -> _LabelledBatch:
        x = None if self.features is None else self.features.batch(rows)
        return _LabelledBatch(rows, x, self._labels(rows))

    def _labels(self, rows: Rows) -> torch.Tensor:
        """Return the class codes of nodes, or a matrix of 0 and 1 if they may have several labels."""
        labels = self.codes[rows].astype(np.int64)
        if self.label_sets is not None:
            labels = self.label_sets[rows].toarray().astype(np.float32)
        return torch.from_numpy(labels).to(self.random.device)

    def add_gradient(self, number: int, weight: float) -> float:
        random = self.random.at(number + 1)
        batch = self._whole
        if batch is None:
            batch = self._batch(self.rows[random.permutation(len(self.rows), self.batch_size).cpu().numpy()])
        loss = self.network.loss(batch.rows, batch.x, batch.y, random)
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def validation_scores(self) -> torch.Tensor:
        """Return log p(y) of the validation nodes."""
        with torch.no_grad():
            rows = self.validation_rows
            return self.network.log_probabilities(rows, None if self.features is None else self.features.batch(rows))

    def evaluate(self) -> Record:
        if not self.has_validation:
            return {}
        scores = self.validation_scores()
        if self.label_sets is not None:
            return evaluate_sets(self.label_sets[self.validation_rows], scores.exp().cpu().numpy())
        truth = torch.from_numpy(self.validation_codes).to(scores.device)
        return {
            "val_accuracy": float((scores.argmax(dim=1) == truth).float().mean()),
            "val_loss": float(functional.nll_loss(scores, truth)),
        }
