"""Names for what ``fit`` and ``predict`` accept."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias

import numpy.typing as npt

if TYPE_CHECKING:
    import networkx
    import pandas as pd
    from scipy import sparse

    from planetoid.graph import Graph

__all__ = ["FeaturesLike", "GraphLike"]

# One row per node: an array, a scipy sparse matrix, or a DataFrame whose index holds node ids.
FeaturesLike: TypeAlias = "npt.ArrayLike | sparse.sparray | sparse.spmatrix | pd.DataFrame"

# What Graph.of understands.
GraphLike: TypeAlias = (
    "Graph | str | PathLike[str] | sparse.sparray | sparse.spmatrix | networkx.Graph | pd.DataFrame | "
    "npt.ArrayLike | tuple[Sequence[Hashable], ...] | Sequence[tuple[Hashable, ...]] | "
    "Mapping[Hashable, Sequence[Hashable]]"
)
