"""Embeddings to files that other programs read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.ids import NodeIds
from planetoid.utils.atomic import atomic_write

__all__ = ["EMBEDDING_SUFFIXES", "write_embedding"]

MOST_ID_BYTES = 2**29


def write_embedding(path: str | Path, ids: NodeIds, embedding: npt.NDArray[np.float32]) -> None:
    """Write one row per node, in a format chosen by the suffix of the file.

    ``.npz`` (arrays ``ids`` and ``embedding``, no pickle), ``.parquet`` (a column ``id`` and one per dimension) or
    word2vec text (``.w2v``, ``.txt``, ``.vec``: a header ``n dimension``, then an id and its numbers per line; ids must
    not contain whitespace).
    """
    target = Path(path)
    write = _WRITERS.get(target.suffix)
    if write is None:
        raise DataError(
            "cannot infer the format of the embedding", path=target, hint=f"use {', '.join(EMBEDDING_SUFFIXES)}"
        )
    with atomic_write(target) as temporary:
        write(temporary, ids, embedding)


def _write_npz(path: Path, ids: NodeIds, embedding: npt.NDArray[np.float32]) -> None:
    longest = max((len(str(node)) for node in ids.to_numpy()), default=0) if ids.kind in ("str", "object") else 0
    if 4 * longest * len(ids) > MOST_ID_BYTES:  # an array of strings has the length of the longest in every entry
        raise DataError(
            f"node ids of up to {longest:,} characters would take {4 * longest * len(ids) / 2**30:,.1f} GiB in .npz",
            hint="use .parquet",
        )
    if ids.kind == "object":
        plain = np.array([str(node) for node in ids.to_numpy()])
    else:
        plain = ids.to_numpy().astype(str) if ids.kind == "str" else ids.to_numpy()
    np.savez(path, ids=plain, embedding=embedding)


def _write_parquet(path: Path, ids: NodeIds, embedding: npt.NDArray[np.float32]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {f"e{k}": np.ascontiguousarray(embedding[:, k]) for k in range(embedding.shape[1])}
    pq.write_table(pa.table({"id": ids.to_arrow(), **columns}), path)


def _write_text(path: Path, ids: NodeIds, embedding: npt.NDArray[np.float32]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{embedding.shape[0]} {embedding.shape[1]}\n")
        for row, vector in enumerate(embedding):
            name = str(ids[row])
            if not name or name.split() != [name]:
                raise DataError(
                    f"word2vec text cannot hold the node id {name!r}, which contains whitespace", hint="use .npz"
                )
            file.write(name + " " + " ".join(f"{value:.7g}" for value in vector.tolist()) + "\n")


_WRITERS: dict[str, Callable[[Path, NodeIds, npt.NDArray[np.float32]], None]] = {
    ".npz": _write_npz,
    ".parquet": _write_parquet,
    ".w2v": _write_text,
    ".txt": _write_text,
    ".vec": _write_text,
}
EMBEDDING_SUFFIXES = tuple(_WRITERS)
