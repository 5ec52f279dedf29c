"""``load``: every method is restored as it was, and what is wrong with a folder is reported."""

import errno
import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import planetoid as pl
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.persistence import SavedModel
from planetoid.utils import atomic
from planetoid.utils.hashing import sha256_of_file
from planetoid.utils.sealed import seal, unseal

FAST = {
    "semiemb": {"steps": 5, "width": 8},
    "graphemb": {"dimension": 8, "pretrain": 5},
    "planetoid-t": {"dimension": 8, "training__pretrain": 5, "training__steps": 10},
    "planetoid-g": {"dimension": 8, "training__pretrain": 5, "training__steps": 10},
    "planetoid-i": {"dimension": 8, "training__pretrain": 2, "training__steps": 10},
}
N = 30


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((N, 6)).astype(np.float32) * 0.3
    X[np.arange(N), np.arange(N) % 3] += 1.0
    return X


def problem(ids=None):
    nodes = np.arange(N)
    source, target = np.concatenate([nodes, nodes]), np.concatenate([(nodes + 3) % N, (nodes + 1) % N])
    if ids is None:
        return pl.Graph.from_edges(source, target, nodes=N)
    return pl.Graph.from_edges([ids[k] for k in source], [ids[k] for k in target], nodes=list(ids))


def fitted(method, ids=None, y=None, X=None, **parameters):
    cls = pl.METHODS[method]
    model = cls().set_params(**{**FAST.get(method, {}), **parameters})
    labels = pl.mask_labels(np.arange(N) % 3, np.arange(9)) if y is None else y
    given = {} if cls.uses_graph == "never" else {"graph": problem(ids)}
    if X is None and cls.uses_features != "never":
        X = rows()
    return model.fit(X, labels, **given)


def assert_same(loaded, model):
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.node_ids_ == model.node_ids_
    np.testing.assert_array_equal(loaded.label_distributions_, model.label_distributions_)
    assert loaded.label_distributions_.dtype == model.label_distributions_.dtype
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray) and name.endswith("_"):
            np.testing.assert_array_equal(getattr(loaded, name), value)
        elif isinstance(value, (int, float, str, list)) and not name.startswith("_"):
            assert getattr(loaded, name) == value


@pytest.mark.parametrize("method", list(pl.METHODS))
class TestEveryMethod:
    def test_comes_back_as_it_was(self, method, tmp_path):
        model = fitted(method)
        model.save(tmp_path / "model")
        loaded = pl.load(tmp_path / "model")
        assert_same(loaded, model)
        assert sorted(os.listdir(tmp_path / "model")) == ["model.json", "tensors.safetensors"]
        assert os.listdir(tmp_path) == ["model"]
        if model.inductive:
            for X in (rows(1), sparse.csr_array(rows(1))):
                np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
            with pytest.raises(DataError, match="is expecting 6"):
                loaded.predict(rows()[:, 1:])

    def test_node_ids_class_names_and_columns(self, method, tmp_path):
        ids = [f"knoten-{k}-ü" for k in range(N)]
        y = {node: "xyz"[k % 3] for k, node in enumerate(ids[:9])}
        X = pd.DataFrame(rows(), index=ids, columns=list("abcdef"))
        features = None if pl.METHODS[method].uses_features == "never" else X
        model = fitted(method, ids, y, features)
        model.save(tmp_path / "model")
        loaded = pl.load(tmp_path / "model")
        assert_same(loaded, model)
        assert loaded.predict(nodes=ids[:2]).tolist() == model.predict(nodes=ids[:2]).tolist()
        if model.inductive:
            turned = X[list("fedcba")]
            np.testing.assert_array_equal(loaded.predict_proba(turned), model.predict_proba(turned))

    def test_saving_needs_a_fit(self, method, tmp_path):
        with pytest.raises(NotFittedError):
            pl.METHODS[method]().save(tmp_path / "model")
        assert os.listdir(tmp_path) == []


@pytest.fixture
def saved(tmp_path):
    model = fitted("feat")
    model.save(tmp_path / "model")
    return tmp_path / "model"


def change(folder, **entries):
    """Write other entries with a checksum that fits: a folder that somebody made up."""
    document = unseal((folder / "model.json").read_bytes())
    (folder / "model.json").write_bytes(seal(document | entries, indent=1))


