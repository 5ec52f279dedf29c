"""Exported models in onnxruntime beside the library: 10,000 new rows, one thread.

    python benchmarks/onnx_export.py [--rows 10000] [--methods planetoid,feat]

Each inductive method is fitted on Cora (bundled, 20 labels per class, seed 0, defaults) and exported for dense rows and
for tokens. A new row has words of two papers at random; rows that a fitted node has are left out. Both label rows in
batches of 1,000. Results: ``benchmarks/results/onnx_export.json``: on how many rows labels differ, the largest
difference of a probability, rows per second (the median of five runs), and the ratio of the exported model to the
library.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from scipy import sparse

import planetoid as pl
from planetoid.export import to_onnx, token_rows

RESULTS = Path(__file__).resolve().parent / "results" / "onnx_export.json"
BATCH, REPEATS = 1_000, 5


def words(X: sparse.csr_array) -> list[tuple[int, ...]]:
    """Return the columns of each row's nonzero entries."""
    rows = X.sorted_indices()
    return [tuple(part.tolist()) for part in np.split(rows.indices, rows.indptr[1:-1])]


def new_rows(X: sparse.csr_array, n_rows: int) -> sparse.csr_array:
    """Return rows with half of the words of two others."""
    rng = np.random.default_rng(0)
    one, two = (X[rng.integers(0, X.shape[0], n_rows + 100)] for _ in range(2))
    mixed = sparse.csr_array(one + two).astype(np.float32)
    mixed.data = (rng.random(mixed.nnz) < 0.5).astype(np.float32)
    mixed.eliminate_zeros()
    fitted = set(words(X))
    new = [row for row, own in enumerate(words(mixed)) if own and own not in fitted]
    return sparse.csr_array(mixed[new[:n_rows]])


def in_batches(label: Callable[[slice], Any], n_rows: int) -> tuple[list[Any], float]:
    """Return what a function says about all rows, and how many it labels per second."""
    parts = [slice(first, first + BATCH) for first in range(0, n_rows, BATCH)]
    found, seconds = [], []
    for _ in range(REPEATS):
        started = time.perf_counter()
        found = [label(part) for part in parts]
        seconds.append(time.perf_counter() - started)
    return found, n_rows / float(np.median(seconds))


def one_method(method: str, n_rows: int) -> dict[str, Any]:
    data = pl.datasets.load("cora-bundled")
    train = data.split("random", seed=0).train
    model = pl.METHODS[method]()
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    model.fit(data.X, pl.mask_labels(data.y, train), **given)
    rows = new_rows(data.X, n_rows)
    result: dict[str, Any] = {"rows": rows.shape[0]}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    for kind in ("dense", "tokens"):
        if kind == "dense":
            X: Any = rows.toarray()
            inputs = {"features": X}
        else:
            X = rows
            inputs = dict(zip(("tokens", "values"), token_rows(rows), strict=True))
        expected, library = in_batches(lambda part, X=X: model.predict_proba(X[part]), rows.shape[0])
        with tempfile.TemporaryDirectory() as folder:
            to_onnx(model, f"{folder}/model.onnx", tokens=kind == "tokens")
            session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options)
        found, exported = in_batches(
            lambda part, session=session, inputs=inputs: session.run(
                ["label", "probabilities"], {name: value[part] for name, value in inputs.items()}
            ),
            rows.shape[0],
        )
        probabilities = np.concatenate(expected)
        labels = model.classes_[probabilities.argmax(axis=1)]
        result[kind] = {
            "labels that differ": int((np.concatenate([part[0] for part in found]) != labels).sum()),
            "largest difference": float(np.abs(np.concatenate([part[1] for part in found]) - probabilities).max()),
            "library": library,
            "exported": exported,
            "ratio": exported / library,
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    inductive = [name for name in pl.METHODS if pl.METHODS.info(name).inductive]
    parser.add_argument("--methods", default=",".join(inductive))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for method in options.methods.split(","):
        results[method] = one_method(method, options.rows)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        print(method, json.dumps(results[method]), flush=True)


if __name__ == "__main__":
    main()
