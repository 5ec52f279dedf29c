"""A tiny folder in DIEL's layout."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.datasets import files
from planetoid.datasets.diel import CATEGORIES
from planetoid.errors import DataError, DatasetNotFoundError, ParameterError, PlanetoidWarning

LISTS = {"l1": ["flu", "fever"], "l2": ["fever", "cough"], "l3": ["aspirin", "flu"], "l4": ["water"]}
SEEDS = {"disease": ["flu", "unheard of"], "drug": ["aspirin"], "ingredient": ["water"], "symptom": ["cough", "fever"]}
TRUTH = [("flu", 1), ("aspirin", 2), ("water", 3), ("fever", 4), ("cough", 4), ("ebola", 1), ("water", 2)]


def write(folder, run=0, separator="\t"):
    (folder / str(run)).mkdir(parents=True, exist_ok=True)
    rows = [separator.join(("hasItem", name, item)) for name, items in LISTS.items() for item in items]
    (folder / "hasItem.cfacts").write_text("\n".join(rows) + "\n")
    (folder / "list_features.txt").write_text("l1 0 3\nl2 3 3 6\n\nl3 1\n")
    for category, seeds in SEEDS.items():
        lines = [separator.join(("seed", category, seed.replace(" ", "_"))) for seed in seeds]
        (folder / str(run) / f"{category}_devel_50p_proppr_seed_forTrainList").write_text("\n".join(lines) + "\n")
    lines = [f"{item}{separator}{category}" for item, category in TRUTH]
    (folder / str(run) / "coverage_eva_multiAdded").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.parametrize("separator", ["\t", " "])
def test_what_is_read(tmp_path, separator):
    data = pl.datasets.load("diel", root=write(tmp_path, separator=separator))
    assert (data.n_lists, data.n_items, data.graph.n_edges) == (4, 5, 7)
    assert data.node_ids.tolist() == [
        *("list:l1", "list:l2", "list:l3", "list:l4"),
        *("flu", "fever", "cough", "aspirin", "water"),
    ]
    assert data.graph.neighbors("flu").tolist() == ["list:l1", "list:l3"]
    assert data.class_names == CATEGORIES
    expected = np.zeros((9, 7))
    expected[0, [0, 3]] = expected[1, [3, 6]] = expected[2, 1] = 1
    assert np.array_equal(data.X.toarray(), expected)
    # l1: disease (flu) against symptom (fever), l3: disease against drug: draws; l2: two symptoms
    assert data.y.tolist() == [-1, 3, -1, 2, -1, -1, -1, -1, -1]
    assert data.truth_rows.tolist() == [4, 7, 8, 5, 6, -1, 8]
    assert data.truth_categories.tolist() == [0, 1, 2, 3, 3, 0, 1]
    assert data.upper_bound == pytest.approx(6 / 7)


def test_runs_differ_and_a_subfolder_does(tmp_path):
    write(tmp_path / "diel", 0)
    write(tmp_path / "diel", 7)
    (tmp_path / "diel" / "7" / "symptom_devel_50p_proppr_seed_forTrainList").write_text("a\tb\taspirin\n")
    data = pl.datasets.load("diel", root=tmp_path, run=7)
    assert data.y.tolist()[:4] == [0, -1, -1, 2]  # l1: flu alone now; l3: disease, drug and symptom
    assert "run 7" in str(data)


def test_small_blocks_give_the_same(tmp_path, monkeypatch):
    whole = pl.datasets.load("diel", root=write(tmp_path))
    monkeypatch.setattr("planetoid.datasets.diel.LINES_AT_ONCE", 1)
    pieces = pl.datasets.load("diel", root=tmp_path)
    assert (whole.X != pieces.X).nnz == 0
    assert np.array_equal(whole.y, pieces.y)


def test_bytes_that_are_not_utf8_match_across_files(tmp_path):
    write(tmp_path)
    for name in ("hasItem.cfacts", "0/disease_devel_50p_proppr_seed_forTrainList", "0/coverage_eva_multiAdded"):
        path = tmp_path / name
        path.write_bytes(path.read_bytes().replace(b"flu", b"M\xe9ni\xe8re"))
    data = pl.datasets.load("diel", root=tmp_path)
    assert data.node_ids[4] == "Ménière"
    assert data.truth_rows[0] == 4


def test_lists_without_items_are_counted(tmp_path):
    write(tmp_path)
    (tmp_path / "list_features.txt").write_text("l1 0\nl9 5\n")
    with pytest.warns(PlanetoidWarning, match="1 lists have features but no item"):
        data = pl.datasets.load("diel", root=tmp_path)
    assert data.X.nnz == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("list_features.txt", "l1 0\nl2 x3\n", r"line 2: b'x3' is not a feature index"),
        ("list_features.txt", "l1 -4\n", r"out of range"),
        ("hasItem.cfacts", "hasItem\tl1\n", r"hasItem\.cfacts: .*Expected 3 columns, got 2"),
        ("hasItem.cfacts", "", r"hasItem\.cfacts: Empty CSV file"),
        ("0/coverage_eva_multiAdded", "flu\t1\nfever\t5\n", r"line 2: .* category from 1 to 4"),
        ("0/coverage_eva_multiAdded", "flu\n", r"line 1: .* is not an item and a category"),
        ("0/drug_devel_50p_proppr_seed_forTrainList", "a\tb\n", r"line 1: 2 columns, expected at least 3"),
        ("0/drug_devel_50p_proppr_seed_forTrainList", "a\tb\tnobody\n", r"none of the 1 seeds in"),
    ],
)
def test_broken_files_name_file_and_line(tmp_path, name, content, message):
    (write(tmp_path) / name).write_text(content)
    with pytest.raises(DataError, match=message):
        pl.datasets.load("diel", root=tmp_path)


def test_where_to_put_it(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("PLANETOID_DATA", raising=False)
    with pytest.raises(DatasetNotFoundError, match=r"diel_data\.tar\.gz .*hasItem\.cfacts.*3/coverage_eva_multiAdded"):
        pl.datasets.load("diel", run=3)
    with pytest.raises(ParameterError, match="got 10"):
        pl.datasets.load("diel", run=10)


def scores(data, **by_item):
    table = np.zeros((data.n_items, 4))
    for item, row in by_item.items():
        table[data.graph.ids.row(item) - data.n_lists] = row
    return table


def test_recall_by_hand(tmp_path):
    data = pl.datasets.load("diel", root=write(tmp_path))
    table = scores(data, flu=[9, 0, 0, 0], aspirin=[0, 8, 0, 0], water=[7, 0, 6, 0])
    assert data.recall_at_k(table, k=1) == pytest.approx(1 / 7)
    assert data.recall_at_k(table, k=3) == pytest.approx(2 / 7)  # (water, disease) is wrong
    assert data.recall_at_k(table, k=4) == pytest.approx(3 / 7)
    # 16 pairs tie at 0, three of them true: one of 16 places gives 3/16 of a hit
    assert data.recall_at_k(table, k=5) == pytest.approx((3 + 3 / 16) / 7)
    assert data.recall_at_k(table, k=10**6) == pytest.approx(data.upper_bound)
    nodes = np.concatenate([np.full((data.n_lists, 4), 99.0), table])
    assert data.recall_at_k(nodes, k=3) == pytest.approx(2 / 7)


def test_item_scores_by_hand(tmp_path):
    data = pl.datasets.load("diel", root=write(tmp_path))
    lists = np.array([[0.8, 0.2, 0, 0], [0, 0, 0, 1], [0.4, 0.6, 0, 0], [0, 0, 1, 0]])
    row = data.graph.ids.row("flu") - data.n_lists  # in l1 and l3
    assert data.item_scores(lists, "max")[row].tolist() == [0.8, 0.6, 0, 0]
    assert data.item_scores(lists, "mean")[row] == pytest.approx([0.6, 0.4, 0, 0])
    assert data.item_scores(lists, "sum")[row] == pytest.approx([1.2, 0.8, 0, 0])
    nodes = np.concatenate([lists, np.full((data.n_items, 4), 9.0)])
    assert np.array_equal(data.item_scores(nodes), data.item_scores(lists))


def test_scores_are_checked(tmp_path):
    data = pl.datasets.load("diel", root=write(tmp_path))
    with pytest.raises(DataError, match=r"shape \(5 or 9, 4\), got \(5, 3\)"):
        data.recall_at_k(np.zeros((5, 3)))
    with pytest.raises(DataError, match="NaN"):
        data.recall_at_k(np.full((5, 4), np.nan))
    with pytest.raises(ParameterError, match="k must be an integer >= 1, got 0"):
        data.recall_at_k(np.zeros((5, 4)), k=0)
    with pytest.raises(ParameterError, match="got 'best'"):
        data.item_scores(np.zeros((4, 4)), "best")


def test_without_keeps_lists_items_and_truth_together(tmp_path):
    data = pl.datasets.load("diel", root=write(tmp_path))
    part = data.without([0, data.graph.ids.row("flu")])
    assert part.n_lists == 3
    assert part.truth_rows.tolist() == [-1, 5, 6, 3, 4, -1, 6]
    assert part.node_ids[part.truth_rows[1]] == "aspirin"
