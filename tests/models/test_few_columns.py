"""Tables of few numbers: unit norm alone would leave their signs."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.models.inputs import FEW_COLUMNS, ROOT_HALF, Inputs

N, LABELLED = 150, np.arange(30)


@pytest.fixture(scope="module")
def people():
    """Three classes that differ in age; edges say little."""
    random = np.random.default_rng(0)
    y = np.arange(N) % 3
    age = 30 + 20 * y + random.normal(0, 3, N)
    edges = random.integers(0, N, (2 * N, 2))
    return age[:, None], y, pl.Graph.of(edges[edges[:, 0] != edges[:, 1]].tolist(), nodes=range(N))


@pytest.fixture(scope="module", params=["dense", "sparse"])
def fitted(request, people):
    X, y, graph = people
    X = X if request.param == "dense" else sparse.csr_array(X)
    return pl.Planetoid(random_state=0).fit(X, pl.mask_labels(y, LABELLED), graph=graph)


def test_one_column_is_enough(fitted, people):
    """The class in the middle is on no side of a threshold."""
    y = people[1]
    found = fitted.predict_proba()[len(LABELLED) :]
    assert (found.argmax(axis=1) == y[len(LABELLED) :]).mean() > 0.9
    assert found.max(axis=1).mean() > 0.75  # and the model knows it


def test_new_rows_and_saved_models(fitted, tmp_path):
    new = np.array([[28.5], [51.5], [72.5]])
    assert fitted.predict(new).tolist() == [0, 1, 2]
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(pl.load(tmp_path / "model").predict_proba(new), fitted.predict_proba(new))


def test_the_added_column_is_no_reason(fitted):
    for node in (40, 41):
        features = next(group for group in fitted.explain(node).groups if group.kind == "features")
        assert {reason.name for reason in features.reasons} <= {0}


def test_onnx(fitted, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    pl.export.to_onnx(fitted, tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx")
    rows = np.array([[28.5], [51.5], [72.5], [0.0]], np.float32)
    found = session.run(None, {session.get_inputs()[0].name: rows})
    np.testing.assert_allclose(found[1], fitted.predict_proba(rows), atol=1e-5)


def test_many_columns_are_as_before():
    X = np.random.default_rng(0).normal(size=(20, FEW_COLUMNS + 1)).astype(np.float32)
    rows, codes = np.arange(6), np.arange(6) % 2
    assert not Inputs.of(X, "l2", rows, codes).with_ones
    assert not Inputs.of(X[:, :3], None, rows, codes).with_ones
    few = Inputs.of(X[:, :3], "l2", rows, codes)
    assert few.with_ones
    given = few.scaled(X[:, :3])[:, :4] / (ROOT_HALF if few.is_curved else 1.0)
    np.testing.assert_allclose(np.linalg.norm(given, axis=1), 1.0, rtol=1e-6)
    assert not few.scaled(np.zeros((1, 3), np.float32)).any()  # no features
    assert Inputs.of_tensors(few.tensors(), "l2").with_ones
