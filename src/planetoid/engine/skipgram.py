"""``SkipGram``: stochastic gradient descent on L_u over two tables of free embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.engine import steps as kernels
from planetoid.engine.sampler import ContextSampler, Pairs
from planetoid.engine.threads import resolve_n_jobs, run_in_step
from planetoid.errors import ParameterError

__all__ = ["SkipGram", "new_tables"]

Table = npt.NDArray[np.float32]

VISITS_PER_BATCH = 12  # of the busiest node, so that its summed gradient stays a small step
MOST_SLOTS = 32
GROUP = 8  # walks that share their negatives, where a batch has two groups at least
MOST_NEGATIVES = 10


class SkipGram:
    """Minimises ``L_u = -E log sigma(gamma w_c . e_i)`` over embeddings e and context parameters w.

    Parameters
    ----------
    sampler : ContextSampler
    e, w : float32 arrays of shape (n_nodes, dimension)
        Changed in place; C-contiguous, possibly memory-mapped.
    learning_rate, final_rate : float
        The rate falls linearly from the first to the second over a training.
    negatives : {"shared", "own"}
        ``"own"``: each centre draws its negative contexts for itself.
        ``"shared"``: a group of walks draws them together, for their centres at
        the same position; faster where the tables are larger than the cache.
    n_negatives : int, optional
        How many negative contexts a centre has. If not given, as many as there
        are positive pairs times (1 - r1) / r1, but at most 10 if they are
        shared. Their weight makes up for the rest: the expected gradient is
        that of Algorithm 1 whatever the number.
    frozen : int, default 0
        Rows before this one are read and never changed.
    n_jobs : int, default 1
        Threads; -1 for one a core. The result does not depend on it.

    Notes
    -----
    A step adds the gradient of a whole batch of walks at once. Where the
    gradient of one pair would change its score by more than 1 through either
    table, it is cut to that, which keeps large learning rates from diverging.
    """

    def __init__(
        self,
        sampler: ContextSampler,
        e: Table,
        w: Table,
        *,
        learning_rate: float = 0.025,
        final_rate: float | None = None,
        negatives: str = "shared",
        n_negatives: int | None = None,
        frozen: int = 0,
        n_jobs: int | None = 1,
    ) -> None:
        if not learning_rate > 0:
            raise ParameterError(f"learning_rate={learning_rate!r}; it must be positive")
        if negatives not in ("shared", "own"):
            raise ParameterError(f"negatives={negatives!r}; it is 'shared' or 'own'")
        self.sampler = sampler
        self.e: Any = _as_table(e, sampler)
        self.w: Any = _as_table(w, sampler)
        self.learning_rate = learning_rate
        self.final_rate = learning_rate / 100 if final_rate is None else final_rate
        self.frozen = frozen
        self.n_threads = resolve_n_jobs(n_jobs)
        ratio = (1 - sampler.r1) / sampler.r1
        reach = sampler.d - 1
        around = 2 * reach + sampler.self_pairs
        n_pool = n_own = 0
        if ratio > 0 and negatives == "shared":
            n_pool = min(MOST_NEGATIVES, int(np.ceil(around * ratio))) if n_negatives is None else int(n_negatives)
        elif ratio > 0:
            n_own = max(1, round(around * ratio)) if n_negatives is None else int(n_negatives)
        self.n_slots, group = self._choose_slots()
        self.rules = (sampler.r1, sampler.r2, sampler.d, sampler.self_pairs, n_pool, n_own, group)
        n_free = n_own or (around if sampler.r2 < 1 else 0)
        self.batch = self._buffers(n_pool, n_free, reach)

    def n_batches(self, n_walks: float) -> int:
        """Return how many batches make up so many walks."""
        return max(1, int(np.ceil(n_walks / self.n_slots)))

    def train(self, first: int, last: int, total: int) -> float:
        """Train on batches ``first`` to ``last`` of ``total``; return the mean loss over them.

        Training in pieces gives the same bits as training at once.
        """
        losses = np.zeros((max(0, last - first), self.n_slots))
        sampler = self.sampler
        run_in_step(
            kernels.train, self.n_threads, sampler.seed, first, last, total, self.learning_rate, self.final_rate,
            sampler.starts, sampler.stride, sampler.graph_arrays, sampler.label_arrays, self.rules, self.frozen,
            self.e, self.w, self.batch, losses,
        )  # fmt: skip
        measured = losses[:, :: kernels.LOSS_EVERY]
        draws = sampler.pairs_per_walk / sampler.r1
        return float(measured.mean() / draws) if measured.size else 0.0

    def pairs_of(self, number: int) -> Pairs:
        """Return the pairs, with weights, that batch ``number`` trains on."""
        sampler = self.sampler
        kernels.draw_batch(
            number * self.n_slots, sampler.seed, sampler.graph.n_nodes, sampler.starts, sampler.stride,
            sampler.graph_arrays, sampler.label_arrays, self.rules, self.batch,
        )  # fmt: skip
        room = self.batch[5].size
        i, c = np.empty(room, np.int64), np.empty(room, np.int64)
        gamma, weight = np.empty(room, np.int8), np.empty(room, np.float32)
        used = kernels.list_pairs(self.rules, self.batch, i, c, gamma, weight)
        return Pairs(i[:used], c[:used], gamma[:used], weight[:used])

    def _choose_slots(self) -> tuple[int, int]:
        """Return the slots of a batch, and how many walks share negatives."""
        visits = self.sampler.q * self.sampler.busiest_share()
        slots = int(np.clip(VISITS_PER_BATCH / visits, 1, MOST_SLOTS))
        group = GROUP if slots >= 2 * GROUP else GROUP // 2 if slots >= GROUP else 1
        return slots - slots % group, group

    def _buffers(self, n_pool: int, n_free: int, reach: int) -> tuple[npt.NDArray[Any], ...]:
        slots, q, width = self.n_slots, self.sampler.q, self.e.shape[1]
        return (
            np.zeros((slots, q), np.int32),  # nodes of the walk, or centres of label pairs
            np.zeros(slots, np.int64),  # how many of them
            np.zeros((slots, q), np.int8),  # gamma of a label centre; 0 in front marks a walk
            np.zeros((slots // self.rules[6], q, n_pool), np.int32),  # shared negatives
            np.zeros((slots, q, n_free), np.int32),  # own negatives, or contexts of a label centre
            np.zeros((slots, q, 2 * reach + 4 + n_pool + n_free), np.float32),  # coefficient of each pair, filled up
            np.zeros((slots, q, width), np.float32),  # gradient of each centre
        )


def new_tables(n_nodes: int, dimension: int, seed: int, directory: str | Path | None = None) -> tuple[Table, Table]:
    """Return fresh tables: e small and random, w zero; memory-mapped files where a directory is given."""
    shape = (n_nodes, dimension)
    if directory is None:
        e, w = np.empty(shape, np.float32), np.zeros(shape, np.float32)
    else:
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        e = np.lib.format.open_memmap(folder / "e.npy", "w+", np.float32, shape)
        w = np.lib.format.open_memmap(folder / "w.npy", "w+", np.float32, shape)
    generator = np.random.Generator(np.random.Philox(seed))
    for first in range(0, n_nodes, 65536):
        part = generator.random((min(65536, n_nodes - first), dimension), dtype=np.float32)
        e[first : first + len(part)] = (part - np.float32(0.5)) / np.float32(dimension)
    return e, w


def _as_table(table: Table, sampler: ContextSampler) -> Table:
    plain = np.asarray(table)  # a memory map is an ndarray underneath
    if plain.dtype != np.float32 or plain.ndim != 2 or not plain.flags.c_contiguous or not plain.flags.writeable:
        raise ParameterError("a table of embeddings is a writeable, C-contiguous float32 array of two dimensions")
    if len(plain) != sampler.graph.n_nodes:
        raise ParameterError(f"a table of {len(plain):,} rows for {sampler.graph.n_nodes:,} nodes")
    return plain
