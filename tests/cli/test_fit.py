"""``planetoid fit``: what is saved, by which method, with which labels; and errors before the work."""

import hashlib
import json
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.cli.conftest import QUICK

import planetoid as pl
from planetoid.cli import method_choice
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.persistence import read_record

RUN = "from planetoid.cli.main import run\nrun()"


def predictions(done, model, out):
    done("predict", model, "--out", out, "--quiet")
    return pd.read_csv(out, dtype={"id": str}).set_index("id")


def test_the_model_is_what_the_library_fits(files, models, done, tmp_path):
    """Same files, same seed, same parameters: the same probabilities."""
    table = predictions(done, models("lp"), tmp_path / "p.csv")
    graph = pl.Graph.from_file(files.edges, nodes=files.names)
    with pytest.warns(PlanetoidWarning, match="can say nothing about"):
        model = pl.LabelPropagation().fit(y=pl.read_labels(files.labels, graph), graph=graph)
    assert table.index.tolist() == files.names.tolist()  # in the order of counting
    assert table.label.tolist() == model.predict().tolist()
    assert np.allclose(table.probability, model.predict_proba().max(axis=1))
    assert np.allclose(table.runner_up_probability, np.sort(model.predict_proba(), axis=1)[:, -2])


def test_ids_columns_and_layout_do_not_matter(files, done, tmp_path):
    """String ids, or integers with columns and rows shuffled and edges as TSV without a header."""
    model = tmp_path / "first"
    done("fit", *files.all(), "--method", "planetoid-t", *QUICK, "--out", model, "--quiet")
    first = predictions(done, model, tmp_path / "first.csv")

    def number(ids):
        return [int(name.removeprefix("paper_")) for name in ids]

    generator = np.random.default_rng(0)
    edges = pd.read_csv(files.edges).sample(frac=1, random_state=1)
    edges = edges.assign(source=number(edges.source), target=number(edges.target))
    edges[["target", "source"]].to_csv(tmp_path / "e.tsv", sep="\t", header=False, index=False)
    features = pd.read_parquet(files.features).sample(frac=1, random_state=2)
    features["id"] = number(features["id"])
    features[generator.permutation(features.columns)].to_csv(tmp_path / "f.csv", index=False)
    labels = pd.read_csv(files.labels).sample(frac=1, random_state=3)
    labels.assign(id=number(labels.id))[["label", "id"]].to_csv(tmp_path / "l.csv", index=False)
    command = ["--edges", tmp_path / "e.tsv", "--features", tmp_path / "f.csv", "--labels", tmp_path / "l.csv"]
    done("fit", *command, "--method", "planetoid-t", *QUICK, "--out", tmp_path / "second", "--quiet")
    second = predictions(done, tmp_path / "second", tmp_path / "second.csv")
    second.index = [f"paper_{k}" for k in second.index]
    pd.testing.assert_frame_equal(first, second.rename_axis("id"), check_exact=True)


def test_the_record_has_data_command_and_versions(files, done, tmp_path):
    out = tmp_path / "some" / "where"
    command = ["fit", *files.all(), "--method", "lp", "--validation", files.validation, "--out", out]
    done(*command)
    record = read_record(out)
    labels = pd.read_csv(files.labels).set_index("id").label
    classes = pl.load(out).classes_
    known = {files.names[row]: classes[code] for row, code in enumerate(record.y) if code >= 0}
    assert known == labels.to_dict()
    held = {files.names[row]: classes[code] for row, code in enumerate(record.validation) if code >= 0}
    assert held == pd.read_csv(files.validation).set_index("id").label.to_dict()
    assert record.neighbours(3).tolist() == files.data.graph.neighbors(3).tolist()
    assert shlex.split(record.command) == ["planetoid", *map(str, command)]
    assert [entry["role"] for entry in record.inputs] == ["edges", "features", "labels", "validation"]
    assert dict(record.facts)["labels"] == "36 of 240 nodes (15.0%)"
    assert any("without an edge" in note for note in record.notes)
    assert record.seconds > 0
    assert record.versions["planetoid"] == pl.__version__


