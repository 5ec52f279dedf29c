"""The model card: what is measured, what is not, and what the user wrote."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.persistence import FitRecord
from planetoid.persistence.card import NOTES_HEADING, card_text, own_notes, write_card


@pytest.fixture(scope="module")
def data():
    return pl.datasets.make_citation(200, 3, 40, seed=1)


def fitted(data, labelled, validation=None, **parameters):
    y = pl.mask_labels(data.y, labelled)
    held_out = None if validation is None else pl.mask_labels(data.y, validation)
    model = pl.Feat(**parameters).fit(data.X, y, validation=held_out)
    record = FitRecord(
        y=y,
        validation=held_out,
        command="planetoid fit --labels l.csv",
        versions={"planetoid": "0.1.0"},
        inputs=[{"role": "labels", "path": "/data/private/l.csv", "sha256": "ab12"}],
        facts=[("nodes", "200"), ("classes", "3: <b> 1, `c` 2")],
        notes=["2 nodes have no [row](x)"],
    )
    return model, record


def section(text, heading):
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]


@pytest.mark.filterwarnings("ignore:Feat does not use validation labels")
def test_accuracy_on_validation_labels_has_wilsons_interval(data):
    validation = np.arange(100, 200)
    model, record = fitted(data, np.arange(100), validation)
    correct = int((model.predict()[validation] == data.y[validation]).sum())
    n, z, p = 100, 1.959964, correct / 100
    centre, reach = p + z * z / (2 * n), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    low, high = ((centre + sign * reach) / (1 + z * z / n) for sign in (-1, 1))
    text = section(card_text(model, record), "Accuracy")
    assert f"{p:.1%} of 100 validation labels are predicted correctly (95 % interval\n{low:.1%} to {high:.1%})" in text


def test_accuracy_that_was_not_measured_is_said_to_be_so(data):
    model, record = fitted(data, np.arange(100))
    text = section(card_text(model, record), "Accuracy")
    assert text.strip().startswith("Not measured: all labels were used for fitting.")
    expected = model.predict_proba()[100:].max(axis=1).mean()
    assert f"The model itself expects {expected:.0%} of its predictions for unlabelled nodes to be correct." in text


def test_what_the_card_says_about_calibration(data):
    model, record = fitted(data, np.arange(100))
    text = section(card_text(model, record), "Calibration")
    assert "calibrated by leave-one-out, from 100 labels" in text
    assert f"have {model.predict_set().sum(axis=1).mean():.2f} classes on average" in text
    raw = card_text(*fitted(data, np.arange(100), calibrate=False))
    assert "Probabilities are raw scores" in section(raw, "Calibration")
    assert "expects" not in section(raw, "Accuracy")


def test_data_and_limits_are_those_of_the_record(data):
    few = np.flatnonzero(data.y == 2)[:3]
    labelled = np.concatenate([np.flatnonzero(data.y != 2)[:50], few])
    text = card_text(*fitted(data, labelled))
    assert "- labels file: `l.csv`, SHA-256 `ab12`" in section(text, "Data")
    assert "&lt;b> 1, 'c' 2" in section(text, "Data")  # no HTML, no code
    assert "- fitted on 53 labels" in section(text, "Protocol")
    assert "- Classes with fewer than 5 labels, which are hardly learned: 2." in section(text, "Limits")
    assert "- 2 nodes have no \\[row](x)" in section(text, "Limits")


def test_what_the_user_wrote_is_kept(data, tmp_path):
    model, record = fitted(data, np.arange(100))
    assert own_notes(tmp_path) is None
    write_card(tmp_path, model, record)
    assert own_notes(tmp_path) is None
    card = tmp_path / "card.md"
    card.write_text(card.read_text().split(NOTES_HEADING)[0] + f"{NOTES_HEADING}\n\nCC BY 4.0\n\n## Contact\n\nme\n")
    write_card(tmp_path, model, record, own_notes(tmp_path))
    assert card.read_text().endswith(f"\n{NOTES_HEADING}\n\nCC BY 4.0\n\n## Contact\n\nme\n")
    assert own_notes(tmp_path) == "\nCC BY 4.0\n\n## Contact\n\nme\n"
