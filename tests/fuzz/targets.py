"""What is fuzzed: everything that takes bytes from outside.

A target is a function of some bytes. It may return or raise ``PlanetoidError``; any other exception is a finding. The
first byte often chooses options, so that one input is one case.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from scipy import sparse
from tests.fuzz.state_targets import checkpoint, journal

import planetoid as pl
from planetoid.cli.settings import parse_settings, settings_by_method
from planetoid.datasets.pickles import read_pickle
from planetoid.ids import NodeIds
from planetoid.io import iter_features
from planetoid.persistence.record import FitRecord, read_record, write_record
from planetoid.presets import load_preset
from planetoid.registry import METHODS

__all__ = ["TARGETS", "run"]

IDS = {0: None, 1: NodeIds(["a", "b", "c"]), 2: NodeIds([3, 1, 2])}
HEADERS = (None, True, False)
SEPARATORS = (None, ",", " ", "\t", ";")


@cache
def folder() -> Path:
    """A folder in memory, where there is one: a file is written for each input."""
    return Path(tempfile.mkdtemp(prefix="planetoid-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None))


def file_of(content: bytes, name: str) -> Path:
    path = folder() / name
    path.write_bytes(content)
    return path


def edges(data: bytes, suffix: str = ".csv") -> None:
    choice, content = data[0] if data else 0, data[1:]
    path = file_of(content, "edges" + suffix)
    pl.Graph.from_file(path, header=HEADERS[choice % 3], separator=SEPARATORS[choice // 3 % 5], directed=choice > 127)


def features(data: bytes, suffix: str = ".csv") -> None:
    choice, content = data[0] if data else 0, data[1:]
    path = file_of(content, "features" + suffix)
    ids = IDS[choice % 3]
    table = pl.read_features(path) if ids is None else pl.read_features(path, ids)
    assert np.isfinite(table.X.data if sparse.issparse(table.X) else table.X).all()
    if choice > 127:
        for _ in iter_features(path):
            pass


def labels(data: bytes, suffix: str = ".csv") -> None:
    choice, content = data[0] if data else 0, data[1:]
    path = file_of(content, "labels" + suffix)
    ids = IDS[choice % 3]
    header, separator = HEADERS[choice // 3 % 3], SEPARATORS[choice // 9 % 5]
    if ids is None:
        pl.read_labels(path, header=header, separator=separator)
    else:
        pl.read_labels(path, ids, header=header, separator=separator)


def dataset(data: bytes) -> None:
    """Edges, features and labels, separated by a null character."""
    parts = (data.split(b"\0") + [b""] * 3)[:3]
    names = ("edges.csv", "features.csv", "labels.csv")
    paths = [file_of(content, f"dataset-{name}") for content, name in zip(parts, names, strict=True)]
    pl.read_dataset(edges=paths[0], features=paths[1], labels=paths[2])


def nodes(data: bytes) -> None:
    """A node table, with the kinds of its columns guessed."""
    choice, content = data[0] if data else 0, data[1:]
    path = file_of(content, "nodes.csv")
    found = pl.read_dataset(nodes=path, label_column=(None, "label")[choice % 2], decimal=(None, ",")[choice // 2 % 2])
    if found.X is not None:
        assert np.isfinite(found.X.data if sparse.issparse(found.X) else found.X).all()


def matrix(data: bytes) -> None:
    """An ``.npz`` file that is valid as an archive, with any arrays in it (bytes of the archive are in ``npz``)."""
    numbers = np.frombuffer(data[: len(data) // 8 * 8], np.int64)
    if len(numbers) < 8:
        return
    kind = ("csr", "csc", "bsr", "coo", "dia", "lil")[int(numbers[0]) % 6]
    sizes = [int(size) % 9 for size in numbers[1:4]]
    shape = np.where(numbers[4:6] % 3 == 0, numbers[4:6], numbers[4:6] % 9)
    rest = numbers[6:]
    small = rest if int(numbers[0]) % 5 == 0 else rest % 9
    first, second, third = small[: sizes[0]], small[sizes[0] : sum(sizes[:2])], small[sum(sizes[:2]) : sum(sizes)]
    arrays = {
        "csr": {"indices": first, "indptr": second, "data": third.astype(float)},
        "csc": {"indices": first, "indptr": second, "data": third.astype(np.float32)},
        "bsr": {"indices": first, "indptr": second, "data": third.astype(float).reshape(-1, 1, 1)},
        "coo": {"row": first, "col": second, "data": third},
        "dia": {"offsets": first, "data": third.reshape(1, -1)},
        "lil": {"data": third},
    }[kind]
    buffer = io.BytesIO()
    np.savez(buffer, format=np.array(kind), shape=shape, **arrays)
    pl.read_features(file_of(buffer.getvalue(), "matrix.npz"))
    found = getattr(sparse, f"{kind}_array")((3, 3))
    for name, values in arrays.items():  # the same through the API, where scipy has not looked at it
        if hasattr(found, name):
            setattr(found, name, values)
    pl.Graph.from_scipy(found)


def settings(data: bytes) -> None:
    """``--set`` of one method: its name, then lines of ``key=value``."""
    first, *entries = data.decode("utf-8", "replace").split("\n")
    names = list(METHODS)
    method = names[len(first) % len(names)] if first not in METHODS else first
    settings_by_method([method], parse_settings(entries))


def presets(data: bytes) -> None:
    """The name of a preset and that of a class."""
    name, _, method = data.decode("utf-8", "replace").partition("\n")
    load_preset(name, method)


def pickled(data: bytes) -> None:
    read_pickle(file_of(data, "object.pickle"))


@cache
def saved_model(kind: int) -> Path:
    """A model of each kind of content: without features, with sparse ones, with a network."""
    X = sparse.csr_array(np.eye(4, 3, dtype=np.float32))
    y, graph = {"a": "red", "b": "blue", "c": "red"}, pl.Graph.from_edges("abc", "bcd")
    models = (pl.LabelPropagation(), pl.Feat(), pl.ManifoldRegularization())
    model = models[kind].fit(None if kind == 0 else X, y, graph=graph)
    path = folder() / f"model-{kind}"
    model.save(path)
    return path


def model(data: bytes) -> None:
    """A saved model with one of its files replaced, and the checksum of its tensors made to fit."""
    choice, content = data[0] if data else 0, data[1:]
    target = replaced(saved_model(choice % 3), ("model.json", "tensors.safetensors")[choice // 3 % 2], content)
    if choice // 3 % 2:
        document = json.loads((target / "model.json").read_text())
        document["tensors_sha256"] = hashlib.sha256(content).hexdigest()
        (target / "model.json").write_text(json.dumps(document))
    loaded = pl.load(target)
    loaded.predict()
    if loaded.inductive:
        loaded.predict(np.eye(2, loaded.n_features_in_, dtype=np.float32))


@cache
def saved_record() -> Path:
    path = folder() / "saved-record"
    path.mkdir()
    write_record(path, FitRecord.of(pl.datasets.make_citation(30, n_classes=3, seed=1)))
    return path


def record(data: bytes) -> None:
    """The record of a fit with one of its files replaced."""
    choice, content = data[0] if data else 0, data[1:]
    read_record(replaced(saved_record(), ("record.json", "record.safetensors")[choice % 2], content))


def replaced(source: Path, name: str, content: bytes) -> Path:
    """Copy a folder, with other content in one of its files."""
    target = folder() / "replaced"
    target.mkdir(exist_ok=True)
    for file in target.iterdir():
        file.unlink()
    for file in source.iterdir():
        (target / file.name).write_bytes(content if file.name == name else file.read_bytes())
    return target


TARGETS: dict[str, Callable[[bytes], None]] = {
    "edges": edges,
    "features": features,
    "labels": labels,
    "dataset": dataset,
    "tokens": lambda data: features(data, ".txt"),
    "svmlight": lambda data: features(data, ".svm"),
    "npz": lambda data: features(data, ".npz"),
    "matrix": matrix,
    "parquet_edges": lambda data: edges(data, ".parquet"),
    "parquet_features": lambda data: features(data, ".parquet"),
    "parquet_labels": lambda data: labels(data, ".parquet"),
    "nodes": nodes,
    "json_edges": lambda data: edges(data, ".jsonl"),
    "json_features": lambda data: features(data, ".jsonl"),
    "feather": lambda data: features(data, ".feather"),
    "npy": lambda data: features(data, ".npy"),
    "mat": lambda data: features(data, ".mat"),
    "journal": lambda data: journal(data, folder()),
    "checkpoint": lambda data: checkpoint(data, folder()),
    "gzip": lambda data: edges(data, ".csv.gz"),
    "settings": settings,
    "presets": presets,
    "pickled": pickled,
    "model": model,
    "record": record,
}


def run(name: str, data: bytes) -> None:
    """Run a target on some bytes; raises only what is a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[name](data)
        except pl.PlanetoidError as error:
            text = str(error)
            assert text, "an error without a text"
            json.dumps(text)