def test_summary_as_json(files, done, tmp_path):
    command = ["fit", *files.all(), "--method", "lp", "--validation", files.validation, "--out", tmp_path / "m"]
    result = done(*command, "--json", "--quiet")
    assert result.stderr == ""
    printed = json.loads(result.stdout)
    assert printed["method"] == "lp"
    assert printed["labels"] == 36
    assert printed["validation"] == 40
    truth = pd.read_csv(files.validation).set_index("id").label
    predicted = predictions(done, tmp_path / "m", tmp_path / "p.csv").label[truth.index]
    assert printed["validation_accuracy"] == pytest.approx((predicted == truth).mean())
    assert printed["early_stopping"] is False


def test_a_method_that_does_not_use_validation_labels_says_so(files, done, tmp_path):
    command = ["fit", *files.all(), "--method", "lp", "--validation", files.validation, "--out", tmp_path / "m"]
    result = done(*command, "--set", "calibrate=false")
    assert result.stderr.count("warning: LabelPropagation does not use validation labels: they are ignored") == 1
    assert "accuracy on 40 validation labels (not used in the fit)" in result.stdout


def test_validation_labels_of_labelled_nodes(files, done, refused, tmp_path):
    validation = pd.concat([pd.read_csv(files.validation), pd.read_csv(files.labels)[:3]])
    validation.to_csv(tmp_path / "v.csv", index=False)
    command = ["fit", *files.graph(), "--method", "planetoid-g", *QUICK, "--validation", tmp_path / "v.csv"]
    result = done(*command, "--out", tmp_path / "m")
    assert "v.csv: 3 validation labels are of labelled nodes and ignored" in result.stderr
    assert "accuracy on 38 validation labels (used for early stopping)" in result.stdout
    validation.iloc[-1, -1] = next(label for label in validation.label if label != validation.label.iloc[-1])
    validation.to_csv(tmp_path / "v.csv", index=False)
    message = refused(*command, "--out", tmp_path / "n")
    assert f"v.csv, node {validation.id.iloc[-1]!r}: the validation label is" in message


def test_held_out_labels_are_not_learned_from(files, done, tmp_path):
    done("fit", *files.all(), "--method", "lp", "--hold-out", "0.25", "--seed", "3", "--out", tmp_path / "m")
    record = read_record(tmp_path / "m")
    labels = pd.read_csv(files.labels).id.tolist()
    learned, held = (set(files.names[codes >= 0]) for codes in (record.y, record.validation))
    assert not learned & held
    assert learned | held == set(labels)
    assert np.bincount(record.validation[record.validation >= 0]).tolist() == [3, 3, 3]


def test_early_stopping_uses_the_validation_labels(files, done, tmp_path):
    printed = done(
        "fit", *files.all(), "--set", "training.steps=50", "--hold-out", "0.3", "--out", tmp_path / "m"
    ).stdout
    assert "used for early stopping" in printed
    assert any("val_accuracy" in record for record in pl.load(tmp_path / "m").history_)


def test_seed_settings_and_preset_reach_the_method(files, done, refused, tmp_path, monkeypatch):
    done("fit", *files.graph(), "--method", "planetoid-g", *QUICK, "--seed", "7", "--out", tmp_path / "m")
    model = pl.load(tmp_path / "m")
    assert (model.random_state, model.dimension, model.training.steps) == (7, 16, 20)
    asked = []

    def from_preset(cls, name, **overrides):
        asked.append((name, overrides))
        return cls(**overrides)

    monkeypatch.setattr(pl.LabelPropagation, "from_preset", classmethod(from_preset))
    command = ["fit", *files.graph(), "--method", "lp", "--preset", "tuned/cora", "--set", "max_iter=7"]
    done(*command, "--out", tmp_path / "n")
    assert asked == [("tuned/cora", {"n_jobs": 1, "max_iter": 7})]
    monkeypatch.undo()
    assert "there is no preset 'no/such'" in refused(
        "fit", *files.graph(), "--method", "lp", "--preset", "no/such", "--out", tmp_path / "o"
    )


