"""The authors' files: Cora, Citeseer, Pubmed and NELL, in two orders.

``ind`` is the usual order: the rows of ``allx`` (labelled ones first), and the
test rows in the positions of ``test.index``. ``trans`` has the labelled rows,
then the test rows, then all others, without their features and labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.splits import Split
from planetoid.datasets.pickles import Matrix, read_pickle
from planetoid.errors import DataError
from planetoid.graph import EdgeList, Graph
from planetoid.ids import NodeIds
from planetoid.labels import as_classes

__all__ = ["file_names", "read_view"]

N_VALIDATION = 500
_PARTS = {
    "ind": ("x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"),
    "trans": ("x", "y", "tx", "ty", "graph"),
}


def file_names(stem: str, view: str) -> list[str]:
    """Return the files of a view; ``ind.nell.*.ally`` does not exist."""
    missing = {"ally"} if stem.startswith("nell") else set()
    return [f"{view}.{stem}.{part}" for part in _PARTS[view] if part not in missing]


def read_view(
    name: str,
    stem: str,
    view: Literal["ind", "trans"],
    paths: Mapping[str, Path],
    *,
    class_names: tuple[str, ...] | None,
    description: str,
    origin: str,
    repeats: Literal["merge", "count"] = "merge",
) -> Dataset:
    """Assemble a dataset from the files of one view."""
    parts = {part: paths[file] for file in file_names(stem, view) for part in [file[len(f"{view}.{stem}.") :]]}
    graph = _read_graph(parts["graph"], repeats)
    x, tx = _read_matrix(parts["x"]), _read_matrix(parts["tx"])
    (y, n_columns), (ty, _) = _read_labels(parts["y"]), _read_labels(parts["ty"])
    if view == "ind":
        allx = _read_matrix(parts["allx"])
        ally = _read_labels(parts["ally"])[0] if "ally" in parts else y
        test = _read_index(parts["test.index"])
    else:
        allx, ally = x, y
        test = np.arange(x.shape[0], x.shape[0] + tx.shape[0])
    n_labelled = x.shape[0]
    if len(test) != tx.shape[0] or (len(test) and not allx.shape[0] <= test.min() <= test.max() < graph.n_nodes):
        raise DataError(f"the rows do not fit the test rows and the graph of {graph.n_nodes:,} nodes", path=parts["tx"])

    codes = np.full(graph.n_nodes, -1, dtype=np.int32)
    codes[: len(ally)] = ally
    codes[:n_labelled] = y
    codes[test] = ty
    after = np.arange(n_labelled, min(n_labelled + N_VALIDATION, allx.shape[0]))
    known = after[codes[after] >= 0]
    public = Split(np.arange(n_labelled), known, test, protocol="public")
    return Dataset(
        name=name,
        graph=graph,
        X=_place_rows(allx, tx, test, graph.n_nodes),
        y=codes,
        classes=as_classes(class_names or tuple(f"class {column}" for column in range(n_columns))),
        description=f"{description} ({view} order)",
        origin=origin,
        public=public,
    )


def _read_graph(path: Path, repeats: str) -> Graph:
    lists = read_pickle(path)
    if not isinstance(lists, dict) or sorted(lists) != list(range(len(lists))):
        raise DataError("the file must hold a dictionary of the neighbours of the nodes 0, 1, 2, ...", path=path)
    counts = np.array([len(lists[node]) for node in range(len(lists))], dtype=np.int64)
    source = np.repeat(np.arange(len(lists), dtype=np.int32), counts)
    target = np.fromiter((other for node in range(len(lists)) for other in lists[node]), np.int32, int(counts.sum()))
    if len(target) and not 0 <= target.min() <= target.max() < len(lists):
        raise DataError(f"a neighbour is outside of 0..{len(lists) - 1}", path=path)
    weight = np.ones(len(source), dtype=np.float32) if repeats == "count" else None
    return Graph.from_rows(EdgeList(source, target, weight), NodeIds(len(lists)))


def _read_index(path: Path) -> npt.NDArray[np.int64]:
    rows = []
    for number, line in enumerate(path.read_text(encoding="ascii", errors="replace").splitlines(), 1):
        if not line.strip().isdigit():
            raise DataError(f"{line[:40]!r} is not a row number", path=path, line=number)
        rows.append(int(line))
    return np.array(rows, dtype=np.int64)


def _read_matrix(path: Path) -> Matrix:
    matrix = read_pickle(path)
    if isinstance(matrix, dict):
        raise DataError("the file must hold a matrix, not a dictionary", path=path)
    return matrix


def _read_labels(path: Path) -> tuple[npt.NDArray[np.int32], int]:
    """Return the column of the 1 in each row, -1 for a row of zeros, and the number of columns."""
    one_hot = _read_matrix(path)
    total = one_hot.sum(axis=1)
    if ((one_hot != 0) & (one_hot != 1)).any() or (total > 1).any():
        raise DataError("more than one label", path=path, row=int(np.argmax(total > 1)))
    return np.where(total == 1, one_hot.argmax(axis=1), -1).astype(np.int32), int(one_hot.shape[1])


def _place_rows(
    allx: sparse.csr_array, tx: sparse.csr_array, test: npt.NDArray[np.int64], n_nodes: int
) -> sparse.csr_array:
    empty = sparse.csr_array((1, allx.shape[1]), dtype=np.float32)
    stacked = sparse.vstack([allx, tx, empty], format="csr", dtype=np.float32)
    source = np.full(n_nodes, stacked.shape[0] - 1, dtype=np.int64)
    source[: allx.shape[0]] = np.arange(allx.shape[0])
    source[test] = allx.shape[0] + np.arange(len(test))
    placed = sparse.csr_array(stacked[source])
    placed.sort_indices()
    return placed
