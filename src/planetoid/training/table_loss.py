"""L_u (Equation 3) over embedding tables that a skip-gram engine changes in place, whole or in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from planetoid.engine.arrays import Table
from planetoid.engine.shards import ColumnShard
from planetoid.engine.skipgram import SkipGram
from planetoid.training.loss import Loss, Tensors

if TYPE_CHECKING:
    import torch

    from planetoid.engine.on_device import DeviceSkipGram

    AnySkipGram: TypeAlias = SkipGram | DeviceSkipGram

__all__ = ["SkipGramLoss", "TableContextLoss", "restore_tables", "state_of_table"]


def state_of_table(name: str, table: torch.Tensor, shard: ColumnShard | None) -> Tensors:
    """Return a table for a checkpoint: whole or, of a process that has some of the columns, in blocks of them."""
    return {name: table} if shard is None else shard.split(name, table)


def restore_tables(own: Tensors, state: Tensors) -> None:
    """Load tables of :func:`state_of_table` in place."""
    for name, table in own.items():
        table[:] = state[name]


class SkipGramLoss(Loss):
    """L_u alone: pre-training of two tables, without a classifier.

    Parameters
    ----------
    skipgram : SkipGram
    n_walks : float
    shard : ColumnShard, optional
        If the tables have some of the columns.
    """

    name = "context_loss"

    def __init__(self, skipgram: SkipGram, n_walks: float, shard: ColumnShard | None = None) -> None:
        self.skipgram, self.shard = skipgram, shard
        self.n_pretrain = skipgram.n_batches(n_walks)
        self.pairs_per_batch = float(skipgram.n_slots * skipgram.sampler.pairs_per_walk)

    def pretrain(self, first: int, last: int) -> float:
        return self.skipgram.train(first, last, self.n_pretrain)

    def state(self) -> Tensors:
        tables: dict[str, Table] = {"e": self.skipgram.e, "w": self.skipgram.w}
        state: Tensors = {}
        for name, table in tables.items():
            state |= state_of_table(name, table, self.shard)  # type: ignore[arg-type]  # arrays, without torch
        return state

    def restore(self, state: Tensors) -> None:
        restore_tables(self.state(), state)


class TableContextLoss(Loss):
    """L_u over the tables e and w, by the compiled engine (or its torch counterpart on a device).

    Parameters
    ----------
    pretraining, joint : SkipGram
        Over the same tables; the first with a decaying learning rate, the second with a constant one.
    w : tensor
        The table of context parameters; e belongs to L_s.
    pretrain : float
        Walks per node during pre-training.
    walks : int
        N2, walks per joint step.
    shard : ColumnShard, optional
        If the tables have some of the columns.
    """

    name = "context_loss"

    def __init__(
        self,
        pretraining: AnySkipGram,
        joint: AnySkipGram,
        w: torch.Tensor,
        *,
        pretrain: float,
        walks: int,
        shard: ColumnShard | None = None,
    ) -> None:
        self.pretraining, self.joint, self.w, self.shard = pretraining, joint, w, shard
        self.n_pretrain = pretraining.n_batches(pretrain * len(w)) if pretrain > 0 else 0
        self.batches_per_step = joint.n_batches(walks)
        self.pairs_per_batch = float(joint.n_slots * joint.sampler.pairs_per_walk)
        self.pairs_per_step = self.pairs_per_batch * self.batches_per_step
        self.learning_rate = joint.learning_rate

    def pretrain(self, first: int, last: int) -> float:
        return float(self.pretraining.train(first, last, self.n_pretrain))

    def zero_grad(self) -> None:
        """Nothing: the engine holds no gradient."""

    def add_gradient(self, number: int, weight: float) -> float:
        # The engine moves the tables at once. In a weighted sum L_s has its gradient by then, so the two add up.
        self.joint.learning_rate = self.joint.final_rate = self.learning_rate * weight
        first = self.n_pretrain + number * self.batches_per_step
        return float(self.joint.train(first, first + self.batches_per_step, 1))

    def apply(self) -> None:
        """Nothing: the tables have moved already."""

    def state(self) -> Tensors:
        return state_of_table("w", self.w, self.shard)

    def restore(self, state: Tensors) -> None:
        restore_tables(self.state(), state)