def test_integer_ids(tmp_path):
    model = fitted("lp", ids=list(range(100, 100 + 7 * N, 7)), y={100: "a", 107: "b"})
    model.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    assert loaded.node_ids_.kind == "int"
    assert loaded.predict(nodes=[107]).tolist() == ["b"]


def test_other_ids_are_refused(tmp_path):
    ids = [(k, "x") for k in range(N)]
    model = fitted("lp", ids=ids, y={ids[0]: "a", ids[1]: "b"})
    with pytest.raises(DataError, match=r"node ids such as \(0, 'x'\) cannot be saved"):
        model.save(tmp_path / "model")
    assert os.listdir(tmp_path) == []


def test_other_classes_are_refused(tmp_path):
    y = np.full(N, None, dtype=object)
    y[0], y[1] = ("a", 1), ("b", 2)
    with pytest.raises(DataError, match=r"a class such as \('a', 1\) cannot be saved"):
        fitted("lp", y=y).save(tmp_path / "model")


@pytest.mark.parametrize(
    ("labels", "kind"), [([1.5, 2.5], float), ([True, False], bool), ([-3, 10**12], int), (["1", 2], None)]
)
def test_kinds_of_classes(tmp_path, labels, kind):
    model = fitted("lp", y=dict(enumerate(labels)))
    model.save(tmp_path / "model")
    loaded = pl.load(tmp_path / "model")
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert [type(label) for label in loaded.classes_.tolist()] == [type(label) for label in model.classes_.tolist()]
    assert kind is None or type(loaded.classes_.tolist()[0]) is kind


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_rbf_landmarks_are_kept(tmp_path, sparse_rows):
    X = sparse.csr_array(rows()) if sparse_rows else rows()
    model = fitted("manireg", X=X, kernel="rbf", n_landmarks=10)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(pl.load(tmp_path / "model").predict_proba(rows(1)), model.predict_proba(rows(1)))


def test_overrides_and_their_names(saved):
    assert pl.load(saved, max_iter=7).max_iter == 7
    with pytest.raises(
        ParameterError, match="Feat has no parameter 'D'; valid parameters are C, calibrate, max_iter, row_normalize"
    ):
        pl.load(saved, D=1)


def test_an_encoder_is_given_again(tmp_path):
    from torch import nn

    def linear(n_features):
        return nn.Linear(n_features, 8)

    model = fitted("planetoid-i", encoder=linear)
    model.save(tmp_path / "model")
    with pytest.raises(DataError, match=r"was fitted with encoder=.*pass encoder=... to load it"):
        pl.load(tmp_path / "model")
    loaded = pl.load(tmp_path / "model", encoder=linear)
    np.testing.assert_array_equal(loaded.predict_proba(rows(1)), model.predict_proba(rows(1)))
    np.testing.assert_array_equal(loaded.transform(rows(1)), model.transform(rows(1)))
    with pytest.raises(DataError, match="weights do not fit the network"):
        pl.load(tmp_path / "model", encoder=nn.Sequential(nn.Linear(6, 8)))


def test_callbacks_are_not_saved(tmp_path):
    from planetoid.training.callbacks import Callback

    fitted("planetoid-g", callbacks=[Callback()]).save(tmp_path / "model")
    assert pl.load(tmp_path / "model").callbacks is None


def test_an_existing_model_stays_unless_asked(saved):
    other = fitted("lp")
    with pytest.raises(DataError, match="pass overwrite=True"):
        other.save(saved)
    assert isinstance(pl.load(saved), pl.Feat)
    other.save(saved, overwrite=True)
    assert isinstance(pl.load(saved), pl.LabelPropagation)
    assert os.listdir(saved.parent) == ["model"]


