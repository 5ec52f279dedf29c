"""``--nodes``: a node table on the command line, from check to the prediction of new raw rows."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def table(files):
    """The citation graph's nodes as one CSV file: words as text, a number with gaps, a category, a few labels."""
    generator = np.random.default_rng(0)
    X = files.data.X.toarray() > 0
    words = np.array([f"word{k}" for k in range(X.shape[1])])
    frame = pd.DataFrame(
        {
            "paper": files.names,
            "abstract": [" ".join(words[row]) for row in X],
            "pages": np.where(generator.random(len(X)) < 0.1, np.nan, generator.integers(4, 30, len(X))),
            "venue": generator.choice(["north", "south", "east"], len(X)),
            "field": pd.read_csv(files.labels).set_index("id").label.reindex(files.names).to_numpy(),
        }
    )
    path = files.folder / "papers.nodes.csv"
    frame.to_csv(path, index=False)
    return path


def options(files, table):
    return ("--edges", files.edges, "--nodes", table, "--label-column", "field", "--id-column", "paper")


def test_check_says_what_is_done_with_each_column(files, table, done):
    text = done("check", *options(files, table)).stdout
    assert "  - abstract: text; TF-IDF of 60 words\n" in text
    assert "  - venue: category; one-hot, 3 categories\n" in text
    assert "pages: number; scaled to mean 0 and standard deviation 1; " in text
    report = json.loads(done("check", *options(files, table), "--json").stdout)
    assert {row["column"]: row["kind"] for row in report["columns"]} == {
        "abstract": "text",
        "pages": "number",
        "venue": "category",
    }


def test_fit_and_predict_new_raw_rows(files, table, done, tmp_path):
    model = tmp_path / "model"
    done("fit", *options(files, table), "--method", "feat", "--out", model)
    frame = pd.read_csv(table)
    fitted = pd.read_csv(done("predict", model, "--out", tmp_path / "p.csv") and tmp_path / "p.csv", index_col="id")
    new = tmp_path / "new.csv"
    frame.sample(frac=1, random_state=0).drop(columns="field")[["venue", "pages", "abstract", "paper"]].to_csv(
        new, index=False
    )
    done("predict", model, "--nodes", new, "--id-column", "paper", "--out", tmp_path / "new_p.csv")
    predicted = pd.read_csv(tmp_path / "new_p.csv", index_col="id").loc[fitted.index]
    unlabelled = frame.set_index("paper").field.isna().loc[fitted.index]
    assert (predicted.label == fitted.label)[unlabelled].all()
    assert predicted.probability[unlabelled].to_numpy() == pytest.approx(fitted.probability[unlabelled], abs=1e-5)


def test_predict_explains_what_is_wrong(files, table, models, refused, done, tmp_path):
    assert "pass --features FILE for new nodes" in refused("predict", models("feat"), "--nodes", table)
    model = tmp_path / "model"
    done("fit", *options(files, table), "--method", "feat", "--out", model)
    new = tmp_path / "new.csv"
    pd.read_csv(table)[["paper", "pages"]].to_csv(new, index=False)
    message = refused("predict", model, "--nodes", new)
    assert message.startswith(f"{new}: the table has no column 'abstract', 'venue', which the model was fitted on")
    pd.read_csv(table)[["pages", "abstract", "venue"]].to_csv(new, index=False)
    assert "'pages', holds features, not ids; pass --id-column COLUMN" in refused("predict", model, "--nodes", new)


def test_labels_are_required(files, table, refused):
    bare = table.with_name("bare.nodes.csv")
    pd.read_csv(table).drop(columns="field").to_csv(bare, index=False)
    message = refused("fit", "--edges", files.edges, "--nodes", bare)
    assert "has no column that is called label or class; pass --label-column COLUMN or --labels FILE" in message
    assert "--nodes with --label-column" in refused("fit", "--edges", files.edges)


def test_evaluate_takes_a_node_table(files, table, done):
    done("evaluate", *options(files, table), "--method", "feat", "--splits", 1, "--jobs", 1)
