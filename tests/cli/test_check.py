"""``planetoid check``."""

import json

import pandas as pd
import pytest


def test_what_is_in_the_data(files, done):
    text = done("check", *files.all()).stdout
    assert "240" in text.splitlines()[0]
    assert "480 undirected edges" in text
    assert "60 columns" in text
    assert "36 of 240 nodes (15.0%)" in text
    assert "3: art 12, biology 12, chess 12" in text
    assert "Recommended: planetoid-t" in text
    assert "not diel" in text


def test_counts_as_json(files, done):
    report = json.loads(done("check", *files.all(), "--validation", files.validation, "--json").stdout)
    assert report["usable"] is True
    assert report["errors"] == []
    counts = report["counts"]
    assert counts["nodes"] == files.data.n_nodes
    assert counts["edges"] == files.data.graph.n_edges
    alone = int((files.data.graph.degrees == 0).sum())
    assert counts["isolated"] == alone > 0
    (warning,) = report["warnings"]
    assert f"{alone} of 240 rows belong to nodes without an edge" in warning
    assert counts["components"] == len(set(files.data.graph.components().tolist()))
    assert counts["classes"] == {"art": 12, "biology": 12, "chess": 12}
    assert counts["validation"] == 40
    assert report["recommended"]["method"] == "planetoid-t"
    assert set(report["methods"]) | set(report["do_not_fit"]) >= {"lp", "feat", "planetoid-i", "diel"}


@pytest.mark.parametrize(
    ("given", "recommended", "fit", "not_fit"),
    [
        ("graph", "planetoid-g", {"lp", "graphemb"}, {"feat", "planetoid-t", "planetoid-i"}),
        ("words", "feat", {"tsvm"}, {"lp", "planetoid-t", "planetoid-g", "planetoid-i"}),
    ],
)
def test_which_methods_fit(files, done, given, recommended, fit, not_fit):
    report = json.loads(done("check", *getattr(files, given)(), "--json").stdout)
    assert report["recommended"]["method"] == recommended
    assert fit <= set(report["methods"])
    assert not_fit <= set(report["do_not_fit"])


def test_new_nodes_need_an_inductive_method(files, done, invoke):
    report = json.loads(done("check", *files.all(), "--new-nodes", "--json").stdout)
    assert report["recommended"]["method"] == "planetoid-i"
    assert "lp" in report["do_not_fit"]
    assert invoke("check", *files.graph(), "--new-nodes").exit_code == 2


def test_labels_are_optional_here(files, done):
    text = done("check", "--edges", files.edges).stdout
    assert "No labels were given" in text


def test_what_looks_wrong_is_told_in_sentences(tmp_path, done):
    ends = [(f"p{k}", f"p{(k + 1) % 40}") for k in range(40)] + [("p0", "p0"), ("p1", "p0"), ("far", "away")]
    pd.DataFrame(ends, columns=["source", "target"]).to_csv(tmp_path / "e.csv", index=False)
    nodes = [f"p{k}" for k in range(40)] + ["alone"]
    pd.DataFrame({"id": nodes, "x": range(1, 42), "wide": [1e6 * k for k in range(41)], "same": 7, "y": 2.5}).assign(
        y=lambda frame: frame.x % 3
    ).to_csv(tmp_path / "f.csv", index=False)
    labels = pd.DataFrame({"id": [*nodes[:40], "nobody"], "label": [*(["even", "odd"] * 20), "even"]})
    labels.to_csv(tmp_path / "l.csv", index=False)
    command = ["--edges", tmp_path / "e.csv", "--features", tmp_path / "f.csv", "--labels", tmp_path / "l.csv"]
    report = json.loads(done("check", *command, "--json").stdout)
    assert report["counts"]["self_loops"] == 1
    assert report["counts"]["opposite"] == 1
    warnings, doubts = " ".join(report["warnings"]), " ".join(report["doubts"])
    assert "'alone'" in warnings
    assert "1 of 41 labels belong to no node of the graph (the first has the id 'nobody')" in warnings
    assert "2 of 43 nodes have no row" in warnings
    assert "no edge" not in doubts  # once is enough
    assert "2 nodes cannot be reached from any label" in doubts
    assert "2 nodes have no feature other than zero" in doubts
    assert "0% of the edges between labelled nodes join one class, little more than by chance" in doubts
    assert "column 'wide' varies" in doubts


def test_nodes_with_an_edge_to_themselves_alone_are_told_of(tmp_path, done):
    (tmp_path / "e.csv").write_text("source,target\na,b\nself,self\n")
    (tmp_path / "f.csv").write_text("id,x\na,1\nb,2\nself,3\nalone,4\n")
    command = ["check", "--edges", tmp_path / "e.csv", "--features", tmp_path / "f.csv", "--json"]
    report = json.loads(done(*command).stdout)
    assert report["counts"]["isolated"] == 2
    (warning,) = report["warnings"]
    assert "1 of 4 rows belong to nodes without an edge (the first has the id 'alone')" in warning
    (doubt,) = report["doubts"]
    assert doubt == "1 node has no edge to another: the graph says nothing about it."


def test_classes_with_few_labels_are_named(files, tmp_path, done):
    pd.DataFrame({"id": files.names[:8], "label": ["a"] * 5 + ["b"] * 2 + ["c"]}).to_csv(
        tmp_path / "l.csv", index=False
    )
    text = done("check", "--edges", files.edges, "--labels", tmp_path / "l.csv").stdout
    assert "Few labels, less than 5, of 'b' (2), 'c' (1)" in text


def test_all_broken_files_are_named_at_once(files, tmp_path, invoke):
    (tmp_path / "e.csv").write_text("source,target\na,b\nc\n")
    (tmp_path / "l.csv").write_text("id,label\na,x\na,y\n")
    done = invoke("check", "--edges", tmp_path / "e.csv", "--labels", tmp_path / "l.csv", "--json")
    assert done.exit_code == 2
    report = json.loads(done.stdout)
    assert report["usable"] is False
    first, second = report["errors"]
    assert "e.csv, line 3: 1 cell where other lines have 2" in first
    assert "l.csv, line 3: the id 'a' has the label 'y', but 'x' in line 2" in second
    assert "cannot be used" in invoke("check", "--edges", tmp_path / "e.csv", "--labels", tmp_path / "l.csv").stdout


def test_one_class_is_not_enough(files, tmp_path, invoke):
    pd.DataFrame({"id": files.names[:4], "label": "only"}).to_csv(tmp_path / "l.csv", index=False)
    done = invoke("check", "--edges", files.edges, "--labels", tmp_path / "l.csv")
    assert done.exit_code == 2
    assert "Every label is 'only'" in done.stdout


def test_nothing_to_look_at(files, refused):
    assert "give --edges, --features or both" in refused("check", "--labels", files.labels)
    assert "there is no file nowhere.csv" in refused("fit", "--edges", "nowhere.csv", "--labels", files.labels)
