"""What features, neighbourhoods and the graph say about the classes, and which of them to trust.

With few labels, cross-validation is too noisy to select a view (:mod:`planetoid.models.views`). What helps is
*agreement*: split the evidence (the edges, the columns of X) at random into halves and predict from each. The
predictions of the two halves agree beyond chance only if both halves carry the same signal, which neither a random
graph nor noise features do. It is the mean over all unlabelled nodes and over those that labels reach in both halves of
the edges. A view does not agree about nodes of which it knows nothing: the graph about those that no label reaches,
features about nodes without any, neighbourhoods about those that are not connected to one with features. With more
labels, :func:`ask_views` gives more weight to the leave-one-out accuracy on the labelled nodes.

A graph may have communities that are not the classes. Both halves of its edges then show the same communities, and
agree although they are wrong. Left-out labels reveal it: where they say, by more than two standard errors, that a view
is less accurate than its halves agree, its agreement counts no more than these labels, and contexts are closer to the
node.

All three views expect that joined nodes are alike, or that the graph says nothing. Where joined nodes differ in a
regular way, a fourth one (:mod:`planetoid.models.hops`) tells the classes. It is taken if left-out labels say, by more
than two standard errors, that it is better than each of the others; there is no agreement that would say it with less.
It also has to be better than the views of the graph by seven points, which a network on contexts may gain beside a
linear classifier, as on communities that are only partly the classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.scaling import Rows
from planetoid.graph.adjacency import reached_from
from planetoid.labels import some_of_each_class
from planetoid.models.hops import Hops
from planetoid.models.node_contexts import USUAL_RESTART
from planetoid.models.opinions import FEW_LABELS, SECOND_POWER, Codes, clearly_better, kappa, sharpened
from planetoid.models.teacher import Teacher, Verdict
from planetoid.models.views import ALL_VIEWS, VIEWS, FeatureView, GraphView, Regression, View

__all__ = ["CHANCE", "Evidence", "ask_views", "most_labelled", "neighbours_say_more"]

LABELS_THAT_COUNT = 100  # so many labels weigh leave-one-out as much as agreement
MOST_LABELLED, FEWEST_PER_CLASS = 1_000, 5  # labelled nodes that a view learns from
MOST_ENTRIES = 200_000_000  # nodes times labelled nodes
MOST_IN_HALVES = 200  # labelled nodes that halves of the evidence learn from: with more, leave-one-out decides
SECOND_CONFIDENCE = 0.6  # to which the opinion of a view that is not the best is sharpened
LEAST_WEIGHT = 0.03  # below which an opinion is not asked for
ENOUGH_NODES = 64  # for an embedding of the graph to mean something: then the graph decides a tie
TIE = 0.02  # difference between reliabilities that decides nothing
CHANCE = 0.05  # reliability, or agreement, that chance alone may give
LEAST_RELIABILITY, LEAST_PROBABILITY = 1e-3, 1e-6
GAIN_OF_CONTEXTS = 0.07  # of the accuracy on left-out labels, that a network on contexts may add to a linear view
STANDARD_ERRORS = 2.0  # of the accuracy on left-out labels, within which agreement may be above it
LARGE_EXCESS, LARGEST_RESTART = 0.15, 0.7  # relative excess of agreement at which contexts are closest to the node


class Evidence(NamedTuple):
    """Features and a graph; either may be missing."""

    X: Rows | None  # rows of unit length
    adjacency: sparse.csr_array | None  # symmetric
    n_threads: int | None = None  # of compiled products; None: of scipy
    hops: Hops | None = None  # if that view is asked too

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
        if name == "hops":
            assert self.hops is not None
            return FeatureView(self.hops.rows(self.adjacency), None, labelled, random)
        if name == "graph":
            return GraphView(self.adjacency, labelled, self.n_threads)
        assert self.X is not None
        return FeatureView(self.X, self.adjacency, labelled, random, self.n_threads)

    def said(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Return about which nodes a view of the features says anything: those that have some, or have some around."""
        if self.X is None:
            return {}
        described = np.asarray(self.X.any(axis=1) if isinstance(self.X, np.ndarray) else np.diff(self.X.indptr) > 0)
        if self.adjacency is None or described.all():
            return {"features": described, "neighbourhood": described}
        return {"features": described, "neighbourhood": reached_from(self.adjacency, np.flatnonzero(described))}

    def reached(self, labelled: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Return which nodes are connected to a labelled one."""
        if self.adjacency is None:
            return np.zeros(self.n_nodes, bool)
        return reached_from(self.adjacency, labelled)

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
    names: Sequence[str] = ALL_VIEWS,
    seed: int = 0,
) -> Teacher:
    """Classify all nodes by the view that two halves of the evidence agree about most, and that the labels bear out.

    The other views give a second opinion, which counts as far as they are almost as reliable.
    """
    with_hops = evidence.hops is not None and "hops" in names
    names = [name for name in evidence.views() if name in names] or ["hops"]
    random = np.random.default_rng([seed, 1])
    views = {name: evidence.view(name, labelled, random) for name in names}
    targets = np.eye(n_classes)[codes]
    often = np.bincount(codes, minlength=n_classes)[codes] > 1  # in a class with another label
    fits = {name: view.regression(targets) for name, view in views.items()}
    verdicts, n_often = {}, int(often.sum())
    if len(names) > 1:
        agreements = _agreements(evidence, labelled, codes, n_classes, names, random)
        for name in names:
            left_out = kappa(fits[name].left_out.argmax(axis=1)[often], codes[often], n_classes)
            agreement, most = agreements[name], _most_agreement(left_out, n_often)
            counted = max(0.0, left_out) if agreement > most else agreement
            reliability = counted + left_out * n_often / LABELS_THAT_COUNT
            verdicts[name] = Verdict(agreement, left_out, reliability)
    reliable = {name: max(verdicts[name].reliability, LEAST_RELIABILITY) for name in verdicts} or {names[0]: 1.0}
    best = _most_reliable(reliable, _in_doubt(evidence, verdicts))
    if with_hops and names != ["hops"] and _hops_are_better(evidence, labelled, codes, targets, fits, often):
        best = "hops"
        views[best] = evidence.view(best, labelled, np.random.default_rng([seed, 5]))
        fits[best] = views[best].regression(targets)
        left_out = kappa(fits[best].left_out.argmax(axis=1)[often], codes[often], n_classes)
        verdicts[best] = Verdict(left_out, left_out, left_out * (1 + n_often / LABELS_THAT_COUNT))
        reliable[best] = max(verdicts[best].reliability, LEAST_RELIABILITY)
    probabilities = views[best].classify(codes, n_classes, fits[best])
    others = np.zeros_like(probabilities)
    for name in [other for other in reliable if other != best and other in verdicts]:
        weight = _second_weight(name, best, reliable, verdicts, n_often)
        if weight > LEAST_WEIGHT:
            opinion = sharpened(views[name].classify(codes, n_classes, fits[name]), SECOND_CONFIDENCE)
            others += np.float32(weight) * np.log(np.maximum(opinion, np.float32(LEAST_PROBABILITY)))
    restart = _restart(verdicts[best], n_often) if best == "neighbourhood" and verdicts else USUAL_RESTART
    return Teacher(best, probabilities, fits[best].accuracy, others, verdicts, restart=restart)


def _hops_are_better(
    evidence: Evidence,
    labelled: npt.NDArray[np.int64],
    codes: Codes,
    targets: npt.NDArray[np.float64],
    fits: dict[str, Regression],
    often: npt.NDArray[np.bool_],
) -> bool:
    """Return whether the rows of hops label left-out nodes clearly better than every other view."""
    assert evidence.hops is not None
    assert evidence.adjacency is not None
    rows = evidence.hops.rows(evidence.adjacency, labelled)
    view = FeatureView(rows, None, np.arange(len(labelled)), np.random.default_rng(0))
    found = (view.regression(targets).left_out.argmax(axis=1) == codes)[often]
    for name, fit in fits.items():
        other = (fit.left_out.argmax(axis=1) == codes)[often]
        least = 0.0 if name == "features" else GAIN_OF_CONTEXTS
        if not clearly_better(found, other, STANDARD_ERRORS) or found.mean() < other.mean() + least:
            return False
    return True


def neighbours_say_more(
    X: Rows,
    adjacency: sparse.csr_array,
    joined: sparse.csr_array,
    labelled: npt.NDArray[np.int64],
    codes: Codes,
    n_classes: int,
) -> bool:
    """Return whether the features around a node label left-out nodes clearly better in a graph with more edges."""
    often = np.bincount(codes, minlength=n_classes)[codes] > 1
    found = []
    for graph in (joined, adjacency):
        view = Evidence(X, graph).view("neighbourhood", labelled, np.random.default_rng(0))
        fit = view.regression(np.eye(n_classes)[codes])
        found.append((fit.left_out.argmax(axis=1) == codes)[often])
    return clearly_better(found[0], found[1], STANDARD_ERRORS)


def _most_agreement(left_out: float, n_labels: int) -> float:
    """Return what the agreement is at most if so many left-out labels are predicted as well as their kappa says."""
    return left_out + STANDARD_ERRORS * float(np.sqrt(max(0.0, 1.0 - left_out**2) / n_labels)) if n_labels else 1.0


def _restart(verdict: Verdict, n_labels: int) -> float:
    """Return the restart of contexts: larger, the more the halves of a view agree beyond what left-out labels explain.

    >>> one, other = Verdict(0.6, 0.6, 1.5), Verdict(0.8, 0.4, 1.5)
    >>> _restart(one, 140), _restart(other, 140), _restart(other, 5)
    (0.15, 0.7, 0.15)
    """
    excess = verdict.agreement / max(_most_agreement(verdict.leave_one_out, n_labels), CHANCE) - 1.0
    return USUAL_RESTART + (LARGEST_RESTART - USUAL_RESTART) * float(np.clip(excess / LARGE_EXCESS, 0.0, 1.0))


def _agreements(
    evidence: Evidence,
    labelled: npt.NDArray[np.int64],
    codes: Codes,
    n_classes: int,
    names: Sequence[str],
    random: np.random.Generator,
) -> dict[str, float]:
    """Return how far the predictions of two halves of the evidence agree, for each view."""
    some = some_of_each_class(codes, np.arange(len(codes)), MOST_IN_HALVES)
    labelled, targets = labelled[some], np.eye(n_classes)[codes[some]]
    unlabelled = np.ones(evidence.n_nodes, bool)
    unlabelled[labelled] = False
    halves = evidence.halves(random)
    reached = unlabelled & halves[0].reached(labelled) & halves[1].reached(labelled)
    said = evidence.said() | {"graph": reached}
    found = {}
    for name in names:
        predicted = []
        for half in halves:
            view = half.view(name, labelled, random)
            predicted.append(view.scores(view.regression(targets).dual).argmax(axis=1))
        found[name] = _agreement(predicted, unlabelled, reached, n_classes, said.get(name))
    return found


def _second_weight(
    name: str, best: str, reliable: dict[str, float], verdicts: dict[str, Verdict], n_labels: int
) -> float:
    """Return what a second opinion counts: as far as it is as reliable, and as good at labels that were left out."""
    correct = [n_labels * max(0.0, verdicts[view].leave_one_out) + FEW_LABELS for view in (name, best)]
    ratios = (reliable[name] + CHANCE) / (reliable[best] + CHANCE), correct[0] / correct[1]
    return float(min(1.0, ratios[0]) * min(1.0, ratios[1])) ** SECOND_POWER


def _agreement(
    predicted: Sequence[Codes],
    unlabelled: npt.NDArray[np.bool_],
    reached: npt.NDArray[np.bool_],
    n_classes: int,
    said: npt.NDArray[np.bool_] | None = None,
) -> float:
    """Return how far two predictions agree: the mean over all unlabelled nodes and over those that labels reach.

    ``said`` are the nodes about which there is any evidence, if not all. About the others both predictions are the same
    guess, whose agreement says nothing.
    """
    one, other = predicted
    found = []
    for group in (unlabelled, reached):
        some = group if said is None else group & said
        share = int(some.sum()) / max(1, int(group.sum()))
        found.append(share * kappa(one[some], other[some], n_classes) if share else 0.0)
    everywhere, within = found
    return (everywhere + within) / 2 if reached.any() else everywhere


def _in_doubt(evidence: Evidence, verdicts: dict[str, Verdict]) -> str:
    """Return the view to prefer if others are no better: the graph, unless the features say something too."""
    features_say_something = "features" in verdicts and verdicts["features"].agreement > CHANCE
    return "neighbourhood" if features_say_something or evidence.n_nodes < ENOUGH_NODES else "graph"


def _most_reliable(reliable: dict[str, float], otherwise: str) -> str:
    """Return the best view, or the view ``otherwise`` if it is about as good.

    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.38, "graph": 0.3}, "graph")
    'neighbourhood'
    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.31, "graph": 0.3}, "graph")
    'graph'
    >>> _most_reliable({"features": 0.01, "neighbourhood": 0.04, "graph": 0.0}, "graph")
    'neighbourhood'
    """
    best = max(reliable, key=lambda name: reliable[name])
    return otherwise if reliable.get(otherwise, -1.0) > reliable[best] - TIE else best
