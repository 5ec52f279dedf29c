"""``read_features`` and ``iter_features``: features of nodes from a file."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io.encode import IdEncoder, integers_if_canonical
from planetoid.io.files import plain_suffix
from planetoid.io.match import graph_ids, refuse_twice, rows_of, warn_of_strangers
from planetoid.io.readers import FeatureReader, MatrixReader, open_feature_table
from planetoid.io.tokens import SvmlightReader, TokenReader

__all__ = ["FeatureTable", "feature_format", "iter_features", "iter_ids", "read_features"]

FORMATS = ("table", "tokens", "svmlight", "npz")
BY_SUFFIX = {".npz": "npz", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight", ".txt": "tokens"}


@dataclass(frozen=True)
class FeatureTable:
    """Features of nodes.

    Attributes
    ----------
    X : float32 ``csr_array`` or array
        A row for each id.
    ids : NodeIds
    names : array of str or None
        Of the columns, where the file has names.
    """

    X: Any
    ids: NodeIds
    names: npt.NDArray[Any] | None = None


def read_features(
    path: str | Path,
    graph: Any = None,
    *,
    id_column: str | int | None = None,
    names: Sequence[str | int] | None = None,
    n_features: int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    format: str | None = None,  # noqa: A002
) -> FeatureTable:
    """Read the features of nodes, in the order of a graph.

    Sparse files give a sparse matrix, tables a dense one. With a graph, rows
    go to the nodes with their ids: a node without a row gets zeros, a row
    without a node is left out, both with a warning that counts them.

    Parameters
    ----------
    path : str or Path
        One of these, by its suffix; text may be gzip.

        - a CSV, TSV or Parquet table with a column of ids and one for each feature
        - ``.npz``: a scipy sparse matrix, a row for each node in order
        - ``.svm``, ``.svmlight``, ``.libsvm``: ``label column:value ...`` for each
          node in order; the labels are not used, and columns are counted from 1
          unless a 0 occurs
        - ``.txt``: lines of ``id token:weight ...``, or ``id token ...`` where every weight is 1
    graph : Graph, optional
        Without it the rows stay in the order of the file.
    id_column : str or int, optional
        Of a table, by name or number; by default one called ``id``, ``node`` or
        ``node_id``, else the index of a pandas table, else the first. An index
        beside a column of ids is no feature, unless ``names`` has it.
    names : sequence of str or int, optional
        The features wanted, in this order: columns of a table, or tokens (others are
        ignored). By default all, tokens sorted.
    n_features : int, optional
        How many features there must be; an svmlight file may show fewer.
    header, separator : optional
        Of a text table, as for ``Graph.from_file``; by default the first lines tell.
    format : {"table", "tokens", "svmlight", "npz"}, optional
        Where the suffix does not tell.
    """
    reader = _open(Path(path), id_column, names, n_features, header, separator, format)
    ids = None if graph is None else graph_ids(graph)
    parts, blocks = [], []
    for piece in reader.pieces():
        parts.append(piece.ids)
        blocks.append(piece.X)
    if parts[0] is None:
        n_rows = sum(block.shape[0] for block in blocks)
        ids = NodeIds(n_rows) if ids is None else _same_length(reader, ids, n_rows)
        rows = np.arange(n_rows)
    else:
        ids, rows = _align(reader, pa.chunked_array(parts), ids)
    X = _placed(blocks, rows, (len(ids), reader.n_features))
    return FeatureTable(X, ids, _as_array(reader.names))


def iter_features(
    path: str | Path,
    *,
    id_column: str | int | None = None,
    names: Sequence[str | int] | None = None,
    n_features: int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    format: str | None = None,  # noqa: A002
) -> Iterator[FeatureTable]:
    """Read features piece by piece, in memory that does not grow with the file.

    Takes what :func:`read_features` takes, and yields tables that all have the
    same columns. Ids are as they are written: strings from text. An id that
    comes again is noticed only within a piece. Without ``names`` a file of
    tokens is read twice, first for its vocabulary; an ``.npz`` file is in
    memory as a whole.
    """
    reader = _open(Path(path), id_column, names, n_features, header, separator, format)
    for piece in reader.pieces():
        if piece.ids is None:
            ids = NodeIds.distinct(np.arange(piece.first_row, piece.first_row + piece.X.shape[0]))
        else:
            refuse_twice(reader, IdEncoder().encode(piece.ids), piece.ids, piece.first_row)
            ids = NodeIds.distinct(piece.ids)
        yield FeatureTable(piece.X, ids, _as_array(reader.names))


def iter_ids(
    path: str | Path,
    *,
    id_column: str | int | None = None,
    names: Sequence[str | int] | None = None,
    header: bool | None = None,
    format: str | None = None,  # noqa: A002
) -> Iterator[Any]:
    """Read the ids of a file of features alone, in Arrow arrays; none come from a format without ids."""
    path = Path(path)
    kind = feature_format(path, format)
    if kind == "table":
        yield from open_feature_table(path, id_column, names, header, None).ids()
    elif kind == "tokens":
        yield from TokenReader(path, (), certain=format is not None).ids()


def feature_format(path: Path, chosen: str | None = None) -> str:
    """Return the format of a file of features: what was chosen, else what its suffix says.

    >>> feature_format(Path("words.txt.gz")), feature_format(Path("f.parquet"))
    ('tokens', 'table')
    """
    if chosen is not None and chosen not in FORMATS:
        raise ParameterError(f"format={chosen!r}; it is one of {', '.join(map(repr, FORMATS))}")
    return chosen or BY_SUFFIX.get(plain_suffix(path), "table")


def _open(
    path: Path,
    id_column: str | int | None,
    names: Sequence[str | int] | None,
    n_features: int | None,
    header: bool | None,
    separator: str | None,
    chosen: str | None,
) -> FeatureReader:
    kind = feature_format(path, chosen)
    if kind != "table":
        _refuse_given(kind, id_column=id_column, header=header, separator=separator)
    if kind in ("svmlight", "npz"):
        _refuse_given(kind, names=names)
    reader: FeatureReader
    if kind == "table":
        reader = open_feature_table(path, id_column, names, header, separator)
    elif kind == "tokens":
        reader = TokenReader(path, None if names is None else list(map(str, names)), certain=chosen is not None)
    elif kind == "svmlight":
        reader = SvmlightReader(path, n_features)
    else:
        reader = MatrixReader(path)
    if n_features is not None and reader.n_features != n_features:
        raise DataError(f"{path} has {reader.n_features:,} features, but there must be {n_features:,}")
    return reader


def _refuse_given(kind: str, **options: Any) -> None:
    for name, value in options.items():
        if value is not None:
            raise ParameterError(f"{name}={value!r} says nothing about a file in the format {kind!r}; leave it out")


def _same_length(reader: FeatureReader, ids: NodeIds, n_rows: int) -> NodeIds:
    if len(ids) != n_rows:
        raise DataError(
            f"{reader.path} has {n_rows:,} rows but the graph has {len(ids):,} nodes; "
            "a file without ids needs one row a node, in graph order"
        )
    return ids


def _align(reader: FeatureReader, values: Any, ids: NodeIds | None) -> tuple[NodeIds, npt.NDArray[Any]]:
    """Return the ids that rows shall have, and the row that each record goes to (-1: none)."""
    if ids is None:
        refuse_twice(reader, IdEncoder().encode(values), values)
        found = NodeIds.distinct(integers_if_canonical(values) if reader.ids_are_text else values)
        return found, np.arange(len(found))
    rows = rows_of(ids, values, reader)
    warn_of_strangers(reader.path, rows, values, "rows", stacklevel=4)
    refuse_twice(reader, rows, values)
    missing = len(ids) - int(np.count_nonzero(rows >= 0))
    if missing:
        warnings.warn(
            f"{reader.path}: {missing:,} of {len(ids):,} nodes have no row; their features are zero",
            PlanetoidWarning,
            stacklevel=3,
        )
    return ids, rows


def _placed(blocks: list[Any], rows: npt.NDArray[Any], shape: tuple[int, int]) -> Any:
    """Put the rows of all blocks where they belong, freeing each block as it goes."""
    if not sparse.issparse(blocks[0]):
        dense = np.zeros(shape, dtype=np.float32)
        for block, to in _taken(blocks, rows):
            dense[to[to >= 0]] = block[to >= 0]
        return dense
    counts = np.zeros(shape[0] + 1, dtype=np.int64)
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    counts[rows[rows >= 0] + 1] = lengths[rows >= 0]
    indptr = np.cumsum(counts)
    indices = np.empty(indptr[-1], dtype=np.int32)
    data = np.empty(indptr[-1], dtype=np.float32)
    for block, to in _taken(blocks, rows):
        kept = block[to >= 0]
        shift = np.repeat(indptr[to[to >= 0]] - kept.indptr[:-1], np.diff(kept.indptr))
        place = np.arange(kept.nnz) + shift
        indices[place] = kept.indices
        data[place] = kept.data
    index_type = np.int32 if indptr[-1] < 2**31 else np.int64
    return sparse.csr_array((data, indices.astype(index_type, copy=False), indptr.astype(index_type)), shape=shape)


def _taken(blocks: list[Any], rows: npt.NDArray[Any]) -> Iterator[tuple[Any, npt.NDArray[Any]]]:
    blocks.reverse()
    start = 0
    while blocks:
        block = blocks.pop()
        yield block, rows[start : start + block.shape[0]]
        start += block.shape[0]


def _as_array(names: tuple[str, ...] | None) -> npt.NDArray[Any] | None:
    return None if names is None else np.array(names, dtype=object)
