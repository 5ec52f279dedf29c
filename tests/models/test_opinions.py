"""Opinions about the classes: sharpened and compared."""

import numpy as np
import pytest

from planetoid.models.opinions import kappa, sharpened


def test_sharpening_keeps_the_order_and_meets_the_confidence():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(4), 50).astype(np.float32)
    for confidence in (0.4, 0.7, 0.95):
        found = sharpened(probabilities, confidence)
        assert found.max(axis=1).mean() == pytest.approx(confidence, abs=0.01)
        np.testing.assert_array_equal(found.argmax(axis=1), probabilities.argmax(axis=1))


def test_agreement_is_cohenskappa():
    one, other = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, 0])
    chance = (3 * 3 + 2 * 3 + 1 * 0) / 36
    assert kappa(one, other, 3) == pytest.approx((4 / 6 - chance) / (1 - chance))
    assert kappa(one, one, 3) == pytest.approx(1.0)
    assert kappa(one[:0], one[:0], 3) == 0.0
