"""What the teacher counts."""

import numpy as np
from tests.models.communities import blocks

import planetoid as pl
from planetoid.models import evidence
from planetoid.models.opinions import sharpened
from planetoid.models.teacher import PRIOR_CONFIDENCE, PRIOR_LABELS, Teacher


def test_the_class_prior_goes_from_label_frequencies_to_what_the_teacher_counts():
    opinion = np.random.default_rng(0).dirichlet([1.0, 2.0, 6.0], 50).astype(np.float32)
    teacher = Teacher("features", opinion, 0.5, np.zeros_like(opinion), {})
    counted = sharpened(opinion, PRIOR_CONFIDENCE).mean(axis=0)
    for codes, labels in (([0, 1, 2], [1 / 3, 1 / 3, 1 / 3]), ([0] * 30 + [1] * 15 + [2] * 15, [0.5, 0.25, 0.25])):
        per_class = len(codes) / 3
        share = (per_class / (per_class + PRIOR_LABELS)) ** 2
        expected = share * counted + (1 - share) * np.array(labels)
        np.testing.assert_allclose(teacher.class_prior(np.array(codes)), expected, rtol=1e-5)


def test_opinions_count_as_much_as_the_share_of_the_labels_that_the_views_learned_from():
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]], np.float32)
    second = np.log(np.array([[0.3, 0.7], [0.6, 0.4]], np.float32))
    whole = Teacher("features", probabilities, 0.9, second, {})
    quarter = whole._replace(share_of_labels=0.25)
    assert quarter.weight(100, fits=True) == np.float32(0.25 * (0.25 + 20 / 100))
    assert quarter.weight(100, fits=False) == np.float32(0.25 * 4)
    np.testing.assert_allclose(
        quarter.opinions(quarter.weight(100, fits=True)), whole.opinions(whole.weight(100, fits=True)) / 4, rtol=1e-6
    )


def test_planetoid_counts_the_labels_that_its_views_learn_from(monkeypatch):
    seen = []
    opinions = Teacher.opinions
    monkeypatch.setattr(evidence, "MOST_LABELLED", 20)
    monkeypatch.setattr(Teacher, "opinions", lambda self, weight: seen.append(self) or opinions(self, weight))
    X, adjacency, truth = blocks()
    model = pl.Planetoid(training=pl.Consistency(steps=2), student=False, calibrate=False)
    model.fit(X, pl.mask_labels(truth, np.arange(0, len(truth), 4)), graph=adjacency)
    assert seen[0].share_of_labels == 20 / len(np.arange(0, len(truth), 4))
