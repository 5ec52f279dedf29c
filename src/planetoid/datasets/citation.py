"""A made citation graph with planted classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.splits import rate_split
from planetoid.errors import ParameterError
from planetoid.graph import EdgeList, Graph
from planetoid.ids import NodeIds
from planetoid.labels import as_classes

__all__ = ["make_citation"]

Rows = npt.NDArray[np.int64]


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
    """Make a graph of papers with planted classes and bags of words.

    Classes are equally likely. An edge starts at a node chosen by its
    attractiveness and ends, with probability ``homophily``, at a node of the
    same class, else of another one, again chosen by attractiveness. A word of a
    node comes, with probability ``informative``, from the vocabulary of its class
    (an equal part of all words), else from all words; a word is there or not.

    Parameters
    ----------
    n_nodes, n_classes, n_features : int
    homophily : float
        Expected share of edges within a class; 1 / ``n_classes`` says nothing about the class.
    mean_degree : float
        Edges are exactly ``round(n_nodes * mean_degree / 2)``, all distinct.
    degree_exponent : float or None
        Attractiveness is drawn from a power law with this exponent (above 2;
        heavier tails below 3); ``None``: all nodes are equally attractive.
    isolated : float
        Share of nodes that get no edge.
    words_per_node : float
        Mean of words drawn for a node, at least one each.
    informative : float
        0: features are noise; 1: they give the class away.
    label_rate : float
        Share of each class that is labelled in ``split("public")``; the rest is test.
    seed : int

    Returns
    -------
    Dataset
        ``y`` holds all labels.

    Examples
    --------
    >>> make_citation(500, 4, 200, mean_degree=6, seed=1)
    Dataset('made-citation', nodes=500, edges=1,500, features=200, classes=4)
    """
    _check(n_nodes, n_classes, n_features, degree_exponent, words_per_node, mean_degree)
    for name, share in (("homophily", homophily), ("isolated", isolated), ("informative", informative)):
        if not 0 <= share <= 1:
            raise ParameterError(f"{name}={share!r}; it is a share, from 0 to 1")
    generator = np.random.default_rng(seed)
    y = generator.permutation(np.arange(n_nodes) % n_classes)
    attractive = np.ones(n_nodes)
    if degree_exponent is not None:
        attractive += generator.pareto(degree_exponent - 1, n_nodes)
    attractive[generator.permutation(n_nodes)[: round(isolated * n_nodes)]] = 0
    n_edges = round(n_nodes * mean_degree / 2)
    source, target = _edges(generator, y, n_classes, attractive, homophily, n_edges)
    return Dataset(
        name="made-citation",
        graph=Graph.from_rows(EdgeList(source, target), NodeIds(n_nodes)),
        X=_words(generator, y, n_classes, n_features, words_per_node, informative),
        y=y.astype(np.int32),
        classes=as_classes(tuple(f"class {k}" for k in range(n_classes))),
        description=f"made, with planted classes: homophily {homophily:g}, informative words {informative:g}",
        origin=f"datasets.make_citation(seed={seed})",
        public=rate_split(y, label_rate, seed=seed),
    )


def _check(
    n_nodes: int,
    n_classes: int,
    n_features: int,
    degree_exponent: float | None,
    words_per_node: float,
    mean_degree: float,
) -> None:
    if not 2 <= n_classes <= n_nodes:
        raise ParameterError(f"n_classes={n_classes}; it is at least 2 and at most n_nodes={n_nodes}")
    if n_features < n_classes:
        raise ParameterError(f"n_features={n_features}; every one of {n_classes} classes needs a word of its own")
    if degree_exponent is not None and not degree_exponent > 2:
        raise ParameterError(f"degree_exponent={degree_exponent!r}; it must be above 2 for degrees to have a mean")
    if not words_per_node > 0 or not mean_degree >= 0:
        raise ParameterError(f"words_per_node={words_per_node!r}, mean_degree={mean_degree!r}; they cannot be negative")


def _edges(
    generator: np.random.Generator,
    y: Rows,
    n_classes: int,
    attractive: npt.NDArray[np.float64],
    homophily: float,
    n_edges: int,
) -> tuple[Rows, Rows]:
    """Draw distinct edges, in rounds, until there are enough."""
    n_nodes = len(y)
    by_class = np.argsort(y, kind="stable")
    reach = np.concatenate([[0.0], np.cumsum(attractive[by_class])])
    bounds = reach[np.searchsorted(y[by_class], np.arange(n_classes + 1))]

    def draw(low: Any, width: Any, size: int) -> Rows:
        """Choose nodes by attractiveness within an interval of classes (which may wrap around)."""
        point = (low + width * generator.random(size)) % reach[-1]
        place = np.minimum(np.searchsorted(reach, point, side="right") - 1, n_nodes - 1)
        return np.asarray(by_class[place])

    seen = np.empty(0, dtype=np.int64)
    for _ in range(100):
        if len(seen) >= n_edges:
            break
        if reach[-1] == 0:
            break
        size = int(1.2 * (n_edges - len(seen))) + 16
        source = draw(0.0, reach[-1], size)
        low, high = bounds[y[source]], bounds[y[source] + 1]
        same = generator.random(size) < homophily
        target = draw(np.where(same, low, high), np.where(same, high - low, reach[-1] - (high - low)), size)
        new = np.minimum(source, target) * n_nodes + np.maximum(source, target)
        new = new[source != target]
        pairs = np.concatenate([seen, new])
        _, first = np.unique(pairs, return_index=True)
        seen = pairs[np.sort(first)]
    if len(seen) < n_edges:
        raise ParameterError(f"{n_edges:,} distinct edges do not fit between {n_nodes:,} nodes; lower mean_degree")
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
