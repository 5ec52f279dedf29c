"""``planetoid predict`` and ``embed``: what is written, new rows, and errors."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import planetoid as pl
from planetoid.cli import prediction_files
from planetoid.errors import DataError
from planetoid.io import text_table

COLUMNS = ["id", "label", "probability", "runner_up", "runner_up_probability"]


@pytest.fixture(scope="module")
def new(files, tmp_path_factory):
    """Rows that no graph has seen, with columns shuffled and one that is no feature."""
    folder = tmp_path_factory.mktemp("new")
    frame = pd.read_parquet(files.features).iloc[[5, 3, 9]]
    frame["id"] = ["n3", "n1", "n2"]
    frame = frame[np.random.default_rng(0).permutation(frame.columns)]
    frame.to_csv(folder / "new.csv", index=False)
    frame.assign(id=[30, 10, 20]).to_csv(folder / "numbered.csv", index=False)
    frame.to_parquet(folder / "new.parquet", index=False)
    return folder


def test_every_fitted_node_in_each_format(models, files, done, tmp_path):
    model = pl.load(models("feat"))
    for name in ("p.csv", "p.tsv", "p.parquet"):
        done("predict", models("feat"), "--out", tmp_path / name)
    frames = [
        pd.read_csv(tmp_path / "p.csv"),
        pd.read_csv(tmp_path / "p.tsv", sep="\t"),
        pd.read_parquet(tmp_path / "p.parquet"),
    ]
    for frame in frames:
        assert list(frame.columns) == COLUMNS
        assert frame.id.tolist() == files.names.tolist()
        assert frame.label.tolist() == model.predict().tolist()
        assert np.allclose(frame.probability, model.predict_proba().max(axis=1), atol=1e-6)
        assert (frame.label != frame.runner_up).all()
        assert (frame.probability >= frame.runner_up_probability).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.csv", "p.parquet", "p.tsv"]


def test_stdout_is_csv_and_nothing_else(models, done):
    result = done("predict", models("lp"))
    lines = result.stdout.splitlines()
    assert lines[0] == ",".join(COLUMNS)
    assert len(lines) == 241
    assert lines[1].startswith("paper_0,")
    assert result.stderr == ""


def test_json_is_a_summary_or_the_rows(models, done, tmp_path):
    printed = json.loads(done("predict", models("lp"), "--out", tmp_path / "p.csv", "--json").stdout)
    assert printed["method"] == "lp"
    assert printed["rows"] == 240
    assert sum(printed["labels"].values()) == 240
    rows = [json.loads(line) for line in done("predict", models("lp"), "--json").stdout.splitlines()]
    assert len(rows) == 240
    assert list(rows[0]) == COLUMNS


def test_all_probabilities(models, done, tmp_path):
    done("predict", models("feat"), "--out", tmp_path / "p.parquet", "--all-probabilities")
    frame = pd.read_parquet(tmp_path / "p.parquet")
    every = frame[[f"probability_{label}" for label in ("art", "biology", "chess")]].to_numpy()
    assert np.allclose(every.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(every.max(axis=1), frame.probability)


def test_coverage_adds_a_column_of_sets(models, files, done, refused, tmp_path):
    done("predict", models("feat"), "--coverage", "0.8", "--out", tmp_path / "p.csv")
    frame = pd.read_csv(tmp_path / "p.csv")
    assert list(frame.columns) == [*COLUMNS, "set"]
    model = pl.load(models("feat"))
    expected = [";".join(map(str, model.classes_[row])) for row in model.predict_set(alpha=0.2)]
    assert frame["set"].astype(str).tolist() == expected
    done("predict", models("lp"), "--coverage", "0.8", "--out", tmp_path / "lp.csv")  # calibrated by a reference
    lp = pl.load(models("lp"))
    sets = [";".join(lp.classes_[row]) for row in lp.predict_set(alpha=0.2)]
    assert pd.read_csv(tmp_path / "lp.csv")["set"].tolist() == sets
    assert "--coverage must be a number in (0, 1), got 2" in refused("predict", models("feat"), "--coverage", "2")


def test_some_fitted_nodes(models, done, refused, tmp_path):
    (tmp_path / "ids.txt").write_text("paper_17\n\n paper_4 \n")
    lines = done("predict", models("lp"), "--ids", tmp_path / "ids.txt").stdout.splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["paper_17", "paper_4"]
    (tmp_path / "ids.txt").write_text("paper_17\npaper_999\n")
    printed = refused("predict", models("lp"), "--ids", tmp_path / "ids.txt")
    assert printed.endswith("ids.txt, line 2: the model has no node 'paper_999' (1 of 2 are unknown)")
    (tmp_path / "ids.txt").write_text("\n")
    assert "lists no nodes" in refused("predict", models("lp"), "--ids", tmp_path / "ids.txt")


@pytest.mark.parametrize("method", ["feat", "planetoid-i"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_new_rows_by_name(models, files, done, new, tmp_path, method, suffix):
    """Columns in another order, rows in any: the model's answer to each row is the same."""
    done("predict", models(method), "--features", new / f"new.{suffix}", "--out", tmp_path / "p.parquet")
    frame = pd.read_parquet(tmp_path / "p.parquet")
    assert frame.id.tolist() == ["n3", "n1", "n2"]
    expected = pl.load(models(method)).predict_proba()[[5, 3, 9]]
    assert np.allclose(frame.probability, expected.max(axis=1), atol=1e-6)
    assert frame.label.tolist() == pl.load(models(method)).classes_[expected.argmax(axis=1)].tolist()


