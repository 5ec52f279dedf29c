"""The index that pandas writes beside edges: neither an end nor a weight, unless chosen or needed."""

import pandas as pd
import pytest

from planetoid.errors import DataError
from planetoid.io import read_edges
from planetoid.io.column_roles import choose_edge_columns

EDGES = pd.DataFrame({"citing": ["a", "b"], "cited": ["b", "c"]})


def arcs(path, **options):
    ids, edges = read_edges(path, **options)
    return [(ids[int(i)], ids[int(j)]) for i, j in zip(edges.source, edges.target, strict=True)], edges.weight


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("more", [{}, {"weight": [0.5, 2.0]}])
def test_row_numbers_are_not_ends_of_edges(tmp_path, with_warning, separator, more):
    path = tmp_path / ("edges.tsv" if separator == "\t" else "edges.csv")
    EDGES.assign(**more).to_csv(path, sep=separator)
    (found, weight), warning = with_warning(arcs, path)
    assert found == [("a", "b"), ("b", "c")]
    assert (None if weight is None else weight.tolist()) == more.get("weight")
    assert warning == (
        f"{path}: the first column, which has no name, looks like the index of a pandas table and is left out; "
        "choose the columns by name or number to include it"
    )


def test_integer_ids_beside_row_numbers(tmp_path, with_warning):
    pd.DataFrame({"citing": [1, 2], "cited": [2, 3]}).to_csv(tmp_path / "e.csv")
    (found, _), _ = with_warning(arcs, tmp_path / "e.csv")
    assert found == [(1, 2), (2, 3)]


def test_an_index_read_back_and_written_again(tmp_path, with_warning):
    EDGES.to_csv(tmp_path / "once.csv")
    pd.read_csv(tmp_path / "once.csv").to_csv(tmp_path / "twice.csv")
    pd.read_csv(tmp_path / "twice.csv").to_csv(tmp_path / "thrice.csv", index=False)
    pd.read_csv(tmp_path / "once.csv").to_parquet(tmp_path / "e.parquet")
    for name in ("twice.csv", "thrice.csv", "e.parquet"):
        (found, _), warning = with_warning(arcs, tmp_path / name)
        assert found == [("a", "b"), ("b", "c")]
        assert "'Unnamed: 0'" in warning


@pytest.mark.parametrize("names", [("citing", "cited"), ("source", "target")])
def test_an_index_in_parquet_is_not_a_weight(tmp_path, with_warning, names):
    frame = EDGES.set_axis(list(names), axis=1)
    frame.index = [7, 3]
    frame.to_parquet(tmp_path / "e.parquet")
    (found, weight), warning = with_warning(arcs, tmp_path / "e.parquet")
    assert found == [("a", "b"), ("b", "c")]
    assert weight is None
    assert "e.parquet: the column '__index_level_0__' looks" in warning


def test_columns_chosen_by_the_caller(tmp_path, with_warning):
    EDGES.to_csv(tmp_path / "e.csv")
    assert arcs(tmp_path / "e.csv", source=0, target="cited")[0] == [("0", "b"), ("1", "c")]
    assert arcs(tmp_path / "e.csv", source="citing", target="cited")[0] == [("a", "b"), ("b", "c")]
    assert arcs(tmp_path / "e.csv", source="citing", target="cited", weight=0)[1].tolist() == [0, 1]
    (found, _), _ = with_warning(arcs, tmp_path / "e.csv", source="cited")  # the other end is not the index either
    assert found == [("b", "a"), ("c", "b")]


def test_an_index_that_holds_ends_is_kept(tmp_path):
    EDGES.assign(weight=[0.5, 2]).set_index("citing").rename_axis(None).to_csv(tmp_path / "e.csv")
    found, weight = arcs(tmp_path / "e.csv")
    assert found == [("a", "b"), ("b", "c")]
    assert weight.tolist() == [0.5, 2]
    pairs = EDGES.assign(weight=[0.5, 2]).set_index(["citing", "cited"]).rename_axis([None, None])
    pairs.to_parquet(tmp_path / "e.parquet")
    found, weight = arcs(tmp_path / "e.parquet")
    assert found == [("a", "b"), ("b", "c")]
    assert weight.tolist() == [0.5, 2]


def test_a_weight_is_not_an_end_if_there_are_other_columns():
    assert choose_edge_columns(["weight", "a", "b"], None, None, None) == (1, 2, 0)
    assert choose_edge_columns(["a", "weight"], None, None, None) == (0, 1, None)


def test_an_edge_without_a_source_is_still_an_error(write):
    with pytest.raises(DataError, match="the id is empty"):
        read_edges(write(",b\nb,c\nc,d\n"))
