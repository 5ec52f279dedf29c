"""``CalibrationMixin``: from what a method learned to calibrated distributions, and the thresholds of sets."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np
import numpy.typing as npt

from planetoid.calibration import GUESSED_UNIFORM, MIN_LABELS, Calibration, Sample, calibrate, log_probabilities
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.errors import PlanetoidError, PlanetoidWarning, warn
from planetoid.estimator.base import MethodBase
from planetoid.multi_label import SetSample, best_threshold, calibrate_sets, class_logits, to_distributions
from planetoid.prediction_sets import node_sets, thresholds

__all__ = ["CalibrationMixin"]


class CalibrationMixin(MethodBase):
    """Calibrates what ``_fit`` returned; a method says by which sample."""

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample | None:
        """Return what the model says where it does not know the label, found quickly; called after :meth:`_fit`.

        ``probabilities`` are those of :meth:`_fit`, with rows that sum to one, or to zero where nothing is known.
        Without a sample, probabilities are calibrated only if there are validation labels.
        """
        return None

    def _asks_for_sample(self, data: Dataset) -> bool:
        """Return whether :meth:`_calibration_sample` will be called: not if there are validation labels to go by."""
        return self.calibrate and len(data.validation_nodes[0]) < MIN_LABELS

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample | None:
        """Return what :meth:`_calibration_sample` returns, for several labels per node."""
        return None

    def _distributions(self, scores: Probabilities, data: Dataset) -> Probabilities:
        """Make every row a calibrated distribution: the class prior where nothing is known."""
        if not np.isfinite(scores).any():
            raise PlanetoidError(
                f"{type(self).__name__} did not converge: the class probabilities of all nodes are NaN",
                hint="lower the learning rate, or scale the features",
            )
        if data.multi_label:
            return self._set_distributions(scores, data)
        with np.errstate(invalid="ignore"):
            total = scores.sum(axis=1, keepdims=True)
            known = np.isfinite(total[:, 0]) & (total[:, 0] > 0)
            scores = scores / total
        # Without features, the scores of nodes that no label reaches are a guess, however confident they are.
        guessed = known & ~data.reached if data.X is None else np.zeros_like(known)
        self.calibration_ = self._calibration(scores, known & ~guessed, data)
        rows, codes = data.labelled, data.y[data.labelled]
        own = rows[~known[rows]]  # the node's own label is all that is known
        uncertain = known.copy()
        uncertain[rows[scores[rows, codes] == 1]] = False  # the method keeps the label
        uncertain &= ~guessed
        scores[uncertain] = self.calibration_.apply(scores[uncertain])
        scores[guessed] = replace(self.calibration_, temperature=1.0, uniform=GUESSED_UNIFORM).apply(scores[guessed])
        scores[own] = np.eye(data.n_classes)[data.y[own]]
        known[own] = True
        unknown = int((~known).sum())
        if unknown:
            scores[~known] = data.class_prior
            self._warn_unknown(unknown, data)
        scores.flags.writeable = False
        self._choose_node_sets(scores, data)
        return scores

    def _choose_node_sets(self, probabilities: Probabilities, data: Dataset) -> None:
        """Choose the prediction sets of fitted nodes, if probabilities were calibrated by a reference."""
        if self._sample is None or self._sample.reference is None:
            return
        unlabelled = data.y < 0
        if unlabelled.any() and self.calibration_.source == self._sample.source:
            found = node_sets(probabilities, self._sample.reference, unlabelled)
            self.set_scores_, self.node_set_thresholds_ = found
        self._sample = self._sample._replace(reference=None)  # as large as the probabilities

    def _warn_unknown(self, count: int, data: Dataset) -> None:
        warn(
            PlanetoidWarning(
                f"{type(self).__name__} can say nothing about {count:,} of {data.n_nodes:,} nodes "
                "(no labelled node can be reached from them); they get the class prior"
            )
        )

    def _set_distributions(self, scores: Probabilities, data: Dataset) -> Probabilities:
        """Calibrate independent class probabilities; the class prior where nothing is known."""
        total = scores.sum(axis=1)
        known = np.isfinite(total) & (total > 0)
        self.calibration_ = self._set_calibration(scores, known, data)
        found = to_distributions(scores, known, data, self.calibration_)
        unknown = int((~known & (data.y < 0)).sum())
        if unknown:
            self._warn_unknown(unknown, data)
        unlabelled = data.y < 0
        self.threshold_ = best_threshold(found[unlabelled] if unlabelled.any() else found)
        found.flags.writeable = False
        return found

    def _set_calibration(
        self, probabilities: Probabilities, known: npt.NDArray[np.bool_], data: Dataset
    ) -> Calibration:
        """Choose how independent probabilities are calibrated: by validation labels, or by the sample of the method."""
        if not self.calibrate:
            return Calibration()
        assert data.Y is not None
        fitted = perf_counter()
        rows = data.validation_nodes[0]
        rows = rows[known[rows]]
        sample: SetSample | None = SetSample(class_logits(probabilities[rows]), data.Y[rows], "validation labels")
        if len(rows) < MIN_LABELS:
            sample = self._set_sample(data, np.where(known[:, None], probabilities, 0.0))
        found = Calibration() if sample is None else calibrate_sets(sample)
        return _with_cost(found, fitted)

    def _calibration(self, probabilities: Probabilities, known: npt.NDArray[np.bool_], data: Dataset) -> Calibration:
        """Choose how probabilities are calibrated: by validation labels, or by the sample of the method."""
        self._sample = None
        if not self.calibrate:
            return Calibration()
        fitted = perf_counter()
        rows, codes = data.validation_nodes
        rows, codes = rows[known[rows]], codes[known[rows]]
        sample: Sample | None = Sample.of_labels(log_probabilities(probabilities[rows]), codes, "validation labels")
        if len(rows) < MIN_LABELS:
            sample = self._calibration_sample(data, np.where(known[:, None], probabilities, 0.0))
        self._sample = sample
        found = _with_cost(Calibration() if sample is None else calibrate(sample), fitted)
        if sample is not None and found.source != "none":
            self.set_thresholds_ = thresholds(sample, found)
        return found


def _with_cost(found: Calibration, fitted: float) -> Calibration:
    """Return a calibration that ends now, with its time since the model was fitted."""
    return replace(found, seconds=perf_counter() - fitted)
