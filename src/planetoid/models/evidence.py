"""What features, neighbourhoods and the graph say about the classes, and which of them to trust.

With few labels, cross-validation is too noisy to select a view (:mod:`planetoid.models.views`). What helps is
*agreement*: split the evidence (the edges, the columns of X) at random into halves and predict from each. The
predictions of the two halves agree beyond chance only if both halves carry the same signal, which neither a random
graph nor noise features do. It is the mean over all unlabelled nodes and over those that labels reach in both halves of
the edges. With more labels, :func:`ask_views` gives more weight to the leave-one-out accuracy on the labelled nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from planetoid.data.scaling import Rows
from planetoid.engine.filters import Filter
from planetoid.graph.adjacency import normalized_adjacency
from planetoid.models.opinions import SECOND_POWER, Codes, kappa, sharpened
from planetoid.models.teacher import Teacher, Verdict
from planetoid.models.views import OWN_SHARE, STEPS, VIEWS, FeatureView, GraphView, View

__all__ = ["Evidence", "ask_views", "most_labelled"]

LABELS_THAT_COUNT = 100  # so many labels weigh leave-one-out as much as agreement
MOST_LABELLED, FEWEST_PER_CLASS = 1_000, 5  # labelled nodes that a view learns from
MOST_ENTRIES = 200_000_000  # nodes times labelled nodes
SECOND_CONFIDENCE = 0.6  # to which the opinion of a view that is not the best is sharpened
LEAST_WEIGHT = 0.03  # below which an opinion is not asked for
ENOUGH_NODES = 64  # for an embedding of the graph to mean something: then the graph decides a tie
TIE = 0.02  # difference between reliabilities that decides nothing
CHANCE = 0.05  # reliability, or agreement, that chance alone may give
LEAST_RELIABILITY, LEAST_PROBABILITY = 1e-3, 1e-6


class Evidence(NamedTuple):
    """Features and a graph; either may be missing."""

    X: Rows | None  # rows of unit length
    adjacency: sparse.csr_array | None  # symmetric
    n_threads: int | None = None  # of compiled products; None: of scipy

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        known = self.X if self.adjacency is None else self.adjacency
        assert known is not None
        return int(known.shape[0])

    def views(self) -> tuple[str, ...]:
        """Return the views that there is evidence for."""
        if self.adjacency is None:
            return ("features",)
        return ("graph",) if self.X is None else VIEWS

    def view(self, name: str, labelled: npt.NDArray[np.int64], random: np.random.Generator) -> View:
        """Return a view of the evidence."""
        if name == "features":
            assert self.X is not None
            return FeatureView(self.X, None, labelled, random)
        assert self.adjacency is not None
        if name == "graph":
            return GraphView(self.adjacency, labelled, self.n_threads)
        assert self.X is not None
        filter_ = Filter(normalized_adjacency(self.adjacency), "ssgc", STEPS, OWN_SHARE, self.n_threads)
        return FeatureView(self.X, filter_, labelled, random)

    def reached(self, labelled: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which nodes are connected to a labelled one."""
        if self.adjacency is None:
            return np.zeros(self.n_nodes, bool)
        _, component = connected_components(self.adjacency, directed=False)
        return np.isin(component, component[labelled])

    def halves(self, random: np.random.Generator) -> tuple[Evidence, Evidence]:
        """Split edges and columns of X at random into two halves."""
        columns = None if self.X is None else random.permutation(self.X.shape[1])
        upper = None if self.adjacency is None else sparse.triu(self.adjacency, format="coo")
        chosen = None if upper is None else random.random(upper.nnz) < 0.5
        halves = []
        for side in (False, True):
            X, adjacency = None, None
            if self.X is not None and columns is not None:
                middle = (len(columns) + 1) // 2
                X = self.X[:, np.sort(columns[middle:] if side else columns[:middle])]
            if upper is not None and chosen is not None:
                kept = chosen == side
                entries = upper.data[kept], (upper.row[kept], upper.col[kept])
                half = sparse.csr_array(entries, shape=upper.shape)
                adjacency = sparse.csr_array(half + half.T)
            halves.append(Evidence(X, adjacency, self.n_threads))
        return halves[0], halves[1]


