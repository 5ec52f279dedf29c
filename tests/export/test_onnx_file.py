"""An exported model says in onnxruntime what the model says here."""

import json
import sys

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.errors import DataError, NotInductiveError, PlanetoidError
from planetoid.export import onnx_file, to_onnx, token_rows

N, CLASSES = 240, 3
INDUCTIVE = [name for name in pl.METHODS if pl.METHODS[name].inductive]
# Every way in which a method can score a row: (method, parameters).
KINDS = {
    **{name: (name, {}) for name in INDUCTIVE},
    "raw scores": ("feat", {"calibrate": False}),
    "l1 rows": ("feat", {"row_normalize": "l1"}),
    "l2 rows": ("feat", {"row_normalize": "l2"}),
    "kernel": ("manireg", {"kernel": "rbf", "n_landmarks": 30}),
    "svm": ("manireg", {"kind": "svm"}),
    "smooth network": ("manireg", {"kind": "network", "steps": 20}),
    "deep encoder": (
        "planetoid-i",
        {
            "encoder": pl.Encoder(l1=2, width=9, activation="tanh"),
            "network": pl.Network(k=1, l=2, width=7, activation="softmax", auxiliary_losses=True),
        },
    ),
    "linear encoder, e as it is": (
        "planetoid-i",
        {
            "encoder": pl.Encoder(activation="linear"),
            "network": pl.Network(k=0, l=0, normalize_embedding=False),
            "row_normalize": None,
        },
    ),
}
FAST = {
    "planetoid-i": {"dimension": 8, "training__pretrain": 1, "training__steps": 30},
    "semiemb": {"steps": 20, "width": 8},
    "planetoid": {"training__steps": 30},
}


@pytest.fixture(scope="module")
def data():
    return pl.datasets.make_citation(N, CLASSES, 40, seed=2)


@pytest.fixture(scope="module")
def new_rows():
    """Rows that no fitted node has, one without any feature among them."""
    rows = np.random.default_rng(0).poisson(0.2, size=(150, 40)).astype(np.float32)
    rows *= np.random.default_rng(1).uniform(0.5, 2.0, size=rows.shape).astype(np.float32)
    rows[7] = 0.0
    return rows


def fitted(data, kind, *, dense=False, classes=None, n_classes=CLASSES):
    method, parameters = KINDS[kind]
    model = pl.METHODS[method]().set_params(**FAST.get(method, {})).set_params(**parameters)
    names = np.array(["amber", "birch", "cedar"]) if classes is None else np.asarray(classes)
    y = np.full(N, None, dtype=object)
    rows = np.flatnonzero((np.arange(N) % 5 == 0) & (data.y < n_classes))
    y[rows] = names[data.y[rows]].tolist()
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    return model.fit(data.X.toarray() if dense else data.X, y, **given)


def run(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["label", "probabilities"], inputs)


def as_tokens(X):
    return dict(zip(("tokens", "values"), token_rows(sparse.csr_array(X)), strict=True))


@pytest.mark.parametrize("kind", list(KINDS))
def test_dense_rows_and_tokens_get_the_labels_and_probabilities_of_the_model(data, new_rows, kind, tmp_path):
    model = fitted(data, kind)
    labels, probabilities = model.predict(new_rows), model.predict_proba(new_rows)
    for tokens, inputs in ((False, {"features": new_rows}), (True, as_tokens(new_rows))):
        to_onnx(model, tmp_path / "model.onnx", tokens=tokens)
        found, shares = run(tmp_path / "model.onnx", inputs)
        assert found.tolist() == labels.tolist()
        np.testing.assert_allclose(shares, probabilities, atol=1e-5)


@pytest.mark.parametrize("kind", INDUCTIVE)
def test_two_classes(data, new_rows, kind, tmp_path):
    model = fitted(data, kind, n_classes=2)
    to_onnx(model, tmp_path / "model.onnx")
    found, shares = run(tmp_path / "model.onnx", {"features": new_rows})
    assert found.tolist() == model.predict(new_rows).tolist()
    np.testing.assert_allclose(shares, model.predict_proba(new_rows), atol=1e-5)


def test_columns_of_dense_features_are_centred(data, new_rows, tmp_path):
    model = fitted(data, "planetoid", dense=True)
    assert len(model._inputs.mean) == 40
    to_onnx(model, tmp_path / "model.onnx")
    found, shares = run(tmp_path / "model.onnx", {"features": new_rows})
    assert found.tolist() == model.predict(new_rows).tolist()
    np.testing.assert_allclose(shares, model.predict_proba(new_rows), atol=1e-5)
    with pytest.raises(DataError, match="export it for dense rows, not for tokens"):
        to_onnx(model, tmp_path / "tokens.onnx", tokens=True)
    assert not (tmp_path / "tokens.onnx").exists()


