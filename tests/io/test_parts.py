"""Tables in several files: which files count, columns by name, and errors that name the part."""

import pandas as pd
import pytest

from planetoid.errors import DataError
from planetoid.io import read_features, read_labels


@pytest.fixture
def parts(tmp_path):
    (tmp_path / "part-0.csv").write_text("id,x,y\na,1,2\nb,3,4\n")
    (tmp_path / "part-1.csv").write_text("y,id,x\n6,c,5\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / ".hidden.csv").write_text("nothing")
    return tmp_path


@pytest.mark.parametrize("pattern", ["", "part-*.csv", "part-[01].csv"])
def test_rows_of_all_parts_by_column_name(parts, pattern):
    table = read_features(parts / pattern)
    assert table.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert table.ids.to_numpy().tolist() == ["a", "b", "c"]


def test_errors_name_the_part(parts):
    (parts / "part-1.csv").write_text("id,x,y\nc,5,6\nd,?,8\n")
    with pytest.raises(DataError) as caught:
        read_features(parts)
    assert (caught.value.path.name, caught.value.line, caught.value.column) == ("part-1.csv", 3, "x")
    (parts / "part-1.csv").write_text("id,x,y\nc,5,6\na,7,8\n")
    with pytest.raises(
        DataError, match=r"part-1\.csv, line 3, node 'a': duplicate node id, first seen in line 2 of .*0\.csv"
    ):
        read_features(parts)
    (parts / "part-1.csv").write_text("id,x,z\nc,5,6\n")
    with pytest.raises(DataError, match=r"part-1\.csv: the parts must have the same columns"):
        read_features(parts)


def test_what_is_no_table_in_parts(parts):
    with pytest.raises(DataError, match="no file matches the pattern"):
        read_labels(parts / "*.parquet")
    pd.DataFrame({"id": ["e"], "x": [1], "y": [2]}).to_parquet(parts / "part-2.parquet")
    with pytest.raises(DataError, match=r"must have one format.*choose some by a pattern such as"):
        read_features(parts)
    assert len(read_features(parts / "*.csv").ids) == 3


def test_a_file_whose_name_looks_like_a_pattern(tmp_path):
    (tmp_path / "labels [old].csv").write_text("id,label\na,x\n")
    assert read_labels(tmp_path / "labels [old].csv") == {"a": "x"}