@pytest.mark.parametrize(("given", "method"), [("all", "planetoid"), ("graph", "planetoid"), ("words", "planetoid")])
def test_auto_chooses_by_what_there_is(files, done, tmp_path, given, method):
    result = done("fit", *getattr(files, given)(), "--set", "training.steps=20", "--out", tmp_path / "m", "--json")
    printed = json.loads(result.stdout)
    assert printed["method"] == method
    assert printed["reason"] in result.stderr
    assert pl.load(tmp_path / "m").node_ids_.to_numpy()[0].startswith("paper_")


def test_rules_of_auto():
    data = pl.datasets.make_citation(40, n_classes=2, n_features=10, seed=0)
    bare = replace(data, X=None)

    def chosen(data, **options):
        return method_choice.choose_method(data, **options).method

    assert chosen(data) == chosen(data, new_nodes=True) == chosen(bare) == "planetoid"
    no_edges = replace(data, graph=pl.Graph.without_edges(data.ids))
    assert chosen(no_edges) == chosen(no_edges, new_nodes=True) == "planetoid"
    n_nodes = method_choice.LARGE + 1
    large = pl.Graph.from_edges([0], [1], nodes=n_nodes)
    assert chosen(pl.Dataset("large", large, None, np.full(n_nodes, -1), ())) == "lp"
    with pytest.raises(ParameterError, match="--new-nodes requires --features"):
        chosen(bare, new_nodes=True)
    with pytest.raises(DataError, match="neither edges nor features"):
        chosen(replace(no_edges, X=None))


def test_a_wrong_setting_ends_before_a_file_is_read(refused):
    command = ["fit", "--edges", "nowhere.csv", "--labels", "nowhere.csv", "--method", "planetoid-g"]
    assert "planetoid-g has no parameter 'step'; did you mean training.steps" in refused(*command, "--set", "step=3")
    assert "training.steps must be an integer >= 0, got 'x'" in refused(*command, "--set", "training.steps=x")
    assert "there is no method 'planet'; the methods are planetoid, planetoid-t" in refused(*command[:-1], "planet")
    assert "fit takes one method" in refused(*command[:-1], "lp,feat")
    assert "planetoid-g does not label new nodes" in refused(*command, "--new-nodes")


def test_a_method_needs_its_files(files, refused, tmp_path):
    out = ["--out", tmp_path / "m"]
    assert refused("fit", *files.graph(), "--method", "feat", *out) == "feat requires --features or --nodes"
    assert refused("fit", *files.words(), "--method", "lp", *out) == "lp requires --edges"
    assert "--labels is required" in refused("fit", "--edges", files.edges, *out)
    both = ["--hold-out", "0.5", "--validation", files.validation]
    assert "mutually exclusive" in refused("fit", *files.graph(), *both, *out)
    message = refused("fit", *files.graph(), "--hold-out", "2", *out)
    assert message == "--hold-out must be a number in (0, 1), got 2"
    assert list(tmp_path.iterdir()) == []


def test_an_existing_model_stays_without_force(files, done, refused, tmp_path, monkeypatch):
    command = ["fit", *files.graph(), "--method", "lp", "--out", tmp_path / "m"]
    done(*command)
    (tmp_path / "m" / "mine.txt").write_text("kept")
    with monkeypatch.context() as patch:
        patch.setattr("planetoid.data.reading.read_dataset", lambda *_, **__: pytest.fail("the work began"))
        assert refused(*command) == f"{tmp_path / 'm'}: the folder already holds a model; pass --force to replace it"
        assert (tmp_path / "m" / "mine.txt").read_text() == "kept"
        taken = tmp_path / "file"
        taken.write_text("")
        assert "exists and is not a model folder" in refused(*command[:-1], taken)
        assert f"{taken} is not a folder" in refused(*command[:-1], taken / "below" / "it")
        printed = refused(*command, "--force")
        assert "beside the model there is 'mine.txt', which is not part of it and would be lost" in printed
        assert (tmp_path / "m" / "mine.txt").read_text() == "kept"
    (tmp_path / "m" / "mine.txt").unlink()
    done(*command, "--force")
    assert {path.name for path in (tmp_path / "m").iterdir()} == {
        *("model.json", "tensors.safetensors", "record.json", "record.safetensors", "card.md")
    }


