"""L_u (Equation 3) over embedding tables alone, and the state of tables that are whole or in columns."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from planetoid.engine.arrays import Table
from planetoid.engine.shards import ColumnShard, is_column_block, table_of_block
from planetoid.engine.skipgram import SkipGram
from planetoid.training.loss import Loss, Tensors

if TYPE_CHECKING:
    import torch

__all__ = ["SkipGramLoss", "join_columns", "restore_tables", "split_columns", "state_of_table"]


def state_of_table(name: str, table: torch.Tensor, shard: ColumnShard | None) -> Tensors:
    """Return a table for a checkpoint: whole or, of a process that has some of the columns, in blocks of them."""
    return {name: table} if shard is None else shard.split(name, table)


def restore_tables(own: Tensors, state: Tensors) -> None:
    """Load tables of :func:`state_of_table` in place."""
    for name, table in own.items():
        table[:] = state[name]


def split_columns(state: Tensors, shape: tuple[int, ...], shard: ColumnShard) -> Tensors:
    """Return a state whose tensors of a shape, a table and what an optimizer keeps of it, are in blocks of columns."""
    blocks: Tensors = {}
    for name, value in state.items():
        blocks |= shard.split(name, value) if value.shape == shape else {name: value}
    return blocks


def join_columns(state: Tensors) -> Tensors:
    """Return a state with all blocks of columns of a table side by side."""
    import torch

    joined: Tensors = {name: value for name, value in state.items() if not is_column_block(name)}
    blocks = sorted(set(state) - set(joined))
    for name, some in groupby(blocks, table_of_block):
        joined[name] = torch.cat([state[block] for block in some], dim=1)
    return joined


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
