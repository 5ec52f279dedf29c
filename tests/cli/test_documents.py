"""What the documents say of the command line: every command there runs, every command has examples."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import planetoid as pl
from planetoid.cli import main
from planetoid.cli.choosing import LARGE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/cli.md").read_text()
COMMANDS = ("check", "fit", "predict", "embed", "evaluate", "compare")


def shell_lines():
    blocks = re.findall(r"^```sh\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines()]


def test_every_command_in_the_reference_runs(files, done, tmp_path, monkeypatch):
    for name in ("edges.csv", "features.parquet", "labels.csv", "validation.csv"):
        shutil.copy(files.folder / name, tmp_path)
    pd.read_parquet(files.features).head(3).to_parquet(tmp_path / "new.parquet")
    (tmp_path / "ids.txt").write_text("paper_1\npaper_2\n")
    monkeypatch.chdir(tmp_path)
    for line in shell_lines():
        program, *arguments = shlex.split(line)
        assert program == "planetoid"
        done(*arguments, *(("--jobs", "1") if arguments[0] in ("evaluate", "compare") else ()))
    assert {"predictions.csv", "fitted.parquet", "new.csv", "embedding.npz", "new.w2v"} <= {
        path.name for path in tmp_path.iterdir()
    }


def test_the_reference_has_every_command_and_its_options(invoke):
    for command in COMMANDS:
        assert f"\n## {command}\n" in TEXT
        assert any(line.startswith(f"planetoid {command} ") for line in shell_lines())
    assert "above two million nodes" in TEXT
    assert LARGE == 2_000_000


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(invoke, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    text = invoke(command, "--help").stdout
    assert f"planetoid {command} " in text.split("For instance:")[1]
    for option in ("--quiet", "--json"):
        assert option in text


def test_options_in_the_examples_exist(invoke, monkeypatch):
    """What help shows, parsed by the command itself up to the files, which are not there."""
    monkeypatch.setenv("COLUMNS", "200")
    for command in COMMANDS:
        text = invoke(command, "--help").stdout.split("For instance:")[1].split("╭")[0]
        for line in filter(None, map(str.strip, text.splitlines())):
            result = invoke(*shlex.split(line)[1:], *(() if command == "check" else ("--quiet",)))
            assert result.exit_code == 2
            assert "No such option" not in result.stderr
            assert "there is no" in result.stderr + result.stdout, line


def test_from_nothing_to_labels_on_cora(done, tmp_path, monkeypatch):
    """String ids in a CSV, words in Parquet, 140 labels: the accuracy of ``PlanetoidT`` on 1,000 test papers."""
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
    model = pl.PlanetoidT().fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    assert right == pytest.approx((model.predict()[split.test] == data.y[split.test]).mean(), abs=0.02)
    assert right > 0.72


def test_every_command_is_registered():
    named = {command.name for command in main.app.registered_commands}
    assert named >= {*COMMANDS, "demo"}
