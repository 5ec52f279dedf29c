"""iter_features: the same as read_features, piece by piece."""

import tracemalloc
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io import iter_features, read_features, readers, text, words


@pytest.fixture
def small_pieces(monkeypatch):
    for module in (text, words):
        monkeypatch.setattr(module, "line_blocks", lambda path, skip, size=0: text_blocks(path, skip, 64))
    monkeypatch.setattr(readers, "PIECE_ROWS", 3)


text_blocks = text.line_blocks


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


@pytest.mark.usefixtures("small_pieces")
def test_the_pieces_make_up_the_whole(write, tmp_path):
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


def test_columns_follow_the_training_table(write):
    trained = read_features(write("a dog:2 cat\nb emu\n", "train.txt"))
    with pytest.warns(PlanetoidWarning, match="1 of 3 tokens"):
        (piece,) = iter_features(write("n1 emu:3 yak\nn2 cat\n", "new.txt"), names=trained.names)
    assert piece.X.toarray().tolist() == [[0, 0, 3], [1, 0, 0]]
    table = read_features(write("id,x,y\na,1,2\n", "train.csv"))
    (piece,) = iter_features(write("id,y,z,x\nn,5,6,7\n", "new.csv"), names=table.names)
    assert piece.X.tolist() == [[7, 5]]
    with pytest.raises(DataError, match=r"new.csv: there is no column 'x'; the columns are id, y, z"):
        list(iter_features(write("id,y,z\nn,5,6\n", "new.csv"), names=table.names))
    (piece,) = iter_features(write("0 2:1\n", "new.svm"), n_features=4)
    assert piece.X.toarray().tolist() == [[0, 1, 0, 0]]


def test_an_id_twice_in_a_piece_is_refused(write):
    with pytest.raises(DataError, match=r"line 3: the id 'a' was there before, in line 2"):
        list(iter_features(write("id,x\na,1\na,2\n")))


def test_a_broken_line_is_met_after_the_good_pieces(write, monkeypatch):
    monkeypatch.setattr(text, "line_blocks", partial(text_blocks, size=50))
    path = write("id,x\n" + "".join(f"n{k},1\n" for k in range(300)) + "z,oops\n")
    pieces = iter_features(path)
    assert len(next(pieces).ids) < 300
    with pytest.raises(DataError, match=r"line 302 \('z'\), column 'x': 'oops' is not a number"):
        list(pieces)


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
