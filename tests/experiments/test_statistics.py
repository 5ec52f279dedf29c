"""Table 2: the data sets as they are counted here, against the paper."""

from planetoid.experiments.statistics import count_all, statistics_markdown


def test_cora_by_the_papers_counts(data_root, monkeypatch):
    monkeypatch.setenv("PLANETOID_DATA", str(data_root))
    rows = {row["dataset"]: row for row in count_all()}
    assert rows["cora"]["counted"]["nodes"] == rows["cora"]["paper"]["nodes"] == 2708
    assert rows["cora"]["paper"]["edges"] - rows["cora"]["counted"]["edges"] == 151
    assert rows["cora"]["difference"] == "the paper also counts 151 duplicate edges (papers that cite each other)"
    assert "counted" not in rows["diel"]
    assert len(statistics_markdown(list(rows.values())).splitlines()) == 2 + len(rows)
