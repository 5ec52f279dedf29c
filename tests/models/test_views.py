"""Views of the data and the classifiers on them, by hand."""

import numpy as np
import pytest
from scipy import sparse
from tests.models.communities import blocks, labelled_of

from planetoid.graph.adjacency import normalized_adjacency
from planetoid.models.opinions import SECOND_POWER
from planetoid.models.views import (
    NOISES,
    OWN_SHARE,
    SPREAD_RESTART,
    SPREAD_STEPS,
    STEPS,
    FeatureView,
    GraphView,
    View,
)


def dense_kernel(X, adjacency):
    """Return the kernel of the neighbourhood as a dense matrix."""
    steps = normalized_adjacency(adjacency).toarray().astype(np.float64)
    filter_ = OWN_SHARE * np.eye(len(steps)) + (1 - OWN_SHARE) / STEPS * sum(
        np.linalg.matrix_power(steps, k) for k in range(1, STEPS + 1)
    )
    roots = np.sqrt(adjacency.toarray().sum(axis=1) + 1)
    rows = filter_ @ (X.toarray() - roots @ X.toarray() / roots.sum())
    np.testing.assert_allclose(roots @ rows, 0, atol=1e-4)
    rows -= rows.mean(axis=0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows @ rows.T


def test_the_kernel_of_the_neighbourhood_by_hand():
    X, adjacency, truth = blocks(n=60)
    labelled = labelled_of(truth, 4)
    view = FeatureView(X, adjacency, labelled, np.random.default_rng(0))
    kernel = dense_kernel(X, adjacency)
    np.testing.assert_allclose(view.gram, kernel[np.ix_(labelled, labelled)], atol=1e-5)
    dual = np.random.default_rng(1).normal(size=(len(labelled), 3))
    expected, found = kernel[:, labelled] @ dual, view.scores(dual)
    np.testing.assert_allclose(found[labelled], expected[labelled], atol=1e-4)
    cosine = (found * expected).sum(axis=1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(cosine, 1, atol=1e-4)  # lengths are estimates, which scale a row


def test_the_kernel_of_the_graph_by_hand():
    _, adjacency, truth = blocks(n=60)
    labelled = labelled_of(truth, 4)
    steps = normalized_adjacency(adjacency).toarray().astype(np.float64)
    kernel = sum(np.linalg.matrix_power((1 - SPREAD_RESTART) * steps, k) for k in range(SPREAD_STEPS + 1))
    kernel = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    view = GraphView(adjacency, labelled)
    np.testing.assert_allclose(view.gram, kernel[np.ix_(labelled, labelled)], rtol=1e-4, atol=1e-4)
    dual = np.random.default_rng(1).normal(size=(len(labelled), 3))
    np.testing.assert_allclose(view.scores(dual), kernel[:, labelled] @ dual, rtol=1e-3, atol=1e-3)


def test_leaving_one_out_is_fitting_without_it():
    X, _, truth = blocks(n=90)
    labelled = labelled_of(truth, 5)
    view = FeatureView(X, None, labelled, np.random.default_rng(0))
    targets = np.eye(3)[truth[labelled]]
    fit = view.regression(targets)
    for left_out in range(len(labelled)):
        kept = np.arange(len(labelled)) != left_out
        gram = view.gram[np.ix_(kept, kept)] + fit.noise * np.diag(view.gram).mean() * np.eye(kept.sum())
        centred = targets[kept] - targets[kept].mean(axis=0)
        expected = view.gram[left_out, kept] @ np.linalg.solve(gram, centred)
        np.testing.assert_allclose(fit.left_out[left_out], expected, atol=1e-8)


class OfGram(View):
    """A view of labelled nodes alone."""

    def __init__(self, gram):
        self.gram = gram

    def scores(self, dual):
        return self.gram @ dual

    def classify(self, codes, n_classes, fit):
        raise NotImplementedError


def left_out_accuracy(gram, targets, noise):
    """Accuracy on each node by a regression on the others, in the usual way."""
    codes, right = targets.argmax(axis=1), []
    for node in range(len(targets)):
        kept = np.arange(len(targets)) != node
        ridge = gram[np.ix_(kept, kept)] + noise * np.diag(gram).mean() * np.eye(kept.sum())
        scores = gram[node, kept] @ np.linalg.solve(ridge, targets[kept] - targets[kept].mean(axis=0))
        right.append(scores.argmax() == codes[node])
    return np.mean(right)


def test_the_usual_noise_is_kept_unless_another_is_better_by_more_than_a_standard_error():
    chosen = set()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        codes = np.arange(30) % 3
        rows = rng.normal(size=(30, 40)) + 0.8 * rng.normal(size=(3, 40))[codes]
        gram, targets = rows @ rows.T, np.eye(3)[codes]
        accuracies = [left_out_accuracy(gram, targets, noise) for noise in NOISES]
        best = max(accuracies)
        error = np.sqrt(best * (1 - best) / 30)
        expected = next(noise for noise, found in zip(NOISES, accuracies, strict=True) if found >= best - error)
        fit = OfGram(gram).regression(targets)
        assert fit.noise == expected
        assert fit.accuracy == pytest.approx(accuracies[NOISES.index(expected)])
        chosen.add(expected)
    assert NOISES[0] in chosen


def test_label_propagation_counts_as_far_as_it_labels_hidden_nodes_as_well_as_the_regression(monkeypatch):
    ring = sparse.csr_array(np.roll(np.eye(12), 1, axis=1) + np.roll(np.eye(12), -1, axis=1), dtype=np.float32)
    labelled, codes = np.array([0, 2, 6, 8]), np.array([0, 0, 1, 1])  # hidden: 2 and 8
    view = GraphView(ring, labelled)
    seen = []

    def propagated(codes, n_classes, hidden=None):
        seen.append(hidden)
        return np.eye(2)[[0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0]]  # node 2 wrong, node 8 correct

    monkeypatch.setattr(view, "_propagated", propagated)
    assert view._share_of_propagation(codes, 2, 1.0) == pytest.approx(0.5 * ((1 + 10) / (2 + 10)) ** SECOND_POWER)
    assert seen[0].tolist() == [False, True, False, True]
    assert view._share_of_propagation(np.array([0, 1, 2, 3]), 4, 1.0) == 0.5  # no class has a label to hide


def test_many_classes_with_few_labels_are_told_apart():
    """A penalty that suits few classes would leave the largest ones only."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(40), 10)
    centres = rng.normal(size=(40, 20))
    X = (centres[truth] + 0.3 * rng.normal(size=(400, 20))).astype(np.float32)
    labelled = np.arange(0, 400, 10)
    labelled = np.concatenate([labelled, np.arange(1, 100, 10), np.arange(2, 100, 10)])
    view = FeatureView(X, None, labelled, rng)
    targets = np.eye(40)[truth[labelled]]
    found = view.classify(truth[labelled], 40, view.regression(targets)).argmax(axis=1)
    assert (found == truth).mean() > 0.9


@pytest.mark.parametrize("n_classes", [2, 4, 6, 11])
def test_rows_that_say_nothing_label_nothing(n_classes):
    """Of zeros, the scores of left-out labels are rounding errors, whose signs follow the labels."""
    codes = np.repeat(np.arange(n_classes), 20)
    zeros = np.zeros((len(codes), 20), np.float32)
    view = FeatureView(zeros, None, np.arange(len(codes)), np.random.default_rng(0))
    assert view.regression(np.eye(n_classes)[codes]).accuracy == pytest.approx(1 / n_classes)
