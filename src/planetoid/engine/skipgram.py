"""``SkipGram``: stochastic gradient descent on Equation 3, the context loss L_u, over two tables of free embeddings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Batch, Pairs, RateSchedule, Rules, Table, Tables, WalkBlock, aligned_zeros
from planetoid.engine.barrier import run_in_step
from planetoid.engine.pair_lists import pairs_of_batch
from planetoid.engine.sampler import ContextSampler, empty_pairs
from planetoid.engine.steps import LOSS_EVERY, train
from planetoid.errors import ParameterError
from planetoid.parameters import N_JOBS, Constraints, Integer, Real, check_parameters
from planetoid.utils.memory import require_memory
from planetoid.utils.threads import resolve_n_jobs

__all__ = ["BaseSkipGram", "SkipGram", "new_tables"]

VISITS_PER_BATCH = 12  # of the busiest node, so that its summed gradient stays a small step
MOST_WALKS = 2**60
MOST_SLOTS = 32
GROUP = 8  # walks that share their negatives, where a batch has at least two groups
MOST_NEGATIVES = 10

AnyTable = TypeVar("AnyTable", bound="Shaped")


class Shaped(Protocol):
    """A table: an array or a tensor."""

    @property
    def shape(self) -> tuple[int, ...]: ...


class BaseSkipGram(ABC, Generic[AnyTable]):
    """Batches of contexts for two tables; a subclass says what a table is and takes the steps.

    The parameters are those of :class:`SkipGram`.
    """

    constraints: ClassVar[Constraints] = {
        "learning_rate": Real(0, closed="neither"),
        "final_rate": (Real(0), None),
        "negatives": ("shared", "own"),
        "n_negatives": (Integer(1), None),
        "frozen": Integer(0),
        "batch_size": Integer(1),
        "n_jobs": N_JOBS,
    }

    most_slots: ClassVar[int] = MOST_SLOTS  # of a batch

    def __init__(
        self,
        sampler: ContextSampler,
        e: AnyTable,
        w: AnyTable,
        *,
        learning_rate: float = 0.025,
        final_rate: float | None = None,
        negatives: str = "shared",
        n_negatives: int | None = None,
        frozen: int = 0,
        batch_size: int = 200,
        n_jobs: int | None = None,
    ) -> None:
        values = {
            "learning_rate": learning_rate, "final_rate": final_rate, "negatives": negatives,
            "n_negatives": n_negatives, "frozen": frozen, "batch_size": batch_size,
            "n_jobs": n_jobs,
        }  # fmt: skip
        check_parameters(type(self).__name__, values, self.constraints)
        self.sampler = sampler
        self.e, self.w = self._checked_table(e), self._checked_table(w)
        self.learning_rate = learning_rate
        self.final_rate = learning_rate / 100 if final_rate is None else final_rate
        self.frozen = frozen
        self.batch_size = batch_size
        self.n_threads = resolve_n_jobs(n_jobs)
        self.n_slots, group = self._choose_slots()
        self.rules = self._choose_rules(negatives, n_negatives, group)
        self.batch = self._new_batch()

    @abstractmethod
    def train(self, first: int, last: int, total: int) -> float:
        """Train on batches ``first`` to ``last`` of ``total``; return the mean loss over them."""

    @abstractmethod
    def _checked_table(self, table: AnyTable) -> AnyTable:
        """Return a table that steps can change in place, or raise ``ParameterError``."""

    @property
    def pairs_per_batch(self) -> float:
        """Positive pairs that a batch of whole walks has, or all pairs of a batch of single ones."""
        single = self.sampler.contexts.single_pairs
        return float(self.n_slots if single else self.n_slots * self.sampler.pairs_per_walk)

    def n_batches(self, n_walks: float) -> int:
        """Return how many batches make up so many walks."""
        if not n_walks < MOST_WALKS:
            raise ParameterError(f"{n_walks:g} walks are more than can be counted; choose a smaller pretrain")
        return max(1, int(np.ceil(n_walks / self.n_slots)))

    def pairs_of(self, number: int) -> Pairs:
        """Return the pairs, with weights, that batch ``number`` trains on."""
        if self.sampler.contexts.single_pairs:
            return self.sampler.draw(self.n_slots, number * self.n_slots)
        pairs = empty_pairs(self.batch.coefficients.size)
        used = pairs_of_batch(number * self.n_slots, self.sampler.sampling, self.rules, self.batch, pairs)
        return pairs.first(used)

    def _choose_slots(self) -> tuple[int, int]:
        """Return the slots of a batch, and how many walks share negatives."""
        if self.sampler.contexts.single_pairs:
            return self.batch_size, 1
        visits = self.sampler.contexts.q * self.sampler.busiest_share()
        slots = int(np.clip(VISITS_PER_BATCH / visits, 1, self.most_slots))
        group = GROUP if slots >= 2 * GROUP else GROUP // 2 if slots >= GROUP else 1
        return slots - slots % group, group

    def _choose_rules(self, negatives: str, n_negatives: int | None, group: int) -> Rules:
        around = 2 * (self.sampler.contexts.d - 1) + self.sampler.contexts.self_pairs
        ratio = (1 - self.sampler.sampling.r1) / self.sampler.sampling.r1
        n_shared = n_own = 0
        if ratio > 0 and negatives == "shared":
            n_shared = min(MOST_NEGATIVES, int(np.ceil(around * ratio))) if n_negatives is None else int(n_negatives)
        elif ratio > 0:
            n_own = max(1, round(around * ratio)) if n_negatives is None else int(n_negatives)
        n_label = n_own or around if self.sampler.sampling.r2 < 1 else 0
        label_row = self.sampler.sampling.r1 * self.sampler.contexts.q * n_label
        return Rules(n_shared, n_own, n_label, group, self.sampler.pairs_per_walk, label_row)

    def _new_batch(self) -> Batch:
        slots, q, reach = self.n_slots, self.sampler.contexts.q, self.sampler.contexts.d - 1
        rules = self.rules
        most = max(2 * reach + 1 + rules.n_shared + rules.n_own, rules.n_label) + 3  # filled up to a multiple of 4
        longest = max(2 * reach + 1, rules.group) + 3
        return Batch(
            is_walk=np.zeros(slots, np.bool_),
            lengths=np.zeros(slots, np.int64),
            n_pairs=np.zeros(slots, np.float64),
            paths=np.zeros((slots, q), np.int32),
            contexts=np.zeros((slots, q, most), np.int32),
            n_positive=np.zeros((slots, q), np.int64),
            coefficients=np.zeros((slots, q, most), np.float32),
            gradients=np.zeros((slots, q, self.e.shape[1]), np.float32),
            shared_negatives=np.zeros((slots // rules.group, q, rules.n_shared), np.int32),
            rows=np.zeros((self.n_threads, longest), np.int32),
            factors=np.zeros((self.n_threads, longest), np.float32),
        )


class SkipGram(BaseSkipGram[Table]):
    """Minimises ``L_u = -E log sigma(gamma w_c . e_i)`` (Equation 3) over embeddings e and context parameters w.

    Parameters
    ----------
    sampler : ContextSampler
    e, w : float32 arrays of shape (n_nodes, dimension)
        Changed in place; C-contiguous, possibly memory-mapped.
    learning_rate, final_rate : float
        The rate falls linearly from the first to the second over a training; by default to 1 % of the first.
    negatives : {"shared", "own"}
        ``"own"``: each centre draws its negative contexts for itself. ``"shared"``: a group of walks draws them
        together, for their centres at the same position; faster where the tables are larger than the cache.
    n_negatives : int, optional
        How many negative contexts a centre has. By default as many as there are positive pairs times (1 - r1) / r1,
        but at most 10 if they are shared. Their weight makes up for the rest: the expected gradient is that of
        Algorithm 1 whatever the number.
    frozen : int, default 0
        Rows before this one are read and never changed.
    batch_size : int, default 200
        Pairs per step where each walk yields a single pair (``Contexts(single_pairs=True)``); the engine chooses the
        size of other batches.
    n_jobs : int, optional
        Number of threads: ``None`` is 1, -1 all cores, -2 all but one. The result does not depend on it.

    Notes
    -----
    A step adds the gradient of a whole batch of walks at once. Where the gradient of one pair would change its score by
    more than 1 through either table, it is cut to that, which keeps large learning rates from diverging. Steps on
    single pairs are plain SGD as printed: nothing is cut, and one thread takes them.
    """

    def train(self, first: int, last: int, total: int) -> float:
        """Train on batches ``first`` to ``last`` of ``total``; return the mean loss over them.

        Training in pieces gives the same bits as training at once.
        """
        if self.sampler.contexts.single_pairs:
            return self._train_on_single_pairs(first, last, total)
        losses = np.zeros((max(0, last - first), self.n_slots))
        run_in_step(
            train,
            self.n_threads,
            self.sampler.sampling,
            self.rules,
            Tables(self.e, self.w, int(self.frozen)),
            RateSchedule(first, last, total, float(self.learning_rate), float(self.final_rate)),
            self.batch,
            losses,
        )
        return self._mean_loss(losses)

    def _mean_loss(self, losses: npt.NDArray[np.float64]) -> float:
        """Return the mean loss per draw, of batches whose slots were measured now and then."""
        measured = losses[:, ::LOSS_EVERY]
        draws = self.sampler.pairs_per_walk / self.sampler.sampling.r1
        return float(measured.mean() / draws) if measured.size else 0.0

    def _train_on_single_pairs(self, first: int, last: int, total: int) -> float:
        from planetoid.engine.single_pairs import Memory, train_on_single_pairs

        size = self.n_slots
        loss = train_on_single_pairs(
            self.sampler.sampling,
            Tables(self.e, self.w, int(self.frozen)),
            RateSchedule(first, last, total, float(self.learning_rate), float(self.final_rate)),
            WalkBlock.empty(self.sampler.contexts.q),
            Memory.empty(size, self.e.shape[1]),
        )
        return float(loss) / max(1, (last - first) * size)

    def _checked_table(self, table: Table) -> Table:
        plain = np.asarray(table)  # a memory map is an ndarray underneath
        if plain.dtype != np.float32 or plain.ndim != 2 or not plain.flags.c_contiguous or not plain.flags.writeable:
            raise ParameterError("a table must be a writeable, C-contiguous float32 array of two dimensions")
        if len(plain) != self.sampler.graph.n_nodes:
            n_nodes = self.sampler.graph.n_nodes
            raise ParameterError(f"a table has {len(plain):,} rows, but the graph has {n_nodes:,} nodes")
        return plain


def new_tables(
    n_nodes: int,
    dimension: int,
    seed: int,
    directory: str | Path | None = None,
    columns: slice = slice(None),
) -> tuple[Table, Table]:
    """Return new tables, or some of their columns: e small and random, w zero; in files where a directory is given."""
    shape = (n_nodes, len(range(dimension)[columns]))
    if directory is None:
        require_memory(2 * 4 * shape[0] * shape[1])
        e, w = aligned_zeros(*shape), aligned_zeros(*shape)
    else:
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        e = np.lib.format.open_memmap(folder / "e.npy", "w+", np.float32, shape)
        w = np.lib.format.open_memmap(folder / "w.npy", "w+", np.float32, shape)
    generator = np.random.Generator(np.random.Philox(seed))
    for first in range(0, n_nodes, 65536):
        part = generator.random((min(65536, n_nodes - first), dimension), dtype=np.float32)
        e[first : first + len(part)] = (part[:, columns] - np.float32(0.5)) / np.float32(dimension)
    return e, w
