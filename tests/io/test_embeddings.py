"""What an embedding cannot be written as."""

import numpy as np
import pytest

from planetoid.errors import DataError
from planetoid.ids import NodeIds
from planetoid.io.embeddings import write_embedding


def test_one_long_id_does_not_multiply_the_size_of_an_npz(tmp_path):
    ids = NodeIds(["a" * 20_000, *map(str, range(7_000))])
    vectors = np.ones((len(ids), 2), np.float32)
    with pytest.raises(DataError, match=r"up to 20,000 characters would take 0.5 GiB in .npz; use .parquet"):
        write_embedding(tmp_path / "e.npz", ids, vectors)
    assert not list(tmp_path.iterdir())
    write_embedding(tmp_path / "e.parquet", ids, vectors)
