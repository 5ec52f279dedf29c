"""A list of edges as row numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["EdgeList"]


@dataclass
class EdgeList:
    """Row numbers of both ends of every edge, and weights or none.

    ``build_adjacency`` takes the arrays out of it, so that they can be freed while the CSR is being built.
    """

    source: npt.NDArray[np.integer] | None
    target: npt.NDArray[np.integer] | None
    weight: npt.NDArray[np.number] | None = None