def test_integer_ids_stay_integers_in_typed_formats(models, done, new, tmp_path):
    done("predict", models("feat"), "--features", new / "numbered.csv", "--out", tmp_path / "p.parquet")
    assert pd.read_parquet(tmp_path / "p.parquet").id.tolist() == [30, 10, 20]
    lines = done("predict", models("feat"), "--features", new / "numbered.csv", "--json").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [30, 10, 20]


def test_new_tokens_for_a_model_of_tokens(files, done, tmp_path):
    X = files.data.X
    lines = [" ".join([name, *(f"w{k}" for k in X[[row]].indices)]) for row, name in enumerate(files.names)]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    done("fit", "--features", tmp_path / "words.txt", "--labels", files.labels, "--out", tmp_path / "m", "--quiet")
    (tmp_path / "new.txt").write_text("n1 w3 w17\nn2 w5 unheard-of\n")
    result = done("predict", tmp_path / "m", "--features", tmp_path / "new.txt")
    assert "1 of 4 tokens are not among the features" in result.stderr
    assert [line.split(",")[0] for line in result.stdout.splitlines()[1:]] == ["n1", "n2"]
    table = pd.DataFrame(np.eye(60)[[3, 5]] + np.eye(60)[[17, 5]] * [[1], [0]], columns=[f"w{k}" for k in range(60)])
    table.insert(0, "id", ["n1", "n2"])
    table.to_csv(tmp_path / "new.csv", index=False)
    assert done("predict", tmp_path / "m", "--features", tmp_path / "new.csv").stdout == result.stdout


