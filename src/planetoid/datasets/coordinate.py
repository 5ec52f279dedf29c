"""Synthetic, DIEL-like coordinate lists, up to the full size of DIEL.

Everything is drawn as whole columns of 32-bit numbers or in chunks of lists,
so that memory stays near that of the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.datasets.diel import CATEGORIES
from planetoid.datasets.lists import CoordinateLists, vote
from planetoid.graph import Graph
from planetoid.graph.construct import bipartite_graph
from planetoid.labels import as_classes
from planetoid.parameters import Real, check_parameters

__all__ = ["make_coordinate_lists"]

N_NODES, N_EDGES, N_FEATURES, K = 4_373_008, 4_464_261, 1_233_598, 240_000  # of DIEL
LIST_SHARE = 0.64  # of the nodes; the rest are items
ITEM_SHARE = 0.115  # of the items belong to a category
TEXT_SHARE = 0.20  # of the lists belong to a category
TOPICS, OTHER_TOPICS = 25, 400  # per category, and of lists and items that belong to none
ITEMS_PER_TOPIC = 40  # at least, on a small scale with fewer topics
# Shares of the feature columns that belong to categories (and to none of them), to topics and to single items.
CATEGORY_COLUMNS, TOPIC_COLUMNS, MENTION_COLUMNS = 0.1, 0.3, 0.2
COLUMNS_PER_ITEM = 4
SCATTER = 2_654_435_761  # a prime, which sends neighbouring items to distant columns
CHUNK = 2**18

Ints = npt.NDArray[np.int32]


def make_coordinate_lists(
    scale: float = 0.1,
    *,
    purity: float = 0.85,
    informative: float = 0.5,
    features_per_list: float = 8.0,
    seed_share: float = 0.05,
    seed_noise: float = 0.15,
    coverage: float = 0.617,
    seed: int = 0,
) -> CoordinateLists:
    """Generate lists and items with distant labels and a ground truth.

    A list has a topic: one of 25 topics of one of four categories or, in most
    cases, one of 400 others. Its items have its topic with probability
    ``purity``; some items are much more frequent than others, and most lists
    have a single one. Each of its binary features comes, with probability
    ``informative``, from those of its category, its topic or one of its items
    (which all lists that mention the item share), each as often; else from all.
    Seed items of each category label the lists that contain them, and some seeds
    are wrong. The ground truth has all other items of a category, and some that
    occur in no list, so that recall has an upper bound.

    The sizes, the number of categories, k and the coverage are those published
    for DIEL; the rest is plausible and was not fitted to any result.

    Parameters
    ----------
    scale : float
        1.0 is the size of DIEL: 4,373,008 nodes, 4,464,261 edges, 1,233,598 features,
        k = 240,000.
    purity, informative : float
        How informative the graph and the features are.
    features_per_list : float
        Mean number of features drawn per list, at least one.
    seed_share : float
        Share of the items of a category that are seeds.
    seed_noise : float
        Share of the seeds that belong to another category.
    coverage : float
        Share of the ground truth that occurs in a list: the upper bound of recall.
    seed : int

    Returns
    -------
    CoordinateLists

    Examples
    --------
    >>> data = make_coordinate_lists(scale=0.001)
    >>> data
    CoordinateLists('synthetic-lists', nodes=4,373, edges=4,464, features=1,234, classes=4)
    >>> round(data.upper_bound, 2)
    0.62
    """
    check_parameters(
        "make_coordinate_lists",
        {
            "scale": scale,
            "purity": purity,
            "informative": informative,
            "features_per_list": features_per_list,
            "seed_share": seed_share,
            "seed_noise": seed_noise,
            "coverage": coverage,
        },
        {
            "scale": Real(1e-3),
            "purity": Real(0, 1),
            "informative": Real(0, 1),
            "features_per_list": Real(0, closed="neither"),
            "seed_share": Real(0, 1, closed="right"),
            "seed_noise": Real(0, 1),
            "coverage": Real(0, 1, closed="right"),
        },
    )
    generator = np.random.default_rng(seed)
    n_nodes, n_edges, n_features = (round(scale * full) for full in (N_NODES, N_EDGES, N_FEATURES))
    n_lists = round(LIST_SHARE * n_nodes)
    topics = _Topics.for_items(n_nodes - n_lists)
    items = _Items(generator, n_nodes - n_lists, topics)
    topic = topics.assign(generator, n_lists, TEXT_SHARE)
    list_rows, item_rows = _edges(generator, topic, items, purity, n_edges)
    graph = bipartite_graph(list_rows, item_rows, n_nodes, n_lists)
    seeds, categories = _seeds(generator, items, seed_share, seed_noise)
    y = _distant_labels(list_rows, item_rows, seeds, categories, n_nodes, items.total)
    del list_rows, item_rows
    category = topics.category(items.topic)
    category[seeds] = len(CATEGORIES)  # they are given, so they are not to be found
    found = np.flatnonzero(category < len(CATEGORIES))
    hidden = generator.integers(0, len(CATEGORIES), round(len(found) / coverage) - len(found))
    return CoordinateLists(
        name="synthetic-lists",
        graph=graph,
        X=_features(generator, topic, topics, graph, n_features, features_per_list, informative),
        y=y,
        classes=as_classes(CATEGORIES),
        description=f"synthetic, DIEL-like, at {scale:g} of the size of DIEL",
        origin=f"datasets.make_coordinate_lists(seed={seed})",
        n_lists=n_lists,
        truth_rows=np.concatenate([found + n_lists, np.full(len(hidden), -1)]),
        truth_categories=np.concatenate([category[found], hidden]).astype(np.int32),
        k=round(scale * K),
    )


class _Topics(NamedTuple):
    """Topics 0, 1, ... of the first category, then of the others; the last ones belong to none."""

    per_category: int
    others: int

    @classmethod
    def for_items(cls, n_items: int) -> _Topics:
        per_category = round(ITEM_SHARE * n_items / len(CATEGORIES) / ITEMS_PER_TOPIC)
        per_category = max(1, min(TOPICS, per_category))
        return cls(per_category, per_category * OTHER_TOPICS // TOPICS)

    @property
    def total(self) -> int:
        return self.per_category * len(CATEGORIES) + self.others

    def category(self, topic: Ints) -> Ints:
        """Return the category of each topic; the number of categories stands for none."""
        return np.minimum(topic // self.per_category, len(CATEGORIES)).astype(np.int32)

    def assign(self, generator: np.random.Generator, total: int, share: float) -> Ints:
        """Give a share of ``total`` rows a topic of a category, and the rest one of the other topics."""
        own = self.per_category * len(CATEGORIES)
        some = round(share * total)
        topic = own + np.arange(total, dtype=np.int32) % self.others
        topic[:some] = np.arange(some) % own
        return generator.permutation(topic)


class _Items:
    """Items in shuffled rows; the first ones of each topic are frequent."""

    def __init__(self, generator: np.random.Generator, total: int, topics: _Topics) -> None:
        self.total, self.topics = total, topics
        self.topic = topics.assign(generator, total, ITEM_SHARE)
        self.order = np.argsort(self.topic, kind="stable").astype(np.int32)
        self.bounds = np.searchsorted(self.topic[self.order], np.arange(topics.total + 1))

    def draw(self, generator: np.random.Generator, topic: Ints) -> Ints:
        """Draw an item of each topic, by a power law over the items of that topic."""
        size = self.bounds[topic + 1] - self.bounds[topic]
        rank = (size * generator.random(len(topic)) ** 2).astype(np.int64)
        return np.asarray(self.order[self.bounds[topic] + rank])


def _edges(
    generator: np.random.Generator, topic: Ints, items: _Items, purity: float, n_edges: int
) -> tuple[Ints, Ints]:
    """Put every item into a list, an item into every list, and draw until there are enough edges."""
    n_lists = len(topic)
    by_topic = np.argsort(topic, kind="stable").astype(np.int32)
    bounds = np.searchsorted(topic[by_topic], np.arange(items.topics.total + 1))

    def mixed(topics: Ints) -> Ints:
        """Replace the topic of impure occurrences by that of a random item."""
        swap = generator.random(len(topics)) >= purity
        anything = items.topic[generator.integers(0, items.total, int(swap.sum()))]
        topics = topics.copy()
        topics[swap] = anything
        return topics

    wanted = mixed(items.topic)
    size = bounds[wanted + 1] - bounds[wanted]
    lists = by_topic[bounds[wanted] + (size * generator.random(items.total)).astype(np.int64)]
    empty = np.setdiff1d(np.arange(n_lists, dtype=np.int32), lists)
    key = np.concatenate(
        [
            lists.astype(np.int64) * items.total + np.arange(items.total),
            empty.astype(np.int64) * items.total + items.draw(generator, mixed(topic[empty])),
        ]
    )
    while len(key) < n_edges:
        more = generator.integers(0, n_lists, n_edges - len(key), dtype=np.int32)
        new = more.astype(np.int64) * items.total + items.draw(generator, mixed(topic[more]))
        key = np.concatenate([key, np.setdiff1d(new, key)])
    return (key // items.total).astype(np.int32), (key % items.total).astype(np.int32)


def _seeds(generator: np.random.Generator, items: _Items, seed_share: float, seed_noise: float) -> tuple[Ints, Ints]:
    """Choose seed items of each category; a wrong one may be any item."""
    seeds, categories = [], []
    per_category = items.topics.per_category
    for category in range(len(CATEGORIES)):
        first, last = items.bounds[[category * per_category, (category + 1) * per_category]]
        own = items.order[first:last]
        count = max(round(seed_share * len(own)), 1)
        chosen = generator.choice(own, count, replace=False)
        wrong = generator.random(count) < seed_noise
        chosen[wrong] = generator.integers(0, items.total, int(wrong.sum()))
        seeds.append(np.unique(chosen))
        categories.append(np.full(len(seeds[-1]), category, dtype=np.int32))
    return np.concatenate(seeds), np.concatenate(categories)


def _distant_labels(
    list_rows: Ints, item_rows: Ints, seeds: Ints, categories: Ints, n_nodes: int, n_items: int
) -> Ints:
    marks = np.zeros((n_items, len(CATEGORIES)), dtype=bool)
    marks[seeds, categories] = True
    touched = np.flatnonzero(np.asarray(marks.any(axis=1))[item_rows])
    occurrence, category = np.nonzero(marks[item_rows[touched]])
    return vote(list_rows[touched[occurrence]], category, n_nodes, len(CATEGORIES))


def _features(
    generator: np.random.Generator,
    topic: Ints,
    topics: _Topics,
    graph: Graph,
    n_features: int,
    mean: float,
    informative: float,
) -> sparse.csr_array:
    """Draw the features of the lists, chunk by chunk; items have none."""
    n_lists, n_nodes = len(topic), graph.n_nodes
    n_kinds = len(CATEGORIES) + 1
    of_category = max(1, int(CATEGORY_COLUMNS * n_features / n_kinds))
    of_topic = max(1, int(TOPIC_COLUMNS * n_features / topics.total))
    of_items = max(1, int(MENTION_COLUMNS * n_features))
    first_of_topics = of_category * n_kinds
    first_of_items = first_of_topics + of_topic * topics.total
    columns, counts = [], np.zeros(n_nodes, dtype=np.int64)
    for start in range(0, n_lists, CHUNK):
        part = topic[start : start + CHUNK]
        drawn = np.maximum(generator.poisson(mean, len(part)), 1)
        owner = np.repeat(np.arange(len(part), dtype=np.int64), drawn)
        column = _frequent_first(generator, n_features, len(owner))[::-1].copy()
        kind = np.floor(3 * generator.random(len(owner)) / max(informative, 1e-9))  # 0, 1, 2: informative
        chosen = np.flatnonzero(kind == 0)
        own = topics.category(part[owner[chosen]])
        column[chosen] = own * of_category + _frequent_first(generator, of_category, len(chosen))
        chosen = np.flatnonzero(kind == 1)
        own = first_of_topics + part[owner[chosen]] * of_topic
        column[chosen] = own + _frequent_first(generator, of_topic, len(chosen))
        by_item = np.flatnonzero(kind == 2)
        item = _some_item(generator, graph, start + owner[by_item]) - n_lists
        which = item * COLUMNS_PER_ITEM + generator.integers(0, COLUMNS_PER_ITEM, len(item))
        column[by_item] = first_of_items + which * SCATTER % of_items
        pairs = np.unique(owner * n_features + np.minimum(column, n_features - 1))
        columns.append((pairs % n_features).astype(np.int32))
        counts[start : start + len(part)] = np.bincount(pairs // n_features, minlength=len(part))
    indices = np.concatenate(columns)
    del columns
    indptr = np.concatenate([[0], np.cumsum(counts)])
    kind_of_index = np.int32 if len(indices) < 2**31 else np.int64
    data = np.ones(len(indices), dtype=np.float32)
    X = sparse.csr_array((data, indices, indptr.astype(kind_of_index)), shape=(n_nodes, n_features))
    X.has_sorted_indices = True
    return X


def _some_item(generator: np.random.Generator, graph: Graph, lists: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Draw one of the items of each list."""
    first, size = graph.indptr[lists].astype(np.int64), np.diff(graph.indptr)[lists]
    return graph.indices[first + (size * generator.random(len(lists))).astype(np.int64)].astype(np.int64)


def _frequent_first(generator: np.random.Generator, size: int, count: int) -> npt.NDArray[np.int64]:
    """Draw numbers below ``size`` by Zipf's law: the probability of k falls as 1 / (k + 1)."""
    rank = np.exp(generator.random(count) * np.log(size + 1)).astype(np.int64) - 1
    return np.asarray(np.minimum(rank, size - 1))
