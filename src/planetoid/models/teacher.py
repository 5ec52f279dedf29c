"""``Teacher``: what simple classifiers say about the classes, and how much it counts beside the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.labels import are_balanced
from planetoid.models.node_contexts import USUAL_RESTART
from planetoid.models.opinions import FEW_LABELS, SECOND_POWER, Codes, geometric_mean, sharpened
from planetoid.models.views import FeatureView

if TYPE_CHECKING:
    from planetoid.engine.consistency import Examples

__all__ = ["Teacher", "Verdict", "label_weight"]

PRIOR_CONFIDENCE = 0.8  # to which the teacher's predictions are sharpened before they are counted
PRIOR_LABELS = 3.0  # per class, from which on the teacher's counts weigh more than the frequencies of the labels
TEACHER_WEIGHT = 0.25  # of the teacher's log-probabilities in the prediction
TEACHER_LABELS = 20.0  # this / number of labels is added to that weight
TEACHER_KNOWS_BETTER = 4.0  # the same, where the network labels its own labels worse than the teacher those left out
LEAST_RELIABILITY = 1e-3
SMALLEST = np.float32(1e-12)


class Verdict(NamedTuple):
    """How reliable a view is."""

    agreement: float  # of two halves of the evidence: 1 is perfect, 0 is chance
    leave_one_out: float  # accuracy on the labelled nodes, scaled likewise
    reliability: float  # both together


class Teacher(NamedTuple):
    """What the evidence says."""

    view: str  # the most reliable one
    probabilities: npt.NDArray[np.float32]  # by that view
    accuracy: float  # of that view, on labelled nodes that are left out
    second_opinions: npt.NDArray[np.float32]  # log-probabilities by the other views, weighted by their reliability
    verdicts: dict[str, Verdict]
    network_share: float | None = None  # weight of the network beside the teacher, if it is known
    restart: float = USUAL_RESTART  # of contexts
    share_of_labels: float = 1.0  # that the views learned from: so much their opinions count beside the network

    def with_embedding(self, x: sparse.csr_array, labelled: npt.NDArray[np.int64], codes: Codes, seed: int) -> Teacher:
        """Let a regression on an embedding teach too, as far as it labels left-out nodes as well as the teacher."""
        n_classes = self.probabilities.shape[1]
        view = FeatureView(x.toarray(), None, labelled, np.random.default_rng([seed, 3]))
        fit = view.regression(np.eye(n_classes)[codes])
        opinion = sharpened(view.classify(codes, n_classes, fit), float(self.probabilities.max(axis=1).mean()))
        one, other = (
            (len(labelled) * accuracy + FEW_LABELS) ** SECOND_POWER for accuracy in (fit.accuracy, self.accuracy)
        )
        share = one / (one + other)
        return self._replace(
            probabilities=geometric_mean(self.probabilities, opinion, share),
            accuracy=max(fit.accuracy, self.accuracy),
            network_share=share,  # its input is the embedding
        )

    def examples(self, y: Codes, labelled: npt.NDArray[np.int64]) -> Examples:
        """Return what the network learns from: the labelled nodes, the others, and what the teacher says."""
        from planetoid.engine.consistency import Examples

        codes = y[labelled]
        return Examples(
            labelled=labelled.astype(np.int32),
            codes=codes.astype(np.int32),
            unlabelled=np.flatnonzero(y < 0).astype(np.int32),
            teacher=self.probabilities,
            prior=self.class_prior(codes),
            label_weight=label_weight(codes, self.probabilities.shape[1]),
        )

    def class_prior(self, codes: Codes) -> npt.NDArray[np.float32]:
        """Return the class prior: the frequencies of the labels, or what the teacher counts.

        Labels that are as frequent in every class were chosen by class, so their frequencies say nothing; with more of
        them, the teacher's predictions do. Other labels are taken for a random sample.
        """
        n_classes = self.probabilities.shape[1]
        counts = np.bincount(codes, minlength=n_classes)
        if not are_balanced(codes):
            return np.asarray((counts + 1) / (len(codes) + n_classes), dtype=np.float32)
        per_class = len(codes) / n_classes
        share = (per_class / (per_class + PRIOR_LABELS)) ** 2
        counted = sharpened(self.probabilities, PRIOR_CONFIDENCE).mean(axis=0)
        labels = counts / len(codes)
        return np.asarray(share * counted + (1 - share) * labels, dtype=np.float32)

    @property
    def network_weight(self) -> np.float32:
        """Weight of the log-probabilities of the network."""
        weight: np.float32 = np.float32(1 if self.network_share is None else 2 * self.network_share)
        return weight

    def features_rival_graph(self, least: float, most: float) -> float:
        """Return how far the features of a node are as reliable as its place in the graph: from 0 to 1.

        ``least`` and ``most`` are the ratios of both for which it is 0 or 1.
        """
        if not {"features", "graph"} <= set(self.verdicts):
            return 1.0
        of_features, of_graph = (max(0.0, self.verdicts[view].reliability) for view in ("features", "graph"))
        ratio = of_features / max(of_graph, LEAST_RELIABILITY)
        return float(np.clip((ratio - least) / (most - least), 0.0, 1.0))

    def weight(self, n_labels: int, *, fits: bool) -> np.float32:
        """Return the weight of the teacher's log-probabilities, beside a network that fits its labels or not."""
        if self.network_share is not None:
            weight = 2 * (1 - self.network_share)
        else:
            weight = TEACHER_WEIGHT + TEACHER_LABELS / n_labels if fits else TEACHER_KNOWS_BETTER
            weight *= self.share_of_labels
        rounded: np.float32 = np.float32(weight)
        return rounded

    def opinions(self, weight: np.float32) -> npt.NDArray[np.float32]:
        """Return what the teacher, with its weight, and the other views add to the log-probabilities of the network."""
        opinion = weight * np.log(np.maximum(self.probabilities, SMALLEST))
        return np.asarray(opinion + np.float32(self.share_of_labels) * self.second_opinions, dtype=np.float32)


def label_weight(codes: Codes, n_classes: int) -> npt.NDArray[np.float32]:
    """Return what a label of each class counts, so that all classes count the same.

    >>> label_weight(np.array([0, 0, 0, 0, 0, 0, 1, 1]), 2).tolist() == [np.float32(2 / 3), 2.0]
    True
    """
    counts = np.bincount(codes, minlength=n_classes)
    present = counts > 0
    weight = len(codes) / (present.sum() * np.maximum(counts, 1))
    return np.where(present, weight, 1.0).astype(np.float32)
