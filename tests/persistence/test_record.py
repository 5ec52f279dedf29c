"""The record of a fit, beside the model."""

import json

import numpy as np
import pytest

from planetoid.errors import DataError
from planetoid.persistence import FitRecord, read_record, write_record


@pytest.fixture
def record():
    return FitRecord(
        y=np.array([0, -1, 1], dtype=np.int32),
        validation=np.array([-1, 1, -1], dtype=np.int32),
        indptr=np.array([0, 1, 3, 4]),
        indices=np.array([1, 0, 2, 1], dtype=np.int32),
        command="planetoid fit --labels 'my labels.csv'",
        created="2024-05-01T10:00:00+00:00",
        versions={"planetoid": "0.1.0"},
        inputs=[{"role": "labels", "path": "my labels.csv", "sha256": "00"}],
        facts=[("nodes", "3"), ("classes", "2: ä 1, ß 1")],
        notes=["1 node has no row"],
        seconds=1.5,
    )


def test_what_is_written_comes_back(record, tmp_path):
    write_record(tmp_path, record)
    back = read_record(tmp_path)
    for name in ("y", "validation", "indptr", "indices"):
        assert np.array_equal(getattr(back, name), getattr(record, name))
        assert getattr(back, name).dtype == (np.int64 if name == "indptr" else np.int32)
    for name in ("command", "created", "versions", "inputs", "facts", "notes", "seconds"):
        assert getattr(back, name) == getattr(record, name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["record.json", "record.safetensors"]


def test_neighbours(record):
    assert record.neighbours(1).tolist() == [0, 2]
    assert FitRecord(y=record.y).neighbours(1).tolist() == []


def test_without_graph_and_validation(tmp_path):
    write_record(tmp_path, FitRecord(y=np.array([0, 1])))
    back = read_record(tmp_path)
    assert back.validation is None
    assert back.indptr is None
    assert back.y.tolist() == [0, 1]


def test_no_record(tmp_path):
    assert read_record(tmp_path) is None
    assert read_record(tmp_path / "nowhere") is None


@pytest.mark.parametrize("damage", ["not json", "{}", json.dumps({"facts": [1]}), json.dumps({"facts": [], "more": 1})])
def test_a_damaged_record_is_an_error(record, tmp_path, damage):
    write_record(tmp_path, record)
    (tmp_path / "record.json").write_text(damage)
    with pytest.raises(DataError, match="the record of the fit is damaged"):
        read_record(tmp_path)


def test_damaged_arrays_are_an_error(record, tmp_path):
    write_record(tmp_path, record)
    (tmp_path / "record.safetensors").write_bytes(b"short")
    with pytest.raises(DataError, match=r"record\.safetensors: the file is damaged: its checksum differs"):
        read_record(tmp_path)
    (tmp_path / "record.safetensors").unlink()
    with pytest.raises(DataError, match=r"record\.safetensors is missing"):
        read_record(tmp_path)
