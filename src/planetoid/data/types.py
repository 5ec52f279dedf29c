"""Names for what ``fit`` and ``predict`` accept and return."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from planetoid.graph.convert import GraphLike

if TYPE_CHECKING:
    import pandas as pd
    from scipy import sparse

__all__ = ["FeaturesLike", "GraphLike", "Probabilities"]

# One row per node: an array, a scipy sparse matrix, or a DataFrame whose index holds node ids.
FeaturesLike: TypeAlias = "npt.ArrayLike | sparse.sparray | sparse.spmatrix | pd.DataFrame"

Probabilities = npt.NDArray[np.floating[Any]]  # (node, class)
