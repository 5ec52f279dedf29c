"""What the teacher counts."""

import numpy as np

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
