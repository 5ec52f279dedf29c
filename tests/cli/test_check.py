"""``planetoid check``."""

import json

import numpy as np
import pandas as pd
import pytest

import planetoid as pl


def test_what_is_in_the_data(files, done):
    text = done("check", *files.all()).stdout
    assert "240" in text.splitlines()[0]
    assert "480 undirected edges" in text
    assert "60 columns" in text
    assert "36 of 240 nodes (15.0%)" in text
    assert "3: art 12, biology 12, chess 12" in text
    assert "Recommended: planetoid (" in text
    assert "excluded: diel" in text


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
    assert report["recommended"]["method"] == "planetoid"
    assert set(report["methods"]) | set(report["excluded"]) >= {"lp", "feat", "planetoid-i", "diel"}


@pytest.mark.parametrize(
    ("given", "recommended", "suitable", "excluded"),
    [
        ("graph", "planetoid", {"lp", "graphemb"}, {"feat", "planetoid-t", "planetoid-i"}),
        ("words", "planetoid", {"feat", "tsvm"}, {"lp", "planetoid-t", "planetoid-g", "planetoid-i"}),
    ],
)
def test_which_methods_suit_the_data(files, done, given, recommended, suitable, excluded):
    report = json.loads(done("check", *getattr(files, given)(), "--json").stdout)
    assert report["recommended"]["method"] == recommended
    assert suitable <= set(report["methods"])
    assert excluded <= set(report["excluded"])


def test_new_nodes_need_an_inductive_method(files, done, invoke):
    report = json.loads(done("check", *files.all(), "--new-nodes", "--json").stdout)
    assert report["recommended"]["method"] == "planetoid"
    assert "lp" in report["excluded"]
    assert invoke("check", *files.graph(), "--new-nodes").exit_code == 2


def test_labels_are_optional_here(files, done):
    text = done("check", "--edges", files.edges).stdout
    assert "No labels were given" in text


def test_possible_issues(tmp_path, done):
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
    warnings, issues = " ".join(report["warnings"]), " ".join(report["issues"])
    assert "'alone'" in warnings
    assert "1 of 41 labels belong to no node of the graph (the first has the id 'nobody')" in warnings
    assert "2 of 43 nodes have no row" in warnings
    assert "no edge" not in issues  # once is enough
    assert "2 nodes cannot be reached from any labelled node" in issues
    assert "2 nodes have no features" in issues
    assert "column 'wide' varies" in issues


def _written(data, folder):
    edges = np.stack(data.graph.to_scipy().nonzero(), axis=1)
    pd.DataFrame(edges, columns=["source", "target"]).to_csv(folder / "e.csv", index=False)
    features = pd.DataFrame(data.X.toarray(), columns=[f"w{k}" for k in range(data.n_features)])
    features.insert(0, "id", range(data.n_nodes))
    features.to_csv(folder / "f.csv", index=False)
    labels = pd.DataFrame({"id": range(data.n_nodes), "label": [f"c{code}" for code in data.y]}).iloc[::4]
    labels.to_csv(folder / "l.csv", index=False)
    return ["--edges", folder / "e.csv", "--features", folder / "f.csv", "--labels", folder / "l.csv"]


@pytest.mark.parametrize(
    ("homophily", "informative", "said"),
    [(0.0, 0.6, "The graph misleads"), (0.9, 0.0, "The features mislead"), (0.8, 0.3, None)],
)
def test_whether_the_graph_helps_is_measured(tmp_path, done, homophily, informative, said):
    data = pl.datasets.make_citation(400, 4, 80, homophily=homophily, informative=informative, mean_degree=8, seed=1)
    report = json.loads(done("check", *_written(data, tmp_path), "--json").stdout)
    (signal,) = [text for name, text in report["summary"] if name == "signal"]
    assert "features alone" in signal
    assert "(100 labels)" in signal
    found = [issue for issue in report["issues"] if "mislead" in issue]
    assert len(found) == (said is not None)
    assert all(issue.startswith(said) for issue in found)


