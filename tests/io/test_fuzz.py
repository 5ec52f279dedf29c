"""Any content of a file is read or is a DataError, and the fast path reads what the slow path reads."""

import io
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from planetoid import Graph, read_features, read_labels
from planetoid.errors import DataError, PlanetoidError
from planetoid.ids import NodeIds
from planetoid.io.dialect import split_line
from planetoid.io.sparse_text import SparseTextFile
from planetoid.io.table import TableOptions
from planetoid.io.text_table import TextTable

many = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
pieces = st.sampled_from(
    [
        "a",
        "b",
        "1",
        "0.5",
        ",",
        ",",
        "\n",
        "\n",
        " ",
        "\t",
        '"',
        '""',
        "é",
        "\u00a0",
        "\u2028",
        "\x0b",
        "\r\n",
        "#",
        ";",
    ]
)
texts = st.lists(pieces, min_size=3, max_size=30).map("".join)


@many
@given(text=texts)
def test_tables_fast_and_slow(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    try:
        table = TextTable(path, TableOptions(header=False))
        columns = range(table.dialect.width)
        fast = [row for batch in table.batches(columns) for row in zip(*map(_listed, batch.texts), strict=True)]
    except DataError:
        return
    assert list(map(list, fast)) == [split_line(line, table.dialect.separator) for _, line in table.lines()]


def _listed(values) -> list:
    return values.to_pylist()


@many
@given(text=texts.map(lambda text: text.replace(",", ":")))
def test_token_lines_fast_and_slow(text, tmp_path):
    path = tmp_path / "w.txt"
    path.write_bytes(text.encode())
    try:
        file = SparseTextFile(path)
        blocks = list(file.blocks(8))
    except DataError:
        return
    fast = []
    for block in blocks:
        for k, node in enumerate(_listed(block.ids)):
            inside = slice(block.indptr[k], block.indptr[k + 1])
            fast.append([node, *zip(_listed(block.tokens[inside]), block.weights[inside].tolist(), strict=True)])
    slow = []
    for _, node, words in file.lines():
        parts = [word.rpartition(":") if ":" in word else (word, "", "1") for word in words]
        slow.append([node, *((token, float(np.float32(weight))) for token, _, weight in parts)])
    assert fast == slow


def npz() -> bytes:
    buffer = io.BytesIO()
    sparse.save_npz(buffer, sparse.csr_array(np.eye(3)))
    return buffer.getvalue()


STARTS = {
    ".csv": b"source,target,weight\na,b,1\nb,c,0.5\nc,a,2\n",
    ".tsv": b"id\tx\ty\na\t1\t2\nb\t3\t4\n",
    ".txt": b"a dog:2 cat\nb emu:0.5\nc\n",
    ".svm": b"1 1:0.5 3:2 # x\n0 2:1\n1 3:4\n",
    ".npz": npz(),
}
damage = st.tuples(
    st.integers(0, 400), st.integers(0, 4), st.binary(max_size=3) | st.sampled_from([b"nan", b"\n\n", b'"'])
)


@pytest.mark.parametrize("suffix", STARTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(damage, max_size=5))
def test_damaged_files_are_read_or_an_error(suffix, changes, tmp_path):
    content = bytearray(STARTS[suffix])
    for position, length, new in changes:
        at = position % (len(content) + 1)
        content[at : at + length] = new
    path = tmp_path / f"file{suffix}"
    path.write_bytes(content)
    ids = NodeIds(["a", "b", "c"])
    for read in (
        Graph.from_file,
        read_features,
        read_labels,
        lambda p: read_features(p, ids),
        lambda p: read_labels(p, ids),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(path)
            except PlanetoidError as error:
                message = str(error)
            else:
                continue
            assert str(path) in message or "format" in message
