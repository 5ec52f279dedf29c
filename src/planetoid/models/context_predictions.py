"""``ContextPredictions``: what is predicted for the contexts of a node, each from its own row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.io.model_files import Tensors
from planetoid.models.node_contexts import NodeContexts
from planetoid.models.opinions import clearly_better, geometric_mean, kappa
from planetoid.models.similar_rows import SimilarRows
from planetoid.models.student import DistilledLayers, class_probabilities

__all__ = ["ContextPredictions", "mean_prediction"]

PREDICTION_RESTART = 0.3  # of the walks over which predictions are averaged, at least
OTHER_WEIGHTS = (1.0, 0.5, 0.0)  # of the predictions of contexts, that validation labels choose from


class ContextPredictions(NamedTuple):
    """A network that is distilled from the model, and its predictions.

    A node without features has no prediction: a row of zeros.
    """

    layers: DistilledLayers
    own: npt.NDArray[np.float32]  # (node, class): of each node from its own row, and from the most similar ones
    similar: SimilarRows | None = None  # whose predictions are averaged

    @classmethod
    def of(cls, layers: DistilledLayers, x: sparse.csr_array) -> ContextPredictions:
        """Return what the network predicts for rows x."""
        described = np.diff(x.indptr)[:, None] > 0
        return cls(layers, np.where(described, class_probabilities(layers, x), np.float32(0)))

    def averaged(self, similar: SimilarRows) -> ContextPredictions:
        """Return the predictions for each node averaged with those for the nodes whose features are most like its."""
        return self._replace(own=similar.averaged(self.own), similar=similar)

    def extended(self, n_new: int, x: sparse.csr_array | None) -> ContextPredictions:
        """Return the predictions followed by those of new nodes, which have rows x or no features."""
        if x is None:
            new = np.zeros((n_new, self.own.shape[1]), np.float32)
        else:
            new = self.of(self.layers, x).own
            if self.similar is not None:
                new = self.similar.averaged_for(x, new, lambda rows: class_probabilities(self.layers, rows))
        return self._replace(own=np.vstack([self.own, new]))

    def mean(self, contexts: NodeContexts, otherwise: Probabilities) -> Probabilities:
        """Return the mean over the contexts of each node; where no context has a prediction, ``otherwise``."""
        return mean_prediction(self.own, contexts, otherwise)

    def shares(self, contexts: NodeContexts, row: int) -> npt.NDArray[np.float64]:
        """Return the share of every node in the mean of one node."""
        return _averaged(contexts).shares(row, self._described)

    @property
    def _described(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.own.any(axis=1))

    def pooled_with(
        self, probabilities: Probabilities, contexts: NodeContexts, data: Dataset, most: float, accuracy: float
    ) -> tuple[Probabilities, float]:
        """Pool the predictions of the model with these, and return the weight of these.

        They count as far as they agree with the model, beyond chance, with the weight ``most`` at most; and not at all
        if they label the labelled nodes, which they have seen, worse by more than a standard error than ``accuracy``,
        that of a simple method on labels left out. Validation labels choose another weight if it is better by more than
        a standard error.
        """
        mean = self.mean(contexts, probabilities)
        answers = [opinion[data.y < 0].argmax(axis=1) for opinion in (probabilities, mean)]
        agreement = most * max(0.0, kappa(answers[0], answers[1], data.n_classes))
        seen = float((mean[data.labelled].argmax(axis=1) == data.y[data.labelled]).mean())
        if seen + np.sqrt(accuracy * (1 - accuracy) / len(data.labelled)) < accuracy:
            agreement = 0.0
        rows, codes = data.validation_nodes
        best, chosen = geometric_mean(probabilities, mean, agreement), agreement
        for weight in OTHER_WEIGHTS if len(rows) else ():
            pool = geometric_mean(probabilities, mean, weight)
            if clearly_better(pool[rows].argmax(axis=1) == codes, best[rows].argmax(axis=1) == codes):
                best, chosen = pool, weight
        return best, chosen

    def tensors(self) -> Tensors:
        """Return everything as arrays."""
        similar = {} if self.similar is None else self.similar.tensors()
        return {"own_predictions": self.own} | self.layers.tensors("distilled") | similar

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> ContextPredictions:
        """Restore what :meth:`tensors` returned."""
        layers, own, similar = DistilledLayers.of_tensors(tensors, "distilled"), tensors["own_predictions"], None
        if "similar.share" in tensors:
            similar = SimilarRows.of_tensors(tensors, len(own), len(layers.W1))
        return cls(layers, own, similar)


def mean_prediction(own: npt.NDArray[np.float32], contexts: NodeContexts, otherwise: Probabilities) -> Probabilities:
    """Return the mean over the contexts of each node of predictions, which are rows of zeros for nodes without any.

    Where no context has a prediction, ``otherwise``.
    """
    mean = _averaged(contexts).mean(own, np.asarray(own.any(axis=1)))
    return np.where(mean.any(axis=1, keepdims=True), mean, otherwise)


def _averaged(contexts: NodeContexts) -> NodeContexts:
    """Return the contexts over which predictions are averaged."""
    return contexts._replace(restart=max(PREDICTION_RESTART, contexts.restart))