def test_edges_between_classes_are_noticed(tmp_path, done):
    """Here a node's neighbours are of the other class of a pair."""
    data = pl.datasets.make_citation(400, 4, 80, homophily=0.0, informative=0.4, seed=1)
    random, y = np.random.default_rng(0), np.asarray(data.y)
    partner = np.array([1, 0, 3, 2])
    members = [np.flatnonzero(y == k) for k in range(4)]
    edges = [(i, int(random.choice(members[partner[y[i]]]))) for i in range(400) for _ in range(3)]
    command = _written(data, tmp_path)
    pd.DataFrame(edges, columns=["source", "target"]).to_csv(command[1], index=False)
    report = json.loads(done("check", *command, "--json").stdout)
    (signal,) = [text for name, text in report["summary"] if name == "signal"]
    assert "own features beside the neighbours'" in signal
    assert any(issue.startswith("Edges join nodes of different classes") for issue in report["issues"])


def test_nodes_with_an_edge_only_to_themselves(tmp_path, done):
    (tmp_path / "e.csv").write_text("source,target\na,b\nself,self\n")
    (tmp_path / "f.csv").write_text("id,x\na,1\nb,2\nself,3\nalone,4\n")
    command = ["check", "--edges", tmp_path / "e.csv", "--features", tmp_path / "f.csv", "--json"]
    report = json.loads(done(*command).stdout)
    assert report["counts"]["isolated"] == 2
    (warning,) = report["warnings"]
    assert "1 of 4 rows belong to nodes without an edge, the first to 'alone'" in warning
    (issue,) = report["issues"]
    assert (
        issue == "1 node has no edge to another node: methods that do not use features predict the class prior there."
    )


def test_classes_with_few_labels_are_named(files, tmp_path, done):
    pd.DataFrame({"id": files.names[:8], "label": ["a"] * 5 + ["b"] * 2 + ["c"]}).to_csv(
        tmp_path / "l.csv", index=False
    )
    text = done("check", "--edges", files.edges, "--labels", tmp_path / "l.csv").stdout
    assert "Classes with fewer than 5 labels: 'b' (2)" in text


def test_all_broken_files_are_named_at_once(files, tmp_path, invoke):
    (tmp_path / "e.csv").write_text("source,target\na,b\nc\n")
    (tmp_path / "l.csv").write_text("id,label\na,x\na,y\n")
    done = invoke("check", "--edges", tmp_path / "e.csv", "--labels", tmp_path / "l.csv", "--json")
    assert done.exit_code == 2
    report = json.loads(done.stdout)
    assert report["usable"] is False
    first, second = report["errors"]
    assert "e.csv, line 3: 1 cell, but other lines have 2" in first
    assert "l.csv, line 3, node 'a': conflicting labels: 'y' here, 'x' in line 2" in second
    assert "cannot be used" in invoke("check", "--edges", tmp_path / "e.csv", "--labels", tmp_path / "l.csv").stdout


def test_one_class_is_not_enough(files, tmp_path, invoke):
    pd.DataFrame({"id": files.names[:4], "label": "only"}).to_csv(tmp_path / "l.csv", index=False)
    done = invoke("check", "--edges", files.edges, "--labels", tmp_path / "l.csv")
    assert done.exit_code == 2
    assert "every label is 'only'." in done.stdout


def test_a_minus_one_is_no_class(files, tmp_path, invoke, refused):
    pd.DataFrame({"id": files.names[:4], "label": [-1, 1, 1, -1]}).to_csv(tmp_path / "l.csv", index=False)
    data = ("--edges", files.edges, "--labels", tmp_path / "l.csv")
    hint = "-1 means unlabelled; if -1 is a class, write it otherwise, for example as 'negative'"
    assert f"every label is '1'; {hint}." in invoke("check", *data).stdout
    assert refused("fit", *data, "--out", tmp_path / "m").endswith(f"every label is 1; {hint}")


def test_edges_or_features_are_required(files, refused):
    assert "pass --edges, --nodes or --features" in refused("check", "--labels", files.labels)
    assert "nowhere.csv" in refused("fit", "--edges", "nowhere.csv", "--labels", files.labels)
