"""Predictions for many rows, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch

__all__ = ["PREDICT_ROWS", "predict_in_batches"]

PREDICT_ROWS = 65_536


def predict_in_batches(
    predict: Callable[[slice], torch.Tensor], n_rows: int, batch_size: int = PREDICT_ROWS
) -> npt.NDArray[np.float32]:
    """Return ``predict`` of all rows, without gradients; it is called with consecutive slices."""
    whole: npt.NDArray[np.float32] | None = None
    with torch.no_grad():
        for first in range(0, max(n_rows, 1), batch_size):
            rows = slice(first, min(n_rows, first + batch_size))
            part = predict(rows).cpu().numpy()
            if whole is None:  # filled in place: concatenating parts would need twice the memory
                whole = np.empty((n_rows, part.shape[1]), dtype=part.dtype)
            whole[rows] = part
    assert whole is not None
    return whole
