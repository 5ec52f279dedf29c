"""L_u (Equation 3): the context loss over embedding tables, and over embeddings that an encoder computes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from planetoid.engine.arrays import Integers, Pairs, Row, Signs, Table
from planetoid.engine.encoder_kernels import Numbering
from planetoid.engine.on_device import DeviceSkipGram, context_loss_on_device
from planetoid.engine.pair_kernels import loss_of_pairs, loss_of_scored_pairs, score_pairs
from planetoid.engine.sampler import ContextSampler
from planetoid.engine.shards import ColumnShard
from planetoid.engine.skipgram import SkipGram
from planetoid.training.batches import Batch, FeatureRows
from planetoid.training.layer_gradient import LayerGradient
from planetoid.training.layers import SparseParameter
from planetoid.training.loss import Loss, Tensors, with_prefix, without_prefix
from planetoid.training.optimizers import Optimizer
from planetoid.training.randomness import StepRandom
from planetoid.training.table_loss import join_columns, restore_tables, split_columns, state_of_table

if TYPE_CHECKING:

    class _Context(torch.autograd.function.FunctionCtx):
        saved_tensors: tuple[torch.Tensor, torch.Tensor, torch.Tensor]
        shape: torch.Size
        sparse: bool


__all__ = ["EncoderContextLoss", "PairBatch", "TableContextLoss"]

PROBED = 2**12  # pairs that tell how many have an i with features
Indices = npt.NDArray[np.int64]
AnySkipGram: TypeAlias = SkipGram | DeviceSkipGram


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
    labels : SkipGram, optional
        On label pairs alone: takes the first batches of pre-training, a share of ``label_share``.
    label_share : float
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
        labels: AnySkipGram | None = None,
        label_share: float = 0.0,
        shard: ColumnShard | None = None,
    ) -> None:
        self.pretraining, self.joint, self.w, self.shard = pretraining, joint, w, shard
        self.n_pretrain = pretraining.n_batches(pretrain * len(w)) if pretrain > 0 else 0
        self.labels, self.n_on_labels = labels, 0 if labels is None else round(label_share * self.n_pretrain)
        self.batches_per_step = joint.n_batches(walks)
        self.pairs_per_batch = joint.pairs_per_batch
        self.pairs_per_step = self.pairs_per_batch * self.batches_per_step
        self.learning_rate = joint.learning_rate

    def pretrain(self, first: int, last: int) -> float:
        if self.labels is None or first >= self.n_on_labels:
            return float(self.pretraining.train(first, last, self.n_pretrain))
        change = min(last, self.n_on_labels)
        total = (change - first) * self.labels.train(first, change, self.n_pretrain)
        if change < last:
            total += (last - change) * self.pretraining.train(change, last, self.n_pretrain)
        return float(total / (last - first))

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


class PairBatch(NamedTuple):
    """Pairs of one step, with the features of the nodes that occur as i."""

    pairs: Pairs
    share: npt.NDArray[np.float32]  # weight of each pair, summing to 1
    x: Batch
    centre: Indices  # row of x that is the i of each pair
    contexts: Indices  # nodes that occur as c
    context: Indices  # row of contexts that is the c of each pair


class EncoderContextLoss(Loss):
    """L_u with e_i = h(x_i): contexts train the encoder h and the table w.

    Only nodes with features are ever i; walks pass through the others, and any node can be a context. Several processes
    divide the columns of w, and with them the scores of pairs and their gradients; each encodes all nodes of a batch.

    Parameters
    ----------
    sampler : ContextSampler
    features : FeatureRows
    has_features : array of bool
        Which nodes may be i.
    encode : callable
        Maps a batch of features to embeddings; a generator as second argument turns dropout on.
    w : parameter of shape (n_nodes, dimension)
        It may have more rows, and some of the columns.
    encoder_optimizer, context_optimizer : Optimizer
        Of the encoder's parameters and of w. In a weighted sum L_s takes the step of the encoder.
    n_pretrain : int
        Pre-training steps.
    walks : int
        N2, walks per step. Where each walk yields a single pair, so many more walks are drawn that about N2 of their
        pairs have an i with features.
    random : StepRandom
    pretraining : ContextSampler, optional
        Of pre-training, if it is another one.
    labels : ContextSampler, optional
        Of label pairs alone: draws the first steps of pre-training, a share of ``label_share``.
    label_share : float
    shard : ColumnShard, optional
        If w has some of the columns.
    compiled : LayerGradient, optional
        Takes the place of ``encode`` and autograd in steps on this loss alone; for an encoder of one layer.
    """

    name = "context_loss"

    def __init__(
        self,
        sampler: ContextSampler,
        features: FeatureRows,
        has_features: npt.NDArray[np.bool_],
        encode: Callable[[Batch, StepRandom | None], torch.Tensor],
        w: nn.Parameter,
        encoder_optimizer: Optimizer,
        context_optimizer: Optimizer,
        *,
        n_pretrain: int,
        walks: int,
        random: StepRandom,
        pretraining: ContextSampler | None = None,
        labels: ContextSampler | None = None,
        label_share: float = 0.0,
        shard: ColumnShard | None = None,
        compiled: LayerGradient | None = None,
    ) -> None:
        self.sampler, self.features, self.has_features, self.shard = sampler, features, has_features, shard
        self.compiled, self._number = compiled, Numbering(len(has_features))
        self.pretraining = sampler if pretraining is None else pretraining
        self.labels, self.n_on_labels = labels, 0 if labels is None else round(label_share * n_pretrain)
        self.encode, self.w, self.random = encode, w, random
        self.encoder_optimizer, self.context_optimizer = encoder_optimizer, context_optimizer
        self.n_pretrain, self.walks = n_pretrain, walks
        self.pairs_per_batch = self.pairs_per_step = float(walks * sampler.pairs_per_walk)
        if sampler.contexts.single_pairs:
            self.pairs_per_batch = self.pairs_per_step = float(walks)
            share = float(has_features[sampler.draw(PROBED).i].mean())
            self.walks = int(np.ceil(walks / max(share, 1 / PROBED)))

    def pretrain(self, first: int, last: int) -> float:
        return sum(self._own_step(number) for number in range(first, last)) / max(1, last - first)

    def zero_grad(self) -> None:
        self.encoder_optimizer.zero_grad()
        self.context_optimizer.zero_grad()

    def add_gradient(self, number: int, weight: float) -> float:
        return self._add_gradient(self.n_pretrain + number, weight)

    def apply(self) -> None:
        self.context_optimizer.step()

    def step(self, number: int) -> float:
        return self._own_step(self.n_pretrain + number)

    def _own_step(self, draw: int) -> float:
        self.zero_grad()
        value = self._add_gradient(draw, 1.0, self.compiled)
        self.encoder_optimizer.step()
        self.apply()
        return value

    def _add_gradient(self, draw: int, weight: float, compiled: LayerGradient | None = None) -> float:
        batch = self.draw(draw)
        if len(batch.pairs.i) == 0:
            return 0.0
        if compiled is not None:
            return compiled.use(batch)
        loss = self.loss(batch, self.random.at(draw + 1))
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def loss(self, batch: PairBatch, random: StepRandom | None) -> torch.Tensor:
        """Return the weighted mean of -log sigma(gamma w_c . h(x_i)); with dropout where ``random`` is given."""
        e = self.encode(batch.x, random)
        sparse = isinstance(self.w, SparseParameter)
        if e.device.type == "cpu":
            loss: torch.Tensor = _PairLoss.apply(e.contiguous(), self.w, batch, sparse, self.shard)  # type: ignore[no-untyped-call]
            return loss
        # Not e[centre]: the gradient of indexing adds rows up in whatever order the threads come.
        e_rows = functional.embedding(torch.from_numpy(batch.centre).to(e.device), e)
        w_rows = functional.embedding(torch.from_numpy(batch.pairs.c).to(e.device), self.w, sparse=sparse)
        gamma = torch.from_numpy(batch.pairs.gamma.astype(np.float32)).to(e.device)
        return context_loss_on_device(e_rows, w_rows, gamma, torch.from_numpy(batch.share).to(e.device))

    def draw(self, number: int) -> PairBatch:
        """Return batch ``number``: a pure function of the seed and the number."""
        sampler = self.pretraining if number < self.n_pretrain else self.sampler
        if self.labels is not None and number < self.n_on_labels:
            sampler = self.labels
        pairs = sampler.draw_batch(self.walks, number * self.walks)
        keep = self.has_features[pairs.i]
        if not keep.all():
            pairs = Pairs(pairs.i[keep], pairs.c[keep], pairs.gamma[keep], pairs.weight[keep])
        nodes, centre = self._number(pairs.i)
        contexts, context = self._number(pairs.c)
        share = pairs.weight / pairs.weight.sum() if len(pairs.i) else pairs.weight
        return PairBatch(pairs, share, self.features.batch(nodes), centre, contexts, context)

    def state(self) -> Tensors:
        of_contexts = {"w": self.w.detach(), **with_prefix("contexts.", self.context_optimizer.state())}
        if self.shard is not None:
            of_contexts = split_columns(of_contexts, self.w.shape, self.shard)
        return of_contexts | with_prefix("encoder.", self.encoder_optimizer.state())

    def restore(self, state: Tensors) -> None:
        state = join_columns(state)
        with torch.no_grad():
            self.w.copy_(state["w"])
        self.encoder_optimizer.restore(without_prefix("encoder.", state))
        self.context_optimizer.restore(without_prefix("contexts.", state))


class _PairLoss(torch.autograd.Function):
    """The context loss and its gradients in one compiled pass over the pairs; on the CPU."""

    @staticmethod
    def forward(
        ctx: _Context, e: torch.Tensor, w: torch.Tensor, batch: PairBatch, sparse: bool, shard: ColumnShard | None
    ) -> torch.Tensor:
        gradient_e = torch.zeros_like(e)
        gradient_w = torch.zeros(len(batch.contexts), w.shape[1], dtype=w.dtype)
        loss_of = loss_of_pairs if shard is None else partial(_loss_in_columns, shard)
        loss = loss_of(
            e.detach().numpy(), batch.centre, w.detach().numpy(), batch.pairs.c, batch.context, batch.pairs.gamma,
            batch.share, gradient_e.numpy(), gradient_w.numpy(),
        )  # fmt: skip
        ctx.save_for_backward(gradient_e, gradient_w, torch.from_numpy(batch.contexts))
        ctx.shape, ctx.sparse = w.shape, sparse
        return torch.tensor(loss, dtype=e.dtype)

    @staticmethod
    def backward(ctx: _Context, *factors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None, None, None]:
        gradient_e, gradient_w, nodes = ctx.saved_tensors
        (factor,) = factors
        of_w = torch.sparse_coo_tensor(
            nodes[None], gradient_w * factor, ctx.shape, is_coalesced=True, check_invariants=False
        )
        return gradient_e * factor, of_w if ctx.sparse else of_w.to_dense(), None, None, None


def _loss_in_columns(
    shard: ColumnShard, e: Table, row: Integers, w: Table, c: Integers, slot: Integers, gamma: Signs, share: Row,
    gradient_e: Table, gradient_w: Table,
) -> float:  # fmt: skip
    """Do as ``loss_of_pairs`` together with the other processes, where w and its gradient have some of the columns."""
    own = np.ascontiguousarray(e[:, shard.columns])
    gradient_of_own, scores = np.zeros_like(own), np.empty(len(row), np.int32)
    score_pairs(own, row, w, c, np.empty_like(own), scores)
    shard.exchange.start_sum(scores)()
    loss = loss_of_scored_pairs(scores, own, row, w, c, slot, gamma, share, gradient_of_own, gradient_w)
    gradient_e[:, shard.columns] = gradient_of_own
    shard.complete(gradient_e)
    return float(loss)
