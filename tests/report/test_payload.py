"""Neighbours of the points on the map."""

import itertools

import numpy as np
from scipy import sparse

from planetoid.report.payload import visible_neighbours


def test_neighbours_by_degree_and_only_those_on_the_map():
    edges = np.array([(0, 1), (0, 2), (0, 3), (3, 4), (3, 2)])  # degrees 3, 1, 2, 3, 1
    both = np.vstack([edges, edges[:, ::-1]])
    adjacency = sparse.coo_array((np.ones(len(both)), both.T), shape=(5, 5)).tocsr()
    starts, points = visible_neighbours(adjacency, np.array([3, 0, 2, 1]))  # node 4 is not on the map
    lists = [points[i:j].tolist() for i, j in itertools.pairwise(starts)]
    # point 0 is node 3: its neighbours 0 and 2 are points 1 and 2; nodes 0 and 3 tie for node 2, the lower comes first
    assert lists == [[1, 2], [0, 2, 3], [1, 0], [1]]
    starts, points = visible_neighbours(adjacency, np.array([3, 0, 2, 1]), limit=1)
    assert starts.tolist() == [0, 1, 2, 3, 4]
    assert points.tolist() == [1, 0, 1, 1]
