"""What :class:`~planetoid.Planetoid` is calibrated by: a reference that sees what the model sees."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.baselines.reference import reference_sample
from planetoid.calibration import Sample, how_few
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.models.graph_inputs import MANY_CLASSES, as_seen_by
from planetoid.models.inputs import Inputs
from planetoid.models.second_view import MOST_NODES
from planetoid.models.views import OF_OWN_ROWS

__all__ = ["BETTER_WITH_FEW_LABELS", "CalibrationReference"]

BETTER_WITH_FEW_LABELS = 0.8  # factor of the temperature with one label per class: contexts gain most then


class CalibrationReference(NamedTuple):
    """What the reference of a model is made from."""

    view: str
    adjacency: sparse.csr_array
    inputs: Inputs | None  # how features were scaled, if there are any
    rows: sparse.csr_array | None  # the input of the network, while probabilities are to be calibrated by a reference

    def sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        """Return the sample by which the probabilities of all nodes are calibrated."""
        sample = self._of_reference(data, probabilities)
        factor = sample.temperature_factor
        if data.graph.n_edges and self.view not in OF_OWN_ROWS:
            factor *= BETTER_WITH_FEW_LABELS ** how_few(data.labels_per_class)
        return sample._replace(temperature_factor=factor, fewest=1)  # usual values are some guide

    def _of_reference(self, data: Dataset, probabilities: Probabilities) -> Sample:
        if self.view == "hops" and self.rows is not None:
            seen = as_seen_by("features", replace(data, X=self.rows), self.adjacency)
            return reference_sample(seen, probabilities, as_accurate=True)
        seen = as_seen_by(self.view, data, self.adjacency)
        if seen.X is not None and self.inputs is not None and not self.inputs.only_norm:
            seen = replace(seen, X=self.inputs.scaled(seen.X))  # the reference does not scale columns
        return reference_sample(seen, probabilities, as_accurate=True, embedding=self._embedding(data))

    def _embedding(self, data: Dataset) -> npt.NDArray[np.float32] | None:
        """Return the embedding of the graph, where predictions are made from it and it is small."""
        if self.view != "graph" or self.rows is None or data.n_nodes > MOST_NODES or data.n_classes >= MANY_CLASSES:
            return None
        return np.asarray(self.rows.toarray())
