"""Models of every format version that was released load for ever; ``keep_models.py`` wrote them."""

import json

import numpy as np
import pytest
from tests.persistence.keep_models import FOLDER, N_NODES, new_rows

import planetoid as pl
from planetoid.io.model_files import FORMAT_VERSION
from planetoid.persistence import SavedModel, read_record

KEPT = sorted(path.parent for path in FOLDER.glob("*/*/model.json"))


def test_the_present_format_is_kept():
    assert {path.parent.name for path in KEPT} >= {f"format-{FORMAT_VERSION}"}
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 200_000


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_a_kept_model_predicts_as_it_did(folder):
    expected = json.loads(folder.with_suffix(".json").read_text())
    model = pl.load(folder)
    assert model.classes_.tolist() == ["art", "biology", "chess"]
    assert model.node_ids_.to_numpy().tolist() == [f"knoten-{k}-ü" for k in range(N_NODES)]
    assert expected["parameters"].items() <= model.get_params().items()
    np.testing.assert_allclose(model.predict_proba(), expected["probabilities"], atol=1e-5)
    if expected["new"] is not None:
        np.testing.assert_allclose(model.predict_proba(new_rows()), expected["new"], atol=1e-4)
    saved, record = SavedModel(folder), read_record(folder)
    assert saved.predict().tolist() == model.predict().tolist()
    assert record.y.tolist() == [k % 3 if k < 9 else -1 for k in range(N_NODES)]
    assert record.command == "planetoid fit"
