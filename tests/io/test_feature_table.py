"""FeatureTable and FeatureBlocks: rows of a file become rows of nodes, each file read once."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from planetoid.errors import DataError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io import FeatureTable, feature_table, read_feature_blocks, read_features, text_table
from planetoid.io.feature_reader import FeatureOptions

IDS = NodeIds(["a", "b", "c"])
X = np.array([[1, 2], [3, 4], [5, 6]], dtype=np.float32)


def dense(table) -> np.ndarray:
    return table.X.toarray() if sparse.issparse(table.X) else table.X


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_aligned_puts_rows_in_the_order_of_the_nodes(kind):
    table = FeatureTable(kind(X), NodeIds(["c", "a", "b"]))
    aligned = table.aligned(IDS)
    assert dense(aligned).tolist() == [[3, 4], [5, 6], [1, 2]]
    assert aligned.ids == IDS
    assert dense(table).tolist() == X.tolist()  # the table itself stays


def test_aligned_with_the_same_ids_copies_nothing():
    table = FeatureTable(X, IDS)
    assert table.aligned(NodeIds(["a", "b", "c"])) is table


@given(
    own=st.lists(st.integers(0, 30), min_size=1, unique=True),
    nodes=st.lists(st.integers(0, 30), min_size=1, unique=True),
    as_text=st.booleans(),
    kind=st.sampled_from([np.asarray, sparse.csr_array]),
)
def test_aligned_against_a_dictionary(own, nodes, as_text, kind):
    values = np.arange(1, 2 * len(own) + 1, dtype=np.float32).reshape(-1, 2)
    table = FeatureTable(kind(values), NodeIds(list(map(str, own)) if as_text else own))
    rows = dict(zip(own, values.tolist(), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanetoidWarning)
        if not set(own) & set(nodes):
            with pytest.raises(DataError, match="no record has the id of a node"):
                table.aligned(NodeIds(nodes))
            return
        aligned = table.aligned(NodeIds(nodes))
    assert dense(aligned).tolist() == [rows.get(node, [0, 0]) for node in nodes]


def test_unknown_rows_warn_are_ignored_or_an_error(tmp_path):
    table = FeatureTable(X, NodeIds(["a", "q", "b"]), path=tmp_path / "f.csv")
    nodes = NodeIds(["a", "b"])
    text = f"{tmp_path / 'f.csv'}: 1 of 3 rows belong to no node of the graph (the first has the id 'q')"
    with pytest.warns(PlanetoidWarning) as caught:
        table.aligned(nodes)
    assert str(caught[0].message) == f"{text} and are ignored"
    assert caught[0].filename == __file__
    assert table.aligned(nodes, on_unknown="ignore").X.tolist() == [[1, 2], [5, 6]]
    with pytest.raises(DataError) as error:
        table.aligned(nodes, on_unknown="error")
    assert str(error.value) == text


def test_features_without_ids_need_one_row_per_node():
    table = FeatureTable(X, NodeIds(3), has_ids=False)
    assert table.aligned(IDS).X.tolist() == X.tolist()
    assert table.aligned(IDS).has_ids
    with pytest.raises(DataError, match="the file has 3 rows, but the graph has 2 nodes"):
        table.aligned(NodeIds(2))


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_columns_in_the_order_of_their_names(kind):
    table = FeatureTable(kind(X), IDS, np.array(["y", "x"], dtype=object))
    ordered = table.with_names_sorted()
    assert ordered.names.tolist() == ["x", "y"]
    assert dense(ordered).tolist() == [[2, 1], [4, 3], [6, 5]]
    assert ordered.with_names_sorted() is ordered
    nameless = FeatureTable(kind(X), IDS)
    assert nameless.with_names_sorted() is nameless


def test_columns_in_the_order_of_their_names_over_several_steps(monkeypatch):
    monkeypatch.setattr(feature_table, "ROWS_AT_ONCE", 2)
    table = FeatureTable(X.copy(), IDS, np.array(["y", "x"], dtype=object))
    assert table.with_names_sorted().X.tolist() == [[2, 1], [4, 3], [6, 5]]


def test_duplicate_names_are_an_error(tmp_path):
    table = FeatureTable(X, IDS, np.array(["x", "x"], dtype=object), path=tmp_path / "f.csv")
    with pytest.raises(DataError) as caught:
        table.with_names_sorted()
    assert str(caught.value) == f"{tmp_path / 'f.csv'}: duplicate column name 'x'; rename one of them"


def test_compact_keeps_values_and_the_type_that_takes_less():
    mostly_zero = np.zeros((10, 10), dtype=np.float32)
    mostly_zero[3, 4] = 2
    compact = FeatureTable(mostly_zero, NodeIds(10)).compact()
    assert sparse.issparse(compact.X)
    assert np.array_equal(compact.X.toarray(), mostly_zero)
    full = FeatureTable(X, IDS)
    assert full.compact() is full


def test_blocks_are_read_once(write, monkeypatch):
    opened = []
    real = text_table.line_blocks
    monkeypatch.setattr(
        text_table, "line_blocks", lambda path, *given, **options: opened.append(path) or real(path, *given, **options)
    )
    path = write("id,x\nc,1\na,2\n")
    blocks = read_feature_blocks(path)
    assert blocks.ids == NodeIds(["c", "a"])
    assert blocks.has_ids
    assert blocks.aligned(NodeIds(["a", "c"])).X.tolist() == [[2], [1]]
    assert opened == [path]


def test_blocks_and_tables_agree(write):
    for content, name in (("id,x\n3,1\n1,2\n", "f.csv"), ("3 x\n1 y\n", "f.txt"), ("0 1:1\n0 2:1\n", "f.svm")):
        path = write(content, name)
        table = read_features(path)
        blocks = read_feature_blocks(path)
        assert blocks.ids == table.ids
        assert blocks.has_ids == table.has_ids
        assert np.array_equal(dense(blocks.table()), dense(table))


def test_ignored_columns_are_left_out(write):
    path = write("id,x,topic,y\na,1,ml,2\n")
    assert read_feature_blocks(path, FeatureOptions(ignore=["topic"])).table().names.tolist() == ["x", "y"]
    assert read_features(path, ignore=[1, 2]).names.tolist() == ["y"]
    bare = write("a,1,ml\nb,2,db\n", "bare.csv")
    assert read_features(bare, ignore=[2]).X.tolist() == [[1], [2]]


def test_aligning_blocks_needs_the_memory_of_one_table(write):
    rows, width = 20_000, 100
    line = ",".join(str(k / 8) for k in range(width))
    names = ",".join(f"f{k}" for k in range(width))
    path = write(f"id,{names}\n" + "".join(f"n{k},{line}\n" for k in range(rows)))
    nodes = NodeIds([f"n{k}" for k in reversed(range(rows))])
    blocks = read_feature_blocks(path)
    tracemalloc.start()
    table = blocks.aligned(nodes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.X.nbytes == rows * width * 4
    assert peak < 1.5 * table.X.nbytes  # the blocks were there before, and are freed one by one
