"""``read_dataset``: from files to a graph, features and labels over the same nodes."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset
from planetoid.data.files import DatasetFiles
from planetoid.data.label_hints import label_hints
from planetoid.data.label_sets import encode_both_sets
from planetoid.data.sources import ROLES, SourceFile
from planetoid.errors import ParameterError, collected_warnings, warn
from planetoid.graph import EdgeList, Graph
from planetoid.labels import UNLABELLED, encode, question_minus_one

if TYPE_CHECKING:
    from planetoid.data.files import Column
    from planetoid.io.feature_table import FeatureBlocks, FeatureTable
    from planetoid.io.formats import TableSource

__all__ = ["read_dataset"]

LOGGER = logging.getLogger(__name__)


def read_dataset(
    edges: TableSource | None = None,
    features: TableSource | None = None,
    labels: TableSource | None = None,
    validation: TableSource | None = None,
    *,
    nodes: TableSource | None = None,
    directed: bool = False,
    source_column: Column = None,
    target_column: Column = None,
    weight_column: Column = None,
    id_column: Column = None,
    label_column: Column = None,
    ignore: Sequence[str] = (),
    text_columns: Sequence[str] = (),
    categorical: Sequence[str] = (),
    unlabelled: Sequence[str] = (),
    features_format: str | None = None,
    header: bool | Mapping[str, bool] | None = None,
    decimal: str | None = None,
    query: str | Mapping[str, str] | None = None,
    multi_label: bool = False,
    label_separator: str | None = None,
) -> Dataset:
    r"""Read a graph, features and labels, and align them by node id.

    The nodes are those with an edge and those with features, in natural order of their ids (``paper_9`` before
    ``paper_10``); feature columns are in the order of their names. The result therefore does not depend on the order
    of rows and columns in the files. A node without an edge is kept, as on the command line.

    A table is a path or an object. Paths: CSV, TSV and other text (``-`` is standard input; also compressed with
    gzip, bzip2, xz, zstd or zip), Parquet, Arrow (Feather), JSON lines, a folder or a pattern of such files, an
    SQLite or DuckDB file. Objects: Polars, Arrow and pandas tables, and connections of any DB-API module.

    Parameters
    ----------
    edges : table, optional
        Two columns of ids and, optionally, a weight; or ``.npz``, ``.npy`` or ``.mat`` with an adjacency matrix.
    features : table, optional
        A column of ids and one column of numbers per feature; or a ``.txt`` file of ``id token token:weight ...``, or
        rows without ids (``.npz``, ``.npy``, ``.mat``, ``.svm``). A node without features gets a row of zeros, with a
        warning. At least one of ``edges``, ``features`` and ``nodes`` is required.
    labels : table, optional
        The known labels: id and label.
    validation : table, optional
        Labels for early stopping and calibration, of other nodes: id and label. A node with the same label in
        ``labels`` is ignored, with a warning; a different label is an error.
    nodes : table, optional
        Ids, columns of any kind and perhaps labels, one row per node, instead of ``features`` and ``labels``. Numbers
        are scaled and missing ones filled; categories are one-hot encoded; booleans, dates, free text (TF-IDF), lists
        of numbers and lists of tokens become features. ``Dataset.preparation`` says what was done with each column; a
        fitted model keeps it and takes raw rows in ``predict``.
    directed : bool
        Keep the direction of edges.
    source_column, target_column, weight_column : str or int, optional
        Columns of ``edges``, by name or by number counted from 0.
    id_column : str or int, optional
        Column of node ids in all tables but ``edges``; a name applies to the tables that have such a column.
    label_column : str or int, optional
        Column of labels in ``nodes``, ``labels`` and ``validation``; in ``nodes`` it is never a feature. By default
        a column called ``label``, ``class``, ``y``, ``category`` or ``target``.
    ignore : sequence of str
        Columns of ``features`` or ``nodes`` that are no features.
    text_columns, categorical : sequences of str
        Columns of ``nodes`` that are free text, or categories, where they look like something else.
    unlabelled : sequence of str
        Labels that mean that the label is unknown, such as ``"NA"``; an empty one always does.
    features_format : {"table", "tokens", "svmlight", "npz"}, optional
        Format of ``features`` if its suffix does not tell.
    header : bool or dict, optional
        Whether the first line of a text table names its columns: for all files, or by file
        (``{"labels": False}``). By default it is detected.
    decimal : {".", ","}, optional
        Decimal separator of numbers in text; by default it is detected.
    query : str or dict, optional
        SQL query, or name of a table, of a database: for all, or by table (``{"edges": "SELECT ..."}``).
    multi_label : bool
        Whether nodes may have several labels, one per row of ``labels`` and ``validation``; ``Dataset.Y`` has them.
    label_separator : str, optional
        What separates several labels of a node in one cell, such as ``";"``; implies ``multi_label``.

    Returns
    -------
    Dataset
        ``sources`` lists the files.

    Examples
    --------
    >>> import tempfile, pathlib, planetoid as pl
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     _ = (folder / "edges.csv").write_text("source,target\na,b\nb,c\nd,c\n")
    ...     _ = (folder / "labels.csv").write_text("id,label\na,red\nd,blue\n")
    ...     data = pl.read_dataset(edges=folder / "edges.csv", labels=folder / "labels.csv")
    >>> data.node_ids.tolist(), data.y.tolist(), data.classes.tolist()
    (['a', 'b', 'c', 'd'], [1, -1, -1, 0], ['blue', 'red'])
    >>> pl.LabelPropagation().fit(data).predict().tolist()
    ['red', 'red', 'blue', 'blue']
    """
    given = dict(zip(ROLES, (edges, features, nodes, labels, validation), strict=True))
    sources = {role: source for role, source in given.items() if source is not None}
    if not {"edges", "features", "nodes"} & sources.keys():
        raise ParameterError("either edges, features or nodes are required", parameter="edges")
    files = DatasetFiles(
        sources,
        source_column,
        target_column,
        weight_column,
        id_column,
        label_column,
        ignore,
        text_columns,
        categorical,
        unlabelled,
        features_format,
        header,
        decimal,
        query,
        multi_label,
        label_separator,
    )
    with collected_warnings() as found:
        data = _read(files, directed=directed)
    LOGGER.info("read %s: %s", ", ".join(str(source.path or source.role) for source in data.sources), data)
    return replace(data, warnings=tuple(found))


def _read(files: DatasetFiles, *, directed: bool) -> Dataset:
    from planetoid.data.nodes import unite_nodes

    sources = files.sources
    edge_ids, edge_list = files.read_edges() if "edges" in sources else (None, None)
    blocks = files.read_features() if "features" in sources else None
    node_table = files.read_nodes() if "nodes" in sources else None
    union = unite_nodes(edge_ids, node_table if blocks is None else blocks, files.path("edges"))
    graph = Graph.without_edges(union.ids)
    if edge_list is not None:
        rows = union.edge_rows
        edge_list = EdgeList(rows[edge_list.source], rows[edge_list.target], edge_list.weight)
        graph = Graph.from_rows(edge_list, union.ids, directed=directed)
    table = None if blocks is None else _in_order(blocks, graph)
    preparation = None
    y, held_out = (files.read_labels(role, graph) if role in sources else None for role in ("labels", "validation"))
    if node_table is not None:
        y = files.read_labels_of_nodes(node_table, graph) if y is None else y
        if node_table.has_columns:
            preparation, table = node_table.prepared(graph.ids)
    labels_path = files.path("labels") or files.path("nodes")
    Y = None
    if files.has_sets:
        Y, codes, validation_codes, classes = encode_both_sets(y, held_out, graph.ids)
        counts = dict(zip(map(str, classes.tolist()), np.bincount(Y.indices, minlength=len(classes)), strict=True))
    else:
        codes, validation_codes, classes = _encode_both(y, held_out, graph.n_nodes)
        counts = _class_counts(codes, validation_codes, classes)
    if y is not None and Y is None:
        question_minus_one(y.tolist(), classes, path=labels_path)
    for hint in label_hints(counts, labels_path):
        warn(hint)
    return Dataset(
        name=_name(files),
        graph=graph,
        X=None if table is None else table.X,
        y=codes,
        classes=classes,
        validation=validation_codes,
        feature_names=None if table is None else table.names,
        sources=tuple(
            SourceFile(role, files.path(role), union.n_without_edge if role in ("features", "nodes") else 0)
            for role in sources
        ),
        preparation=preparation,
        Y=Y,
    )


def _name(files: DatasetFiles) -> str:
    """Return what messages call the data: its first file, else its first table."""
    role = next(role for role in ("edges", "nodes", "features") if role in files.sources)
    return str(files.path(role) or role)


def _in_order(blocks: FeatureBlocks, graph: Graph) -> FeatureTable:
    """Return a row for each node, with columns by name, as a sparse matrix if most of it is zero."""
    return blocks.aligned(graph.ids, on_unknown="error").with_names_sorted().compact()


def _encode_both(
    labels: npt.NDArray[np.object_] | None, validation: npt.NDArray[np.object_] | None, n_nodes: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32] | None, npt.NDArray[Any]]:
    """Return codes of labels and of validation labels, -1 where there is none, and the classes of both."""
    columns = [np.empty(0, dtype=object) if column is None else column for column in (labels, validation)]
    rows = [np.flatnonzero(_is_known(column)) for column in columns]
    known = [label for column, some in zip(columns, rows, strict=True) for label in column[some].tolist()]
    if len({type(label) for label in known}) > 1:  # integers in one file and strings in the other
        known = [str(label) for label in known]
    codes, classes = encode(known)
    y, held_out = (np.full(n_nodes, UNLABELLED, dtype=np.int32) for _ in columns)
    y[rows[0]], held_out[rows[1]] = np.split(codes, [len(rows[0])])
    return y, None if validation is None else held_out, classes


def _class_counts(
    codes: npt.NDArray[np.int32], held_out: npt.NDArray[np.int32] | None, classes: npt.NDArray[Any]
) -> dict[str, int]:
    known = codes if held_out is None else np.maximum(codes, held_out)
    counts = np.bincount(known[known >= 0], minlength=len(classes))
    return dict(zip(map(str, classes.tolist()), counts.tolist(), strict=True))


def _is_known(labels: npt.NDArray[np.object_]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.not_equal(labels, np.array(None, dtype=object)), dtype=bool)
