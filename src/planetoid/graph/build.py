"""From a list of edges to a clean CSR, by one explicit policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.io.edgelist import EdgeList
from planetoid.parameters import Check, Constraints, Parameters

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Adjacency", "BuildSummary", "EdgePolicy", "PolicyOptions", "build_adjacency"]

ROW_BLOCKS = 16  # steps in which a graph is made symmetric


@dataclass(frozen=True)
class EdgePolicy(Parameters):
    """What to do with directions, repeated edges, self loops and isolated nodes.

    Attributes
    ----------
    directed : bool
        Keep the direction. Otherwise an edge counts both ways.
    duplicates : {"sum", "max", "error"}
        If an ordered pair occurs more than once: add the weights, keep the largest, or raise an error. Without weights
        a repeated edge is one edge. (To count repetitions, give each edge the weight 1.)
    symmetrize : {"max", "sum", "mean"}
        For an undirected graph with weights, how a_ij and a_ji are combined.
    self_loops : {"drop", "keep"}
    isolated : {"keep", "drop"}
        Nodes that have no edge after all that.
    """

    constraints: ClassVar[Constraints] = {
        "directed": Check("True or False", lambda value: isinstance(value, (bool, np.bool_))),
        "duplicates": ("sum", "max", "error"),
        "symmetrize": ("max", "sum", "mean"),
        "self_loops": ("drop", "keep"),
        "isolated": ("keep", "drop"),
    }

    directed: bool = False
    duplicates: Literal["sum", "max", "error"] = "sum"
    symmetrize: Literal["max", "sum", "mean"] = "max"
    self_loops: Literal["drop", "keep"] = "drop"
    isolated: Literal["keep", "drop"] = "keep"

    def __post_init__(self) -> None:
        self.check("EdgePolicy")


class PolicyOptions(TypedDict, total=False):
    """The fields of :class:`EdgePolicy` as keyword arguments."""

    directed: bool
    duplicates: Literal["sum", "max", "error"]
    symmetrize: Literal["max", "sum", "mean"]
    self_loops: Literal["drop", "keep"]
    isolated: Literal["keep", "drop"]


@dataclass(frozen=True)
class BuildSummary:
    """How many entries a graph was built from, and how many were merged or dropped."""

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
    """The finished CSR and a summary of how it was built."""

    indptr: npt.NDArray[np.integer]
    indices: npt.NDArray[np.integer]
    weights: npt.NDArray[np.float32] | None
    n_loops: int
    summary: BuildSummary


class _Csr(NamedTuple):
    """The arrays of a CSR; without weights if every one is 1."""

    indptr: npt.NDArray[np.integer]
    indices: npt.NDArray[np.integer]
    weights: npt.NDArray[np.float32] | None


class _Selection(NamedTuple):
    """Which edges to keep (``None``: all), and how many are dropped for what reason."""

    mask: npt.NDArray[np.bool_] | None
    zero_weights: int
    self_loops: int


def build_adjacency(edges: EdgeList, n_nodes: int, policy: EdgePolicy) -> Adjacency:
    """Sort, merge and symmetrise edges into a CSR; ``edges`` is emptied."""
    from scipy import sparse

    source, target, weight = edges.source, edges.target, edges.weight
    edges.source = edges.target = edges.weight = None
    assert source is not None
    assert target is not None
    entries = len(source)
    weight = None if weight is None else _checked_weights(weight, source, target)
    keep, zero_weights, self_loops = _select(source, target, weight, policy)
    if keep is not None:  # one after the other, so that no more than one is copied at a time
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
        raise DataError(f"{duplicates:,} of {entries:,} edges are duplicates, which duplicates='error' forbids")

    stored = matrix.nnz
    n_loops = int(np.count_nonzero(matrix.diagonal()))
    indptr, indices, weights = _csr_arrays(matrix) if policy.directed else _symmetric(matrix, policy.symmetrize)
    del matrix
    if weights is not None and not np.isfinite(weights).all():
        raise DataError("the weights of repeated edges sum to more than a 32-bit float holds", hint="scale them down")
    n_edges = len(indices) if policy.directed else (len(indices) + n_loops) // 2
    summary = BuildSummary(
        entries=entries,
        edges=n_edges,
        directed=policy.directed,
        duplicates=duplicates,
        opposite=0 if policy.directed else stored - n_edges,
        self_loops=self_loops,
        zero_weights=zero_weights,
    )
    indptr, indices = indptr.astype(index_type, copy=False), indices.astype(index_type, copy=False)
    return Adjacency(indptr, indices, weights, n_loops, summary)


def _checked_weights(
    weight: npt.NDArray[np.generic], source: npt.NDArray[np.integer], target: npt.NDArray[np.integer]
) -> npt.NDArray[np.float32]:
    if weight.dtype.kind not in "fiub":
        raise DataError(f"edge weights must be numbers, not {weight.dtype}")
    values = weight.astype(np.float32, copy=False)
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        edge = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"edge {edge} (from row {source[edge]} to row {target[edge]}): the weight must be a finite number >= 0, "
            f"got {values[edge]}"
        )
    return values


def _select(
    source: npt.NDArray[np.integer],
    target: npt.NDArray[np.integer],
    weight: npt.NDArray[np.float32] | None,
    policy: EdgePolicy,
) -> _Selection:
    zero_weights = self_loops = 0
    keep = None
    if weight is not None:
        keep = weight != 0
        zero_weights = len(keep) - int(np.count_nonzero(keep))
    if policy.self_loops == "drop":
        proper = source != target
        keep = proper if keep is None else np.logical_and(keep, proper, out=keep)
        self_loops = len(keep) - int(np.count_nonzero(keep)) - zero_weights
    return _Selection(keep if zero_weights or self_loops else None, zero_weights, self_loops)


def _largest_of_duplicates(
    source: npt.NDArray[np.integer], target: npt.NDArray[np.integer], weight: npt.NDArray[np.float32]
) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.integer], npt.NDArray[np.float32]]:
    order = np.lexsort((weight, target, source))
    source, target, weight = source[order], target[order], weight[order]
    last = np.ones(len(source), dtype=bool)
    last[:-1] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    return source[last], target[last], weight[last]


def _csr_arrays(matrix: sparse.csr_array) -> _Csr:
    """Return the arrays of a CSR, with sorted indices; a boolean one has no weights."""
    matrix.sort_indices()
    return _Csr(matrix.indptr, matrix.indices, None if matrix.dtype == bool else matrix.data)


def _symmetric(matrix: sparse.csr_array, how: str) -> _Csr:
    """Return a matrix combined with its transpose.

    Some rows at a time: the result is filled without a second copy of it, or an array of ones, in memory.
    """
    opposite = matrix.T.tocsr()
    indptr = np.zeros(len(matrix.indptr), dtype=np.int64)
    indices = np.empty(2 * matrix.nnz, dtype=matrix.indices.dtype)  # memory that is not written to costs nothing
    weights = None if matrix.dtype == bool else np.empty(2 * matrix.nnz, dtype=np.float32)
    step = max(1, -(-matrix.shape[0] // ROW_BLOCKS))
    filled = 0
    for start in range(0, matrix.shape[0], step):
        rows = slice(start, start + step)
        block = _csr_arrays(_combined(matrix[rows], opposite[rows], start, how))
        end = filled + len(block.indices)
        indptr[start + 1 : start + len(block.indptr)] = filled + block.indptr[1:]
        indices[filled:end] = block.indices
        if weights is not None and block.weights is not None:
            weights[filled:end] = block.weights
        filled = end
    for array in (indices, weights):
        if array is not None:
            array.resize(filled, refcheck=False)  # in place
    return _Csr(indptr, indices, weights)


def _combined(rows: sparse.csr_array, opposite: sparse.csr_array, first_row: int, how: str) -> sparse.csr_array:
    """Combine some rows of a matrix with those of its transpose."""
    if rows.dtype == bool:
        return rows + opposite
    if how == "max":
        return rows.maximum(opposite)
    total = rows + opposite
    if how == "mean":
        return total * np.float32(0.5)
    numbers = np.repeat(np.arange(first_row, first_row + total.shape[0]), np.diff(total.indptr))
    total.data[numbers == total.indices] *= np.float32(0.5)  # a loop is its own opposite
    return total
