"""L_u (Equation 3) over embedding tables alone, and the state of tables that are whole or in columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.engine.arrays import Table
from planetoid.engine.shards import ColumnShard
from planetoid.engine.skipgram import SkipGram
from planetoid.training.loss import Loss, Tensors

if TYPE_CHECKING:
    import torch

__all__ = ["SkipGramLoss", "restore_tables", "state_of_table"]


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
        self.pairs_per_batch = skipgram.pairs_per_batch

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
