"""Make ``src/planetoid/datasets/bundled/cora.npz`` from the wheel of graphdatascience.

    python scripts/bundle_cora.py graphdatascience-2.2-py3-none-any.whl

Reads ``resources/cora`` of that wheel (Apache-2.0) and writes plain arrays:
paper ids, class codes and names, the words of each paper as a CSR pattern,
and citations. Running it again gives the same bytes.
"""

from __future__ import annotations

import ast
import io
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

FOLDER = "graphdatascience/resources/cora"
TARGET = Path(__file__).parents[1] / "src" / "planetoid" / "datasets" / "bundled" / "cora.npz"


def main(wheel: str) -> None:
    with zipfile.ZipFile(wheel) as archive:
        nodes = pq.read_table(io.BytesIO(archive.read(f"{FOLDER}/cora_nodes.parquet.gzip")))
        links = pq.read_table(io.BytesIO(archive.read(f"{FOLDER}/cora_rels.parquet.gzip")))
        names = class_names(archive.read(f"{FOLDER}/serialize_cora.py").decode())
    words = np.array(nodes["features"].to_pylist(), dtype=np.uint8)
    paper, word = np.nonzero(words)
    arrays = {
        "node_ids": nodes["nodeId"].to_numpy().astype(np.int32),
        "y": nodes["subject"].to_numpy().astype(np.uint8),
        "class_names": np.array(names),
        "indptr": np.searchsorted(paper, np.arange(len(words) + 1)).astype(np.uint16),
        "indices": word.astype(np.uint16),
        "n_features": np.array(words.shape[1], dtype=np.uint16),
        "source": links["sourceNodeId"].to_numpy().astype(np.int32),
        "target": links["targetNodeId"].to_numpy().astype(np.int32),
    }
    assert (np.diff(arrays["indptr"].astype(np.int64)) == words.sum(axis=1)).all()
    np.savez_compressed(TARGET, **arrays)
    size = TARGET.stat().st_size
    sys.stdout.write(f"{TARGET.name}: {len(words):,} papers, {len(links):,} citations, {size:,} bytes\n")


def class_names(script: str) -> list[str]:
    """Read the class names, in order of their codes, from the script that made the tables."""
    for statement in ast.parse(script).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "SUBJECT_TO_ID":
            codes: dict[str, int] = ast.literal_eval(statement.value)
            return sorted(codes, key=codes.__getitem__)
    raise SystemExit("the wheel has no table of class names")


if __name__ == "__main__":
    main(sys.argv[1])
