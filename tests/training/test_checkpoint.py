"""A training that is killed and resumed ends with the same bits as one that was not."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import DataError
from planetoid.training.callbacks import Callback, EarlyStopping
from planetoid.training.checkpoint import DOCUMENT_NAME, LOCK_NAME, TENSORS_NAMES, Checkpoint, _locked
from planetoid.utils.hashing import sha256_of_file
from planetoid.utils.sealed import seal, unseal
from planetoid.utils.temporary import temporary_file

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize(
    ("name", "n_kills"),
    [
        ("PlanetoidT", 2),
        ("PlanetoidI", 1),
        pytest.param("PlanetoidT", 20, marks=pytest.mark.soak),
        pytest.param("PlanetoidI", 6, marks=pytest.mark.soak),
    ],
)
def test_killed_at_random_moments(name, n_kills):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # thousands of writes, and a kill is not a crash
    with tempfile.TemporaryDirectory(dir=memory) as where:
        call = [sys.executable, "-m", "tests.training.killing", name, str(n_kills), where]
        done = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["kills"] >= n_kills
    assert result["differing"] == []
    if n_kills >= 20:
        assert any(step == 0 for _, step in result["moments"])  # in pre-training
        assert any(step > 0 for _, step in result["moments"])  # in joint training


class StopHere(Exception):  # noqa: N818
    """Not an error: the moment at which a test cuts a training short."""


class Cut(Callback):
    """Ends a training after so many calls, as if it had been killed."""

    def __init__(self, after):
        self.left = after

    def on_step_end(self, trainer):
        self.left -= 1
        if self.left < 0:
            raise StopHere


COMMON = {
    "dimension": 8,
    "training__pretrain": 5,
    "training__steps": 12,
    "training__N1": 5,
    "training__evaluate_every": 2,
}


def make(cls="PlanetoidT", folder=None, *, callbacks=(), every=0, patience=3, **parameters):
    checkpoints = [] if folder is None else [Checkpoint(folder, every)]
    own = [EarlyStopping(patience=patience), *checkpoints, *callbacks]
    return getattr(pl, cls)(callbacks=own).set_params(**{**COMMON, **parameters})


def train(small, cls="PlanetoidT", folder=None, *, validation=True, **parameters):
    held = small.validation if validation else None
    return make(cls, folder, **parameters).fit(small.X, small.y, graph=small.graph, validation=held)


def cut(small, folder, after, cls="PlanetoidT", **parameters):
    with pytest.raises(StopHere):
        train(small, cls, folder, callbacks=[Cut(after)], **parameters)


def assert_same(model, other):
    np.testing.assert_array_equal(model.label_distributions_, other.label_distributions_)
    np.testing.assert_array_equal(model.embedding_, other.embedding_)
    assert model.history_ == other.history_


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", "adagrad", "rmsprop", "adam", "adamw"])
@pytest.mark.parametrize("cls", ["PlanetoidT", "PlanetoidI"])
def test_every_optimizer_resumes(small, tmp_path, cls, optimizer):
    others = {"training__optimizer": optimizer, "training__learning_rate": 0.01}
    if cls == "PlanetoidI":
        others["training__context_optimizer"] = optimizer
    whole = train(small, cls, **others)
    n_pieces = sum("pretrained" in record for record in whole.history_)
    for after in (3, n_pieces + 5):
        cut(small, tmp_path / str(after), after, cls, **others)
        assert_same(train(small, cls, tmp_path / str(after), **others), whole)


def test_sparse_adam_resumes(small, tmp_path, monkeypatch):
    from scipy import sparse

    from planetoid.models import inductive
    from planetoid.training import layers

    monkeypatch.setattr(layers, "SPARSE_GRADIENT_FROM", 4)
    monkeypatch.setattr(inductive, "SPARSE_TABLE_FROM", 4)

    def fit(folder=None, **others):
        model = make("PlanetoidI", folder, **others)
        return model.fit(sparse.csr_array(small.X), small.y, graph=small.graph, validation=small.validation)

    whole = fit()
    n_pieces = sum("pretrained" in record for record in whole.history_)
    for after in (3, n_pieces + 5):
        with pytest.raises(StopHere):
            fit(tmp_path / str(after), callbacks=[Cut(after)])
        assert_same(fit(tmp_path / str(after)), whole)


def test_embeddings_of_a_graph_without_edges_resume(small, tmp_path):
    """Only the supervised loss moves them then."""
    empty = pl.Graph.from_edges([], [], nodes=small.n_nodes)

    def fit(folder=None, **others):
        model = make("PlanetoidT", folder, training__embedding_learning_rate=1.0, **others)
        with pytest.warns(pl.PlanetoidWarning, match="no edges"):
            return model.fit(small.X, small.y, graph=empty, validation=small.validation)

    whole = fit()
    assert whole.embedding_[small.labelled].any()
    with pytest.raises(StopHere):
        fit(tmp_path, callbacks=[Cut(4)])
    assert_same(fit(tmp_path), whole)


def test_pairs_of_the_distance_loss_resume(small, tmp_path):
    """Its generator and its walks draw one batch after the other, so that both are part of the state."""
    from planetoid.baselines.smooth_network import SmoothNetwork
    from planetoid.training.batches import FeatureRows
    from planetoid.training.distance_loss import PairDistanceLoss, WalkPairs
    from planetoid.training.optimizers import NamedOptimizer
    from planetoid.training.randomness import StepRandom
    from planetoid.training.trainer import Schedule, Trainer

    def run(*callbacks):
        network = SmoothNetwork(
            small.X.shape[1], 3, layers=1, width=4, activation="tanh", dropout=0.0, embedding="hidden", dimension=0,
            random=StepRandom(0),
        )  # fmt: skip
        optimizer = NamedOptimizer("adam", (network.parameters(), 0.1))

        class Stepping(PairDistanceLoss):
            def zero_grad(self):
                optimizer.zero_grad()

            def apply(self):
                optimizer.step()

            def state(self):
                return {**super().state(), **network.state_dict(), **optimizer.state()}

            def restore(self, state):
                super().restore(state)
                network.load_state_dict({name: state[name] for name in network.state_dict()})
                optimizer.restore({name: value for name, value in state.items() if name[0].isdigit()})

        pairs = WalkPairs(small.graph, small.X.any(axis=1), pl.Contexts(q=5, d=3), seed=1)
        features = FeatureRows(small.X)
        loss = Stepping(pairs, features, network.embed, batch_size=8, margin=1.0, seed=1)
        trainer = Trainer([loss], Schedule(12, per_iteration=(1,), evaluate_every=1), callbacks)
        trainer.run()
        return trainer.history

    whole = run()
    with pytest.raises(StopHere):
        run(Checkpoint(tmp_path, every=0), Cut(5))
    assert run(Checkpoint(tmp_path, every=0)) == whole


def test_a_finished_training_is_not_repeated(small, tmp_path):
    whole = train(small, folder=tmp_path)
    again = train(small, folder=tmp_path, callbacks=[Cut(0)])  # which would cut the first step
    assert_same(again, whole)


def test_one_object_resumes_and_starts_anew(small, tmp_path):
    """A used checkpoint callback writes for the next fit as a new one would."""
    whole = train(small)
    model = make(folder=tmp_path)
    for _ in range(2):
        model.fit(small.X, small.y, graph=small.graph, validation=small.validation)
        assert_same(model, whole)
        shutil.rmtree(tmp_path)


# ---- every state that a kill can leave the folder in ---------------------------


def copy_of(folder, where):
    shutil.copytree(folder, where)
    return where


@pytest.mark.parametrize("other", ["absent", "begun", "whole"])
@pytest.mark.parametrize("hidden", [False, True])
def test_states_between_two_checkpoints(small, tmp_path, other, hidden):
    """The document names one file of tensors, the other one may be anything."""
    cut(small, tmp_path / "older", 4)
    cut(small, tmp_path / "newer", 14)
    folder = copy_of(tmp_path / "older", tmp_path / "cut")
    (current,) = (name for name in TENSORS_NAMES if (folder / name).exists())
    (following,) = set(TENSORS_NAMES) - {current}
    newer = next((tmp_path / "newer").glob("*.safetensors")).read_bytes()
    if other != "absent":
        (folder / following).write_bytes(newer if other == "whole" else newer[:100])
    if hidden:
        with temporary_file(folder / DOCUMENT_NAME, 0o666) as path:
            path.write_text("{")
            (folder / "kept").write_bytes(path.read_bytes())
        (folder / "kept").rename(path)  # what a killed process leaves behind
    assert_same(train(small, folder=folder), train(small))
    assert len(list(folder.glob("*.safetensors"))) == 1
    assert not list(folder.glob(".*"))


def test_no_folder_is_ever_without_a_checkpoint(small, tmp_path, monkeypatch):
    """Between any two steps of writing there is one to go on from."""
    from planetoid.training import checkpoint

    whole = train(small)
    cut(small, tmp_path / "at", 14)
    kept = []

    def watched(function):
        def call(*arguments, **options):
            kept.append(copy_of(tmp_path / "at", tmp_path / f"copy{len(kept)}"))
            return function(*arguments, **options)

        return call

    with monkeypatch.context() as patch:
        for name in ("write_tensors", "sync_file", "sync_folder", "atomic_write"):
            patch.setattr(checkpoint, name, watched(getattr(checkpoint, name)))
        cut(small, tmp_path / "at", 2)
    assert len(kept) >= 7
    for folder in kept:
        assert unseal((folder / DOCUMENT_NAME).read_bytes())["training"]["pretrained"] > 0
        assert_same(train(small, folder=folder), whole)


def test_files_of_others_are_left_alone(small, tmp_path):
    """Also those whose names checkpoints once used."""
    for name in ("next", "previous", "current"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.txt").write_text("mine")
    cut(small, tmp_path, 4)
    train(small, folder=tmp_path)
    assert [file.read_text() for file in sorted(tmp_path.glob("*/*"))] == ["mine"] * 3


@pytest.mark.parametrize("name", ["checkpoint.json", *TENSORS_NAMES])
def test_files_of_our_names_that_are_not_ours(small, tmp_path, name):
    (tmp_path / name).write_text('{"mine": 1}')
    with pytest.raises(DataError, match=r"is not a checkpoint of planetoid|is not part of a checkpoint"):
        train(small, folder=tmp_path)
    assert (tmp_path / name).read_text() == '{"mine": 1}'


def test_a_second_training_is_refused_until_the_first_has_ended(small, tmp_path):
    class Second(Callback):
        refused = 0

        def on_step_end(self, trainer):
            if not self.refused:
                self.refused = 1
                with pytest.raises(DataError, match="another process is training with this checkpoint; wait for it"):
                    train(small, folder=tmp_path)

    second = Second()
    first = train(small, folder=tmp_path, callbacks=[second])
    assert second.refused
    assert_same(train(small, folder=tmp_path), first)


def test_the_lock_of_a_killed_process_is_no_obstacle(small, tmp_path):
    child = os.fork()
    if child == 0:
        _locked(tmp_path / LOCK_NAME)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    train(small, folder=tmp_path)


def test_a_full_disk_is_one_sentence(small, tmp_path, monkeypatch):
    from safetensors import SafetensorError

    def full(*_):
        text = 'I/O error: Os { code: 28, kind: StorageFull, message: "No space left on device" }'
        raise SafetensorError(text)

    cut(small, tmp_path, 4)
    monkeypatch.setattr("planetoid.io.tensor_files._save", full)
    with pytest.raises(DataError, match="cannot write the checkpoint: No space left on device"):
        train(small, folder=tmp_path)
    monkeypatch.undo()
    assert_same(train(small, folder=tmp_path), train(small))


# ---- what a checkpoint is not taken for ----------------------------------------


def tensors_of(folder):
    (file,) = folder.glob("*.safetensors")
    return file


@pytest.mark.parametrize("content", [b"", b"\x00" * 40, b"short"])
def test_damaged_tensors(small, tmp_path, content):
    train(small, folder=tmp_path)
    tensors_of(tmp_path).write_bytes(content)
    with pytest.raises(DataError, match=r"safetensors: the checkpoint is damaged .*remove the folder"):
        train(small, folder=tmp_path)


def test_a_damaged_document(small, tmp_path):
    train(small, folder=tmp_path)
    content = (tmp_path / DOCUMENT_NAME).read_bytes()
    for damaged in (content[:-5], content.replace(b'"step": ', b'"step": 1', 1), content + b"\xff"):
        (tmp_path / DOCUMENT_NAME).write_bytes(damaged)
        with pytest.raises(DataError, match=r"checkpoint\.json: the checkpoint is damaged .*remove the folder"):
            train(small, folder=tmp_path)


def change(folder, **entries):
    """Write other entries with a checksum that fits."""
    document = unseal((folder / DOCUMENT_NAME).read_bytes())
    (folder / DOCUMENT_NAME).write_bytes(seal(document | entries))


def test_tensors_of_another_kind(small, tmp_path):
    from safetensors.numpy import save_file

    train(small, folder=tmp_path)
    file = tensors_of(tmp_path)
    save_file({"state.loss.modules.x": np.zeros(3)}, file)
    change(tmp_path, tensors={file.name: sha256_of_file(file)})
    with pytest.raises(DataError, match="is damaged"):
        train(small, folder=tmp_path)


@pytest.mark.parametrize(
    "entries",
    [
        {"training": []},
        {"training": {"step": 3}},
        {"training": {"pretrained": 1, "step": "3"}},
        {"tensors": {}},
        {"tensors": None},
        {"tensors": {"../elsewhere": "0"}},
    ],
)
def test_documents_of_another_kind(small, tmp_path, entries):
    train(small, folder=tmp_path)
    change(tmp_path, **entries)
    with pytest.raises(DataError, match="is damaged"):
        train(small, folder=tmp_path)


def test_an_unreadable_checkpoint_is_not_damaged(small, tmp_path, monkeypatch):
    train(small, folder=tmp_path)
    opened = Path.open

    def denied(path, *arguments, **options):
        if path.suffix == ".safetensors":
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(DataError, match="cannot read the file: Permission denied"):
        train(small, folder=tmp_path)


def test_a_training_without_a_state_belongs_to_nobody(small, tmp_path):
    """It was killed before its first checkpoint, so there is nothing to lose."""
    with pytest.raises(StopHere):
        train(small, folder=tmp_path, callbacks=[Cut(0)], every=1000)
    train(small, folder=tmp_path, random_state=1)


@pytest.mark.parametrize(
    "other",
    [
        {"training__steps": 13},
        {"random_state": 1},
        {"network__dropout": 0.4},
        {"contexts__q": 9},
        {"validation": False},
        {"patience": 4},  # of early stopping, which changes the result
    ],
)
def test_of_another_call(small, tmp_path, other):
    cut(small, tmp_path, 14)
    with pytest.raises(DataError, match="belongs to another training"):
        train(small, folder=tmp_path, **other)


def test_of_another_graph_or_other_features(small, tmp_path):
    cut(small, tmp_path, 14)
    model = make(folder=tmp_path)
    for X, graph in (
        (small.X * 2, small.graph),
        (small.X, pl.Graph.from_edges(small.edges[0][1:], small.edges[1][1:], nodes=small.n_nodes)),
    ):
        with pytest.raises(DataError, match="belongs to another training"):
            model.fit(X, small.y, graph=graph, validation=small.validation)


def test_a_fresh_seed_is_another_training(small, tmp_path):
    cut(small, tmp_path, 14, random_state=None)
    with pytest.raises(DataError, match="belongs to another training"):
        train(small, folder=tmp_path, random_state=None)


def test_threads_callbacks_and_interval_may_change(small, tmp_path):
    whole = train(small)
    cut(small, tmp_path, 14)
    changed = {"n_jobs": 2, "callbacks": [Callback(), Callback()], "verbose": 1, "every": 30}
    assert_same(train(small, folder=tmp_path, **changed), whole)


def test_encoders_are_recognised(small, tmp_path):
    """By name and by weights, not by their address in memory."""
    from torch import nn

    torch_module = nn.Linear(small.X.shape[1], 8)
    for number, encoder in enumerate([linear, torch_module]):
        folder = tmp_path / str(number)
        whole = train(small, "PlanetoidI", encoder=encoder)
        cut(small, folder, 4, "PlanetoidI", encoder=encoder)
        assert_same(train(small, "PlanetoidI", folder, encoder=encoder), whole)
    other = nn.Linear(small.X.shape[1], 8)
    with pytest.raises(DataError, match="belongs to another training"):
        train(small, "PlanetoidI", folder, encoder=other)


def linear(n_features):
    from torch import nn

    return nn.Linear(n_features, 8)


def test_a_folder_that_cannot_be_written(small, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="file: cannot write the checkpoint"):
        train(small, folder=tmp_path / "file")
