"""A training that is killed and started again ends with the same bits as one that never was."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError
from planetoid.training.callbacks import Callback

HERE = Path(__file__).parent


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(("name", "n_kills"), [("PlanetoidT", 20), ("PlanetoidI", 6)])
def test_killed_at_random_moments(name, n_kills):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of writes, and a kill is not a crash
    with tempfile.TemporaryDirectory(dir=memory) as where:
        call = [sys.executable, "killing.py", name, str(n_kills), where]
        done = subprocess.run(call, cwd=HERE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["kills"] >= n_kills
    assert told["differing"] == []
    if n_kills >= 20:
        assert any(step == 0 for _, step in told["moments"])  # in pre-training
        assert any(step > 0 for _, step in told["moments"])  # in joint training


class StopHere(Exception):  # noqa: N818
    """Not an error: the moment at which a test cuts a training short."""


class Cut(Callback):
    """Ends a training after so many calls, as if it had been killed."""

    def __init__(self, after):
        self.left = after

    def on_step_end(self, training):
        self.left -= 1
        if self.left < 0:
            raise StopHere


def settings(folder=None, **others):
    chosen = {"dimension": 8, "pretrain": 5, "steps": 12, "N1": 5, "evaluate_every": 2, "patience": 3}
    return {**chosen, "checkpoint": folder, "checkpoint_every": 0, **others}


def train(small, cls="PlanetoidT", validation=True, **parameters):
    held = small.validation if validation else None
    return getattr(pl, cls)(**parameters).fit(small.X, small.y, graph=small.graph, validation=held)


def cut(small, folder, after, cls="PlanetoidT", **others):
    with pytest.raises(StopHere):
        train(small, cls, **settings(folder, callbacks=[Cut(after)], **others))


def assert_same(model, other):
    np.testing.assert_array_equal(model.label_distributions_, other.label_distributions_)
    np.testing.assert_array_equal(model.embedding_, other.embedding_)
    assert model.history_ == other.history_


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adagrad", "rmsprop", "adam", "adamw"])
@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI"])
def test_every_optimiser_goes_on_where_it_was(small, tmp_path, cls, optimizer):
    others = {"optimizer": optimizer, "learning_rate": 0.01}
    if cls == "PlanetoidI":
        others["context_optimizer"] = optimizer
    whole = train(small, cls, **settings(**others))
    n_pieces = sum("pretrained" in record for record in whole.history_)
    for after in (3, n_pieces + 5):
        cut(small, tmp_path / str(after), after, cls, **others)
        assert_same(train(small, cls, **settings(tmp_path / str(after), **others)), whole)


def test_sparse_adam_goes_on_where_it_was(small, tmp_path, monkeypatch):
    from scipy import sparse

    from planetoid.models import inductive
    from planetoid.training import layers

    monkeypatch.setattr(layers, "SPARSE_GRADIENT_FROM", 4)
    monkeypatch.setattr(inductive, "SPARSE_TABLE_FROM", 4)

    def fit(**others):
        model = pl.PlanetoidI(**settings(**others))
        return model.fit(sparse.csr_array(small.X), small.y, graph=small.graph, validation=small.validation)

    whole = fit()
    n_pieces = sum("pretrained" in record for record in whole.history_)
    for after in (3, n_pieces + 5):
        with pytest.raises(StopHere):
            fit(folder=tmp_path / str(after), callbacks=[Cut(after)])
        assert_same(fit(folder=tmp_path / str(after)), whole)


def test_a_finished_training_is_not_made_again(small, tmp_path):
    whole = train(small, **settings(tmp_path))
    again = train(small, **settings(tmp_path, callbacks=[Cut(0)]))  # which would cut the first step
    assert_same(again, whole)


# ---- every state that a kill can leave the folders in --------------------------


def three_generations(small, tmp_path):
    """Return folders with an older and a newer checkpoint of one training, and its result."""
    cut(small, tmp_path / "older", 4)
    cut(small, tmp_path / "newer", 14)
    return tmp_path / "older/current", tmp_path / "newer/current", train(small, **settings())


@pytest.mark.parametrize("next_", ["absent", "begun", "without mark", "complete"])
@pytest.mark.parametrize("current", ["absent", "older"])
@pytest.mark.parametrize("previous", ["absent", "half removed", "older"])
def test_states_of_the_exchange(small, tmp_path, next_, current, previous):
    older, newer, whole = three_generations(small, tmp_path)
    folder = tmp_path / "cut"
    folder.mkdir()
    if previous != "absent":
        shutil.copytree(older, folder / "previous")
    if previous == "half removed":
        (folder / "previous/progress.json").unlink()
    if current == "older":
        shutil.copytree(older, folder / "current")
    if next_ != "absent":
        shutil.copytree(newer, folder / "next")
    if next_ in ("begun", "without mark"):
        (folder / "next/complete").unlink()
    if next_ == "begun":
        (folder / "next/progress.json").unlink()
        (folder / "next/state.safetensors").write_bytes((newer / "state.safetensors").read_bytes()[:100])
    if current == "absent" and previous == "half removed" and next_ != "complete":
        pytest.skip("cannot be: the last folder is removed only after the new one is in place")
    assert_same(train(small, **settings(folder)), whole)
    assert sorted(os.listdir(folder)) == ["current"]


def test_no_folder_is_ever_without_a_checkpoint(small, tmp_path, monkeypatch):
    """Between any two calls of the file system there is one to go on from."""
    from planetoid.training import checkpoint

    whole = train(small, **settings())
    cut(small, tmp_path / "at", 14)
    kept = []

    def watched(function):
        def call(*arguments, **options):
            shutil.copytree(tmp_path / "at", tmp_path / f"copy{len(kept)}")
            kept.append(tmp_path / f"copy{len(kept)}")
            return function(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.os, "rename", watched(os.rename))
        patch.setattr(checkpoint.shutil, "rmtree", watched(shutil.rmtree))
        patch.setattr(checkpoint, "_save", watched(checkpoint._save))
        patch.setattr(checkpoint, "_write_text", watched(checkpoint._write_text))
        cut(small, tmp_path / "at", 1)
    assert len(kept) >= 7
    for folder in kept:
        assert json.loads(next(folder.glob("*/progress.json")).read_text())["training"]["pretrained"] > 0
        assert_same(train(small, **settings(folder)), whole)


# ---- what a checkpoint is not taken for ----------------------------------------


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("progress.json", b"{"),
        ("progress.json", b"\xff"),
        ("state.safetensors", b""),
        ("state.safetensors", b"\x00" * 40),
        ("best.safetensors", b"short"),
    ],
)
def test_damaged(small, tmp_path, file, content):
    train(small, **settings(tmp_path))
    (tmp_path / "current" / file).write_bytes(content)
    with pytest.raises(DataError, match=r"the checkpoint in .* is damaged .*remove the folder"):
        train(small, **settings(tmp_path))


def test_tensors_of_another_kind(small, tmp_path):
    from safetensors.numpy import save_file

    train(small, **settings(tmp_path))
    save_file({"supervised.modules.x": np.zeros(3)}, tmp_path / "current/state.safetensors")
    with pytest.raises(DataError, match="is damaged"):
        train(small, **settings(tmp_path))


@pytest.mark.parametrize("other", [{"steps": 13}, {"random_state": 1}, {"dropout": 0.4}, {"validation": False}])
def test_of_another_call(small, tmp_path, other):
    cut(small, tmp_path, 14)
    with pytest.raises(DataError, match="belongs to another training"):
        train(small, **{**settings(tmp_path), **other})


def test_of_another_graph_or_other_features(small, tmp_path):
    cut(small, tmp_path, 14)
    model = pl.PlanetoidT(**settings(tmp_path))
    for X, graph in (
        (small.X * 2, small.graph),
        (small.X, pl.Graph.from_edges(small.edges[0][1:], small.edges[1][1:], nodes=small.n_nodes)),
    ):
        with pytest.raises(DataError, match="belongs to another training"):
            model.fit(X, small.y, graph=graph, validation=small.validation)


def test_threads_callbacks_and_interval_may_change(small, tmp_path):
    whole = train(small, **settings())
    cut(small, tmp_path, 14)
    changed = settings(tmp_path, n_jobs=2, callbacks=[Callback(), Callback()], verbose=1, checkpoint_every=30)
    assert_same(train(small, **changed), whole)


def test_encoders_are_known_again(small, tmp_path):
    """By name and by weights, not by their address in memory."""
    from torch import nn

    torch_module = nn.Linear(small.X.shape[1], 8)
    for number, encoder in enumerate([linear, torch_module]):
        folder = tmp_path / str(number)
        whole = train(small, "PlanetoidI", **settings(encoder=encoder))
        cut(small, folder, 4, "PlanetoidI", encoder=encoder)
        assert_same(train(small, "PlanetoidI", **settings(folder, encoder=encoder)), whole)
    other = nn.Linear(small.X.shape[1], 8)
    with pytest.raises(DataError, match="belongs to another training"):
        train(small, "PlanetoidI", **settings(folder, encoder=other))


def linear(n_features):
    from torch import nn

    return nn.Linear(n_features, 8)


def test_a_folder_that_cannot_be_written(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write a checkpoint"):
        train(small, **settings(tmp_path / "file"))
