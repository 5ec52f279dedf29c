"""The network of :class:`~planetoid.GCN` and its loss: sparse products by scipy, everything else by torch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse
from torch.nn import functional

from planetoid.data.dataset import Dataset
from planetoid.training.callbacks import Record
from planetoid.training.loss import NetworkLoss
from planetoid.training.optimizers import NamedOptimizer
from planetoid.training.randomness import StepRandom
from planetoid.utils.memory import BYTES_PER_WEIGHT, require_memory

__all__ = ["GraphConvolution", "GraphConvolutionLoss"]


class _Product(torch.autograd.Function):
    """A sparse matrix times a dense one; torch's own product of that kind has a slow backward pass on CPUs."""

    @staticmethod
    def forward(ctx, matrix, transposed, dense):  # type: ignore[no-untyped-def]
        ctx.transposed = transposed
        return torch.from_numpy(matrix @ dense.detach().numpy())

    @staticmethod
    def backward(ctx, gradient):  # type: ignore[no-untyped-def]
        return None, None, torch.from_numpy(ctx.transposed @ np.ascontiguousarray(gradient.numpy()))


def _product(matrix: sparse.csr_array, transposed: sparse.sparray, dense: torch.Tensor) -> torch.Tensor:
    product: torch.Tensor = _Product.apply(matrix, transposed, dense)  # type: ignore[no-untyped-call]
    return product


class GraphConvolution(torch.nn.Module):
    """A_hat relu(A_hat X W1) W2, without the softmax."""

    def __init__(
        self, A: sparse.csr_array, X: sparse.csr_array, hidden: int, n_classes: int, dropout: float, seed: int
    ) -> None:
        super().__init__()
        self.A, self.X, self.dropout = A, X, dropout
        self.random = StepRandom(seed)
        require_memory(BYTES_PER_WEIGHT * hidden * (X.shape[1] + n_classes))
        first = torch.empty(X.shape[1], hidden)
        second = torch.empty(hidden, n_classes)
        for weight in (first, second):
            torch.nn.init.xavier_uniform_(weight, generator=self.random.generator)
        self.first, self.second = torch.nn.Parameter(first), torch.nn.Parameter(second)

    def _dropped(self, random: StepRandom) -> sparse.csr_array:
        mask = random.keep_mask(torch.Size((self.X.nnz,)), self.dropout).numpy()
        kept = mask > 0
        counts = np.add.reduceat(np.append(kept, 0), self.X.indptr[:-1]) * (np.diff(self.X.indptr) > 0)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        return sparse.csr_array(((self.X.data * mask)[kept], self.X.indices[kept], indptr), shape=self.X.shape)

    def forward(self, random: StepRandom | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Return hidden units and scores of all nodes; with ``random`` the features and units are dropped."""
        X = self.X if random is None or self.dropout == 0 else self._dropped(random)
        hidden = torch.relu(_product(self.A, self.A, _product(X, X.T, self.first)))
        dropped = hidden
        if random is not None and self.dropout > 0:
            dropped = hidden * random.keep_mask(hidden.shape, self.dropout)
        return hidden, _product(self.A, self.A, dropped @ self.second)

    def predict(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Return hidden units and scores as arrays."""
        with torch.no_grad():
            hidden, scores = self()
        return hidden.numpy(), scores.numpy()


class GraphConvolutionLoss(NetworkLoss[GraphConvolution]):
    """The cross-entropy of all labelled nodes."""

    name = "loss"

    def __init__(self, network: GraphConvolution, data: Dataset, learning_rate: float, weight_decay: float) -> None:
        first = NamedOptimizer("adam", ([network.first], learning_rate), weight_decay=weight_decay)
        super().__init__(network, [first, NamedOptimizer("adam", ([network.second], learning_rate))])
        self.labelled = torch.from_numpy(data.labelled)
        self.codes = torch.from_numpy(data.y[data.labelled].astype(np.int64))
        rows, codes = data.validation_nodes
        self.rows, self.truth = torch.from_numpy(rows), torch.from_numpy(codes.astype(np.int64))
        self.has_validation = len(rows) > 0

    def add_gradient(self, number: int, weight: float) -> float:
        _, scores = self.network(self.network.random.at(number + 1))
        loss = functional.cross_entropy(scores[self.labelled], self.codes)
        (loss * weight).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def evaluate(self) -> Record:
        if not self.has_validation:
            return {}
        with torch.no_grad():
            scores = self.network()[1][self.rows]
        return {
            "val_accuracy": float((scores.argmax(dim=1) == self.truth).float().mean()),
            "val_loss": float(functional.cross_entropy(scores, self.truth)),
        }
