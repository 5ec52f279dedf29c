"""``read_dataset``: from files to a graph, features and labels over the same nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset
from planetoid.data.files import DatasetFiles
from planetoid.data.sources import ROLES, SourceFile
from planetoid.errors import ParameterError
from planetoid.graph import EdgeList, Graph
from planetoid.labels import UNLABELLED, encode, question_minus_one

if TYPE_CHECKING:
    from planetoid.data.files import Column
    from planetoid.io.feature_table import FeatureBlocks, FeatureTable

__all__ = ["read_dataset"]


def read_dataset(
    edges: str | PathLike[str] | None = None,
    features: str | PathLike[str] | None = None,
    labels: str | PathLike[str] | None = None,
    validation: str | PathLike[str] | None = None,
    *,
    directed: bool = False,
    source_column: Column = None,
    target_column: Column = None,
    weight_column: Column = None,
    id_column: Column = None,
    label_column: Column = None,
    ignore: Sequence[str] = (),
    features_format: str | None = None,
    header: bool | Mapping[str, bool] | None = None,
) -> Dataset:
    r"""Read a graph, features and labels from files, and align them by node id.

    The nodes are those with an edge and those with features, in natural order of their ids (``paper_9`` before
    ``paper_10``); feature columns are in the order of their names. The result therefore does not depend on the order
    of rows and columns in the files. Each file is read once.

    Parameters
    ----------
    edges : path, optional
        CSV, TSV (also gzip) or Parquet: two columns of ids and, optionally, a weight.
    features : path, optional
        A CSV or Parquet table with a column of ids, a ``.txt`` file of ``id token token:weight ...``, or rows
        without ids (``.npz``, ``.svm``). A node without features gets a row of zeros, with a warning. At least one of
        ``edges`` and ``features`` is required.
    labels : path, optional
        The known labels: a table of id and label.
    validation : path, optional
        Labels for early stopping and calibration, of other nodes: a table of id and label. A node with the same
        label in ``labels`` is ignored, with a warning; a different label is an error.
    directed : bool
        Keep the direction of edges.
    source_column, target_column, weight_column : str or int, optional
        Columns of ``edges``, by name or by number counted from 0.
    id_column : str or int, optional
        Column of node ids in ``features``, ``labels`` and ``validation``; a name applies to the tables that have
        such a column.
    label_column : str or int, optional
        Column of labels in ``labels`` and ``validation``.
    ignore : sequence of str
        Columns of ``features`` that are no features.
    features_format : {"table", "tokens", "svmlight", "npz"}, optional
        Format of ``features`` if its suffix does not tell.
    header : bool or dict, optional
        Whether the first line of a text table names its columns: for all files, or by file
        (``{"labels": False}``). By default it is detected.

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
    from planetoid.data.nodes import unite_nodes

    given = dict(zip(ROLES, (edges, features, labels, validation), strict=True))
    paths = {role: Path(path) for role, path in given.items() if path is not None}
    if "edges" not in paths and "features" not in paths:
        raise ParameterError("either edges or features are required", parameter="edges")
    files = DatasetFiles(
        paths,
        source_column,
        target_column,
        weight_column,
        id_column,
        label_column,
        ignore,
        features_format,
        header,
    )
    edge_ids, edge_list = files.read_edges() if "edges" in paths else (None, None)
    blocks = files.read_features() if "features" in paths else None
    nodes = unite_nodes(edge_ids, blocks, paths.get("edges"))
    graph = Graph.without_edges(nodes.ids)
    if edge_list is not None:
        rows = nodes.edge_rows
        edge_list = EdgeList(rows[edge_list.source], rows[edge_list.target], edge_list.weight)
        graph = Graph.from_rows(edge_list, nodes.ids, directed=directed)
    table = None if blocks is None else _in_order(blocks, graph)
    y, held_out = (files.read_labels(role, graph) if role in paths else None for role in ("labels", "validation"))
    codes, validation_codes, classes = _encode_both(y, held_out, graph.n_nodes)
    if y is not None:
        question_minus_one(y.tolist(), classes, path=paths["labels"])
    return Dataset(
        name=str(paths.get("edges", paths.get("features"))),
        graph=graph,
        X=None if table is None else table.X,
        y=codes,
        classes=classes,
        validation=validation_codes,
        feature_names=None if table is None else table.names,
        sources=tuple(
            SourceFile(role, path, nodes.n_without_edge if role == "features" else 0) for role, path in paths.items()
        ),
    )


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


def _is_known(labels: npt.NDArray[np.object_]) -> npt.NDArray[np.bool_]:
    return np.asarray(np.not_equal(labels, np.array(None, dtype=object)), dtype=bool)
