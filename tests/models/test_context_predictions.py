"""The weight of the contexts' predictions: their agreement with the model, or what validation labels clearly prefer."""

from types import SimpleNamespace

import numpy as np
import pytest

from planetoid.models.context_predictions import ContextPredictions
from planetoid.models.opinions import kappa

TRUTH = np.arange(200) % 2


def predictions(wrong):
    """Return confident predictions that are wrong for some nodes."""
    answers = np.where(np.isin(np.arange(200), wrong), 1 - TRUTH, TRUTH)
    return np.where(np.eye(2)[answers] > 0, 0.9, 0.1).astype(np.float32)


def chosen(monkeypatch, model, contexts, *, validated, accuracy=0.5):
    """Return the weight; the first 100 nodes are unlabelled."""
    monkeypatch.setattr(ContextPredictions, "mean", lambda self, node_contexts, otherwise: contexts)
    rows = np.arange(100) if validated else np.arange(0)
    y = np.where(np.arange(200) < 100, -1, TRUTH)
    data = SimpleNamespace(y=y, labelled=np.arange(100, 200), n_classes=2, validation_nodes=(rows, TRUTH[rows]))
    return ContextPredictions(None, np.empty((0, 2))).pooled_with(model, None, data, 0.9, accuracy)[1]


@pytest.mark.parametrize("validated", [False, True])
def test_their_weight_is_their_agreement_with_the_model(monkeypatch, validated):
    """Also with validation labels, if the model alone is right about one node more, of three that they differ in."""
    model, contexts = predictions([*range(58), 60]), predictions(range(60))
    expected = 0.9 * kappa(model[:100].argmax(axis=1), contexts[:100].argmax(axis=1), 2)
    assert chosen(monkeypatch, model, contexts, validated=validated) == pytest.approx(expected)


def test_validation_labels_choose_a_weight_that_is_clearly_better(monkeypatch):
    assert chosen(monkeypatch, predictions(range(20)), predictions([]), validated=True) > 0.5
    model, contexts = predictions([]), predictions(range(20))
    assert chosen(monkeypatch, model, contexts, validated=False) > 0.5
    assert chosen(monkeypatch, model, contexts, validated=True) < 0.5


def test_they_do_not_count_if_they_label_known_nodes_worse_than_a_simple_method_unknown_ones(monkeypatch):
    """By more than a standard error, which is 4 points for an accuracy of 0.8 on 100 labels."""
    model, contexts = predictions(range(10)), predictions(range(100, 125))
    assert chosen(monkeypatch, model, contexts, validated=False, accuracy=0.78) > 0.5
    assert chosen(monkeypatch, model, contexts, validated=False, accuracy=0.8) == 0.0
