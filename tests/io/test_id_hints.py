"""Ids that do not match: the reason is found and said."""

import pyarrow as pa
import pytest

import planetoid as pl
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.io.id_hints import why_ids_differ


@pytest.mark.parametrize(
    ("here", "there", "reason"),
    [
        (["7", "12"], ["007", "012", "100"], "ids lost their leading zeros: '7' here, '007' there"),
        ([7, 12], ["007", "012"], "ids lost their leading zeros: '7' here, '007' there"),
        (["007", "012"], [7, 12], "ids lost their leading zeros: '007' here, '7' there"),
        (["7.0", "8.0"], ["7", "8"], "ids differ in a decimal point: '7.0' here, '7' there"),
        (
            ["ann", "Bob  X"],
            ["Ann", "Bob X"],
            "ids differ in upper and lower case or in blanks only: 'ann' here, 'Ann' there",
        ),
        (["x1", "x2"], ["y1", "y2"], None),
        (["7", "x", "y", "z"], ["007"], None),  # one in four may be chance
    ],
)
def test_why_ids_differ(here, there, reason):
    found = why_ids_differ(pa.array(here), pa.array(there))
    assert (None if found is None else found[0]) == reason


def test_features_that_lost_their_zeros(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\n001,002\n002,003\n")
    (tmp_path / "f.csv").write_text("id,x\n1,0.5\n2,1.5\n3,2.5\n")
    with pytest.raises(
        DataError, match="ids lost their leading zeros: '1' here, '001' there; write both columns as text"
    ):
        pl.read_dataset(tmp_path / "e.csv", tmp_path / "f.csv")
    (tmp_path / "f.csv").write_text("id,x\n001,0.5\n002,1.5\n003,2.5\n")
    assert pl.read_dataset(tmp_path / "e.csv", tmp_path / "f.csv").node_ids.tolist() == ["001", "002", "003"]


def test_labels_in_other_case(tmp_path):
    (tmp_path / "e.csv").write_text("source,target\nAnn,Bob\nBob,Cem\n")
    (tmp_path / "l.csv").write_text("id,label\nann,x\nBob,y\n")
    with pytest.warns(PlanetoidWarning, match=r"1 of 2 labels belong to no node.*upper and lower case") as caught:
        pl.read_dataset(tmp_path / "e.csv", labels=tmp_path / "l.csv")
    assert caught[0].message.hint == "write them in the same way in both files"
