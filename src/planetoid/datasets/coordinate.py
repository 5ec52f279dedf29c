"""Synthetic, DIEL-like coordinate lists, up to the full size of DIEL.

Everything is drawn as whole columns of 32-bit numbers or in chunks of lists,
so that memory stays near that of the result.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.datasets.diel import CATEGORIES
from planetoid.datasets.lists import CoordinateLists, vote
from planetoid.graph.construct import bipartite_graph
from planetoid.labels import as_classes
from planetoid.parameters import Real, check_parameters

__all__ = ["make_coordinate_lists"]

N_NODES, N_EDGES, N_FEATURES, K = 4_373_008, 4_464_261, 1_233_598, 240_000  # of DIEL
LIST_SHARE = 0.64  # of the nodes; the rest are items
ITEM_SHARE = 0.115  # of the items belong to a category
TEXT_SHARE = 0.20  # of the lists belong to a category
CHUNK = 2**18

Ints = npt.NDArray[np.int32]


def make_coordinate_lists(
    scale: float = 0.1,
    *,
    purity: float = 0.7,
    informative: float = 0.5,
    features_per_list: float = 8.0,
    seed_share: float = 0.05,
    seed_noise: float = 0.15,
    coverage: float = 0.617,
    seed: int = 0,
) -> CoordinateLists:
    """Generate lists and items with distant labels and a ground truth.

    A list belongs to one of four categories or, in most cases, to none. Its
    items have its category with probability ``purity``; some items are much more
    frequent than others. Each of its binary features comes, with probability
    ``informative``, from the features of its category, else from all. Seed
    items of each category label the lists that contain them, and some seeds are
    wrong. The ground truth has all items of a category, and others that occur
    in no list, so that recall has an upper bound.

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
    items = _Items(generator, n_nodes - n_lists)
    kind = _kinds(generator, n_lists, TEXT_SHARE)
    list_rows, item_rows = _edges(generator, kind, items, purity, n_edges)
    graph = bipartite_graph(list_rows, item_rows, n_nodes, n_lists)
    seeds, categories = _seeds(generator, items, seed_share, seed_noise)
    y = _distant_labels(list_rows, item_rows, seeds, categories, n_nodes, items.total)
    del list_rows, item_rows
    found = np.flatnonzero(items.kind < len(CATEGORIES))
    hidden = generator.integers(0, len(CATEGORIES), round(len(found) / coverage) - len(found))
    return CoordinateLists(
        name="synthetic-lists",
        graph=graph,
        X=_features(generator, kind, n_nodes, n_features, features_per_list, informative),
        y=y,
        classes=as_classes(CATEGORIES),
        description=f"synthetic, DIEL-like, at {scale:g} of the size of DIEL",
        origin=f"datasets.make_coordinate_lists(seed={seed})",
        n_lists=n_lists,
        truth_rows=np.concatenate([found + n_lists, np.full(len(hidden), -1)]),
        truth_categories=np.concatenate([items.kind[found], hidden]).astype(np.int32),
        k=round(scale * K),
    )


class _Items:
    """Items in shuffled rows; the first ones of each kind are frequent."""

    def __init__(self, generator: np.random.Generator, total: int) -> None:
        self.total = total
        self.kind = _kinds(generator, total, ITEM_SHARE)
        self.order = np.argsort(self.kind, kind="stable").astype(np.int32)
        self.bounds = np.searchsorted(self.kind[self.order], np.arange(len(CATEGORIES) + 2))

    def draw(self, generator: np.random.Generator, kind: Ints) -> Ints:
        """Draw an item of each kind, by a power law over the items of that kind."""
        size = self.bounds[kind + 1] - self.bounds[kind]
        rank = (size * generator.random(len(kind)) ** 2).astype(np.int64)
        return np.asarray(self.order[self.bounds[kind] + rank])


def _kinds(generator: np.random.Generator, total: int, share: float) -> Ints:
    """Assign a category to a share of ``total`` rows, and "other", the last kind, to the rest."""
    n_categories = len(CATEGORIES)
    kind = np.full(total, n_categories, dtype=np.int32)
    some = round(share * total)
    kind[:some] = np.arange(some) % n_categories
    return generator.permutation(kind)


