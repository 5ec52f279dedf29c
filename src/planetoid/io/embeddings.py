"""Embeddings to files that other programs read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.ids import NodeIds
from planetoid.utils.atomic import atomic_write

__all__ = ["EMBEDDING_SUFFIXES", "write_embedding"]

TEXT_SUFFIXES = (".w2v", ".txt", ".vec")
EMBEDDING_SUFFIXES = (".npz", ".parquet", *TEXT_SUFFIXES)


def write_embedding(path: str | Path, ids: NodeIds, embedding: npt.NDArray[np.float32]) -> None:
    """Write one row a node, in a format chosen by the file's ending.

    ``.npz`` (arrays ``ids`` and ``embedding``, no pickle), ``.parquet`` (a
    column ``id`` and one a dimension) or word2vec text (``.w2v``, ``.txt``,
    ``.vec``; a header ``n dimension``, then an id and its numbers a line; an id
    with white space in it is refused).
    """
    target = Path(path)
    if target.suffix == ".npz":
        with atomic_write(target) as aside:
            np.savez(aside, ids=_plain_ids(ids), embedding=embedding)
    elif target.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {f"e{k}": np.ascontiguousarray(embedding[:, k]) for k in range(embedding.shape[1])}
        with atomic_write(target) as aside:
            pq.write_table(pa.table({"id": ids.to_arrow(), **columns}), aside)
    elif target.suffix in TEXT_SUFFIXES:
        with atomic_write(target) as aside:
            _write_text(aside, ids, embedding)
    else:
        raise DataError(f"{target}: an embedding is written as .npz, .parquet or {', '.join(TEXT_SUFFIXES)}")


def _write_text(path: Path, ids: NodeIds, embedding: npt.NDArray[np.float32]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{embedding.shape[0]} {embedding.shape[1]}\n")
        for row, vector in enumerate(embedding):
            name = str(ids[row])
            if not name or name.split() != [name]:
                raise DataError(f"node id {name!r} has white space in it, which word2vec text cannot hold; use .npz")
            file.write(name + " " + " ".join(f"{value:.7g}" for value in vector.tolist()) + "\n")


def _plain_ids(ids: NodeIds) -> npt.NDArray[Any]:
    if ids.kind == "object":
        return np.array([str(node) for node in ids.to_numpy()])
    return ids.to_numpy().astype(str) if ids.kind == "str" else ids.to_numpy()