def test_blocks_make_up_the_whole(models, files, done, tmp_path, monkeypatch):
    """Text is read in blocks; with small ones there are many row groups."""
    pd.read_parquet(files.features).to_csv(tmp_path / "all.csv", index=False)
    done("predict", models("feat"), "--features", tmp_path / "all.csv", "--out", tmp_path / "one.parquet")
    blocks = text_table.line_blocks
    monkeypatch.setattr(
        text_table, "line_blocks", lambda path, skip, size=0, joined=False: blocks(path, skip, 4096, joined=joined)
    )
    done("predict", models("feat"), "--features", tmp_path / "all.csv", "--out", tmp_path / "many.parquet")
    assert pq.ParquetFile(tmp_path / "many.parquet").num_row_groups > 5
    first, second = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in ("one", "many"))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.soak
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux for the memory")
def test_memory_does_not_grow_with_the_rows(models, files, tmp_path):
    """Three times as many rows, 50 MB more of text, take a few MB more: what Arrow keeps for itself."""
    code = (
        "import sys\n"
        "from planetoid.cli.main import app\n"
        "app(sys.argv[1:], standalone_mode=False)\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    )
    header, *lines = pd.read_parquet(files.features).to_csv(index=False, float_format="%.0f").splitlines()
    rows = [line.partition(",")[2] for line in lines]
    peaks = []
    for times in (800, 2400):
        with (tmp_path / "big.csv").open("w") as file:
            file.write(header + "\n")
            for k in range(times):
                file.write("".join(f"n{k}_{row},{text}\n" for row, text in enumerate(rows)))
        arguments = ["predict", models("feat"), "--features", tmp_path / "big.csv", "--out", tmp_path / f"{times}.csv"]
        command = [sys.executable, "-c", code, *map(str, arguments)]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert ran.returncode == 0, ran.stderr
        peaks.append(int(ran.stdout.splitlines()[-1]) / 1024)
    assert (tmp_path / "2400.csv").read_text().count("\n") == 1 + 2400 * len(rows)
    assert peaks[1] - peaks[0] < 25


def test_a_missing_column_is_named(models, files, refused, new, tmp_path):
    frame = pd.read_csv(new / "new.csv")
    frame.drop(columns="w17").to_csv(tmp_path / "new.csv", index=False)
    printed = refused("predict", models("feat"), "--features", tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert printed == f"{tmp_path / 'new.csv'}: 1 feature column is missing: 'w17'; the model was fitted on 60 features"
    frame.drop(columns=[f"w{k}" for k in range(10, 15)]).to_csv(tmp_path / "new.csv", index=False)
    printed = refused("predict", models("feat"), "--features", tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert "5 feature columns are missing: 'w10', 'w11', 'w12' and 2 more" in printed
    assert not (tmp_path / "p.csv").exists()


def test_columns_that_are_no_features_are_ignored(models, done, refused, new, tmp_path):
    frame = pd.read_csv(new / "new.csv")
    expected = done("predict", models("feat"), "--features", new / "new.csv").stdout
    frame.assign(title="On Fruit", year=1999).to_csv(tmp_path / "more.csv", index=False)
    result = done("predict", models("feat"), "--features", tmp_path / "more.csv")
    assert result.stdout == expected
    assert "2 columns are not among the features of the model: 'title', 'year'" in result.stderr
    renamed = frame.rename(columns={"id": "paper"})
    renamed.to_csv(tmp_path / "renamed.csv", index=False)
    assert done("predict", models("feat"), "--features", tmp_path / "renamed.csv").stdout == expected
    renamed.assign(year=1999).to_csv(tmp_path / "unclear.csv", index=False)
    unclear = ["predict", models("feat"), "--features", tmp_path / "unclear.csv"]
    assert "cannot infer which column holds the ids: candidates are" in refused(*unclear)
    assert refused(*unclear).endswith("pass --id-column COLUMN to choose it")
    assert done(*unclear, "--id-column", "paper").stdout == expected
    frame.drop(columns="id").to_csv(tmp_path / "none.csv", index=False)
    assert "all are features" in refused("predict", models("feat"), "--features", tmp_path / "none.csv")


def test_a_transductive_model_says_what_to_do_instead(models, refused, new):
    printed = refused("predict", models("lp"), "--features", new / "new.csv")
    assert "the model is lp, which is transductive: it labels only the 240 nodes it was fitted on" in printed
    assert "omit --features" in printed
    assert "--new-nodes or one of planetoid, planetoid-i, feat" in printed


def test_what_cannot_be_written_is_refused_before_the_work(models, refused, done, tmp_path, monkeypatch):
    taken = tmp_path / "p.csv"
    taken.write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr("planetoid.persistence.SavedModel", lambda *_: pytest.fail("the work began"))
        assert (
            refused("predict", models("lp"), "--out", taken) == f"{taken}: the file exists; pass --force to replace it"
        )
        assert "is not a folder" in refused("predict", models("lp"), "--out", taken / "below.csv")
        assert "--out must be a file, this is a folder" in refused(
            "embed", models("lp"), "--out", _folder(tmp_path / "x.npz")
        )
        os.mkfifo(tmp_path / "pipe.csv")
        assert "--out must be a file, this is a device or a pipe" in refused(
            "predict", models("lp"), "--out", tmp_path / "pipe.csv", "--force"
        )
        (tmp_path / "loop.csv").symlink_to("loop.csv")
        assert "Too many levels of symbolic links" in refused(
            "predict", models("lp"), "--out", tmp_path / "loop.csv", "--force"
        )
        assert "--out must be a .csv, .tsv, .parquet file" in refused(
            "predict", models("lp"), "--out", tmp_path / "p.xlsx"
        )
        assert "--out must be a .npz, .parquet, .w2v" in refused("embed", models("lp"), "--out", tmp_path / "e.csv")
        both = ["--features", taken, "--ids", taken]
        assert "mutually exclusive" in refused("predict", models("lp"), *both)
    assert taken.read_text() == "mine"
    (tmp_path / "link.csv").symlink_to(taken)
    done("predict", models("lp"), "--out", tmp_path / "link.csv", "--force")
    assert (tmp_path / "link.csv").is_symlink()
    assert taken.read_text().startswith("id,label")


@pytest.mark.parametrize("options", [(), ("--no-sync",)])
def test_files_are_synced_unless_told_otherwise(models, done, tmp_path, monkeypatch, options):
    monkeypatch.setenv("PLANETOID_NO_SYNC", "0")  # restored after the test
    synced, sync = [], os.fsync

    def record(handle):
        synced.append(handle)
        sync(handle)

    monkeypatch.setattr(os, "fsync", record)
    done(*options, "predict", models("lp"), "--out", tmp_path / "p.csv", "--quiet")
    assert (tmp_path / "p.csv").exists()
    assert bool(synced) is (not options)


def _folder(path):
    path.mkdir()
    return path


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), DataError("line 70,000: broken")])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_half_file_is_left(models, refused, tmp_path, monkeypatch, error, suffix):
    table = prediction_files.PredictionTable.rows
    calls = []

    def fails(self, *given):
        calls.append(given)
        if len(calls) > 1:
            raise error
        return table(self, *given)

    monkeypatch.setattr("planetoid.cli.predict.BLOCK_ROWS", 100)
    monkeypatch.setattr(prediction_files.PredictionTable, "rows", fails)
    printed = refused("predict", models("lp"), "--out", tmp_path / f"p.{suffix}")
    assert printed.endswith(
        (f"{tmp_path}/p.{suffix}: cannot write the file: No space left on device", "line 70,000: broken")
    )
    assert len(calls) == 2
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_leaves_no_half_file(models, invoke, tmp_path, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(prediction_files.PredictionTable, "rows", interrupted)
    result = invoke("predict", models("lp"), "--out", tmp_path / "p.csv")
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"
    assert list(tmp_path.iterdir()) == []


def test_no_model_there(refused, tmp_path):
    assert "there is no model" in refused("predict", tmp_path)
    assert "the folder does not exist" in refused("embed", tmp_path / "m", "--out", tmp_path / "e.npz")


def test_labels_and_ids_with_separators_are_quoted(tmp_path, done):
    (tmp_path / "e.csv").write_text('source,target\n"a, b",c\nc,d\n')
    (tmp_path / "l.csv").write_text('id,label\n"a, b","say ""x"""\nd,y\n')
    done(
        "fit", "--edges", tmp_path / "e.csv", "--labels", tmp_path / "l.csv", "--method", "lp", "--out", tmp_path / "m"
    )
    done("predict", tmp_path / "m", "--out", tmp_path / "p.csv")
    frame = pd.read_csv(tmp_path / "p.csv")
    assert frame.id.tolist() == ["a, b", "c", "d"]
    assert frame.label[0] == 'say "x"'


@pytest.mark.skipif(os.name != "posix", reason="asks for a pipe of POSIX")
def test_a_reader_that_stops_early_is_no_error(models):
    code = "from planetoid.cli.main import run\nrun()"
    command = [sys.executable, "-c", code, "predict", str(models("lp"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        messages = process.stderr.read()
    assert "Traceback" not in messages


def test_embeddings_of_fitted_nodes(models, files, done, tmp_path):
    model = pl.load(models("planetoid-i"))
    printed = json.loads(done("embed", models("planetoid-i"), "--out", tmp_path / "e.npz", "--json").stdout)
    assert (printed["rows"], printed["dimension"]) == (240, 16)
    with np.load(tmp_path / "e.npz") as arrays:
        assert arrays["ids"].tolist() == files.names.tolist()
        assert np.array_equal(arrays["embedding"], model.embedding_)
    (tmp_path / "ids.txt").write_text("paper_9\npaper_2\n")
    done("embed", models("planetoid-i"), "--out", tmp_path / "e.w2v", "--ids", tmp_path / "ids.txt")
    header, first, second = (tmp_path / "e.w2v").read_text().splitlines()
    assert header == "2 16"
    assert first.split()[0] == "paper_9"
    assert np.allclose(np.array(second.split()[1:], dtype=float), model.embedding_[2], atol=1e-5)


def test_embeddings_of_new_rows(models, done, refused, new, tmp_path):
    done("embed", models("planetoid-i"), "--features", new / "new.csv", "--out", tmp_path / "e.parquet")
    frame = pd.read_parquet(tmp_path / "e.parquet")
    assert frame.id.tolist() == ["n3", "n1", "n2"]
    assert np.allclose(frame.drop(columns="id"), pl.load(models("planetoid-i")).embedding_[[5, 3, 9]], atol=1e-5)
    printed = refused("embed", models("lp"), "--out", tmp_path / "x.npz")
    assert "is a lp model, which has no embedding; planetoid, planetoid-t, planetoid-i, planetoid-g" in printed
    printed = refused("embed", models("planetoid-t"), "--features", new / "new.csv", "--out", tmp_path / "x.npz")
    assert "the model is planetoid-t, which is transductive" in printed
