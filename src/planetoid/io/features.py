"""``read_features`` and ``iter_features``: features of nodes from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from planetoid.ids import NodeIds
from planetoid.io.encode import IdEncoder, int64_or_string
from planetoid.io.feature_reader import FeatureOptions
from planetoid.io.feature_table import FeatureBlocks, FeatureTable
from planetoid.io.formats import open_features
from planetoid.io.matching import check_unique, graph_ids

if TYPE_CHECKING:
    from planetoid.io.formats import TableSource
    from planetoid.io.matching import HasIds

__all__ = ["iter_features", "read_feature_blocks", "read_features"]


def read_features(
    path: TableSource,
    graph: HasIds | NodeIds | None = None,
    *,
    id_column: str | int | None = None,
    names: Sequence[str | int] | None = None,
    ignore: Sequence[str | int] | None = None,
    n_features: int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002
) -> FeatureTable:
    """Read the features of nodes.

    Sparse formats give a sparse matrix, tables a dense one. With a graph, the rows are those of its nodes: a node
    without a row in the file gets zeros, a row without a node is left out, both with a warning that counts them.

    Parameters
    ----------
    path : str, Path, table or connection
        One of these, by its suffix; text may be compressed.

        - a table with a column of ids and one column per feature: CSV, TSV, Parquet, Arrow, JSON lines, a folder or
          pattern of parts, a database with a query, or a table in memory
        - ``.npz``, ``.npy``, ``.mat``: a matrix, one row per node in order; or ids and a matrix, as ``embed`` writes
        - ``.svm``, ``.svmlight``, ``.libsvm``: ``label column:value ...``, one line per node in order; the labels
          are ignored, and columns are counted from 1 unless a 0 occurs
        - ``.txt``: lines of ``id token:weight ...``, or ``id token ...`` where every weight is 1
    graph : Graph, optional
        Without it the rows keep the order of the file.
    id_column : str or int, optional
        Column of ids of a table, by name or number; by default one called ``id``, ``node`` or ``node_id``, else the
        index of a pandas table, else the first. An index beside a column of ids is not a feature, unless it is in
        ``names``.
    names : sequence of str or int, optional
        The features to read, in this order: columns of a table, or tokens (others are ignored). By default all, with
        tokens sorted.
    ignore : sequence of str or int, optional
        Columns of a table that are not features.
    n_features : int, optional
        The number of features required; an svmlight file may show fewer.
    header : bool, optional
        Whether the first line of a text table names the columns; detected by default.
    separator : str, optional
        One character between the cells of a text table (a space: any whitespace); detected by default.
    decimal : {".", ","}, optional
        Decimal separator in text; detected by default.
    query : str, optional
        SQL query, or name of a table, of a database.
    format : str, optional
        For a file with another suffix: ``"table"``, ``"tokens"``, ``"svmlight"``, ``"npz"``, ...

    Returns
    -------
    FeatureTable
    """
    options = FeatureOptions(id_column, names, ignore, n_features, header, separator, decimal, query, format)
    blocks = read_feature_blocks(path, options)
    return (blocks.table() if graph is None else blocks.aligned(graph_ids(graph))).as_dense()


def read_feature_blocks(path: TableSource, options: FeatureOptions = FeatureOptions()) -> FeatureBlocks:
    """Read the features of nodes before it is known which nodes there are.

    The options are the parameters of :func:`read_features`. The result has the ids of the file, and is aligned with
    the nodes later without a second copy of the features.
    """
    return FeatureBlocks.read(open_features(path, options))


def iter_features(
    path: TableSource,
    *,
    id_column: str | int | None = None,
    names: Sequence[str | int] | None = None,
    ignore: Sequence[str | int] | None = None,
    n_features: int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    decimal: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002
) -> Iterator[FeatureTable]:
    """Read features in blocks of rows, in memory that does not grow with the file.

    Takes the parameters of :func:`read_features`, and yields tables that all have the same columns. Ids are as they
    are written: strings from text. A duplicate id is noticed only within a block. Without ``names`` a token file is
    read twice, first for its vocabulary; an ``.npz`` file is in memory as a whole.
    """
    options = FeatureOptions(id_column, names, ignore, n_features, header, separator, decimal, query, format)
    reader = open_features(path, options)
    column_names = None if reader.names is None else np.array(reader.names, dtype=object)
    for block in reader.blocks():
        if block.ids is None:
            ids = NodeIds.distinct(np.arange(block.first_row, block.first_row + block.X.shape[0]))
        else:
            check_unique(reader, IdEncoder().encode(block.ids), block.ids, block.first_row)
            ids = NodeIds.distinct(int64_or_string(block.ids))
        yield FeatureTable(block.X, ids, column_names, reader.path, block.ids is not None)
