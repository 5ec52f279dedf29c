"""``GraphClassifier``: the contract that every method follows."""

from __future__ import annotations

import logging
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from planetoid.data.checks import check_fit
from planetoid.data.dataset import Dataset
from planetoid.data.types import FeaturesLike, GraphLike, Probabilities
from planetoid.errors import collected_warnings
from planetoid.estimator.calibrated import CalibrationMixin
from planetoid.estimator.explained import ExplanationMixin
from planetoid.estimator.predictions import PredictionMixin
from planetoid.estimator.saved import SavingMixin
from planetoid.labels import Labels
from planetoid.multi_label import check_supported
from planetoid.utils.failures import explain_failures
from planetoid.utils.seeds import seed_of_fit
from planetoid.utils.threads import one_blas_thread

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["GraphClassifier"]

LOGGER = logging.getLogger(__name__)


class GraphClassifier(SavingMixin, ExplanationMixin, PredictionMixin, CalibrationMixin):
    """Base class of all methods; a transductive one implements only :meth:`_fit`.

    A subclass stores its parameters in ``__init__`` and declares in the class
    attributes of :class:`~planetoid.estimator.base.MethodBase` what it learns from.

    Attributes
    ----------
    classes_ : array
        The class labels, sorted.
    label_distributions_ : array of shape (n_nodes, n_classes)
        Class probabilities of every fitted node.
    calibration_ : Calibration
        How these probabilities were calibrated, and what it cost.
    set_thresholds_ : array of shape (1001,)
        The probability from which on a class is in a prediction set, for each coverage 0, 0.001, ..., 1; only if
        probabilities are calibrated.
    set_scores_, node_set_thresholds_ : arrays of shape (n_nodes, n_classes) and (1001,)
        Scores and thresholds of the prediction sets of fitted nodes, where those are not chosen by the probabilities
        alone: if these were calibrated by a reference.
    transduction_ : array of shape (n_nodes,)
        The most probable label of every fitted node; the indicator matrix of its labels if nodes may have several.
    multi_label_ : bool
        Whether nodes may have several labels. Class probabilities then need not sum to one.
    threshold_ : float
        Only then: the probability from which on ``predict`` gives a label.
    node_ids_ : NodeIds
        Ids of the fitted nodes, in row order.
    n_features_in_, feature_names_in_
        As in scikit-learn, if the method was fitted on features.
    warnings_ : list of str
        What was repaired, dropped or ignored while reading and fitting; the same texts are issued as
        ``PlanetoidWarning``.
    preparation_ : Preparation
        How the features are made from the columns of a node table, if the method was fitted on one; ``predict`` then
        takes raw rows too.
    """

    def fit(
        self,
        X: FeaturesLike | Dataset | None = None,
        y: Labels | None = None,
        *,
        graph: GraphLike | None = None,
        validation: Labels | None = None,
    ) -> Self:
        """Learn from a graph, features and the labels of a few nodes.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, Dataset or None
            One row per node, in graph order (of a networkx graph: that of its ``nodes``). A DataFrame whose index
            holds node ids is aligned by them. A row of zeros is a node without features. A
            :class:`~planetoid.Dataset` replaces all four arguments.
        y : array, Series or dict
            One label per node, in graph order (unlabelled: -1, ``None``, NaN or ``""``); a pandas Series whose index
            holds node ids is aligned by them; or ``{node id: label}``. Several labels per node, for methods that take
            them: an indicator matrix, dense or sparse, with a column per class (a row of zeros, NaN or -1 is an
            unlabelled node); a DataFrame of this kind, with the classes as column names; or lists of labels in the
            place of labels.
        graph : Graph, or anything that ``Graph.of`` understands
        validation : array, Series or dict, optional
            Labels of other nodes in the same form, for early stopping and calibration; never fitted. A method that
            does not use them warns.
        """
        self._check_parameters()
        with collected_warnings() as found:
            data = check_fit(
                X,
                y,
                graph,
                validation,
                uses_features=self.uses_features,
                uses_graph=self.uses_graph,
                uses_validation=self.uses_validation,
                who=type(self).__name__,
            )
            self._fit_checked(data)
        self.warnings_ = [*data.warnings, *found]
        return self

    def _fit_checked(self, data: Dataset) -> None:
        name = type(self).__name__
        LOGGER.info(
            "fitting %s: %s nodes, %s edges, %s labels of %s classes",
            *(name, data.n_nodes, data.graph.n_edges, len(data.labelled), data.n_classes),
        )
        check_supported(data, name, supported=self.multi_label)
        self._forget_earlier_fit()
        self.classes_ = data.classes
        self.node_ids_ = data.ids
        self._data = data
        if data.multi_label:
            self.multi_label_ = True
        if data.X is not None:
            self.n_features_in_ = int(data.X.shape[1])
            if data.feature_names is not None:
                self.feature_names_in_ = data.feature_names
            if data.preparation is not None:
                self.preparation_ = data.preparation
        self._seed = seed_of_fit(self.get_params(deep=False).get("random_state", 0))
        started = perf_counter()
        with explain_failures(name), one_blas_thread():
            scores = np.asarray(self._fit(data))
            self.label_distributions_ = self._distributions(scores, data)
        seconds = perf_counter() - started
        self.calibration_ = replace(self.calibration_, share=self.calibration_.seconds / max(seconds, 1e-9))
        LOGGER.info("fitted %s in %.1f s", name, seconds)

    def _forget_earlier_fit(self) -> None:
        """Forget what an earlier fit has learned, of which this one may have no counterpart."""
        for name in set(vars(self)) - set(self._get_param_names()):
            if name.endswith("_") and not name.startswith("_"):
                delattr(self, name)

    def _fit(self, data: Dataset) -> Probabilities:
        """Fit, and return class probabilities of all nodes.

        A row of zeros (or NaN) means that nothing is known about the node.
        """
        raise NotImplementedError
