"""DIEL's text files: lists, items, seeds of a run, and the ground truth.

========================================================= ==============================================
``list_features.txt``                                     ``list_id feature_index ...``
``hasItem.cfacts``                                        ``hasItem list_id item``
``RUN/CATEGORY_devel_50p_proppr_seed_forTrainList``       a seed item of the category in the third column
``RUN/coverage_eva_multiAdded``                           ``item category``, categories counted from 1
========================================================= ==============================================

Columns are separated by tabs, or by spaces if the first line has no tab.
Names are compared as bytes, so that encodings do not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.datasets.files import DATA_VARIABLE, candidate_folders
from planetoid.datasets.lists import CoordinateLists, vote
from planetoid.errors import DataError, DatasetNotFoundError, PlanetoidWarning, warn
from planetoid.graph.construct import bipartite_graph
from planetoid.graph.construct.factorize import factorize
from planetoid.ids import NodeIds
from planetoid.labels import as_classes

if TYPE_CHECKING:
    import pyarrow as pa

    from planetoid.graph import Graph

__all__ = ["CATEGORIES", "diel_files", "find_diel", "read_diel"]

CATEGORIES = ("disease", "drug", "ingredient", "symptom")
ARCHIVE = "http://cs.cmu.edu/~zhiliny/data/diel_data.tar.gz"
LINES_AT_ONCE = 200_000
LIST_PREFIX = "list:"

Ints = npt.NDArray[np.integer[Any]]


def diel_files(run: int) -> list[str]:
    """Return the files of a run, relative to DIEL's folder."""
    seeds = [f"{run}/{category}_devel_50p_proppr_seed_forTrainList" for category in CATEGORIES]
    return ["list_features.txt", "hasItem.cfacts", *seeds, f"{run}/coverage_eva_multiAdded"]


def find_diel(root: str | Path | None, run: int) -> Path:
    """Return the folder that has the files of a run.

    DIEL is not downloaded: no checksum of its archive is known, so it could not be verified.
    """
    folders = candidate_folders(root, "diel")
    for folder in folders:
        if all((folder / name).is_file() for name in diel_files(run)):
            return folder
    raise DatasetNotFoundError(
        f"diel was not found. Download {ARCHIVE} and put {', '.join(diel_files(run))} into one folder: "
        f"one of {', '.join(map(str, folders[1::2]))}, or another one given by root or {DATA_VARIABLE}."
    )


def read_diel(folder: Path, run: int, *, description: str, origin: str) -> CoordinateLists:
    """Read one run, in the memory of the edges, the names and the final features."""
    names = diel_files(run)
    list_rows, list_names, item_rows, item_names = _read_edges(folder / names[1])
    n_lists, n_nodes = len(list_names), len(list_names) + len(item_names)
    graph = bipartite_graph(list_rows, item_rows, _node_ids(list_names, item_names), n_lists)

    seed_items, seed_categories = [], []
    for category, name in enumerate(names[2:-1]):
        found = _find(_column(folder / name, 2), item_names, f"seeds in {folder / name}")
        seed_items.append(np.unique(found[found >= 0]))
        seed_categories.append(np.full(len(seed_items[-1]), category))
    labelled_lists, categories = _lists_of(graph, np.concatenate(seed_items), np.concatenate(seed_categories), n_lists)
    truth_rows, truth_categories = _read_truth(folder / names[-1], item_names)
    return CoordinateLists(
        name="diel",
        graph=graph,
        X=_read_features(folder / names[0], list_names, n_nodes),
        y=vote(labelled_lists, categories, n_nodes, len(CATEGORIES)),
        classes=as_classes(CATEGORIES),
        description=f"{description} (run {run})",
        origin=origin,
        n_lists=n_lists,
        truth_rows=np.where(truth_rows >= 0, truth_rows + n_lists, -1),
        truth_categories=truth_categories,
    )


def _lists_of(graph: Graph, items: Ints, categories: Ints, n_lists: int) -> tuple[Ints, Ints]:
    """Return the lists of the seed items, and the category of the seed for each."""
    degrees = graph.degrees[n_lists + items]
    starts = graph.indptr[n_lists + items]
    within = np.arange(degrees.sum()) - np.repeat(np.cumsum(degrees) - degrees, degrees)
    return graph.indices[np.repeat(starts, degrees) + within], np.repeat(categories, degrees)


def _read_edges(path: Path) -> tuple[Ints, pa.Array, Ints, pa.Array]:
    import pyarrow as pa
    from pyarrow import csv

    names = ["fact", "list", "item"]
    try:
        table = csv.read_csv(
            path,
            read_options=csv.ReadOptions(column_names=names, use_threads=False),
            parse_options=csv.ParseOptions(delimiter=_separator(path), quote_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=names[1:], column_types={name: pa.binary() for name in names}
            ),
        )
    except pa.ArrowInvalid as error:
        problem = " ".join(str(error).split())[:160]
        raise DataError(problem, path=path, hint="a line must have 'hasItem', a list and an item") from None
    list_rows, list_names = factorize(table.column("list"), str(path))
    item_rows, item_names = factorize(table.column("item"), str(path))
    return list_rows, list_names, item_rows, item_names


