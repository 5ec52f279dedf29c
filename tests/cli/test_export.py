"""``planetoid export``: an ONNX file of a saved model, and errors."""

import json

import numpy as np
import onnxruntime
import pytest

import planetoid as pl
from planetoid.export import token_rows


def session_of(path):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


@pytest.fixture(scope="module")
def new_rows():
    return np.random.default_rng(3).poisson(0.3, size=(50, 60)).astype(np.float32)


def test_a_saved_model_is_exported_for_dense_rows(models, done, new_rows, tmp_path):
    out = tmp_path / "model.onnx"
    printed = json.loads(done("export", models("feat"), "--onnx", out, "--json").stdout)
    assert printed == {
        "model": str(models("feat")),
        "method": "feat",
        "out": str(out),
        "input": "dense",
        "bytes": out.stat().st_size,
    }
    labels, probabilities = session_of(out).run(None, {"features": new_rows})
    model = pl.load(models("feat"))
    assert labels.tolist() == model.predict(new_rows).tolist()
    np.testing.assert_allclose(probabilities, model.predict_proba(new_rows), atol=1e-5)


def test_a_saved_model_is_exported_for_tokens(models, done, new_rows, tmp_path):
    from scipy import sparse

    out = tmp_path / "model.onnx"
    done("export", models("planetoid-i"), "--onnx", out, "--tokens")
    tokens, values = token_rows(sparse.csr_array(new_rows))
    labels, _ = session_of(out).run(None, {"tokens": tokens, "values": values})
    assert labels.tolist() == pl.load(models("planetoid-i")).predict(new_rows).tolist()


def test_errors(models, done, refused, tmp_path):
    out = tmp_path / "model.onnx"
    printed = refused("export", models("lp"), "--onnx", out)
    assert "is a lp model, which does not label new rows; planetoid, planetoid-i, feat" in printed
    assert "the folder does not exist" in refused("export", tmp_path / "m", "--onnx", out)
    assert "--onnx must be a file, this is a folder" in refused("export", models("feat"), "--onnx", tmp_path)
    done("export", models("feat"), "--onnx", out)
    assert "pass --force to replace it" in refused("export", models("feat"), "--onnx", out)
    done("export", models("feat"), "--onnx", out, "--force")
