"""The contract that every method follows."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from planetoid.calibration import MIN_LABELS, Calibration, Sample, calibrate, log_probabilities
from planetoid.data.checks import check_features, check_fit
from planetoid.data.dataset import Dataset, Features
from planetoid.data.label_arrays import encode_labels
from planetoid.data.types import FeaturesLike, GraphLike
from planetoid.errors import DataError, NotInductiveError, PlanetoidError, PlanetoidWarning, collected_warnings, warn
from planetoid.explanation.contributions import (
    LOG_ODDS,
    Answer,
    Contributions,
    Question,
    by_occlusion,
    by_predictions_of_neighbours,
    log_odds,
)
from planetoid.explanation.fitted_data import data_tensors, is_small, restored_data
from planetoid.ids import NodeIds
from planetoid.io.embeddings import write_embedding
from planetoid.io.model_files import Document, Plain, Tensors, as_plain, write_model
from planetoid.labels import Labels
from planetoid.multi_label import (
    SetSample,
    Top,
    best_threshold,
    calibrate_sets,
    check_supported,
    class_logits,
    indicator,
    to_distributions,
)
from planetoid.parameters import Constraints, Parameters, check_parameters, set_nested
from planetoid.prediction_sets import members, node_sets, thresholds
from planetoid.presets import load_preset
from planetoid.search_space import SearchSpace, Start
from planetoid.utils.failures import explain_failures
from planetoid.utils.seeds import new_seed
from planetoid.utils.threads import one_blas_thread
from planetoid.utils.transform_output import CONTAINERS, check_input_features, in_container

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import Self

    from planetoid.explanation import Explanation
    from planetoid.export.operators import Operators, Value
    from planetoid.preparation import Preparation

__all__ = ["EmbeddingMixin", "GraphClassifier", "InductiveClassifier"]

LOGGER = logging.getLogger(__name__)

Probabilities = npt.NDArray[np.floating[Any]]


class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of all methods; a transductive one implements only :meth:`_fit`.

    A subclass stores its parameters in ``__init__`` and declares in the class
    attributes below what it learns from.

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

    uses_features: ClassVar[str] = "never"  # "required", "optional" or "never"
    uses_graph: ClassVar[str] = "required"
    inductive: ClassVar[bool] = False
    multi_label: ClassVar[bool] = False  # whether nodes may have several labels
    uses_processes: ClassVar[bool] = False  # whether several processes can fit it together
    needed_to_load: ClassVar[tuple[str, ...]] = ()  # parameters that cannot be saved and that have no usable default

    constraints: ClassVar[Constraints] = {}  # what each parameter may be
    search_space: ClassVar[SearchSpace] = {}  # where ``tune`` looks for parameters
    search_starts: ClassVar[tuple[Start, ...]] = ()  # what it tries first

    classes_: npt.NDArray[Any]
    label_distributions_: Probabilities
    calibration_: Calibration
    set_thresholds_: npt.NDArray[np.float64]
    set_scores_: npt.NDArray[np.float32]
    node_set_thresholds_: npt.NDArray[np.float64]
    node_ids_: NodeIds
    warnings_: list[str]
    preparation_: Preparation
    multi_label_: bool = False
    threshold_: float
    calibrate: bool = True
    _sample: Sample | None = None  # that probabilities were calibrated by
    _seed: int  # of this fit: random_state, or a fresh one if that is None
    _data: Dataset | None = None  # of this fit, which explanations go by

    @property
    def uses_validation(self) -> bool:
        """Whether ``fit`` uses validation labels: to calibrate, at least; those that stop early set it to ``True``."""
        return self.calibrate

    @classmethod
    def from_preset(cls, name: str, **overrides: object) -> Self:
        """Return a new model with the parameters of a preset, for example ``"paper/cora"``.

        ``planetoid.presets.preset_names()`` lists them; ``overrides`` take precedence over the preset.
        """
        model = cls()
        return model.set_params(**load_preset(name, cls.__name__).parameters).set_params(**overrides)

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; ``contexts__q`` sets ``q`` of the parameter object ``contexts``."""
        for name, value in set_nested(self.get_params(deep=False), params, type(self).__name__).items():
            setattr(self, name, value)
        return self

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
        self.classes_ = data.classes
        self.node_ids_ = data.ids
        self._data = data
        for attribute in ("n_features_in_", "feature_names_in_", "preparation_", "multi_label_", "threshold_"):
            self.__dict__.pop(attribute, None)
        if data.multi_label:
            self.multi_label_ = True
        if data.X is not None:
            self.n_features_in_ = int(data.X.shape[1])
            if data.feature_names is not None:
                self.feature_names_in_ = data.feature_names
            if data.preparation is not None:
                self.preparation_ = data.preparation
        self._seed = new_seed(self.get_params(deep=False).get("random_state", 0))
        started = perf_counter()
        with explain_failures(name), one_blas_thread():
            scores = np.asarray(self._fit(data))
            self.label_distributions_ = self._distributions(scores, data, started)
        LOGGER.info("fitted %s in %.1f s", name, perf_counter() - started)

    def _check_parameters(self) -> None:
        """Raise ``ParameterError`` for an invalid parameter; a subclass adds checks across parameters."""
        check_parameters(type(self).__name__, self.get_params(deep=False), self.constraints)

    def _fit(self, data: Dataset) -> Probabilities:
        """Fit, and return class probabilities of all nodes.

        A row of zeros (or NaN) means that nothing is known about the node.
        """
        raise NotImplementedError

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample | None:
        """Return what the model says where it does not know the label, found quickly; called after :meth:`_fit`.

        ``probabilities`` are those of :meth:`_fit`, with rows that sum to one, or to zero where nothing is known.
        Without a sample, probabilities are calibrated only if there are validation labels.
        """
        return None

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample | None:
        """Return what :meth:`_calibration_sample` returns, for several labels per node."""
        return None

    def predict_proba(self, X: FeaturesLike | None = None, *, nodes: Iterable[Hashable] | None = None) -> Probabilities:
        """Return class probabilities: of all fitted nodes, of ``nodes``, or of new rows ``X``."""
        check_is_fitted(self, "label_distributions_")
        if X is not None:
            if nodes is not None:
                raise DataError("pass either X (new rows) or nodes (fitted nodes), not both")
            with explain_failures(type(self).__name__), one_blas_thread():
                return self._predict_new(X)
        rows = slice(None) if nodes is None else self.node_ids_.known_rows(nodes)
        return np.array(self.label_distributions_[rows])

    def predict(
        self, X: FeaturesLike | None = None, *, nodes: Iterable[Hashable] | None = None, top: Top | None = None
    ) -> npt.NDArray[Any]:
        """Return labels: of all fitted nodes, of ``nodes``, or of new rows ``X``.

        If nodes may have several labels, the result is an indicator matrix with a column for each of ``classes_``: 1
        where the probability is at least ``threshold_``, and for the most probable class. With ``top``, an integer or
        one per node, it has so many labels instead, the most probable ones.
        """
        return self._labels(self.predict_proba(X, nodes=nodes), top)

    def _labels(self, probabilities: Probabilities, top: Top | None = None) -> npt.NDArray[Any]:
        if self.multi_label_:
            return indicator(probabilities, self.threshold_, top)
        if top is not None:
            raise DataError("top is for several labels per node; this model has one", parameter="top")
        return self.classes_[probabilities.argmax(axis=1)]  # type: ignore[no-any-return]

    def predict_set(
        self, X: FeaturesLike | None = None, *, nodes: Iterable[Hashable] | None = None, alpha: float = 0.1
    ) -> npt.NDArray[np.bool_]:
        """Return the classes that contain the true one with probability 1 - alpha.

        A boolean array with a row for each of all fitted nodes, of ``nodes``, or of new rows ``X``, and a column for
        each of ``classes_``. The documentation says what is guaranteed under which assumptions.
        """
        return self._sets(self.predict_proba(X, nodes=nodes), alpha, nodes, fitted=X is None)

    def _sets(
        self, probabilities: Probabilities, alpha: float, nodes: Iterable[Hashable] | None = None, *, fitted: bool
    ) -> npt.NDArray[np.bool_]:
        """Return the sets of all fitted nodes, of ``nodes``, or of new ones."""
        if self.multi_label_:
            raise DataError(
                "prediction sets contain the true class of a node that has one",
                hint="for several labels per node, use predict or predict_proba",
            )
        if not hasattr(self, "set_thresholds_"):
            raise DataError(
                f"{type(self).__name__} was fitted without the labels that prediction sets are chosen by",
                hint="fit with calibrate=True and at least ten labels, or with validation labels",
            )
        if not fitted or not hasattr(self, "set_scores_"):
            return members(probabilities, self.set_thresholds_, alpha)
        rows = slice(None) if nodes is None else self.node_ids_.known_rows(nodes)
        return members(probabilities, self.node_set_thresholds_, alpha, self.set_scores_[rows])

    def explain(
        self,
        node: Hashable | None = None,
        X: FeaturesLike | None = None,
        *,
        top: int = 5,
        label: Hashable | None = None,
        data: Dataset | None = None,
    ) -> Explanation:
        """Return what speaks for the predicted class of a node and against it, and by how much.

        Reasons are labelled nodes, neighbours and features, as far as the method goes by them; the result says what its
        numbers mean. The documentation has the meaning for every method.

        Parameters
        ----------
        node : id, optional
            A fitted node.
        X : array, sparse matrix or DataFrame, optional
            One new row instead, for an inductive method.
        top : int
            How many reasons of each kind to list: so many for the class, and so many against it.
        label : hashable, optional
            The class to explain; by default the predicted one. It is compared with the most probable other class.
        data : Dataset, optional
            What the model was fitted on, if it does not hold that itself: ``save`` leaves out data of more than 32 MB.

        Examples
        --------
        >>> import planetoid as pl
        >>> model = pl.Feat().fit([[1, 0, 0], [0, 1, 1]], ["fruit", "animal"])
        >>> [(reason.name, reason.contribution > 0) for reason in model.explain(0).features.reasons]
        [(0, True)]
        """
        check_is_fitted(self, "label_distributions_")
        if self.multi_label_:
            raise DataError("explanations are of one class against another, for models with one label per node")
        from planetoid.explanation.asking import ask

        with explain_failures(type(self).__name__), one_blas_thread():
            return ask(self, node, X, top, label, data)

    def _explain(self, question: Question) -> Answer:
        """Return the parts of the score that a question is about.

        Any method can answer like this: by the predictions of the neighbours if it uses a graph, and by the features of
        the row if it is inductive (:class:`InductiveClassifier`). A method that knows more about its scores says more.
        """
        if question.row is None:
            raise _not_inductive(self)
        data = question.known_data()
        score = float(log_odds(self.label_distributions_[question.row], question.contrast))
        around = by_predictions_of_neighbours(data, question.row, self.label_distributions_, question.contrast)
        return Answer(score, "calibrated log-odds of the class against the other", [around])

    def _fitted_data(self) -> Dataset | None:
        """Return the data of the fit, unless the model has got more nodes since."""
        return self._data if self._data is not None and self._data.n_nodes == len(self.node_ids_) else None

    def _check_row(self, X: FeaturesLike) -> Features:
        raise _not_inductive(self)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if state.get("_data") is not None and not is_small(state["_data"]):
            state = {**state, "_data": None}  # copies of a model do not carry much data along
        return state

    def score(
        self,
        X: FeaturesLike | None = None,
        y: Labels | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
    ) -> float:
        """Return the accuracy on labels that were not fitted: of new rows ``X``, or of fitted nodes.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, optional
            New rows, for an inductive method.
        y : array, Series or dict
            Their labels, as in scikit-learn. Without ``X``: one label per fitted node (unlabelled nodes do not count),
            ``{node id: label}``, or one label for each of ``nodes``.
        sample_weight : array, optional
            A weight for each of the rows or labels.
        nodes : iterable of ids, optional
        """
        if y is None:
            raise DataError("score requires y, the labels to compare with", parameter="y")
        if X is None:
            predicted, true = self._labels_to_score(y, nodes)
        else:
            predicted, true = self.predict(X, nodes=nodes), np.asarray(y)
        if len(predicted) != len(true):
            raise DataError(f"{len(true):,} labels for {len(predicted):,} predictions", parameter="y")
        return float(
            np.average(predicted == true, weights=None if sample_weight is None else np.asarray(sample_weight))
        )

    def _labels_to_score(
        self, y: Labels, nodes: Iterable[Hashable] | None
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        if nodes is not None:
            return self.predict(nodes=nodes), np.asarray(y)
        predicted = self.predict()
        codes, classes = encode_labels(y, self.node_ids_, "y")
        known = codes >= 0
        if not known.any():
            raise DataError("y has no labels: every entry is unlabelled", parameter="y")
        return predicted[known], classes[codes[known]]

    @property
    def transduction_(self) -> npt.NDArray[Any]:
        """Label of every fitted node."""
        check_is_fitted(self, "label_distributions_")
        return self._labels(self.label_distributions_)

    def _predict_new(self, X: FeaturesLike) -> Probabilities:
        raise _not_inductive(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_distributions_")  # a parameter such as lambda_ ends in _ too

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_label = self.multi_label
        return tags

    def save(
        self,
        path: str | Path,
        *,
        overwrite: bool = False,
        data: bool = True,
        extra_files: Callable[[Path], None] | None = None,
    ) -> None:
        """Write the fitted model to a folder, from which ``planetoid.load`` reads it without the graph.

        The folder holds ``model.json`` (class, parameters, classes, features,
        versions) and ``tensors.safetensors``, and is written atomically.
        Parameters that JSON cannot hold (callbacks, an encoder) are not saved.
        Node ids must be integers or strings.

        Parameters
        ----------
        path : str or Path
        overwrite : bool
            Replace an existing model.
        data : bool
            Include labels, edges and features of the fit, up to 32 MB, so that the loaded model can ``explain`` its
            predictions.
        extra_files : callable, optional
            Called with the folder before it is renamed to ``path``, to write further files into it.
        """
        check_is_fitted(self, "label_distributions_")
        attributes, tensors = self._state()
        fitted = self._fitted_data() if data else None
        if fitted is not None and is_small(fitted):
            tensors |= data_tensors(fitted)
        parameters, not_saved = {}, {}
        for name, value in self.get_params(deep=False).items():
            try:
                parameters[name] = _plain_parameter(value)
            except TypeError:
                not_saved[name] = repr(value)
        document: Document = {
            "class": type(self).__name__,
            "parameters": parameters,
            "not_saved": not_saved,
            "classes": {"dtype": str(self.classes_.dtype), "labels": self._plain_classes()},
            "features": self._feature_schema(),
            "preparation": self.preparation_.as_dict() if hasattr(self, "preparation_") else None,
            "attributes": attributes,
        }
        write_model(path, document, tensors, self.node_ids_, overwrite, extra_files)

    def _plain_classes(self) -> list[Plain]:
        labels: list[object] = self.classes_.tolist()
        for label in labels:
            if not isinstance(label, (str, int, float, np.generic)):
                raise DataError(f"a class such as {label!r} cannot be saved", hint="use strings or numbers as labels")
        return [as_plain(label) for label in labels]

    def _feature_schema(self) -> Document | None:
        if not hasattr(self, "n_features_in_"):
            return None
        names = getattr(self, "feature_names_in_", None)
        return {"count": self.n_features_in_, "names": None if names is None else [str(name) for name in names]}

    def _state(self) -> tuple[Document, Tensors]:
        """Return the fitted attributes: those that JSON can hold, and numeric arrays."""
        saved_separately = ("classes_", "node_ids_", "n_features_in_", "feature_names_in_", "preparation_")
        attributes: Document = {}
        tensors = self._tensors()
        attributes["calibration"] = self.calibration_.as_dict()
        for name, value in vars(self).items():
            if not name.endswith("_") or name in saved_separately or name in self.get_params(deep=False):
                continue
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
                tensors[f"attributes.{name}"] = value
                continue
            try:
                attributes[name] = as_plain(value)
            except TypeError:
                continue  # an object, whose content _tensors returns
        return attributes, tensors

    def _set_state(self, attributes: Document, tensors: Tensors) -> None:
        """Restore what :meth:`_state` returned."""
        self.calibration_ = Calibration(**attributes.pop("calibration"))
        self.warnings_ = attributes.pop("warnings_", [])  # models of before have none
        for name, value in attributes.items():
            setattr(self, name, value)
        for name in [name for name in tensors if name.startswith("attributes.")]:
            setattr(self, name.removeprefix("attributes."), tensors.pop(name))
        if self.label_distributions_.shape != (len(self.node_ids_), len(self.classes_)):
            raise DataError("the model is damaged: its probabilities do not fit its nodes and classes")
        self.label_distributions_.flags.writeable = False
        self._data = restored_data(tensors, self.node_ids_, self.classes_)
        self._take_tensors(tensors)

    def _tensors(self) -> Tensors:
        """Return what else a saved model needs: all that is neither JSON nor an array attribute ending in ``_``."""
        return {}

    def _take_tensors(self, tensors: Tensors) -> None:
        """Restore what :meth:`_tensors` returned."""

    def _distributions(self, scores: Probabilities, data: Dataset, started: float) -> Probabilities:
        """Make every row a calibrated distribution: the class prior where nothing is known."""
        if not np.isfinite(scores).any():
            raise PlanetoidError(
                f"{type(self).__name__} did not converge: the class probabilities of all nodes are NaN",
                hint="lower the learning rate, or scale the features",
            )
        if data.multi_label:
            return self._set_distributions(scores, data, started)
        with np.errstate(invalid="ignore"):
            total = scores.sum(axis=1, keepdims=True)
            known = np.isfinite(total[:, 0]) & (total[:, 0] > 0)
            scores = scores / total
        self.calibration_ = self._calibration(scores, known, data, started)
        rows, codes = data.labelled, data.y[data.labelled]
        own = rows[~known[rows]]  # the node's own label is all that is known
        uncertain = known.copy()
        uncertain[rows[scores[rows, codes] == 1]] = False  # the method keeps the label
        scores[uncertain] = self.calibration_.apply(scores[uncertain])
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
        for name in ("set_scores_", "node_set_thresholds_"):
            self.__dict__.pop(name, None)
        unlabelled = data.y < 0
        if self._sample is None or self._sample.reference is None or not unlabelled.any():
            return
        if self.calibration_.source == "reference":
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

    def _set_distributions(self, scores: Probabilities, data: Dataset, started: float) -> Probabilities:
        """Calibrate independent class probabilities; the class prior where nothing is known."""
        total = scores.sum(axis=1)
        known = np.isfinite(total) & (total > 0)
        self.calibration_ = self._set_calibration(scores, known, data, started)
        found = to_distributions(scores, known, data, self.calibration_)
        unknown = int((~known & (data.y < 0)).sum())
        if unknown:
            self._warn_unknown(unknown, data)
        unlabelled = data.y < 0
        self.threshold_ = best_threshold(found[unlabelled] if unlabelled.any() else found)
        found.flags.writeable = False
        return found

    def _set_calibration(
        self, probabilities: Probabilities, known: npt.NDArray[np.bool_], data: Dataset, started: float
    ) -> Calibration:
        """Choose how independent probabilities are calibrated: by validation labels, or by the sample of the method."""
        self.__dict__.pop("set_thresholds_", None)
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
        ended = perf_counter()
        return replace(found, seconds=ended - fitted, share=(ended - fitted) / max(ended - started, 1e-9))

    def _calibration(
        self, probabilities: Probabilities, known: npt.NDArray[np.bool_], data: Dataset, started: float
    ) -> Calibration:
        """Choose how probabilities are calibrated: by validation labels, or by the sample of the method."""
        self.__dict__.pop("set_thresholds_", None)
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
        found = Calibration() if sample is None else calibrate(sample)
        if sample is not None and found.source != "none":
            self.set_thresholds_ = thresholds(sample, found)
        ended = perf_counter()
        return replace(found, seconds=ended - fitted, share=(ended - fitted) / max(ended - started, 1e-9))


class InductiveClassifier(GraphClassifier):
    """Base class of methods that label new rows; they also implement :meth:`_predict_rows`."""

    uses_features = "required"
    inductive = True

    def _predict_rows(self, X: Features) -> Probabilities:
        """Return class probabilities of validated float32 rows."""
        raise NotImplementedError

    def _write_scores(self, operators: Operators) -> Value:
        """Describe how :meth:`_predict_rows` scores rows, before the softmax, for :func:`planetoid.export.to_onnx`."""
        raise PlanetoidError(f"{type(self).__name__} cannot be exported")

    def _predict_new(self, X: FeaturesLike) -> Probabilities:
        return self.calibration_.apply(self._predict_rows(self._check_new(X)))

    def _explain(self, question: Question) -> Answer:
        """Explain by the features: what the prediction from features alone would lose without each of them."""

        def score(rows: Features) -> npt.NDArray[np.float64]:
            return log_odds(self._predict_rows(rows), question.contrast)

        x = question.known_row()
        return Answer(float(score(x)[0]), LOG_ODDS, [by_occlusion(x, score), *self._label_reasons(question)])

    def _label_reasons(self, question: Question) -> list[Contributions]:
        """Return the contributions of labelled nodes, of a method that knows them."""
        return []

    def _check_row(self, X: FeaturesLike) -> Features:
        row = self._check_new(X)
        if row.shape[0] != 1:
            raise DataError(f"explain takes one new row at a time, X has {row.shape[0]:,}")
        return row

    def _check_new(self, X: FeaturesLike) -> Features:
        """Validate new rows against the fitted features, by column name if there are names; prepare raw rows."""
        if hasattr(self, "preparation_") and not isinstance(X, np.ndarray):
            from planetoid.io.memory import ArrowStream, to_arrow

            if isinstance(X, ArrowStream):
                table = to_arrow(X)
                return self.preparation_.transform(dict(zip(table.column_names, table.columns, strict=True)))
        fitted_names = getattr(self, "feature_names_in_", None)
        if fitted_names is not None and hasattr(X, "columns"):
            columns = {str(name): name for name in X.columns}
            missing = [name for name in fitted_names if name not in columns]
            if missing:
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                raise DataError(f"X lacks the feature column {missing[0]!r}{more}")
            X = X[[columns[name] for name in fitted_names]]  # type: ignore[index]
        features = check_features(X).X
        if features.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {features.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        return features


class EmbeddingMixin:
    """Mixin of methods that learn an embedding of each node: scikit-learn's ``transform``, and an export."""

    embedding_: npt.NDArray[np.float32]
    node_ids_: NodeIds

    def fit_transform(
        self, X: FeaturesLike | Dataset | None = None, y: Labels | None = None, **fit_params: object
    ) -> npt.NDArray[np.float32]:
        """Fit, and return the embedding of every fitted node; takes the arguments of ``fit``."""
        self.fit(X, y, **fit_params)  # type: ignore[attr-defined]
        return self.transform()

    def transform(self, X: FeaturesLike | None = None) -> npt.NDArray[np.float32]:
        """Return the embedding of all fitted nodes or, for an inductive method, of new rows ``X``.

        After ``set_output(transform="pandas")`` it is a DataFrame, whose index are the node ids or that of ``X``.
        """
        check_is_fitted(self, "label_distributions_")
        found = self.embedding_.copy() if X is None else self._embed_new(X)
        chosen = getattr(self, "_sklearn_output_config", {})  # by this name, scikit-learn's clone keeps it
        index = self.node_ids_.to_numpy() if X is None else getattr(X, "index", None) if hasattr(X, "columns") else None
        return in_container(found, self.get_feature_names_out().tolist(), index, chosen)  # type: ignore[no-any-return]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` returns: ``"default"`` (an array), ``"pandas"`` or ``"polars"``.

        ``None`` leaves it as it is. Without a choice, ``sklearn.set_config(transform_output=...)`` decides.
        """
        if transform is not None:
            check_parameters("set_output", {"transform": transform}, {"transform": CONTAINERS})
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> npt.NDArray[np.object_]:
        """Return the names of the columns of the embedding: ``planetoidt0``, ``planetoidt1``, ...

        ``input_features`` are checked, as in scikit-learn, and make no difference.
        """
        check_is_fitted(self, "label_distributions_")
        check_input_features(self, input_features)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{k}" for k in range(self.embedding_.shape[1])], dtype=object)

    def _embed_new(self, X: FeaturesLike) -> npt.NDArray[np.float32]:
        raise _not_inductive(self)

    def export_embedding(self, path: str | Path, nodes: Iterable[Hashable] | None = None) -> None:
        """Write the embedding of all fitted nodes, or of ``nodes``, as ``.npz``, ``.parquet`` or word2vec text."""
        check_is_fitted(self, "label_distributions_")
        if nodes is None:
            write_embedding(path, self.node_ids_, self.embedding_)
            return
        rows = self.node_ids_.known_rows(nodes)
        write_embedding(path, self.node_ids_.take(rows), self.embedding_[rows])

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags = TransformerTags(preserves_dtype=["float32"])
        return tags


def _plain_parameter(value: object) -> Plain:
    """Return a parameter as JSON, a parameter object as a dictionary; raise ``TypeError`` for any other object."""
    if isinstance(value, Parameters):
        return {name: _plain_parameter(one) for name, one in value.get_params().items()}
    return as_plain(value)


def _not_inductive(model: object) -> NotInductiveError:
    return NotInductiveError(
        f"{type(model).__name__} is transductive: it predicts only the nodes it was fitted on",
        hint="use predict(nodes=[...]) for those, or fit an inductive method (PlanetoidI, Feat) to label new rows",
    )
