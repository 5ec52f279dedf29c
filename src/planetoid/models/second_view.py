"""The other view of the graph, where it is almost as reliable as the one that predictions are made from.

The features around a node and its place in the graph make different errors. Where both are about as reliable, their
predictions are pooled at the end: beside a network on neighbourhoods, a regression on a skip-gram embedding of the
graph, averaged over the same neighbourhoods; beside a network on such an embedding, another on the features around each
node. Opinions of simple classifiers (:mod:`planetoid.models.teacher`) enter earlier, and count less.

Where there is no other view, and the network on an embedding has many classes, it is pooled with a softmax regression
on the same embedding: each class has few labels then, from which the two learn differently, unless it has one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.types import Probabilities
from planetoid.explanation.contributions import Answer
from planetoid.io.model_files import Tensors
from planetoid.models.context_reasons import scaled_and_shifted
from planetoid.models.evidence import CHANCE
from planetoid.models.opinions import Codes, geometric_mean, sharpened
from planetoid.models.teacher import Verdict
from planetoid.models.views import FeatureView

__all__ = ["MOST_NODES", "SecondView", "embedding_opinion", "regression_beside", "second_share"]

OTHER = {"neighbourhood": "graph", "graph": "neighbourhood"}
LARGEST_SHARE, POWER = 0.5, 8  # of the ratio of the reliabilities
LABELS = 50  # that a second network needs: with so many, its share is half of that
LEAST_SHARE = 0.05  # below which it is not worth the time
MOST_NODES = 100_000  # of a graph that is embedded for an opinion alone
REGRESSION_SHARE, LABELS_PER_CLASS = 0.5, 2.0  # its share, with at least so many labels per class; with one label 0
SMALLEST = np.float32(1e-6)


class SecondView(NamedTuple):
    """What is predicted from the other view."""

    log_probabilities: npt.NDArray[np.float32]  # (node, class)
    share: float  # of them in the prediction

    @classmethod
    def beside(cls, probabilities: Probabilities, opinion: npt.NDArray[np.float32], share: float) -> SecondView:
        """Return an opinion that is as confident as the predictions which it is pooled with."""
        confidence = float(probabilities.max(axis=1).mean())
        return cls(np.log(np.maximum(sharpened(opinion, confidence), SMALLEST)), share)

    def pooled_with(self, probabilities: Probabilities) -> npt.NDArray[np.float32]:
        """Return the weighted geometric mean of both."""
        return geometric_mean(probabilities, np.exp(self.log_probabilities), self.share)

    def added_to(self, answer: Answer, row: int, contrast: npt.NDArray[np.float64]) -> Answer:
        """Return the answer about a prediction, pooled with this opinion of the node."""
        return scaled_and_shifted(answer, 1 - self.share, self.share * float(self.log_probabilities[row] @ contrast))

    def tensors(self) -> Tensors:
        """Return everything as arrays."""
        share = np.array([self.share])
        return {"second_view.log_probabilities": self.log_probabilities, "second_view.share": share}

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> SecondView:
        """Restore what :meth:`tensors` returned."""
        return cls(tensors["second_view.log_probabilities"], float(tensors["second_view.share"][0]))


def second_share(verdicts: dict[str, Verdict], view: str, n_labels: int) -> float:
    """Return the share of the other view: the less, the less reliable it is; 0 if it is not worth the time.

    >>> verdicts = {"neighbourhood": Verdict(0.9, 0.8, 2.0), "graph": Verdict(0.9, 0.7, 1.8)}
    >>> [round(second_share(verdicts, view, 150), 2) for view in ("neighbourhood", "graph", "features")]
    [0.22, 0.38, 0.0]
    """
    if view not in OTHER or not {view, OTHER[view]} <= set(verdicts):
        return 0.0
    own, other = (max(0.0, verdicts[name].reliability) for name in (view, OTHER[view]))
    if other <= CHANCE:
        return 0.0
    share = LARGEST_SHARE * min(1.0, other / max(own, CHANCE)) ** POWER
    if view == "graph":
        share *= n_labels / (n_labels + LABELS)
    return share if share >= LEAST_SHARE else 0.0


def embedding_opinion(
    x: sparse.csr_array, adjacency: sparse.csr_array, labelled: npt.NDArray[np.int64], codes: Codes, n_classes: int,
    *, seed: int, n_threads: int,
) -> npt.NDArray[np.float32]:  # fmt: skip
    """Classify all nodes by the mean of an embedding x of the graph around them."""
    view = FeatureView(x.toarray(), adjacency, labelled, np.random.default_rng([seed, 3]), n_threads)
    return view.classify(codes, n_classes, view.regression(np.eye(n_classes)[codes]))


def regression_beside(
    probabilities: Probabilities, x: sparse.csr_array, labelled: npt.NDArray[np.int64], codes: Codes
) -> SecondView | None:
    """Return what a softmax regression on an embedding x of the graph says, as in ``GraphEmbedding``."""
    from planetoid.baselines.graph_embedding import inverse_penalty
    from planetoid.training.softmax_regression import fit_softmax

    rows, n_classes = x.toarray(), probabilities.shape[1]
    share = REGRESSION_SHARE * min(1.0, (len(labelled) / n_classes - 1) / (LABELS_PER_CLASS - 1))
    if share < LEAST_SHARE:
        return None
    fitted = fit_softmax(rows[labelled], codes, n_classes, inverse_penalty(n_classes, len(labelled)))
    return SecondView.beside(probabilities, fitted.probabilities(rows).astype(np.float32), share)
