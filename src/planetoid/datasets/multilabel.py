"""A synthetic social network with overlapping groups: several labels per node, no features."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.label_sets import one_label_each
from planetoid.graph import EdgeList, Graph
from planetoid.ids import NodeIds
from planetoid.labels import as_classes
from planetoid.parameters import Integer, Real, check_parameters

__all__ = ["make_multilabel"]

SIZE_EXPONENT = 0.8  # group k has a share proportional to k^-0.8
DEGREE_EXPONENT = 2.5

Rows = npt.NDArray[np.int64]


def make_multilabel(
    n_nodes: int = 2000,
    n_classes: int = 10,
    *,
    labels_per_node: float = 1.4,
    mean_degree: float = 20.0,
    within: float = 0.5,
    n_features: int = 0,
    informative: float = 0.3,
    seed: int = 0,
) -> Dataset:
    """Generate a social network of people who are members of one or more groups.

    Sizes of groups follow a power law. Each person has one group, and further ones at random. A person makes a contact,
    with probability ``within``, in one of their groups, else anywhere; how many contacts somebody makes and attracts
    varies as in a power law. ``make_multilabel(10_312, 39, mean_degree=64.8, within=0.25)`` has the size of the
    BlogCatalog network.

    Parameters
    ----------
    n_nodes, n_classes : int
    labels_per_node : float
        Mean number of groups, at least 1.
    mean_degree : float
        Edges are drawn until there are about ``n_nodes * mean_degree / 2`` distinct ones.
    within : float
        Probability that a contact is made in a group; the higher, the easier.
    n_features : int
        Number of binary features, words that people use; 0: none.
    informative : float
        Share of a person's words that are from the vocabulary of a group of theirs, an equal part of all words.
    seed : int

    Returns
    -------
    Dataset
        With all labels in ``Y``; ``split("rate", rate=0.1)`` draws some of the nodes to train on.

    Examples
    --------
    >>> data = make_multilabel(300, 6, seed=1)
    >>> data
    Dataset('synthetic-groups', nodes=300, edges=3,000, features=0, classes=6)
    >>> data.labels[:3].tolist()
    [['group 1'], ['group 5'], ['group 0']]
    """
    check_parameters(
        "make_multilabel",
        {
            "n_nodes": n_nodes,
            "n_classes": n_classes,
            "labels_per_node": labels_per_node,
            "mean_degree": mean_degree,
            "within": within,
            "n_features": n_features,
            "informative": informative,
        },
        {
            "n_nodes": Integer(2),
            "n_classes": Integer(2, n_nodes),
            "labels_per_node": Real(1, n_classes),
            "mean_degree": Real(0, n_nodes / 2),
            "within": Real(0, 1),
            "n_features": Integer(0),
            "informative": Real(0, 1),
        },
    )
    generator = np.random.default_rng(seed)
    Y = _groups(generator, n_nodes, n_classes, labels_per_node)
    source, target = _contacts(generator, Y, mean_degree, within)
    X = _words(generator, Y, n_features, informative) if n_features else None
    return Dataset(
        name="synthetic-groups",
        graph=Graph.from_rows(EdgeList(source, target), NodeIds(n_nodes)),
        X=X,
        y=one_label_each(Y),
        classes=as_classes([f"group {k}" for k in range(n_classes)]),
        description=f"synthetic, overlapping groups: {within:.0%} of the contacts within a group",
        origin=f"datasets.make_multilabel(seed={seed})",
        Y=Y,
    )


def _groups(generator: np.random.Generator, n_nodes: int, n_classes: int, labels_per_node: float) -> sparse.csr_array:
    """Draw one group for each person, and further ones until there are as many as asked for."""
    shares = np.arange(1, n_classes + 1) ** -SIZE_EXPONENT
    shares /= shares.sum()
    member = np.zeros((n_nodes, n_classes), dtype=bool)
    member[np.arange(n_nodes), generator.choice(n_classes, n_nodes, p=shares)] = True
    missing = round(n_nodes * labels_per_node) - n_nodes
    while missing > 0:
        people, groups = generator.integers(0, n_nodes, missing), generator.choice(n_classes, missing, p=shares)
        member[people, groups] = True
        missing = round(n_nodes * labels_per_node) - int(member.sum())
    return sparse.csr_array(member)


def _contacts(
    generator: np.random.Generator, Y: sparse.csr_array, mean_degree: float, within: float
) -> tuple[Rows, Rows]:
    """Draw distinct edges: the source by its activity, the target by its activity in a group of the source."""
    n_nodes = Y.shape[0]
    n_edges = round(n_nodes * mean_degree / 2)
    activity = 1 + generator.pareto(DEGREE_EXPONENT - 1, n_nodes)
    activity = np.minimum(activity, np.sqrt(n_nodes))  # nobody knows almost everybody
    everyone = np.cumsum(activity)
    by_group = Y.tocsc()
    in_groups = np.concatenate([[0.0], np.cumsum(activity[by_group.indices])])
    seen = np.empty(0, dtype=np.int64)
    for _ in range(100):
        if len(seen) >= n_edges:
            break
        size = int(1.2 * (n_edges - len(seen))) + 16
        source = _weighted(everyone, generator.random(size) * everyone[-1])
        count = np.diff(Y.indptr)[source]
        group = Y.indices[Y.indptr[source] + (generator.random(size) * count).astype(np.int64)]
        low, high = in_groups[by_group.indptr[group]], in_groups[by_group.indptr[group + 1]]
        place = _weighted(in_groups[1:], low + generator.random(size) * (high - low))
        anyone = _weighted(everyone, generator.random(size) * everyone[-1])
        target = np.where(generator.random(size) < within, by_group.indices[place], anyone)
        pairs = np.minimum(source, target) * n_nodes + np.maximum(source, target)
        pairs = np.concatenate([seen, pairs[source != target]])
        seen = pairs[np.sort(np.unique(pairs, return_index=True)[1])]
    return seen[:n_edges] // n_nodes, seen[:n_edges] % n_nodes


def _weighted(cumulative: npt.NDArray[np.float64], points: npt.NDArray[np.float64]) -> Rows:
    return np.minimum(np.searchsorted(cumulative, points, side="right"), len(cumulative) - 1)


def _words(
    generator: np.random.Generator, Y: sparse.csr_array, n_features: int, informative: float
) -> sparse.csr_array:
    """Draw 18 words for each person on average, some of them from the vocabulary of their groups."""
    n_nodes, n_classes = Y.shape
    row = np.repeat(np.arange(n_nodes), np.maximum(generator.poisson(18.0, n_nodes), 1))
    group = Y.indices[Y.indptr[row] + (generator.random(len(row)) * np.diff(Y.indptr)[row]).astype(np.int64)]
    part = max(1, n_features // n_classes)
    topic = np.minimum(group * part + generator.integers(0, part, len(row)), n_features - 1)
    column = np.where(generator.random(len(row)) < informative, topic, generator.integers(0, n_features, len(row)))
    X = sparse.coo_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=(n_nodes, n_features)).tocsr()
    X.data[:] = 1
    X.sort_indices()
    return X