def test_rows_of_fitted_nodes_are_scored_by_the_network_of_the_student(data, tmp_path):
    """The library answers them from memory, which the file does not have."""
    model = fitted(data, "planetoid")
    to_onnx(model, tmp_path / "model.onnx", tokens=True)
    _, shares = run(tmp_path / "model.onnx", as_tokens(data.X))
    assert np.abs(shares - model.predict_proba(data.X)).max() > 0.01
    model._student = model._student._replace(keys=np.empty(0))
    np.testing.assert_allclose(shares, model.predict_proba(data.X), atol=1e-5)


def test_a_loaded_model_exports_the_same_bytes(data, tmp_path):
    for kind in INDUCTIVE:
        model = fitted(data, kind)
        model.save(tmp_path / kind)
        to_onnx(model, tmp_path / "a.onnx")
        to_onnx(pl.load(tmp_path / kind), tmp_path / "b.onnx")
        assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_padding_does_not_count_whatever_its_token_is(data, tmp_path):
    model = fitted(data, "l2 rows")
    to_onnx(model, tmp_path / "model.onnx", tokens=True)
    values = np.array([[2.0, 1.0, 0.0]], dtype=np.float32)
    (one, two) = (
        run(tmp_path / "model.onnx", {"tokens": np.array([[3, 5, padding]]), "values": values})[1]
        for padding in (0, 39)
    )
    np.testing.assert_array_equal(one, two)
    row = np.zeros((1, 40), dtype=np.float32)
    row[0, [3, 5]] = 2.0, 1.0
    np.testing.assert_allclose(one, model.predict_proba(row), atol=1e-5)


def test_metadata(data, tmp_path):
    model = pl.Feat().fit(
        pd.DataFrame(data.X.toarray(), columns=[f"word {k}" for k in range(40)]),
        np.where(np.arange(N) < 60, data.y, -1),
    )
    to_onnx(model, tmp_path / "model.onnx", tokens=True)
    proto = onnx.load(tmp_path / "model.onnx")
    found = {entry.key: json.loads(entry.value) for entry in proto.metadata_props}
    assert found["method"] == "Feat"
    assert found["input"] == "tokens"
    assert found["class_names"] == [0, 1, 2]
    assert found["feature_names"][:2] == ["word 0", "word 1"]
    assert found["n_features"] == 40
    assert found["calibration"]["temperature"] == model.calibration_.temperature
    assert proto.producer_name == "planetoid"
    assert proto.opset_import[0].version == 17


def test_integer_classes_stay_integers_and_all_others_become_strings(data, new_rows, tmp_path):
    for classes, kind in (([10, 20, 30], np.int64), ([0.5, 1.5, 2.5], object), (["a", "b", "c"], object)):
        model = fitted(data, "feat", classes=classes)
        to_onnx(model, tmp_path / "model.onnx")
        labels, _ = run(tmp_path / "model.onnx", {"features": new_rows})
        assert labels.dtype == kind
        assert labels.tolist() == [one if kind is np.int64 else str(one) for one in model.predict(new_rows).tolist()]


def test_what_cannot_be_exported(data, tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    with pytest.raises(NotInductiveError, match="LabelPropagation is transductive"):
        to_onnx(pl.LabelPropagation().fit(None, data.y, graph=data.graph), path)
    model = pl.Planetoid(student=False, training=pl.Consistency(steps=5)).fit(data.X, data.y, graph=data.graph)
    with pytest.raises(DataError, match="without a student"):
        to_onnx(model, path)
    import torch

    encoder = torch.nn.Linear(40, 8)
    own = pl.PlanetoidI(dimension=8, encoder=encoder, training=pl.Training(steps=2, pretrain=0))
    with pytest.raises(PlanetoidError, match="encoder of your own"):
        to_onnx(own.fit(data.X.toarray(), data.y, graph=data.graph), path)
    feat = fitted(data, "feat")
    monkeypatch.setattr(onnx_file, "LARGEST", 100)
    with pytest.raises(DataError, match="GB of weights"):
        to_onnx(feat, path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(PlanetoidError, match=r"pip install planetoid\[onnx\]"):
        to_onnx(feat, path)
    assert not path.exists()


def test_tokens_of_rows():
    rows = sparse.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 1, 0]), np.array([0, 2, 2, 3])), shape=(3, 2))
    tokens, values = token_rows(rows)  # the first row has column 1 twice
    assert tokens.tolist() == [[1], [0], [0]]
    assert values.tolist() == [[3.0], [0.0], [3.0]]
    assert rows.nnz == 3
    assert token_rows(sparse.csr_array((2, 5)))[0].shape == (2, 1)
