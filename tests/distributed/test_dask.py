"""A real Dask cluster of two worker processes on 127.0.0.1: predictions, sweeps, and a worker that dies."""

import json
import os
import shutil
import signal
import time

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import planetoid as pl
from planetoid.cli.main import app
from planetoid.distributed.dask_tasks import as_finished, connect, in_order
from planetoid.distributed.labelling import Labeller
from planetoid.distributed.manifest import MANIFEST, Manifest
from planetoid.errors import DataError, NotInductiveError, PlanetoidError

pytest.importorskip("distributed", reason="Dask is not installed")
import dask.dataframe as dd

COLUMNS = [f"f{k}" for k in range(6)]
N_PARTS = 4


def rows(n, seed):
    X = np.random.default_rng(seed).random((n, len(COLUMNS))).astype(np.float32)
    return pd.DataFrame(X, columns=COLUMNS)


@pytest.fixture(scope="module")
def client():
    with connect(workers=2) as client:
        yield client


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "feat"
    X = rows(60, 0)
    y = np.where(X["f0"] > X["f1"], "more", "less")
    pl.Feat().fit(X, y).save(folder)
    return folder


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for number in range(N_PARTS):
        part = rows(50, number + 1)[COLUMNS[::-1]].assign(id=np.arange(50) + 50 * number)
        part.to_parquet(folder / f"rows-{number}.parquet", index=False)
    return folder


def expected(model, parts):
    X = pd.concat([pd.read_parquet(part) for part in sorted(parts.glob("*.parquet"))])
    return X["id"].to_numpy(), pl.load(model).predict_proba(X[COLUMNS])


def assert_predictions(frame, model, parts):
    ids, probabilities = expected(model, parts)
    frame = frame.sort_values("id")
    classes = pl.load(model).classes_
    np.testing.assert_array_equal(frame["id"], ids)
    np.testing.assert_array_equal(frame["label"], classes[probabilities.argmax(axis=1)])
    np.testing.assert_allclose(frame["probability"], probabilities.max(axis=1), atol=1e-6)
    np.testing.assert_array_equal(frame["runner_up"], classes[probabilities.argmin(axis=1)])


def square(number):
    return number * number


def reveal_address(_):
    from distributed import get_worker

    return get_worker().address, os.getpid()


def pause(seconds):
    time.sleep(seconds)
    return os.getpid()


def test_workers_are_processes_that_listen_on_the_loopback_interface_alone(client):
    assert client.scheduler.address.startswith("tcp://127.0.0.1:")
    found = dict(in_order(client, reveal_address, range(20)))
    assert all(address.startswith("tcp://127.0.0.1:") for address in found)
    assert os.getpid() not in found.values()


def test_tasks_come_in_order_or_as_they_finish(client):
    assert list(in_order(client, square, range(10))) == [square(number) for number in range(10)]
    assert sorted(as_finished(client, square, range(10))) == [(number, square(number)) for number in range(10)]


def test_a_data_frame_keeps_its_partitions_and_its_index(client, model, parts):
    frame = dd.read_parquet(parts)
    labelled = pl.distributed.predict(model, frame, id_column="id", all_probabilities=True)
    assert labelled.npartitions == N_PARTS
    computed = labelled.compute()
    assert_predictions(computed, model, parts)
    assert list(computed.columns) == list(labelled.columns)
    assert (computed.dtypes == labelled.dtypes).all()
    np.testing.assert_allclose(computed["probability_less"] + computed["probability_more"], 1, atol=1e-6)


def test_a_worker_that_dies_loses_nothing(client, model, parts, tmp_path):
    """It is killed while it has a part to write; the part is written by another."""
    victim = next(iter(client.scheduler_info()["workers"].values()))["id"]
    frame = dd.read_parquet(parts)
    frame = frame.map_partitions(_kill_the_first_worker, str(tmp_path / "killed"), meta=frame._meta)
    manifest = pl.distributed.write_predictions(model, frame, tmp_path / "out", id_column="id")
    assert (tmp_path / "killed").exists(), victim
    assert manifest.complete
    assert manifest.n_rows == 50 * N_PARTS
    files = sorted((tmp_path / "out").glob("*.parquet"))
    assert len(files) == N_PARTS
    assert_predictions(pd.concat(map(pd.read_parquet, files)), model, parts)


def _kill_the_first_worker(part, marker):
    try:
        os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return part
    os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_the_same_prediction_goes_on_where_it_ended(client, model, parts, tmp_path):
    frame, out = dd.read_parquet(parts), tmp_path / "out"
    pl.distributed.write_predictions(model, frame, out, id_column="id")
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    (out / "part-00001.parquet").unlink()
    (out / "part-00002.parquet").write_bytes(b"damaged")
    assert pl.distributed.write_predictions(model, frame, out, id_column="id").complete
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    assert {name for name in after if after[name] != before[name]} == {"part-00001.parquet", "part-00002.parquet"}
    assert_predictions(pd.concat(map(pd.read_parquet, sorted(out.glob("*.parquet")))), model, parts)
    with pytest.raises(DataError, match=r"predictions of another model or of other rows; pass overwrite=True"):
        pl.distributed.write_predictions(model, frame.partitions[:2], out, id_column="id")


