"""``store_graph`` and ``open_graph``: a graph as files that any number of processes map into memory."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

from planetoid.errors import DataError
from planetoid.graph import Graph
from planetoid.graph.build import Adjacency, BuildSummary
from planetoid.ids import NodeIds
from planetoid.utils.atomic import atomic_folder
from planetoid.utils.sealed import seal, unseal

__all__ = ["open_graph", "store_graph"]

DOCUMENT = "graph.json"
FORMAT, FORMAT_VERSION = "planetoid graph", 1


def store_graph(graph: Graph, folder: str | Path) -> None:
    """Write a graph to a new folder, from which :func:`open_graph` maps it.

    Node ids must be integers or strings.
    """
    target = Path(folder)
    if target.exists():
        raise DataError("the folder exists; choose a new one", path=target)
    if graph.ids.kind == "object":
        raise DataError("node ids must be integers or strings to be stored", path=target)
    with atomic_folder(target) as temporary:
        np.save(temporary / "indptr.npy", graph.indptr)
        np.save(temporary / "indices.npy", graph.indices)
        if graph.weights is not None:
            np.save(temporary / "weights.npy", graph.weights)
        if graph.ids.kind == "int":
            np.save(temporary / "ids.npy", graph.ids.to_numpy())
        elif graph.ids.kind == "str":
            _write_texts(temporary / "ids.parquet", graph.ids)
        document = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "n_nodes": graph.n_nodes,
            "ids": graph.ids.kind,
            "n_loops": graph._n_loops,
            "summary": asdict(graph.summary),
        }
        (temporary / DOCUMENT).write_bytes(seal(document, indent=1))


def open_graph(folder: str | Path) -> Graph:
    """Return a graph that :func:`store_graph` has written; its arrays are read when they are needed.

    Processes on one machine share the memory of the file. Ids that are strings are read into memory.

    Examples
    --------
    >>> import planetoid as pl, tempfile
    >>> from planetoid.distributed import open_graph, store_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store_graph(pl.Graph.from_edges(["a", "b"], ["b", "c"]), folder + "/graph")
    ...     open_graph(folder + "/graph").neighbors("b").tolist()
    ['a', 'c']
    """
    path = Path(folder)
    try:
        document = unseal((path / DOCUMENT).read_bytes())
        if (document["format"], document["format_version"]) != (FORMAT, FORMAT_VERSION):
            raise ValueError("it is of another version")
        summary = BuildSummary(**document["summary"])
        ids = _read_ids(path, document["ids"], document["n_nodes"])
        weights = _mapped(path / "weights.npy") if (path / "weights.npy").exists() else None
        indptr, indices = _mapped(path / "indptr.npy"), _mapped(path / "indices.npy")
        if len(indptr) != len(ids) + 1 or int(indptr[-1]) != len(indices):
            raise ValueError("its arrays do not fit each other")
        return Graph(Adjacency(indptr, indices, weights, document["n_loops"], summary), ids)
    except FileNotFoundError as error:
        raise DataError(f"the folder holds no graph: {Path(error.filename).name} is missing", path=path) from None
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"the graph is damaged ({error})", path=path) from None


def _mapped(file: Path) -> np.ndarray:
    """Return an array whose memory is the file, as a plain array, which compiled code takes."""
    return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))


def _write_texts(file: Path, ids: NodeIds) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ids.to_arrow()}), file)


def _read_ids(path: Path, kind: str, n_nodes: int) -> NodeIds:
    if kind == "range":
        return NodeIds(n_nodes)
    if kind == "int":
        return NodeIds.distinct(_mapped(path / "ids.npy"))
    import pyarrow.parquet as pq

    return NodeIds.distinct(pq.read_table(path / "ids.parquet").column("id").combine_chunks())
