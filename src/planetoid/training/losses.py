"""The two losses of Planetoid as tasks that :mod:`planetoid.training.trainer` alternates between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional

from planetoid.data.dataset import Dataset
from planetoid.engine import ContextSampler, Pairs
from planetoid.training import FeatureRows, StepRandom
from planetoid.training.calibration import LEAST_TO_CALIBRATE, best_temperature
from planetoid.training.network import Head
from planetoid.training.optimizers import Optimizers
from planetoid.training.pair_loss import pair_loss

__all__ = ["EngineContext", "LabelledNodes", "NetworkContext", "TableEmbedding", "predict_rows"]

Tensors = dict[str, torch.Tensor]
Rows = npt.NDArray[np.int64]
PREDICT_ROWS = 65_536


class TableEmbedding:
    """Free embeddings e_i: a table whose labelled rows take part in L_s."""

    def __init__(self, table: torch.Tensor, rate: float) -> None:
        self.table, self.rate = table, rate
        self._touched: tuple[torch.Tensor, torch.Tensor] | None = None

    def __call__(self, rows: Rows, batch: Any, random: StepRandom | None) -> torch.Tensor:
        place = torch.from_numpy(np.asarray(rows)).to(self.table.device)
        e = self.table[place]
        if random is not None and self.rate > 0:
            e.requires_grad_()
            self._touched = place, e
        return e

    def apply(self) -> None:
        """Take the gradient step of the rows that were used last."""
        if self._touched is not None:
            place, e = self._touched
            assert e.grad is not None
            self.table.index_add_(0, place, e.grad, alpha=-self.rate)
            self._touched = None


class LabelledNodes:
    """L_s = -1/N1 sum log p(y_i | x_i, e_i) over batches of labelled nodes."""

    def __init__(
        self,
        data: Dataset,
        features: FeatureRows | None,
        head: Head,
        embed: Callable[..., torch.Tensor],
        optimizers: Optimizers,
        batch_size: int,
        random: StepRandom,
        modules: nn.Module,
        rows: Rows | None = None,
    ) -> None:
        self.features, self.head, self.embed = features, head, embed
        self.optimizers, self.random, self.modules = optimizers, random, modules
        self.device = random.generator.device
        self.rows = data.labelled if rows is None else rows
        self.codes = data.y
        self.batch_size = min(batch_size, len(self.rows))
        self.validation = None if data.validation is None else np.flatnonzero(data.validation >= 0)
        self.validation_codes = None if self.validation is None else data.validation[self.validation]  # type: ignore[index]
        self._whole = self._batch(self.rows) if self.batch_size == len(self.rows) else None

    def _batch(self, rows: Rows) -> tuple[Rows, Any, torch.Tensor]:
        x = None if self.features is None else self.features.batch(rows)
        return rows, x, torch.from_numpy(self.codes[rows].astype(np.int64)).to(self.device)

    def gradient(self, step: int) -> float:
        random = self.random.at(step + 1)
        if self._whole is not None:
            rows, x, y = self._whole
        else:
            chosen = random.permutation(len(self.rows), self.batch_size).cpu().numpy()
            rows, x, y = self._batch(self.rows[chosen])
        self.optimizers.zero_grad()
        loss = self.head.loss(x, self.embed(rows, x, random), y, random)
        loss.backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def apply(self) -> None:
        self.optimizers.step()
        if isinstance(self.embed, TableEmbedding):
            self.embed.apply()

    def log_probabilities(self, rows: Rows) -> torch.Tensor:
        """Return log p(y | x, e) of some nodes."""
        with torch.no_grad():
            x = None if self.features is None else self.features.batch(rows)
            return self.head.log_probabilities(x, self.embed(rows, x, None))

    def probabilities(self, n_nodes: int) -> npt.NDArray[np.float32]:
        """Return p(y | x, e) of all nodes, in pieces."""
        pieces = [
            self.log_probabilities(np.arange(first, min(n_nodes, first + PREDICT_ROWS))).exp().cpu().numpy()
            for first in range(0, n_nodes, PREDICT_ROWS)
        ]
        return np.concatenate(pieces)

    def calibrate(self) -> None:
        """Choose the temperature that makes the validation labels most likely; no prediction changes its class."""
        if self.validation is None or len(self.validation) < LEAST_TO_CALIBRATE:
            return
        scores = self.log_probabilities(self.validation).cpu().numpy()
        self.head.temperature.fill_(best_temperature(scores, self.validation_codes))  # type: ignore[arg-type]

    def evaluate(self) -> dict[str, Any]:
        if self.validation is None:
            return {}
        scores = self.log_probabilities(self.validation)
        truth = torch.from_numpy(self.validation_codes.astype(np.int64)).to(self.device)  # type: ignore[union-attr]
        return {
            "val_accuracy": float((scores.argmax(dim=1) == truth).float().mean()),
            "val_loss": float(functional.nll_loss(scores, truth)),
        }

    def state(self) -> Tensors:
        state = {f"modules.{name}": value for name, value in self.modules.state_dict().items()}
        return state | {f"optimizer.{name}": value for name, value in self.optimizers.state().items()}

    def restore(self, state: Tensors) -> None:
        self.modules.load_state_dict(_under("modules.", state))
        self.optimizers.restore(_under("optimizer.", state))


class EngineContext:
    """L_u over two tables, by the compiled engine (or its torch twin on a device).

    Parameters
    ----------
    pretraining, joint : SkipGram or DeviceSkipGram
        Over the same tables; the first with a falling rate, the second with a constant one.
    passes : float
        Walks a node in pre-training.
    walks : int
        N2, the walks of a joint step.
    """

    def __init__(
        self, pretraining: Any, joint: Any, e: torch.Tensor, w: torch.Tensor, passes: float, walks: int
    ) -> None:
        self.pretraining, self.joint, self.e, self.w = pretraining, joint, e, w
        self.n_pretrain = pretraining.n_batches(passes * len(e)) if passes > 0 else 0
        self.batches_per_step = joint.n_batches(walks)
        self.pairs_per_batch = float(joint.n_slots * joint.sampler.pairs_per_walk)
        self.pairs_per_step = self.pairs_per_batch * self.batches_per_step
        self.rate = joint.learning_rate

    def pretrain(self, first: int, last: int) -> float:
        return float(self.pretraining.train(first, last, self.n_pretrain))

    def step(self, number: int) -> float:
        return self.summed_step(number, 1.0)

    def summed_step(self, number: int, weight: float) -> float:
        # L_s has taken its gradient before e moves here, so the two add up.
        self.joint.learning_rate = self.joint.final_rate = self.rate * weight
        first = self.n_pretrain + number * self.batches_per_step
        return float(self.joint.train(first, first + self.batches_per_step, 1))

    def state(self) -> Tensors:
        return {"e": self.e, "w": self.w}

    def restore(self, state: Tensors) -> None:
        self.e.copy_(state["e"])
        self.w.copy_(state["w"])


class NetworkContext:
    """L_u with e_i = h(x_i): contexts train the network and the table of w.

    Only nodes with features are ever i; walks pass through the others, and any
    node can be a context.

    Parameters
    ----------
    of_network, of_contexts : Optimizers
        Of the encoder, which L_s trains too, and of w.
    steps, walks : int
        Steps of pre-training, and N2, the walks in each step.
    """

    def __init__(
        self,
        sampler: ContextSampler,
        features: FeatureRows,
        has_features: npt.NDArray[np.bool_],
        embed: Callable[..., torch.Tensor],
        w: nn.Parameter,
        of_network: Optimizers,
        of_contexts: Optimizers,
        steps: int,
        walks: int,
        random: StepRandom,
    ) -> None:
        self.sampler, self.features, self.has_features = sampler, features, has_features
        self.embed, self.w, self.random = embed, w, random
        self.of_network, self.of_contexts = of_network, of_contexts
        self.n_pretrain, self.walks = steps, walks
        self.pairs_per_batch = self.pairs_per_step = float(walks * sampler.pairs_per_walk)

    def pretrain(self, first: int, last: int) -> float:
        return sum(self._step(number) for number in range(first, last)) / max(1, last - first)

    def step(self, number: int) -> float:
        return self._step(self.n_pretrain + number)

    def _step(self, number: int) -> float:
        self.of_network.zero_grad()
        loss = self._gradient(number, 1.0)
        self.of_network.step()
        self.of_contexts.step()
        return loss

    def summed_step(self, number: int, weight: float) -> float:
        """Add the gradient to the network's, which L_s will step on, and step on w alone."""
        loss = self._gradient(self.n_pretrain + number, weight)
        self.of_contexts.step()
        return loss

    def _gradient(self, number: int, weight: float) -> float:
        self.of_contexts.zero_grad()
        pairs = self._pairs(number)
        if len(pairs.i) == 0:
            return 0.0
        loss = self.loss(pairs, self.random.at(number + 1))
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def loss(self, pairs: Pairs, random: StepRandom | None) -> torch.Tensor:
        """Return the weighted mean of -log sigma(gamma w_c . h(x_i))."""
        device = self.random.generator.device
        centres, place = np.unique(pairs.i, return_inverse=True)
        e = self.embed(centres, self.features.batch(centres), random)
        if device.type == "cpu":
            share = pairs.weight / pairs.weight.sum()
            sparse = getattr(self.w, "sparse_gradient", False)
            return pair_loss(e, self.w, place, pairs.c, pairs.gamma, share, sparse=sparse)
        return self._loss_in_torch(pairs, e, place)

    def _loss_in_torch(self, pairs: Pairs, e: torch.Tensor, place: npt.NDArray[Any]) -> torch.Tensor:
        """Return the same loss on a device."""
        device = self.random.generator.device
        c = torch.from_numpy(pairs.c).to(device)
        thin = getattr(self.w, "sparse_gradient", False)
        contexts = functional.embedding(c, self.w, sparse=thin)
        gamma = torch.from_numpy(pairs.gamma.astype(np.float32)).to(device)
        share = torch.from_numpy(pairs.weight / pairs.weight.sum()).to(device)
        # Not e[place]: the gradient of indexing adds rows up in whatever order the threads come.
        repeated = functional.embedding(torch.from_numpy(place).to(device), e)
        scores = (repeated * contexts).sum(dim=1)
        return -(share * functional.logsigmoid(gamma * scores)).sum()

    def _pairs(self, number: int) -> Pairs:
        pairs = self.sampler.draw_walks(self.walks, number * self.walks)
        keep = self.has_features[pairs.i]
        if keep.all():
            return pairs
        return Pairs(pairs.i[keep], pairs.c[keep], pairs.gamma[keep], pairs.weight[keep])

    def state(self) -> Tensors:
        state = {"w": self.w.detach()}
        for prefix, optimizers in (("network.", self.of_network), ("contexts.", self.of_contexts)):
            state |= {prefix + name: value for name, value in optimizers.state().items()}
        return state

    def restore(self, state: Tensors) -> None:
        with torch.no_grad():
            self.w.copy_(state["w"])
        self.of_network.restore(_under("network.", state))
        self.of_contexts.restore(_under("contexts.", state))


def predict_rows(
    head: Head, features: FeatureRows | None, e: npt.NDArray[np.float32], device: Any
) -> npt.NDArray[np.float32]:
    """Return p(y | x, e) of rows of features and embeddings that belong together, in pieces."""
    pieces = []
    with torch.no_grad():
        for first in range(0, len(e), PREDICT_ROWS):
            part = slice(first, first + PREDICT_ROWS)
            x = None if features is None else features.batch(part)
            pieces.append(head.log_probabilities(x, torch.from_numpy(e[part]).to(device)).exp().cpu().numpy())
    return np.concatenate(pieces)


def _under(prefix: str, state: Tensors) -> Tensors:
    return {name[len(prefix) :]: value for name, value in state.items() if name.startswith(prefix)}
