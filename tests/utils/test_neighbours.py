"""Nearest rows: exact where all groups are searched, close to exact elsewhere, and the same again."""

import numpy as np
import pytest

from planetoid.utils.neighbours import nearest_rows


def exact(vectors, count):
    distances = np.linalg.norm(vectors[:, None] - vectors, axis=2)
    np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :count]
    return order, np.take_along_axis(distances, order, axis=1)


def test_few_rows_are_compared_with_all_others():
    vectors = np.random.default_rng(0).normal(size=(300, 5))
    rows, distances = exact(vectors, 12)
    found = nearest_rows(vectors, 12)
    assert np.array_equal(found.rows, rows)
    assert found.distances == pytest.approx(distances, abs=1e-3)


def test_most_of_the_nearest_are_found_among_many_rows():
    vectors = np.random.default_rng(1).normal(size=(3000, 8)).astype(np.float32)
    rows, _ = exact(vectors, 10)
    found = nearest_rows(vectors, 10)
    shared = np.mean(
        [len(set(one) & set(other)) / 10 for one, other in zip(found.rows.tolist(), rows.tolist(), strict=True)]
    )
    assert shared > 0.9
    assert (np.diff(found.distances, axis=1) >= 0).all()
    again = nearest_rows(vectors, 10)
    assert np.array_equal(found.rows, again.rows)


@pytest.mark.parametrize("share", [1.0, 0.9], ids=["all equal", "most equal"])
def test_equal_rows_are_neighbours_of_each_other_but_not_of_themselves(share):
    vectors = np.random.default_rng(2).normal(size=(2000, 3))
    vectors[: int(share * len(vectors))] = 1.0
    found = nearest_rows(vectors, 30)
    own = np.arange(len(vectors))[:, None]
    assert not (found.rows == own).any()
    assert all(len(set(row)) == 30 for row in found.rows.tolist())
    assert found.distances[: int(share * len(vectors))].max() < 1e-3


def test_groups_of_single_rows_do_not_leave_too_few_candidates():
    spread = 100.0 * np.arange(40)[:, None]
    vectors = np.vstack([spread, np.zeros((200, 1)) - 1e4])
    found = nearest_rows(vectors, 50)
    assert all(len(set(row)) == 50 for row in found.rows.tolist())