def test_the_command_labels_parts_and_leaves_complete_ones_alone(client, model, parts, tmp_path):
    own = tmp_path / "parts"
    shutil.copytree(parts, own)
    command = ["predict", model, "--features", own / "*.parquet", "--engine", "dask", "--out", tmp_path / "out"]
    command = [*map(str, command), "--scheduler", client.scheduler.address, "--json"]
    first = CliRunner().invoke(app, command)
    assert first.exit_code == 0, first.stderr
    summary = json.loads(first.stdout)
    assert (summary["parts"], summary["written"], summary["rows"]) == (N_PARTS, N_PARTS, 200)
    assert sum(summary["labels"].values()) == 200
    names = [f"{number:05d}-rows-{number}.parquet" for number in range(N_PARTS)]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted([*names, MANIFEST])
    tables = [pq.read_table(tmp_path / "out" / name).to_pandas() for name in names]
    assert_predictions(pd.concat(tables), model, parts)
    second = json.loads(CliRunner().invoke(app, command).stdout)
    assert (second["written"], second["rows"]) == (0, 200)
    rows(50, 99).assign(id=range(50)).to_parquet(own / "rows-0.parquet", index=False)
    refused = CliRunner().invoke(app, command)
    assert refused.exit_code == 2
    assert "predictions of another model or of other rows; pass --force to replace them" in refused.stderr


def test_evaluate_gives_the_same_figures(client, tmp_path):
    X = rows(80, 5)
    X.assign(id=range(80)).to_csv(tmp_path / "x.csv", index=False)
    labels = pd.DataFrame({"id": range(80), "label": np.where(X["f0"] > X["f1"], "more", "less")})
    labels.to_csv(tmp_path / "y.csv", index=False)
    command = ["evaluate", "--features", tmp_path / "x.csv", "--labels", tmp_path / "y.csv", "--method", "feat"]
    command = [*map(str, command), "--splits", "2", "--json", "--quiet"]
    usual = json.loads(CliRunner().invoke(app, [*command, "--jobs", "1"]).stdout)
    there = CliRunner().invoke(app, [*command, "--engine", "dask", "--scheduler", client.scheduler.address])
    assert there.exit_code == 0, there.stderr
    assert without_seconds(json.loads(there.stdout)) == without_seconds(usual)


def without_seconds(value):
    if isinstance(value, dict):
        return {key: without_seconds(one) for key, one in value.items() if "seconds" not in key}
    return [without_seconds(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engine", "spark"], "--engine must be dask, got 'spark'"),
        (["--scheduler", "tcp://127.0.0.1:1"], "--scheduler requires --engine dask"),
        (["--engine", "dask", "--out", "x"], "pass them with --features 'parts/*.parquet'"),
        (["--engine", "dask", "--features", "x.csv"], "--out must be a folder, got -"),
        (["--engine", "dask", "--ids", "x.txt"], "takes --features, without --nodes, --ids and --coverage"),
    ],
)
def test_options_that_do_not_fit(model, arguments, message):
    result = CliRunner().invoke(app, ["predict", str(model), *arguments])
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_scheduler_that_is_not_there(monkeypatch):
    monkeypatch.setattr("planetoid.distributed.dask_tasks.SECONDS_TO_CONNECT", 0.2)
    with pytest.raises(PlanetoidError, match="cannot connect to the Dask scheduler"), connect("tcp://127.0.0.1:9"):
        pass


def test_a_model_with_several_labels_per_node_is_for_one_process(tmp_path):
    made = pl.datasets.make_multilabel(60, 3, n_features=12, seed=0)
    pl.Feat().fit(made.X, made.Y).save(tmp_path / "model")
    with pytest.raises(DataError, match=r"workers of a cluster write one.*planetoid predict without --engine"):
        Labeller(tmp_path / "model")


def test_a_transductive_model_labels_no_new_rows(client, tmp_path):
    pl.LabelPropagation().fit(None, {0: "a", 2: "b"}, graph=[(0, 1), (2, 3)]).save(tmp_path / "lp")
    with pytest.raises(NotInductiveError, match="the model is lp, which is transductive"):
        pl.distributed.predict(tmp_path / "lp", dd.from_pandas(rows(4, 0), npartitions=1))


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(DataError, match="has files that are no predictions"):
        Manifest(tmp_path, {}, ["a.parquet"])
