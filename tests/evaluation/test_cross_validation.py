"""Cross-validation of a fitted model: every label predicted without it, and shown by a report."""

import numpy as np
import pytest
from tests.report.test_command import FIT, invoke  # noqa: F401 - a fixture

import planetoid as pl
from planetoid.errors import DataError
from planetoid.evaluation import HeldOut, cross_validate
from planetoid.persistence import FitRecord
from planetoid.report import write_report


@pytest.fixture(scope="module")
def pairs():
    """Ten pairs of connected nodes, both of one class: label propagation knows a node from its partner."""
    graph = pl.Graph.of([(2 * k, 2 * k + 1) for k in range(10)])
    y = np.repeat(np.arange(10) % 2, 2).astype(np.int32)
    return pl.datasets.Dataset("pairs", graph, None, y, np.array(["even", "odd"]))


def test_a_label_is_never_seen_by_the_model_that_predicts_it(pairs):
    held_out = cross_validate(pl.LabelPropagation(calibrate=False), pairs, n_folds=5)
    assert held_out.rows.tolist() == list(range(20))
    partner = held_out.rows ^ 1
    # Where the partner is in another fold, the node follows it; where it is not, the class prior is all there is.
    certain = held_out.probabilities.max(axis=1) == 1
    assert certain.sum() >= 10
    assert (held_out.probabilities.argmax(axis=1)[certain] == pairs.y[partner][certain]).all()
    assert not certain.all()
    again = cross_validate(pl.LabelPropagation(calibrate=False), pairs, n_folds=5)
    assert np.array_equal(again.probabilities, held_out.probabilities)


def test_a_single_label_per_class_cannot_be_held_out(pairs):
    from dataclasses import replace

    few = replace(pairs, y=pl.mask_labels(pairs.y, np.array([0, 2])))
    with pytest.raises(DataError, match="a class with at least two labels"):
        cross_validate(pl.LabelPropagation(), few)


def test_the_model_keeps_its_fit(pairs):
    model = pl.LabelPropagation().fit(pairs)
    before = model.label_distributions_.copy()
    cross_validate(model, pairs, n_folds=2)
    assert np.array_equal(model.label_distributions_, before)


def test_a_report_shows_the_estimate_where_there_is_no_truth(pairs, tmp_path):
    model = pl.LabelPropagation().fit(pairs)
    probabilities = np.tile([0.8, 0.2], (20, 1))
    held_out = HeldOut(np.arange(20), probabilities, 5)
    summary = write_report(tmp_path / "r.html", model, record=FitRecord.of(pairs), held_out=held_out)
    assert (summary.accuracy, summary.n_evaluated) == (0.5, 20)
    assert "5-fold cross-validation" in summary.evaluated_on
    page = (tmp_path / "r.html").read_text()
    assert "Accuracy, cross-validated" in page
    with pytest.raises(DataError, match="belongs to another model"):
        write_report(tmp_path / "s.html", model, held_out=held_out)  # without a record, the labels are not known


def test_on_the_command_line(invoke, tmp_path):  # noqa: F811
    (tmp_path / "edges.csv").write_text("".join(f"n{2 * k},n{2 * k + 1}\n" for k in range(10)))
    labels = "".join(f"n{k},{'ab'[k // 2 % 2]}\n" for k in range(20))
    (tmp_path / "labels.csv").write_text("id,label\n" + labels)
    assert invoke(*FIT).exit_code == 0
    done = invoke("report", "model", "--cross-validate")
    assert done.exit_code == 0
    assert "on 20 training labels, each by a model that was fitted without it" in done.stderr
    (tmp_path / "labels.csv").write_text("id,label\n" + labels.replace("n3,b", "n3,a"))
    changed = invoke("report", "model", "--cross-validate", "--force")
    assert changed.exit_code == 2
    assert "labels.csv: the file has changed since the model was fitted; fit again" in changed.stderr
    (tmp_path / "labels.csv").unlink()
    gone = invoke("report", "model", "--cross-validate", "--force")
    assert "labels.csv: the file that the model was fitted on is no longer there" in gone.stderr
