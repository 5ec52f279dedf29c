"""Digests against hashlib's of the whole content."""

import hashlib

import numpy as np

from planetoid.utils.hashing import CHUNK, sha256_of_arrays, sha256_of_file


def test_a_file_longer_than_a_chunk(tmp_path):
    content = np.random.default_rng(0).bytes(2 * CHUNK + 5)
    (tmp_path / "file").write_bytes(content)
    assert sha256_of_file(tmp_path / "file") == hashlib.sha256(content).hexdigest()


def test_arrays_are_hashed_by_value_in_order():
    a, b = np.arange(6, dtype=np.int32), np.arange(3.0)
    assert sha256_of_arrays([a, b], b"prefix") == hashlib.sha256(b"prefix" + a.tobytes() + b.tobytes()).hexdigest()
    assert sha256_of_arrays([a[::2]]) == sha256_of_arrays([a[::2].copy()])
    assert sha256_of_arrays([a, b]) != sha256_of_arrays([b, a])
    assert sha256_of_arrays([a, None]) != sha256_of_arrays([None, a])
