"""The examples of every command, and the way from nothing to labels."""

import shlex

import numpy as np
import pandas as pd
import pytest

import planetoid as pl

COMMANDS = ("check", "fit", "predict", "embed", "export", "evaluate", "compare")


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(invoke, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = invoke(command, "--help").stdout
    assert f"planetoid {command} " in text.split("For example:")[1]
    for option in ("--quiet", "--json"):
        assert option in text


def test_options_in_the_examples_exist(invoke, monkeypatch):
    """What help shows, parsed by the command itself up to the files, which are not there."""
    monkeypatch.setenv("COLUMNS", "200")
    for command in COMMANDS:
        text = invoke(command, "--help").stdout.split("For example:")[1].split("╭")[0]
        for line in filter(None, map(str.strip, text.splitlines())):
            result = invoke(*shlex.split(line)[1:], *(() if command == "check" else ("--quiet",)))
            assert result.exit_code == 2
            assert "No such option" not in result.stderr
            said = result.stderr + result.stdout
            assert any(words in said for words in ("no such file", "there is no", "no file matches")), line


def test_from_nothing_to_labels_on_cora(done, tmp_path, monkeypatch):
    """String ids in a CSV, words in Parquet, 140 labels: the accuracy of ``Planetoid`` on 1,000 test papers."""
    monkeypatch.chdir(tmp_path)
    data = pl.datasets.load("cora-bundled")
    split = data.split("random", seed=0)
    names = np.array([f"paper_{node}" for node in data.node_ids])
    source, target = data.graph.to_scipy().nonzero()
    once = source < target
    pd.DataFrame({"citing": names[source[once]], "cited": names[target[once]]}).to_csv("edges.csv", index=False)
    words = pd.DataFrame(data.X.toarray(), columns=[f"word {k}" for k in range(data.n_features)])
    words.assign(id=names).to_parquet("features.parquet")
    truth = pd.Series(np.array(data.class_names)[data.y], index=names, name="label")
    truth.iloc[split.train].to_csv("labels.csv", index_label="id")
    done(*shlex.split("fit --edges edges.csv --features features.parquet --labels labels.csv"))
    done(*shlex.split("predict model --out predictions.csv"))
    predicted = pd.read_csv("predictions.csv").set_index("id").label
    assert len(predicted) == 2708
    test = names[split.test]
    right = (predicted[test] == truth[test]).mean()
    model = pl.Planetoid().fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    assert right == pytest.approx((model.predict()[split.test] == data.y[split.test]).mean(), abs=0.02)
    assert right > 0.8
