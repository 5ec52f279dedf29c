"""From a list of edges to a clean CSR, by one stated policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, ParameterError
from planetoid.io.edgelist import EdgeList

__all__ = ["Adjacency", "BuildSummary", "EdgePolicy", "build_adjacency"]

ROW_BLOCKS = 16  # steps in which a graph is made symmetric


@dataclass(frozen=True)
class EdgePolicy:
    """What to do with edges that are not plain.

    Attributes
    ----------
    directed : bool
        Keep the direction. Otherwise an edge counts both ways.
    duplicates : {"sum", "max", "error"}
        The same ordered pair given twice: add the weights, keep the largest, or
        refuse. Without weights a repeated edge is one edge. (To count
        repetitions, give each edge the weight 1.)
    symmetrize : {"max", "sum", "mean"}
        For an undirected graph with weights, how a_ij and a_ji become one.
    self_loops : {"drop", "keep"}
    isolated : {"keep", "drop"}
        Nodes without an edge after all that.
    """

    directed: bool = False
    duplicates: Literal["sum", "max", "error"] = "sum"
    symmetrize: Literal["max", "sum", "mean"] = "max"
    self_loops: Literal["drop", "keep"] = "drop"
    isolated: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        for name, allowed in (
            ("duplicates", ("sum", "max", "error")),
            ("symmetrize", ("max", "sum", "mean")),
            ("self_loops", ("drop", "keep")),
            ("isolated", ("keep", "drop")),
        ):
            value = getattr(self, name)
            if value not in allowed:
                raise ParameterError(f"{name}={value!r}; it is one of {', '.join(map(repr, allowed))}")


@dataclass(frozen=True)
class BuildSummary:
    """What became of the entries that a graph was built from."""

    entries: int
    edges: int
    directed: bool
    duplicates: int = 0
    opposite: int = 0
    self_loops: int = 0
    zero_weights: int = 0
    isolated_dropped: int = 0

    def __str__(self) -> str:
        what = "directed edges" if self.directed else "undirected edges"
        parts = [
            f"{count:,} {text}"
            for count, text in (
                (self.duplicates, "duplicates merged"),
                (self.opposite, "opposite directions merged"),
                (self.self_loops, "self loops dropped"),
                (self.zero_weights, "zero weights dropped"),
                (self.isolated_dropped, "isolated nodes dropped"),
            )
            if count
        ]
        return f"{self.entries:,} entries -> {self.edges:,} {what}" + (f" ({', '.join(parts)})" if parts else "")


@dataclass(frozen=True)
class Adjacency:
    """The finished CSR and the story of its making."""

    indptr: npt.NDArray[Any]
    indices: npt.NDArray[Any]
    weights: npt.NDArray[np.float32] | None
    n_loops: int
    summary: BuildSummary


def build_adjacency(edges: EdgeList, n_nodes: int, policy: EdgePolicy) -> Adjacency:
    """Sort, merge and symmetrise edges into a CSR; ``edges`` is emptied."""
    from scipy import sparse

    source, target, weight = edges.source, edges.target, edges.weight
    edges.source = edges.target = edges.weight = None
    assert source is not None
    assert target is not None
    entries = len(source)
    if weight is not None:
        weight = _checked_weights(weight, source, target)
    keep, zeros, loops = _worth_keeping(source, target, weight, policy)
    if keep is not None:  # one after the other, so that no more than one is there twice
        source = source[keep]
        target = target[keep]
        weight = None if weight is None else weight[keep]
        del keep
    kept = len(source)

    index_type = np.int32 if max(n_nodes, 2 * kept) < 2**31 else np.int64
    if policy.duplicates == "max" and weight is not None:
        source, target, weight = _largest_of_duplicates(source, target, weight)
    data = np.ones(len(source), dtype=bool) if weight is None else weight
    pairs = (source.astype(index_type, copy=False), target.astype(index_type, copy=False))
    matrix = sparse.coo_array((data, pairs), shape=(n_nodes, n_nodes)).tocsr()
    del source, target, weight, data, pairs, edges
    duplicates = kept - matrix.nnz
    if duplicates and policy.duplicates == "error":
        raise DataError(f"{duplicates:,} of {entries:,} edges are given twice (duplicates='error')")

    stored = matrix.nnz
    n_loops = int(np.count_nonzero(matrix.diagonal()))
    indptr, indices, weights = _parts(matrix) if policy.directed else _symmetric(matrix, policy.symmetrize)
    del matrix
    if weights is not None and not np.isfinite(weights).all():
        raise DataError("the weights of repeated edges add up to more than a 32-bit float holds; make them smaller")
    n_edges = len(indices) if policy.directed else (len(indices) + n_loops) // 2
    summary = BuildSummary(
        entries=entries,
        edges=n_edges,
        directed=policy.directed,
        duplicates=duplicates,
        opposite=0 if policy.directed else stored - n_edges,
        self_loops=loops,
        zero_weights=zeros,
    )
    indptr, indices = indptr.astype(index_type, copy=False), indices.astype(index_type, copy=False)
    return Adjacency(indptr, indices, weights, n_loops, summary)


def _checked_weights(weight: npt.NDArray[Any], source: Any, target: Any) -> npt.NDArray[np.float32]:
    if weight.dtype.kind not in "fiub":
        raise DataError(f"edge weights must be numbers, not {weight.dtype}")
    weight = weight.astype(np.float32, copy=False)
    wrong = ~(np.isfinite(weight) & (weight >= 0))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"edge {at} (from row {source[at]} to row {target[at]}) has the weight {weight[at]}; "
            "a weight is a finite number that is not negative"
        )
    return weight


def _worth_keeping(source: Any, target: Any, weight: Any, policy: EdgePolicy) -> tuple[Any, int, int]:
    """Return which edges to keep (None: all), and how many have no weight or are loops that go."""
    zeros = loops = 0
    keep = None
    if weight is not None:
        keep = weight != 0
        zeros = len(keep) - int(np.count_nonzero(keep))
    if policy.self_loops == "drop":
        proper = source != target
        keep = proper if keep is None else np.logical_and(keep, proper, out=keep)
        loops = len(keep) - int(np.count_nonzero(keep)) - zeros
    return (keep if zeros or loops else None), zeros, loops


def _largest_of_duplicates(source: Any, target: Any, weight: Any) -> tuple[Any, Any, Any]:
    order = np.lexsort((weight, target, source))
    source, target, weight = source[order], target[order], weight[order]
    last = np.ones(len(source), dtype=bool)
    last[:-1] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    return source[last], target[last], weight[last]


def _parts(matrix: Any) -> tuple[Any, Any, Any]:
    """Return the arrays of a CSR, with sorted indices; no weights if it is boolean."""
    matrix.sort_indices()
    return matrix.indptr, matrix.indices, None if matrix.dtype == bool else matrix.data


def _symmetric(matrix: Any, how: str) -> tuple[Any, Any, Any]:
    """Return the arrays of matrix and transpose combined.

    Some rows at a time: the result fills up while no second copy of it, and no
    array of ones, is around.
    """
    opposite = matrix.T.tocsr()
    indptr = np.zeros(len(matrix.indptr), dtype=np.int64)
    indices = np.empty(2 * matrix.nnz, dtype=matrix.indices.dtype)  # memory that is not written to costs nothing
    weights = None if matrix.dtype == bool else np.empty(2 * matrix.nnz, dtype=np.float32)
    step = max(1, -(-matrix.shape[0] // ROW_BLOCKS))
    filled = 0
    for start in range(0, matrix.shape[0], step):
        rows = slice(start, start + step)
        ends, others, values = _parts(_combined(matrix[rows], opposite[rows], start, how))
        indptr[start + 1 : start + len(ends)] = filled + ends[1:]
        indices[filled : filled + len(others)] = others
        if weights is not None:
            weights[filled : filled + len(others)] = values
        filled += len(others)
    for array in (indices, weights):
        if array is not None:
            array.resize(filled, refcheck=False)  # in place
    return indptr, indices, weights


def _combined(ours: Any, theirs: Any, first_row: int, how: str) -> Any:
    """Combine some rows of a matrix with those of its transpose."""
    if ours.dtype == bool:
        return ours + theirs
    if how == "max":
        return ours.maximum(theirs)
    total = ours + theirs
    if how == "mean":
        return total * np.float32(0.5)
    rows = np.repeat(np.arange(first_row, first_row + total.shape[0]), np.diff(total.indptr))
    total.data[rows == total.indices] *= np.float32(0.5)  # a loop is its own opposite
    return total