def _read_features(path: Path, list_names: pa.Array, n_nodes: int) -> sparse.csr_array:
    """Read binary features block by block; items have none."""
    rows, columns, unknown = [], [], 0
    for start, lines in _blocks(path):
        split = [line.split() for line in lines]
        counts = np.array([len(fields) - 1 for fields in split])
        found = _rows([fields[0] for fields in split], list_names)
        try:
            values = np.array([int(field) for fields in split for field in fields[1:]], dtype=np.int64)
        except ValueError:
            raise _bad_feature(path, start, split) from None
        if len(values) and not 0 <= values.min() <= values.max() < 2**31 - 1:
            raise DataError(f"a feature index in lines {start} to {start + len(lines)} is out of range", path=path)
        unknown += int((found < 0).sum())
        owner = np.repeat(found, counts)
        rows.append(owner[owner >= 0].astype(np.int32))
        columns.append(values[owner >= 0].astype(np.int32))
    if unknown:
        warn(PlanetoidWarning(f"{unknown:,} lists have features but no item and are ignored", path=path))
    row, column = (np.concatenate(part) if part else np.empty(0, dtype=np.int32) for part in (rows, columns))
    shape = (n_nodes, int(column.max()) + 1 if len(column) else 0)
    features = sparse.coo_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=shape).tocsr()
    features.data[:] = 1  # features are binary, also where one is repeated
    features.sort_indices()
    return features


def _read_truth(path: Path, item_names: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    items, categories = [], []
    for start, lines in _blocks(path):
        for number, line in enumerate(lines, start):
            item, _, category = line.replace(b"\t", b" ").rpartition(b" ")
            if not category.isdigit() or not 1 <= int(category) <= len(CATEGORIES) or not item:
                raise DataError(
                    f"{line[:40]!r} is not an item and a category from 1 to {len(CATEGORIES)}", path=path, line=number
                )
            items.append(line[: len(item)].strip())
            categories.append(int(category) - 1)
    pairs = dict.fromkeys(zip(items, categories, strict=True))
    return _rows([item for item, _ in pairs], item_names), np.array([c for _, c in pairs], dtype=np.int32)


def _column(path: Path, column: int) -> list[bytes]:
    separator = _separator(path).encode()
    values = []
    for start, lines in _blocks(path):
        for number, line in enumerate(lines, start):
            fields = line.split(separator)
            if len(fields) <= column:
                raise DataError(f"{len(fields)} columns, expected at least {column + 1}", path=path, line=number)
            values.append(fields[column].strip())
    return values


def _blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Yield blocks of lines that are not empty, with the number of the first."""
    with path.open("rb") as stream:
        lines: list[bytes] = []
        first = 1
        for number, line in enumerate(stream, 1):
            stripped = line.strip()
            if stripped:
                lines.append(stripped)
            if lines and (not stripped or len(lines) == LINES_AT_ONCE):
                yield first, lines
                lines = []
            if not lines:
                first = number + 1
        if lines:
            yield first, lines


def _separator(path: Path) -> str:
    with path.open("rb") as stream:
        return "\t" if b"\t" in stream.readline() else " "


def _rows(names: list[bytes], known: pa.Array) -> npt.NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = pc.index_in(pa.array(names, type=pa.binary()), value_set=known)
    return np.asarray(pc.fill_null(found, -1)).astype(np.int64)


def _find(names: list[bytes], known: pa.Array, what: str) -> npt.NDArray[np.int64]:
    found = _rows(names, known)
    if len(found) == 0 or (found < 0).all():
        raise DataError(f"none of the {len(found):,} {what} occurs in a list")
    return found


def _node_ids(list_names: pa.Array, item_names: pa.Array) -> NodeIds:
    import pyarrow as pa
    import pyarrow.compute as pc

    lists = pc.binary_join_element_wise(LIST_PREFIX, _text(list_names), "")
    return NodeIds(pa.concat_arrays([lists, _text(item_names)]))


def _text(names: pa.Array) -> pa.Array:
    import pyarrow as pa

    try:
        return names.cast(pa.string())
    except pa.ArrowInvalid:  # not UTF-8; names stay distinct as Latin-1
        return pa.array([name.decode("latin-1") for name in names.to_pylist()])


def _bad_feature(path: Path, start: int, split: list[list[bytes]]) -> DataError:
    for number, fields in enumerate(split, start):
        for field in fields[1:]:
            if not field.isdigit():
                return DataError(f"{field[:40]!r} is not a feature index", path=path, line=number)
    return DataError("a feature index cannot be read", path=path)