def _edges(generator: np.random.Generator, kind: Ints, items: _Items, purity: float, n_edges: int) -> tuple[Ints, Ints]:
    """Put every item into a list, an item into every list, and draw until there are enough edges."""
    n_lists = len(kind)
    by_kind = np.argsort(kind, kind="stable").astype(np.int32)
    bounds = np.searchsorted(kind[by_kind], np.arange(len(CATEGORIES) + 2))

    def mixed(kinds: Ints) -> Ints:
        """Replace the kind of impure occurrences by that of a random item."""
        swap = generator.random(len(kinds)) >= purity
        anything = items.kind[generator.integers(0, items.total, int(swap.sum()))]
        kinds = kinds.copy()
        kinds[swap] = anything
        return kinds

    wanted = mixed(items.kind)
    size = bounds[wanted + 1] - bounds[wanted]
    lists = by_kind[bounds[wanted] + (size * generator.random(items.total)).astype(np.int64)]
    empty = np.setdiff1d(np.arange(n_lists, dtype=np.int32), lists)
    key = np.concatenate(
        [
            lists.astype(np.int64) * items.total + np.arange(items.total),
            empty.astype(np.int64) * items.total + items.draw(generator, mixed(kind[empty])),
        ]
    )
    while len(key) < n_edges:
        more = generator.integers(0, n_lists, n_edges - len(key), dtype=np.int32)
        new = more.astype(np.int64) * items.total + items.draw(generator, mixed(kind[more]))
        key = np.concatenate([key, np.setdiff1d(new, key)])
    return (key // items.total).astype(np.int32), (key % items.total).astype(np.int32)


def _seeds(generator: np.random.Generator, items: _Items, seed_share: float, seed_noise: float) -> tuple[Ints, Ints]:
    """Choose seed items of each category; a wrong one may be any item."""
    seeds, categories = [], []
    for category in range(len(CATEGORIES)):
        own = items.order[items.bounds[category] : items.bounds[category + 1]]
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
    generator: np.random.Generator, kind: Ints, n_nodes: int, n_features: int, mean: float, informative: float
) -> sparse.csr_array:
    """Draw the features of the lists, chunk by chunk; items have none."""
    n_lists, n_kinds = len(kind), len(CATEGORIES) + 1
    part = n_features // (2 * n_kinds)  # half of the features belong to no kind
    columns, counts = [], np.zeros(n_nodes, dtype=np.int64)
    for start in range(0, n_lists, CHUNK):
        kinds = kind[start : start + CHUNK]
        drawn = np.maximum(generator.poisson(mean, len(kinds)), 1)
        owner = np.repeat(np.arange(len(kinds), dtype=np.int64), drawn)
        own = generator.random(len(owner)) < informative
        own_column = kinds[owner] * part + _frequent_first(generator, part, len(owner))
        column = np.where(own, own_column, _frequent_first(generator, n_features, len(owner))[::-1])
        pairs = np.unique(owner * n_features + column)
        columns.append((pairs % n_features).astype(np.int32))
        counts[start : start + len(kinds)] = np.bincount(pairs // n_features, minlength=len(kinds))
    indices = np.concatenate(columns)
    del columns
    indptr = np.concatenate([[0], np.cumsum(counts)])
    kind_of_index = np.int32 if len(indices) < 2**31 else np.int64
    data = np.ones(len(indices), dtype=np.float32)
    X = sparse.csr_array((data, indices, indptr.astype(kind_of_index)), shape=(n_nodes, n_features))
    X.has_sorted_indices = True
    return X


def _frequent_first(generator: np.random.Generator, size: int, count: int) -> npt.NDArray[np.int64]:
    """Draw numbers below ``size`` by Zipf's law: the probability of k falls as 1 / (k + 1)."""
    rank = np.exp(generator.random(count) * np.log(size + 1)).astype(np.int64) - 1
    return np.asarray(np.minimum(rank, size - 1))