def test_other_folders_are_never_replaced(tmp_path):
    (tmp_path / "model").mkdir()
    fitted("lp").save(tmp_path / "model")  # an empty folder is a place as good as any
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter.txt").write_text("mine")
    with pytest.raises(DataError, match="exists and is not a model folder"):
        fitted("lp").save(tmp_path / "thesis", overwrite=True)
    assert (tmp_path / "thesis/chapter.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["exchange", "sync_file"])
def test_a_failed_overwrite_loses_nothing(saved, monkeypatch, name):
    def breaks(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(atomic, name, breaks)
    with pytest.raises(DataError, match=r"cannot write the model: No space left"):
        fitted("lp").save(saved, overwrite=True)
    monkeypatch.undo()
    assert isinstance(pl.load(saved), pl.Feat)
    assert os.listdir(saved.parent) == ["model"]


def test_a_folder_with_a_file_of_that_name_is_not_a_model(tmp_path):
    """``--force`` replaces what planetoid wrote, and nothing else."""
    for content in ('{"weights": [1, 2]}', "not JSON", "[]", '{"format": "other model"}'):
        (tmp_path / "theirs").mkdir(exist_ok=True)
        (tmp_path / "theirs/model.json").write_text(content)
        with pytest.raises(DataError, match="exists and is not a model folder"):
            fitted("lp").save(tmp_path / "theirs", overwrite=True)
        assert (tmp_path / "theirs/model.json").read_text() == content


def test_files_beside_a_model_are_not_lost(saved):
    (saved / "notes.txt").write_text("mine")
    with pytest.raises(DataError, match=r"beside the model there is 'notes\.txt', which is not part of it"):
        fitted("lp").save(saved, overwrite=True)
    assert (saved / "notes.txt").read_text() == "mine"
    assert isinstance(pl.load(saved), pl.Feat)


def test_extra_files_are_part_of_the_model(saved):
    def write_notes(folder):
        (folder / "notes.txt").write_text("of the model")

    fitted("lp").save(saved, overwrite=True, extra_files=write_notes)
    assert (saved / "notes.txt").read_text() == "of the model"
    fitted("feat").save(saved, overwrite=True)
    assert sorted(os.listdir(saved)) == ["model.json", "tensors.safetensors"]


def test_a_damaged_model_is_not_replaced(saved):
    """It may be that its list of files is what is damaged."""
    text = (saved / "model.json").read_text()
    (saved / "model.json").write_text(text.replace("tensors.safetensors", "tensors.safetensorz"))
    with pytest.raises(DataError, match="cannot be replaced: the file is damaged: its checksum differs; remove"):
        fitted("lp").save(saved, overwrite=True)


@pytest.mark.parametrize("place", [".", "..", "", "link to here"])
def test_the_current_folder_is_not_replaced(tmp_path, monkeypatch, place):
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    if place == "link to here":
        os.symlink(tmp_path / "inner", place)
    with pytest.raises(DataError, match=r"this is the current folder or one above it; name a folder in it"):
        fitted("lp").save(place, overwrite=True)


def test_a_mount_point_is_not_replaced():
    with pytest.raises(DataError, match="this is a mount point"):
        fitted("lp").save("/proc")


@pytest.mark.parametrize("exists", [True, False])
def test_a_symbolic_link_stays_one(tmp_path, exists):
    os.symlink(tmp_path / "real", tmp_path / "link")
    if exists:
        fitted("feat").save(tmp_path / "real")
        with pytest.raises(DataError, match="already holds a model"):
            fitted("lp").save(tmp_path / "link")
    fitted("lp").save(tmp_path / "link", overwrite=exists)
    assert (tmp_path / "link").is_symlink()
    assert isinstance(pl.load(tmp_path / "link"), pl.LabelPropagation)
    assert isinstance(pl.load(tmp_path / "real"), pl.LabelPropagation)
    assert sorted(os.listdir(tmp_path)) == ["link", "real"]


def test_modes_follow_the_umask_and_existing_files(tmp_path):
    def modes():
        paths = (tmp_path / "m", tmp_path / "m/model.json", tmp_path / "m/tensors.safetensors")
        return [stat.S_IMODE(path.stat().st_mode) for path in paths]

    before = os.umask(0o027)
    try:
        fitted("lp").save(tmp_path / "m")
        assert modes() == [0o750, 0o640, 0o640]
        (tmp_path / "m").chmod(0o700)
        (tmp_path / "m/model.json").chmod(0o600)
        fitted("lp").save(tmp_path / "m", overwrite=True)
        assert modes() == [0o700, 0o600, 0o640]
    finally:
        os.umask(before)


def test_an_open_model_outlives_its_replacement(saved):
    """Nothing of the new model is mixed into what was opened before."""
    opened = SavedModel(saved)
    fitted("lp", y={0: "a", 1: "b"}).save(saved, overwrite=True)
    assert opened.classes.tolist() == [0, 1, 2]
    assert opened.probabilities.shape == (N, 3)
    assert isinstance(opened.load(), pl.Feat)
    assert SavedModel(saved).classes.tolist() == ["a", "b"]


@pytest.mark.parametrize("file", ["model.json", "tensors.safetensors"])
def test_an_unreadable_file_is_not_damaged(saved, monkeypatch, file):
    opened = Path.open

    def denied(path, *arguments, **options):
        if path.name == file:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(DataError, match=f"{file}: cannot read the file: Permission denied"):
        pl.load(saved)


# ---- what can be wrong with a folder -----------------------------------------


def test_missing_folder(tmp_path):
    with pytest.raises(DataError, match="the folder does not exist"):
        pl.load(tmp_path / "nowhere")


def test_a_file_instead_of_a_folder(tmp_path):
    (tmp_path / "model").write_text("")
    with pytest.raises(DataError, match=r"a model is a folder with .* this is a file"):
        pl.load(tmp_path / "model")


def test_foreign_folders(tmp_path):
    with pytest.raises(DataError, match=r"has no file model\.json"):
        pl.load(tmp_path)
    for text in ('{"format": "other"}', "[]", "3"):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(DataError, match="does not describe a planetoid model"):
            pl.load(tmp_path)


def test_newer_format(saved):
    change(saved, format_version=3, versions={"planetoid": "9.1.0"})
    with pytest.raises(DataError, match=r"format version 3 \(written by planetoid 9.1.0\).*upgrade planetoid"):
        pl.load(saved)


def test_document_cut_short(saved):
    text = (saved / "model.json").read_text()
    for length in (0, 1, len(text) // 2, len(text) - 3):
        (saved / "model.json").write_text(text[:length])
        with pytest.raises(DataError, match="not JSON"):
            pl.load(saved)


def test_document_of_other_bytes(saved):
    (saved / "model.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not JSON"):
        pl.load(saved)


def test_tensors_missing(saved):
    (saved / "tensors.safetensors").unlink()
    with pytest.raises(DataError, match=r"tensors\.safetensors is missing"):
        pl.load(saved)


def test_tensors_cut_short_or_changed(saved):
    file = saved / "tensors.safetensors"
    whole = file.read_bytes()
    flipped = bytearray(whole)
    flipped[-5] ^= 1
    for content in (b"", whole[:4], whole[: len(whole) // 2], whole[:-1], whole + b"x", bytes(flipped)):
        file.write_bytes(content)
        with pytest.raises(DataError, match="checksum differs"):
            pl.load(saved)


def test_tensors_that_are_none(saved):
    (saved / "tensors.safetensors").write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00not json")
    change(saved, files={"tensors.safetensors": sha256_of_file(saved / "tensors.safetensors")})
    with pytest.raises(DataError, match="is damaged"):
        pl.load(saved)


@pytest.mark.parametrize(
    "entries",
    [
        {"parameters": {"C": 1.0, "unheard_of": 2}},
        {"parameters": None},
        {"not_saved": None},
        {"classes": {"dtype": "int64", "labels": [0, 1]}},
        {"classes": {"dtype": "int64", "labels": ["a", "b", "c"]}},
        {"classes": 3},
        {"features": {"count": "many", "names": None}},
        {"attributes": []},
        {"node_ids": {"kind": "str", "count": N}},
        {"node_ids": {"kind": "range", "count": N + 1}},
        {"node_ids": {"kind": "pickle", "count": N}},
        {"node_ids": None},
        {"format_version": "2"},
        {"files": None},
        {"files": {}},
    ],
)
def test_entries_that_cannot_be(saved, entries):
    change(saved, **entries)
    with pytest.raises(DataError, match=r"damaged|cannot load"):
        pl.load(saved)


@pytest.mark.parametrize("name", ["os.system", "subprocess.Popen", "LinearSVC", "planetoid.io", None, 3, ["Feat"]])
def test_no_class_but_those_of_the_registry(saved, name):
    change(saved, **{"class": name})
    with pytest.raises(DataError, match="which this planetoid does not have"):
        pl.load(saved)


def test_files_of_two_models_do_not_mix(saved, tmp_path):
    fitted("feat", C=9.0).save(tmp_path / "other")
    shutil.copy(tmp_path / "other/tensors.safetensors", saved / "tensors.safetensors")
    with pytest.raises(DataError, match="checksum differs"):
        pl.load(saved)


def test_what_was_warned_of_is_not_warned_of_again(tmp_path, recwarn):
    with pytest.warns(PlanetoidWarning):
        model = pl.LabelPropagation().fit(None, {0: "a", 1: "b"}, graph=problem().with_nodes(N + 1))
    model.save(tmp_path / "model")
    recwarn.clear()
    assert_same(pl.load(tmp_path / "model"), model)
    assert not recwarn
