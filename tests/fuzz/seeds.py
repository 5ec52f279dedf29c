"""Write the first inputs of the corpus: one small valid file per target and format, and what once was a finding.

``python -m tests.fuzz.seeds`` writes those that are missing.
"""

from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.feather import write_feather
from scipy import sparse
from scipy.io import savemat
from tests.fuzz.targets import saved_model, saved_record

CORPUS = Path(__file__).parent / "corpus"


def parquet(**columns: object) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer, compression="none", store_schema=False)
    return buffer.getvalue()


def npz(matrix: sparse.sparray) -> bytes:
    buffer = io.BytesIO()
    sparse.save_npz(buffer, matrix, compressed=False)
    return buffer.getvalue()


def feather(**columns: object) -> bytes:
    buffer = io.BytesIO()
    write_feather(pa.table(columns), buffer, compression="uncompressed")
    return buffer.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def mat(**arrays: object) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, arrays)
    return buffer.getvalue()


def integers(*values: int) -> bytes:
    return np.array(values, dtype=np.int64).tobytes()


def seeds() -> dict[str, list[bytes]]:
    """Return some inputs for each target."""
    table = b"id,x,y\na,1,2\nb,3,4\nc,0.5,-1e3\n"
    eye = sparse.csr_array(np.eye(3))
    return {
        "edges": [
            b"\0source,target,weight\na,b,1\nb,c,0.5\nc,a,2\n",
            b"\0# comment\n1\t2\n2\t3\n",
            b'\0"a b" c\n d "e""f"\n',
            b"\0,p2\np1,\np2,p3",
            b"\xff007;+7\n8;9\n",
        ],
        "features": [b"\0" + table, b"\1" + table, b"\x80" + table.replace(b",", b"\t")],
        "labels": [b"\0id,label\na,red\nb,\nc,blue\n", b"\1a,0\nb,1\nz,1\n", b"\2,label\n3,x\n1,y\n"],
        "dataset": [b"a,b\nb,c\n\0" + table + b"\0a,red\nb,blue\n"],
        "tokens": [b"\0a dog:2 cat\nb emu:0.5\nc\n", b"\1a b\tdog cat\nc\temu:1e-3\n", b"\0\xc2\xa0\n\xe2\x80\x83\n"],
        "svmlight": [b"\x801 1:0.5 3:2 # x\n0 2:1\n1 3:4\n", b"\0-1 0:1\n"],
        "npz": [b"\0" + npz(eye), b"\0" + npz(sparse.csc_array(eye)), b"\0" + npz(sparse.coo_array(eye))],
        "matrix": [
            integers(0, 3, 4, 3, 3, 3, 0, 1, 2, 0, 1, 2, 3, 1, 1, 1),
            integers(1, 3, 4, 3, 3, 3, 0, 1, 2, 0, 1, 2, 3, 1, 1, 1),
            integers(3, 3, 3, 3, 3, 3, 0, 1, 2, 0, 1, 2, 1, 1, 1),
            integers(25, 1, 2, 1, 2, 1, 50_000_000, 0, 1, 1),
            integers(5, 1, 0, 3, 3, 3, 0, 1, 1, 1),
        ],
        "parquet_edges": [
            b"\0" + parquet(source=["a", "b"], target=["b", "c"], weight=[1.0, 2.0]),
            b"\0" + parquet(source=pa.array([2**63, 1], pa.uint64()), target=pa.array([1, 2], pa.uint64())),
        ],
        "parquet_features": [
            b"\x80" + parquet(id=["a", "b"], x=[0.5, 1.5]),
            b"\2" + parquet(id=[3, 1], x=[True, False], y=pa.array([1, 2], pa.float16())),
        ],
        "parquet_labels": [
            b"\0" + parquet(id=["a", "b"], label=["red", None]),
            b"\2" + parquet(id=[3, 1], label=[1e300, 2.0]),
        ],
        "nodes": [
            b"\1id,age,city,joined,label\na,31,Rome,2021-04-03,x\nb,,Oslo,2022-01-01,\nc,7,Rome,2020-12-31,y\n",
            b"\2id;size;note\n001;1,5;a long text about one thing\n002;2,5;and another text, longer\n",
        ],
        "json_edges": [
            b'\0{"source": "a", "target": "b"}\n{"source": "b", "target": "c"}\n',
            b'\0{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}',
        ],
        "json_features": [b'\0{"id": "a", "x": 1, "y": {"z": 2}}\n{"id": "b", "x": 0.5, "y": {"z": 1}}\n'],
        "feather": [b"\0" + feather(id=["a", "b"], x=[0.5, 1.5])],
        "npy": [b"\0" + npy(np.eye(3)), b"\0" + npy(np.arange(6, dtype=np.int8).reshape(2, 3))],
        "mat": [b"\0" + mat(X=np.eye(3)), b"\0" + mat(X=sparse.csc_matrix(np.eye(2)))],
        "journal": [
            b'\0{"number": 0, "parameters": {"alpha": 0.5}, "answer": [0.5, 0.75]}\n{"number": 1, "parameters": {}, '
            b'"answer": "failed"}',
            b'\1{"parameters": "{}", "method": "lp", "seed": 0, "nodes": [1], "truth": [0], "predicted": [1], '
            b'"confidence": [0.5], "shares": [0.5, 0.5], "result": {"method": "lp", "dataset": "d", "protocol": "p", '
            b'"seed": 0, "metrics": {"accuracy": 0.0}, "fit_seconds": 1.0, "predict_seconds": 0.0, "n_train": 1, '
            b'"n_val": 0, "n_test": 1, "parameters": {}, "warnings": []}}',
        ],
        "checkpoint": [
            b'\0{"format": "planetoid checkpoint", "format_version": 2, "fingerprint": "", "tensors": {}, "training": '
            b"null}",
            b'\0{"format": "planetoid checkpoint", "format_version": 2, "fingerprint": "", "tensors": '
            b'{"checkpoint-a.safetensors": "00"}, "training": {"step": 1, "history": []}}',
            b'\1\x40\0\0\0\0\0\0\0{"state.sum.value":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}',
        ],
        "gzip": [b"\0" + gzip.compress(b"a,b\nb,c\n" * 3, mtime=0)],
        "settings": [
            b"planetoid\nconsistency.steps=100\nrow_normalize=none",
            b"planetoid-t\ntraining.steps=1e3\ncontexts.q=[1]",
            b"manireg\ngamma=nan",
            b"lp\nalpha=9" + b"9" * 400,
        ],
        "presets": [b"paper/cora\nPlanetoidT", b"tuned/../paper\n"],
        "pickled": [
            pickle.dumps(np.arange(3), 2),
            pickle.dumps(sparse.csr_matrix(np.eye(2)), 2),
            pickle.dumps(
                {
                    0: [
                        1,
                        b"\x80\x02K\x00r\xff\xff\xff\x7f.",  # the memo of Python's own unpickler would take 32 GB
                    ]
                }
            ),
        ],
        "model": [
            bytes([kind + 3 * part]) + (saved_model(kind) / name).read_bytes()
            for kind in range(3)
            for part, name in enumerate(("model.json", "tensors.safetensors"))
        ],
        "record": [
            bytes([part]) + (saved_record() / name).read_bytes()
            for part, name in enumerate(("record.json", "record.safetensors"))
        ],
    }


def write_seeds() -> None:
    for target, inputs in seeds().items():
        folder = CORPUS / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(inputs):
            path = folder / f"seed-{number}"
            if not path.exists():
                path.write_bytes(content)


if __name__ == "__main__":
    write_seeds()