def test_the_folder_has_a_model_card_whose_notes_survive_force(files, done, tmp_path):
    command = ["fit", *files.graph(), "--method", "lp", "--out", tmp_path / "m"]
    done(*command)
    card, document = tmp_path / "m" / "card.md", json.loads((tmp_path / "m" / "model.json").read_text())
    assert document["files"]["card.md"] == hashlib.sha256(card.read_bytes()).hexdigest()
    assert card.read_text().startswith("# LabelPropagation, 3 classes, ")
    assert "- labels file: `labels.csv`, SHA-256" in card.read_text()
    assert "Not measured" in card.read_text()
    card.write_text(card.read_text() + "CC BY 4.0\n")
    assert len(pl.load(tmp_path / "m").classes_) == 3  # an edited card does no harm
    done(*command, "--validation", files.validation, "--force")
    assert " validation labels are predicted correctly (95 % interval" in card.read_text()
    assert card.read_text().endswith("CC BY 4.0\n")


def test_where_a_model_cannot_be_is_said_before_the_work(files, refused, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("planetoid.data.reading.read_dataset", lambda *_, **__: pytest.fail("the work began"))
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "model.json").write_text("{}")
    command = ["fit", *files.graph(), "--method", "lp", "--force", "--out"]
    for out, reason in {
        ".": "this is the current folder or one above it; name a folder in it, for instance model",
        "..": "this is the current folder or one above it",
        "link": "the path exists and is not a model folder",
        "loop": "Too many levels of symbolic links",
        "theirs": "the path exists and is not a model folder",
        "/proc": "this is a mount point",
    }.items():
        assert reason in refused(*command, out)


def test_a_symbolic_link_to_a_model_stays_one(files, done, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    command = ["fit", *files.graph(), "--method", "lp", "--out", tmp_path / "link"]
    done(*command)
    done(*command, "--force")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "model.json").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_nothing_appears_when_the_record_cannot_be_written(files, refused, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("planetoid.persistence.write_record", full)
    printed = refused("fit", *files.graph(), "--method", "lp", "--out", tmp_path / "m")
    assert printed == f"{tmp_path / 'm'}: cannot write the model: No space left on device"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file size are POSIX's")
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_no_room_for_the_file(files, models, tmp_path, command):
    """A limit on the size of files stands for a full disk, all the way down to the system call."""
    arguments = {
        "fit": ["fit", *files.words(), "--method", "feat", "--out", tmp_path / "m"],
        "predict": ["predict", models("feat"), "--out", tmp_path / "p.csv"],
    }[command]
    limited = ["sh", "-c", 'ulimit -f 2; exec "$@"', "sh", sys.executable, "-c", RUN, *map(str, arguments)]
    ended = subprocess.run(limited, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2, ended.stderr
    assert "cannot write" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_a_file_names_the_line(files, refused, tmp_path):
    (tmp_path / "e.csv").write_text('source,target\na,b\n"c,d\n')
    printed = refused("fit", "--edges", tmp_path / "e.csv", "--labels", files.labels, "--out", tmp_path / "m")
    assert "e.csv, line 3: a quote is not closed" in printed
    (tmp_path / "l.csv").write_text("id,kind,group\na,x,1\nb,y,2\n")
    printed = refused("fit", "--edges", files.edges, "--labels", tmp_path / "l.csv", "--out", tmp_path / "m")
    assert "--label-column" in printed
