"""``ShardedSkipGram``: skip-gram training on tables whose columns are divided among processes."""

from __future__ import annotations

import numpy as np

from planetoid.engine.arrays import Batch, Nodes, Table, Tables, Turned, aligned_zeros
from planetoid.engine.sampler import ContextSampler
from planetoid.engine.sharded_steps import draw_batch, score_batch, update_batch
from planetoid.engine.shards import ColumnShard
from planetoid.engine.skipgram import SkipGram
from planetoid.errors import ParameterError

__all__ = ["ShardedSkipGram"]

MOST_SLOTS = 4096  # an exchange takes a millisecond, however short it is


class ShardedSkipGram(SkipGram):
    """Minimises the context loss of :class:`~planetoid.engine.SkipGram` over the columns that this process has.

    The result is the same, bit for bit, for any number of processes, but not the same as that of ``SkipGram``: a batch
    has up to 4,096 walks instead of 32, and within a batch only the coefficients belong to the tables before it, as
    :mod:`planetoid.engine.sharded_steps` explains. One thread per process; the fields are those of ``SkipGram``.

    Parameters
    ----------
    sampler : ContextSampler
    e, w : float32 arrays of shape (n_nodes, columns of this process)
        Changed in place.
    shard : ColumnShard
    learning_rate, final_rate, negatives, n_negatives
        As in ``SkipGram``.
    """

    most_slots = MOST_SLOTS

    def __init__(
        self,
        sampler: ContextSampler,
        e: Table,
        w: Table,
        shard: ColumnShard,
        *,
        learning_rate: float = 0.025,
        final_rate: float | None = None,
        negatives: str = "shared",
        n_negatives: int | None = None,
    ) -> None:
        if sampler.contexts.single_pairs:
            raise ParameterError(
                "contexts.single_pairs: single pairs are trained on by one process", parameter="contexts.single_pairs"
            )
        super().__init__(
            sampler, e, w, learning_rate=learning_rate, final_rate=final_rate, negatives=negatives,
            n_negatives=n_negatives,
        )  # fmt: skip
        self.shard = shard
        self._next = self._new_batch()  # drawn while the scores of the current one are on their way
        self._scores: Nodes = np.zeros(self.batch.coefficients.size, np.int32)
        self._probabilities = np.zeros(len(self._scores), np.float32)
        self._turned = self._new_turned()
        self._scaled = aligned_zeros(self.e.shape[1])

    def train(self, first: int, last: int, total: int) -> float:
        """Train on batches ``first`` to ``last`` of ``total``; return the mean loss over them."""
        sampling, rules, tables = self.sampler.sampling, self.rules, Tables(self.e, self.w, 0)
        losses = np.zeros((max(0, last - first), self.n_slots))
        if first < last:
            draw_batch(first, sampling, rules, self.batch)
        for number in range(first, last):
            used = score_batch(rules, tables, self.batch, self._scaled, self._scores)
            wait = self.shard.exchange.start_sum(self._scores[:used])
            if number + 1 < last:
                draw_batch(number + 1, sampling, rules, self._next)
            wait()
            rate = self.learning_rate + (self.final_rate - self.learning_rate) * (number / total)
            update_batch(
                sampling, rules, tables, np.float32(rate), self._scores[:used], self._probabilities, self.batch,
                self._turned, losses[number - first],
            )  # fmt: skip
            self.batch, self._next = self._next, self.batch
        return self._mean_loss(losses)

    def _new_turned(self) -> Turned:
        group, q = self.rules.group, self.sampler.contexts.q
        padded = -(-group // 4) * 4
        return Turned(
            around=np.zeros((group, q, 2 * self.sampler.contexts.d + 2), np.float32),
            negatives=np.zeros((q, self.rules.n_shared, padded), np.float32),
            centres=np.zeros(padded, np.int32),
        )

    def _new_batch(self) -> Batch:
        gradients = aligned_zeros(self.rules.group, self.sampler.contexts.q, self.e.shape[1])
        return super()._new_batch()._replace(gradients=gradients)
