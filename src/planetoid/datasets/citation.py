"""A synthetic citation graph with planted classes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.splits import rate_split
from planetoid.errors import ParameterError
from planetoid.graph import EdgeList, Graph
from planetoid.ids import NodeIds
from planetoid.labels import as_classes
from planetoid.parameters import Integer, Real, check_parameters

__all__ = ["make_citation"]

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def make_citation(
    n_nodes: int = 2000,
    n_classes: int = 5,
    n_features: int = 1000,
    *,
    homophily: float = 0.8,
    mean_degree: float = 4.0,
    degree_exponent: float | None = 3.0,
    isolated: float = 0.0,
    words_per_node: float = 18.0,
    informative: float = 0.3,
    label_rate: float = 0.05,
    seed: int = 0,
) -> Dataset:
    """Generate a graph of papers with planted classes and bags of words.

    Classes have equal sizes. The source of an edge is drawn in proportion to its
    attractiveness; the target is, with probability ``homophily``, of the same
    class, else of another one, again in proportion to attractiveness. A word of
    a node comes, with probability ``informative``, from the vocabulary of its
    class (an equal part of all words), else from all words. Features are binary.

    Parameters
    ----------
    n_nodes, n_classes, n_features : int
    homophily : float
        Expected share of edges within a class; 1 / ``n_classes`` carries no information.
    mean_degree : float
        There are exactly ``round(n_nodes * mean_degree / 2)`` edges, all distinct.
    degree_exponent : float or None
        Attractiveness is drawn from a power law with this exponent (greater than
        2; heavier tails below 3); ``None``: all nodes are equally attractive.
    isolated : float
        Share of nodes without an edge.
    words_per_node : float
        Mean number of words drawn per node, at least one.
    informative : float
        0: features are noise; 1: they determine the class.
    label_rate : float
        Share of each class that is labelled in ``split("public")``; the rest is for testing.
    seed : int

    Returns
    -------
    Dataset
        ``y`` holds all labels.

    Examples
    --------
    >>> make_citation(500, 4, 200, mean_degree=6, seed=1)
    Dataset('synthetic-citation', nodes=500, edges=1,500, features=200, classes=4)
    """
    check_parameters(
        "make_citation",
        {
            "n_nodes": n_nodes,
            "n_classes": n_classes,
            "n_features": n_features,
            "homophily": homophily,
            "mean_degree": mean_degree,
            "degree_exponent": degree_exponent,
            "isolated": isolated,
            "words_per_node": words_per_node,
            "informative": informative,
        },
        {
            "n_nodes": Integer(2),
            "n_classes": Integer(2, n_nodes),
            "n_features": Integer(n_classes),
            "homophily": Real(0, 1),
            "mean_degree": Real(0),
            "degree_exponent": (Real(2, closed="neither"), None),
            "isolated": Real(0, 1),
            "words_per_node": Real(0, closed="neither"),
            "informative": Real(0, 1),
        },
    )
    generator = np.random.default_rng(seed)
    y = generator.permutation(np.arange(n_nodes) % n_classes)
    attractive = np.ones(n_nodes)
    if degree_exponent is not None:
        attractive += generator.pareto(degree_exponent - 1, n_nodes)
    attractive[generator.permutation(n_nodes)[: round(isolated * n_nodes)]] = 0
    n_edges = round(n_nodes * mean_degree / 2)
    source, target = _edges(generator, y, n_classes, attractive, homophily, n_edges)
    return Dataset(
        name="synthetic-citation",
        graph=Graph.from_rows(EdgeList(source, target), NodeIds(n_nodes)),
        X=_words(generator, y, n_classes, n_features, words_per_node, informative),
        y=y.astype(np.int32),
        classes=as_classes(tuple(f"class {k}" for k in range(n_classes))),
        description=f"synthetic, with planted classes: homophily {homophily:g}, informative words {informative:g}",
        origin=f"datasets.make_citation(seed={seed})",
        public=rate_split(y, label_rate, seed=seed),
    )


def _edges(
    generator: np.random.Generator,
    y: Rows,
    n_classes: int,
    attractive: Floats,
    homophily: float,
    n_edges: int,
) -> tuple[Rows, Rows]:
    """Draw distinct edges until there are enough."""
    n_nodes = len(y)
    by_class = np.argsort(y, kind="stable")
    cumulative = np.concatenate([[0.0], np.cumsum(attractive[by_class])])
    bounds = cumulative[np.searchsorted(y[by_class], np.arange(n_classes + 1))]

    def draw(low: float | Floats, width: float | Floats, size: int) -> Rows:
        """Draw nodes in proportion to attractiveness from an interval of classes, which may wrap around."""
        point = (low + width * generator.random(size)) % cumulative[-1]
        rank = np.minimum(np.searchsorted(cumulative, point, side="right") - 1, n_nodes - 1)
        return np.asarray(by_class[rank])

    seen = np.empty(0, dtype=np.int64)
    for _ in range(100):
        if len(seen) >= n_edges or cumulative[-1] == 0:
            break
        size = int(1.2 * (n_edges - len(seen))) + 16
        source = draw(0.0, cumulative[-1], size)
        low, high = bounds[y[source]], bounds[y[source] + 1]
        same = generator.random(size) < homophily
        target = draw(np.where(same, low, high), np.where(same, high - low, cumulative[-1] - (high - low)), size)
        new = np.minimum(source, target) * n_nodes + np.maximum(source, target)
        new = new[source != target]
        pairs = np.concatenate([seen, new])
        _, first = np.unique(pairs, return_index=True)
        seen = pairs[np.sort(first)]
    if len(seen) < n_edges:
        raise ParameterError(
            f"{n_nodes:,} nodes cannot have {n_edges:,} distinct edges; lower mean_degree", parameter="mean_degree"
        )
    return seen[:n_edges] // n_nodes, seen[:n_edges] % n_nodes


def _words(
    generator: np.random.Generator, y: Rows, n_classes: int, n_features: int, words_per_node: float, informative: float
) -> sparse.csr_array:
    counts = np.maximum(generator.poisson(words_per_node, len(y)), 1)
    row = np.repeat(np.arange(len(y)), counts)
    own = generator.random(len(row)) < informative
    part = n_features // n_classes
    word = generator.integers(0, n_features, len(row))
    topic = y[row] * part + generator.integers(0, part, len(row))
    column = np.where(own, topic, word)
    X = sparse.coo_array((np.ones(len(row), dtype=np.float32), (row, column)), shape=(len(y), n_features)).tocsr()
    X.data[:] = 1
    X.sort_indices()
    return X
