"""iter_features: the same as read_features, block by block."""

import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io import arrays, iter_features, read_features, sparse_text, text_table
from planetoid.io.lines import line_blocks


@pytest.fixture
def small_blocks(monkeypatch):
    for module in (text_table, sparse_text):
        monkeypatch.setattr(
            module, "line_blocks", lambda path, skip, size=0, joined=False: line_blocks(path, skip, 64, joined=joined)
        )
    monkeypatch.setattr(arrays, "BLOCK_ROWS", 3)


def files(write, tmp_path):
    generator = np.random.default_rng(0)
    X = generator.integers(0, 4, size=(40, 5)).astype(np.float32) / 2
    names = [f"p{k}" for k in range(40)]
    pd.DataFrame(X, index=names).to_csv(tmp_path / "f.csv", index_label="id")
    yield tmp_path / "f.csv"
    lines = (
        f"{name} " + " ".join(f"w{c}:{row[c]}" for c in np.flatnonzero(row)) for name, row in zip(names, X, strict=True)
    )
    yield write("\n".join(lines), "f.txt")
    lines = ("0 " + " ".join(f"{c}:{row[c]}" for c in np.flatnonzero(row)) for row in X)
    yield write("\n".join(lines), "f.svm")
    sparse.save_npz(tmp_path / "f.npz", sparse.csr_array(X))
    yield tmp_path / "f.npz"


@pytest.mark.usefixtures("small_blocks")
def test_the_blocks_make_up_the_whole(write, tmp_path):
    for path in files(write, tmp_path):
        whole = read_features(path)
        pieces = list(iter_features(path))
        assert len(pieces) > 3, path
        stack = sparse.vstack if sparse.issparse(whole.X) else np.vstack
        together = stack([piece.X for piece in pieces])
        assert abs(together - whole.X).sum() == 0
        assert NodeIds(np.concatenate([piece.ids.to_numpy() for piece in pieces])) == whole.ids
        assert all(np.array_equal(piece.names, whole.names) for piece in pieces)
        assert all(piece.X.dtype == np.float32 for piece in pieces)


def test_ids_from_text_stay_as_they_are_written(write):
    (piece,) = iter_features(write("id,x\n007,1\n8,2\n"))
    assert piece.ids == NodeIds(["007", "8"])
    (piece,) = iter_features(write("id,x\n7,1\n8,2\n"))
    assert piece.ids == NodeIds(["7", "8"])


def test_columns_follow_the_training_table(write, text_after_path):
    trained = read_features(write("a dog:2 cat\nb emu\n", "train.txt"))
    with pytest.warns(PlanetoidWarning, match="1 of 3 tokens"):
        (piece,) = iter_features(write("n1 emu:3 yak\nn2 cat\n", "new.txt"), names=trained.names)
    assert piece.X.toarray().tolist() == [[0, 0, 3], [1, 0, 0]]
    table = read_features(write("id,x,y\na,1,2\n", "train.csv"))
    (piece,) = iter_features(write("id,y,z,x\nn,5,6,7\n", "new.csv"), names=table.names)
    assert piece.X.tolist() == [[7, 5]]
    path = write("id,y,z\nn,5,6\n", "new.csv")
    expected = ": there is no column 'x'; the columns are id, y, z"
    assert text_after_path(lambda path: list(iter_features(path, names=table.names)), path) == expected
    (piece,) = iter_features(write("0 2:1\n", "new.svm"), n_features=4)
    assert piece.X.toarray().tolist() == [[0, 1, 0, 0]]


def test_a_duplicate_id_in_a_block(write, text_after_path):
    path = write("id,x\na,1\na,2\n")
    expected = ", line 3, node 'a': duplicate node id, first seen in line 2"
    assert text_after_path(lambda path: list(iter_features(path)), path) == expected


def test_an_invalid_line_is_found_after_the_valid_blocks(write, monkeypatch):
    monkeypatch.setattr(text_table, "line_blocks", partial(line_blocks, size=50))
    path = write("id,x\n" + "".join(f"n{k},1\n" for k in range(300)) + "z,oops\n")
    pieces = iter_features(path)
    assert len(next(pieces).ids) < 300
    with pytest.raises(DataError) as caught:
        list(pieces)
    assert str(caught.value) == f"{path}, line 302, node 'z', column 'x': 'oops' is not a number"


def peak_of_reading(path) -> tuple[int, int]:
    tracemalloc.start()
    rows = sum(piece.X.shape[0] for piece in iter_features(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return rows, peak


def test_memory_does_not_grow_with_the_file(write):
    line = " ".join(f"w{k}:0.5" for k in range(50))
    lines = [f"n{k} {line}\n" for k in range(60_000)]
    n_few, few = peak_of_reading(write("".join(lines[:20_000]), "few.txt"))
    n_many, many = peak_of_reading(write("".join(lines), "many.txt"))
    assert (n_few, n_many) == (20_000, 60_000)
    assert many < 1.2 * few
