"""What labels add to the scores of a :class:`~planetoid.training.network.Head` through its output layer."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from planetoid.data.scaling import Rows
from planetoid.training.batches import Batch, FeatureRows
from planetoid.training.layers import Branch
from planetoid.training.network import MIN_LENGTH, Head
from planetoid.training.softmax_reasons import products_with

__all__ = ["HeadInputs", "output_products"]


class HeadInputs(NamedTuple):
    """Features, as scaled for the network, and embeddings of some nodes; either may be missing."""

    features: FeatureRows | None
    e: torch.Tensor | None

    def batch(self) -> Batch | None:
        """Return the features of all of them as one batch."""
        return None if self.features is None else self.features.batch(slice(None))


def output_products(head: Head, some: HeadInputs, one: HeadInputs) -> npt.NDArray[np.float64]:
    """Return the products of the inputs of the output layer, of some nodes with those of one node."""
    total = np.zeros(1)
    for rows, row in zip(_output_inputs(head, some), _output_inputs(head, one), strict=True):
        total = total + products_with(rows, row)
    return total


def _output_inputs(head: Head, inputs: HeadInputs) -> list[Rows]:
    found: list[Rows] = []
    if inputs.features is not None and "x" in head.branches:
        branch = cast("Branch", head.branches["x"])
        found.append(inputs.features.X if not len(branch.layers) else _last(branch, inputs.batch()))
    if inputs.e is not None and "e" in head.branches:
        e = functional.normalize(inputs.e, dim=1, eps=MIN_LENGTH) if head.normalize_embedding else inputs.e
        found.append(_last(cast("Branch", head.branches["e"]), e))
    return found


def _last(branch: Branch, rows: Any) -> npt.NDArray[np.float32]:
    with torch.no_grad():
        return np.asarray(branch(rows)[0].cpu().numpy())
