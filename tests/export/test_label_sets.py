"""An exported model with several labels per node predicts the same labels in onnxruntime."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.errors import DataError
from planetoid.export import to_onnx, token_rows

FAST = {"planetoid-i": {"dimension": 8, "training__pretrain": 1, "training__steps": 40}}
METHODS = [name for name in pl.METHODS if pl.METHODS.info(name).multi_label and pl.METHODS.info(name).inductive]


@pytest.fixture(scope="module")
def data():
    return pl.datasets.make_multilabel(160, 5, within=0.8, mean_degree=10, n_features=60, seed=2)


@pytest.fixture(scope="module")
def new_rows(data):
    rows = np.random.default_rng(0).permuted(data.X.toarray(), axis=1)
    rows[7] = 0.0
    return rows.astype(np.float32)


def fitted(data, method, *, dense=False, **parameters):
    model = pl.METHODS[method]().set_params(**FAST.get(method, {}), **parameters)
    split = data.split("rate", rate=0.5, n_val=40, seed=0)
    given = {} if model.uses_graph == "never" else {"graph": data.graph}
    if method == "planetoid-i":  # is calibrated by validation labels alone
        given["validation"] = pl.mask_labels(data.Y, split.val)
    return model.fit(data.X.toarray() if dense else data.X, pl.mask_labels(data.Y, split.train), **given)


def run(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["labels", "probabilities"], inputs)


@pytest.mark.parametrize("calibrate", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_labels_and_probabilities_are_those_of_the_model(data, new_rows, method, calibrate, tmp_path):
    model = fitted(data, method, calibrate=calibrate)
    assert (model.calibration_.source != "none") == calibrate
    tokens, values = token_rows(sparse.csr_array(new_rows))
    for is_sparse, inputs in ((False, {"features": new_rows}), (True, {"tokens": tokens, "values": values})):
        to_onnx(model, tmp_path / "model.onnx", tokens=is_sparse)
        labels, probabilities = run(tmp_path / "model.onnx", inputs)
        assert labels.dtype == np.int64
        np.testing.assert_allclose(probabilities, model.predict_proba(new_rows), atol=1e-5)
        np.testing.assert_array_equal(labels, model.predict(new_rows))
    assert (labels.sum(axis=1) >= 1).all()


def test_a_row_without_a_likely_label_gets_the_most_probable_one(data, new_rows, tmp_path):
    model = fitted(data, "feat")
    model.threshold_ = 1.0
    to_onnx(model, tmp_path / "model.onnx")
    labels, probabilities = run(tmp_path / "model.onnx", {"features": new_rows})
    np.testing.assert_array_equal(labels.argmax(axis=1), probabilities.argmax(axis=1))
    assert (labels.sum(axis=1) == 1).all()


def test_dense_features_and_metadata(data, new_rows, tmp_path):
    model = fitted(data, "planetoid", dense=True)
    to_onnx(model, tmp_path / "model.onnx")
    labels, probabilities = run(tmp_path / "model.onnx", {"features": new_rows})
    np.testing.assert_allclose(probabilities, model.predict_proba(new_rows), atol=1e-5)
    np.testing.assert_array_equal(labels, model.predict(new_rows))
    found = {entry.key: json.loads(entry.value) for entry in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert found["threshold"] == model.threshold_
    assert found["calibration"]["shift"] == model.calibration_.shift
    assert found["class_names"] == list(model.classes_)


def test_a_loaded_model_exports_the_same_bytes(data, tmp_path):
    for method in METHODS:
        model = fitted(data, method)
        model.save(tmp_path / method)
        to_onnx(model, tmp_path / "a.onnx")
        to_onnx(pl.load(tmp_path / method), tmp_path / "b.onnx")
        assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()


def test_a_planetoid_of_the_graph_alone_cannot_be_exported(data, tmp_path):
    model = pl.Planetoid().fit(None, data.Y, graph=data.graph)
    with pytest.raises(DataError, match="without features, so it cannot label new rows"):
        to_onnx(model, tmp_path / "model.onnx")