def most_labelled(n_nodes: int, n_classes: int) -> int:
    """Return how many labelled nodes a view learns from at most, which depends on the size of the graph.

    >>> most_labelled(20_000, 3), most_labelled(4_000_000, 5)
    (1000, 50)
    """
    return max(FEWEST_PER_CLASS * n_classes, min(MOST_LABELLED, MOST_ENTRIES // max(1, n_nodes)))


def ask_views(
    evidence: Evidence,
    labelled: npt.NDArray[np.int64],
    codes: Codes,
    n_classes: int,
    *,
    names: Sequence[str] = VIEWS,
    seed: int = 0,
) -> Teacher:
    """Classify all nodes by the view that two halves of the evidence agree about most, and that the labels bear out.

    The other views give a second opinion, which counts as far as they are almost as reliable.
    """
    names = [name for name in evidence.views() if name in names]
    random = np.random.default_rng([seed, 1])
    views = {name: evidence.view(name, labelled, random) for name in names}
    targets = np.eye(n_classes)[codes]
    often = np.bincount(codes, minlength=n_classes)[codes] > 1  # in a class with another label
    fits = {name: view.regression(targets) for name, view in views.items()}
    verdicts = {}
    if len(names) > 1:
        unlabelled = np.ones(evidence.n_nodes, bool)
        unlabelled[labelled] = False
        halves = evidence.halves(random)
        reached = unlabelled & halves[0].reached(labelled) & halves[1].reached(labelled)
        for name in names:
            predicted = []
            for half in halves:
                view = half.view(name, labelled, random)
                predicted.append(view.scores(view.regression(targets).dual).argmax(axis=1))
            agreement = _agreement(predicted[0], predicted[1], (unlabelled, reached), n_classes)
            left_out = kappa(fits[name].left_out.argmax(axis=1)[often], codes[often], n_classes)
            reliability = agreement + left_out * int(often.sum()) / LABELS_THAT_COUNT
            verdicts[name] = Verdict(agreement, left_out, reliability)
    reliable = {name: max(verdicts[name].reliability, LEAST_RELIABILITY) for name in verdicts} or {names[0]: 1.0}
    best = _most_reliable(reliable, _in_doubt(evidence, verdicts))
    probabilities = views[best].classify(codes, n_classes, fits[best])
    others = np.zeros_like(probabilities)
    for name in reliable:
        weight = min(1.0, (reliable[name] + CHANCE) / (reliable[best] + CHANCE)) ** SECOND_POWER
        if name != best and weight > LEAST_WEIGHT and reliable[name] > TIE:
            opinion = sharpened(views[name].classify(codes, n_classes, fits[name]), SECOND_CONFIDENCE)
            others += np.float32(weight) * np.log(np.maximum(opinion, np.float32(LEAST_PROBABILITY)))
    return Teacher(best, probabilities, fits[best].accuracy, others, verdicts)


def _agreement(one: Codes, other: Codes, groups: Sequence[npt.NDArray[np.bool_]], n_classes: int) -> float:
    """Return the mean agreement over groups of nodes that are not empty."""
    found = [kappa(one[group], other[group], n_classes) for group in groups if group.any()]
    return sum(found) / max(1, len(found))


def _in_doubt(evidence: Evidence, verdicts: dict[str, Verdict]) -> str:
    """Return the view to prefer if others are no better: the graph, unless the features say something too."""
    features_say_something = "features" in verdicts and verdicts["features"].agreement > CHANCE
    return "neighbourhood" if features_say_something or evidence.n_nodes < ENOUGH_NODES else "graph"


def _most_reliable(reliable: dict[str, float], otherwise: str) -> str:
    """Return the best view, or the view ``otherwise`` if it is as good, or if none is better than chance.

    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.38, "graph": 0.3}, "graph")
    'neighbourhood'
    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.31, "graph": 0.3}, "graph")
    'graph'
    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.04, "graph": 0.0}, "graph")
    'graph'
    """
    beyond_chance = {name: max(0.0, found - CHANCE) for name, found in reliable.items()}
    best = max(beyond_chance, key=lambda name: beyond_chance[name])
    return otherwise if beyond_chance.get(otherwise, -1.0) > beyond_chance[best] - TIE else best
