"""The contexts of nodes: how they are sampled, and their shares."""

import numpy as np
import pytest

from planetoid.models.node_contexts import NodeContexts
from planetoid.training.settings import Neighbourhood


def test_the_walks_have_the_parameters_of_the_neighbourhood(small):
    adjacency = small.graph.to_scipy()
    neighbourhood = Neighbourhood(walks=5, restart=0.2, length=7, degree_power=0.5)
    walks = NodeContexts.of(adjacency, neighbourhood, "neighbourhood").walks(3)
    assert walks.log_continue == pytest.approx(np.log(0.8))
    assert (walks.per_sample, walks.length, walks.seed) == (5, 7, 3)
    degrees = np.diff(small.graph.indptr)
    np.testing.assert_allclose(walks.importance, 1 / np.sqrt(degrees + 1), rtol=1e-6)
    alone = NodeContexts.of(adjacency, neighbourhood, "features").walks(3)
    assert (alone.per_sample, alone.length, alone.log_continue) == (1, 0, -np.inf)


@pytest.mark.parametrize("some", [False, True])
def test_shares_are_a_row_of_the_matrix_of_the_mean(small, some):
    neighbourhood = Neighbourhood(restart=0.2, length=4, degree_power=0.7)
    contexts = NodeContexts.of(small.graph.to_scipy(), neighbourhood, "neighbourhood")
    counted = np.arange(small.n_nodes) % 3 > 0 if some else None
    whole = contexts.mean(np.eye(small.n_nodes, dtype=np.float32), counted)
    for row in (0, 20, 35):
        shares = contexts.shares(row, counted)
        np.testing.assert_allclose(shares, whole[row], atol=1e-6)
        assert not some or not shares[::3].any()
