"""The one contract that every method follows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from planetoid.data.checks import check_features, check_fit
from planetoid.data.dataset import Dataset, Features
from planetoid.errors import DataError, NotInductiveError, PlanetoidWarning
from planetoid.ids import NodeIds
from planetoid.io.embeddings import write_embedding
from planetoid.io.model_files import Tensors, as_plain, write_model
from planetoid.parameters import Constraints, Parameters, check_parameters, set_nested
from planetoid.presets import load_preset
from planetoid.search_space import SearchSpace, Start
from planetoid.utils.seeds import new_seed

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["EmbeddingMixin", "GraphClassifier", "InductiveClassifier"]

Probabilities = npt.NDArray[np.floating[Any]]


class GraphClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all methods; a transductive one needs only :meth:`_fit`.

    A subclass stores its parameters in ``__init__`` and says by the class
    attributes below what it learns from.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    label_distributions_ : array of shape (n_nodes, n_classes)
        Class probabilities of every node that was fitted.
    transduction_ : array of shape (n_nodes,)
        The most probable label of each.
    n_features_in_, feature_names_in_
        As in scikit-learn, where features were given.
    """

    uses_features: ClassVar[str] = "never"  # "required", "optional" or "never"
    uses_graph: ClassVar[str] = "required"
    inductive: ClassVar[bool] = False
    needed_to_load: ClassVar[tuple[str, ...]] = ()  # parameters that are no plain data and no default can replace

    constraints: ClassVar[Constraints] = {}  # what each parameter may be
    search_space: ClassVar[SearchSpace] = {}  # where ``tune`` looks for parameters
    search_starts: ClassVar[tuple[Start, ...]] = ()  # what it tries first

    classes_: npt.NDArray[Any]
    label_distributions_: Probabilities
    node_ids_: NodeIds
    _seed: int  # of this fit: random_state, or a fresh one where that is None

    @classmethod
    def from_preset(cls, name: str, **overrides: Any) -> Self:
        """Return a new model with the parameters of a preset, for instance ``"paper/cora"``.

        ``planetoid.presets.preset_names()`` lists them; ``overrides`` go before what the preset says.
        """
        model = cls()
        return model.set_params(**load_preset(name, cls.__name__).parameters).set_params(**overrides)

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name; ``contexts__q`` sets ``q`` of the parameter object ``contexts``."""
        for name, value in set_nested(self.get_params(deep=False), params, type(self).__name__).items():
            setattr(self, name, value)
        return self

    def fit(self, X: Any = None, y: Any = None, *, graph: Any = None, validation: Any = None) -> Self:
        """Learn from a graph, features and the labels of a few nodes.

        Parameters
        ----------
        X : array, sparse matrix, DataFrame, Dataset or None
            One row per node, in graph order; a DataFrame whose index holds node ids is aligned by them. A row of
            zeros is a node without features. A :class:`~planetoid.data.Dataset` holds all that follows too.
        y : array or dict
            One label per node, unlabelled as -1, ``None`` or NaN; or ``{node id: label}``.
        graph : Graph, or anything that ``Graph.of`` understands
        validation : array or dict, optional
            Labels in the same form, for early stopping and calibration; never to fit.
        """
        name = type(self).__name__
        self._check_parameters()
        data = check_fit(
            X, y, graph, validation, uses_features=self.uses_features, uses_graph=self.uses_graph, who=name
        )
        self.classes_ = data.classes
        self.node_ids_ = data.ids
        for attribute in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, attribute):
                delattr(self, attribute)
        if data.X is not None:
            self.n_features_in_ = int(data.X.shape[1])
            if data.feature_names is not None:
                self.feature_names_in_ = data.feature_names
        self._seed = new_seed(self.get_params(deep=False).get("random_state", 0))
        self.label_distributions_ = self._settled(np.asarray(self._fit(data)), data)
        return self

    def _check_parameters(self) -> None:
        """Raise ``ParameterError`` for an invalid parameter; extended where two parameters depend on each other."""
        check_parameters(type(self).__name__, self.get_params(deep=False), self.constraints)

    def _fit(self, data: Dataset) -> Probabilities:
        """Learn, and return class probabilities of all nodes.

        A row of zeros (or NaN) says that nothing is known about that node.
        """
        raise NotImplementedError

    def predict_proba(self, X: Any = None, *, nodes: Iterable[Hashable] | None = None) -> Probabilities:
        """Return class probabilities: of all fitted nodes, of ``nodes``, or of new rows ``X``."""
        check_is_fitted(self, "label_distributions_")
        if X is not None:
            if nodes is not None:
                raise DataError("give either X (new rows) or nodes (fitted ones), not both")
            return self._predict_new(X)
        if nodes is None:
            return self.label_distributions_.copy()
        return self.label_distributions_[self.node_ids_.known_rows(nodes)]

    def predict(self, X: Any = None, *, nodes: Iterable[Hashable] | None = None) -> npt.NDArray[Any]:
        """Return labels: of all fitted nodes, of ``nodes``, or of new rows ``X``."""
        probabilities = self.predict_proba(X, nodes=nodes)  # first, for it says if nothing was fitted
        return self.classes_[probabilities.argmax(axis=1)]  # type: ignore[no-any-return]

    @property
    def transduction_(self) -> npt.NDArray[Any]:
        """Label of every fitted node."""
        check_is_fitted(self, "label_distributions_")
        return self.classes_[self.label_distributions_.argmax(axis=1)]  # type: ignore[no-any-return]

    def _predict_new(self, X: Any) -> Probabilities:
        raise _not_inductive(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "label_distributions_")  # a parameter such as lambda_ ends in _ too

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def save(self, path: str | Path, *, overwrite: bool = False, beside: Callable[[Path], None] | None = None) -> None:
        """Write the fitted model to a folder, which ``planetoid.load`` reads back without the graph.

        The folder holds ``model.json`` (class, parameters, classes, features,
        versions) and ``tensors.safetensors``; it appears as a whole or not at
        all. Parameters that are no plain data (callbacks, an encoder) are left
        out. Node ids are kept if they are integers or strings. ``beside``
        is called with the folder before it appears, to put further files
        into it.
        """
        check_is_fitted(self, "label_distributions_")
        attributes, tensors = self._state()
        parameters, left_out = {}, {}
        for name, value in self.get_params(deep=False).items():
            try:
                parameters[name] = as_plain(value.get_params() if isinstance(value, Parameters) else value)
            except TypeError:
                left_out[name] = repr(value)
        document = {
            "class": type(self).__name__,
            "parameters": parameters,
            "left_out": left_out,
            "classes": {"dtype": str(self.classes_.dtype), "labels": self._plain_classes()},
            "features": self._feature_schema(),
            "attributes": attributes,
        }
        write_model(path, document, tensors, self.node_ids_, overwrite, beside)

    def _plain_classes(self) -> list[Any]:
        labels: list[Any] = self.classes_.tolist()
        for label in labels:
            if not isinstance(label, (str, int, float, np.generic)):
                raise DataError(f"a class such as {label!r} cannot be saved; strings and numbers can")
        return [as_plain(label) for label in labels]

    def _feature_schema(self) -> dict[str, Any] | None:
        if not hasattr(self, "n_features_in_"):
            return None
        names = getattr(self, "feature_names_in_", None)
        return {"count": self.n_features_in_, "names": None if names is None else [str(name) for name in names]}

    def _state(self) -> tuple[dict[str, Any], Tensors]:
        """Return fitted attributes, those that are plain data and those that are arrays of numbers."""
        told_apart = ("classes_", "node_ids_", "n_features_in_", "feature_names_in_")
        attributes, tensors = {}, self._tensors()
        for name, value in vars(self).items():
            if not name.endswith("_") or name in told_apart or name in self.get_params(deep=False):
                continue
            if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
                tensors[f"attributes.{name}"] = value
                continue
            try:
                attributes[name] = as_plain(value)
            except TypeError:
                continue  # an object, which _tensors speaks for
        return attributes, tensors

    def _take_state(self, attributes: dict[str, Any], tensors: Tensors) -> None:
        """Take back what :meth:`_state` returned."""
        for name, value in attributes.items():
            setattr(self, name, value)
        for name in [name for name in tensors if name.startswith("attributes.")]:
            setattr(self, name.removeprefix("attributes."), tensors.pop(name))
        if self.label_distributions_.shape != (len(self.node_ids_), len(self.classes_)):
            raise DataError("its tables do not have a row for each node and a column for each class")
        self.label_distributions_.flags.writeable = False
        self._take_tensors(tensors)

    def _tensors(self) -> Tensors:
        """Return what else a saved model needs: all that is neither plain data nor an array ending in ``_``."""
        return {}

    def _take_tensors(self, tensors: Tensors) -> None:
        """Take back what :meth:`_tensors` returned."""

    def _settled(self, scores: Probabilities, data: Dataset) -> Probabilities:
        """Make every row a distribution; give the class prior where nothing is known."""
        with np.errstate(invalid="ignore"):
            total = scores.sum(axis=1, keepdims=True)
            known = np.isfinite(total[:, 0]) & (total[:, 0] > 0)
            scores = scores / total
        own = ~known & (data.y >= 0)  # a label of its own is all that is known, and enough
        scores[own] = np.eye(data.n_classes)[data.y[own]]
        known |= own
        unknown = int((~known).sum())
        if unknown:
            scores[~known] = data.class_prior
            warnings.warn(
                f"{type(self).__name__} can say nothing about {unknown:,} of {data.n_nodes:,} nodes "
                "(no labelled node can be reached from them); they get the class prior",
                PlanetoidWarning,
                stacklevel=3,
            )
        scores.flags.writeable = False
        return scores


class InductiveClassifier(GraphClassifier):
    """Base of methods that label new rows; they implement :meth:`_predict_rows` too."""

    uses_features = "required"
    inductive = True

    def _predict_rows(self, X: Features) -> Probabilities:
        """Return class probabilities of checked float32 rows."""
        raise NotImplementedError

    def _predict_new(self, X: Any) -> Probabilities:
        return self._predict_rows(self._check_new(X))

    def _check_new(self, X: Any) -> Features:
        """Check new rows against the fitted features, by column name where there are names."""
        trained = getattr(self, "feature_names_in_", None)
        if trained is not None and hasattr(X, "columns"):
            have = {str(name): name for name in X.columns}
            missing = [name for name in trained if name not in have]
            if missing:
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                raise DataError(f"the new rows lack the feature column {missing[0]!r}{more}")
            X = X[[have[name] for name in trained]]
        features, _, _ = check_features(X)
        if features.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {features.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        return features


class EmbeddingMixin:
    """Of methods that learn an embedding of each node: ``transform``, as scikit-learn has it, and an export."""

    embedding_: npt.NDArray[np.float32]
    node_ids_: NodeIds

    def fit_transform(self, X: Any = None, y: Any = None, **fit_params: Any) -> npt.NDArray[np.float32]:
        """Fit, and return the embedding of every fitted node; takes what ``fit`` takes."""
        self.fit(X, y, **fit_params)  # type: ignore[attr-defined]
        return self.transform()

    def transform(self, X: Any = None) -> npt.NDArray[np.float32]:
        """Return the embedding of all fitted nodes or, by an inductive method, of new rows ``X``."""
        check_is_fitted(self, "label_distributions_")
        return self.embedding_.copy() if X is None else self._embed_new(X)

    def _embed_new(self, X: Any) -> npt.NDArray[np.float32]:
        raise _not_inductive(self)

    def export_embedding(self, path: str | Path, nodes: Iterable[Hashable] | None = None) -> None:
        """Write the embedding of all fitted nodes (or of some) as ``.npz``, ``.parquet`` or word2vec text."""
        check_is_fitted(self, "label_distributions_")
        if nodes is None:
            write_embedding(path, self.node_ids_, self.embedding_)
            return
        rows = self.node_ids_.known_rows(nodes)
        write_embedding(path, self.node_ids_.take(rows), self.embedding_[rows])

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags = TransformerTags(preserves_dtype=["float32"])
        return tags


def _not_inductive(model: object) -> NotInductiveError:
    return NotInductiveError(
        f"{type(model).__name__} is transductive: it covers only the nodes that it was fitted on",
        hint="use predict(nodes=[...]) for those, or fit an inductive method (PlanetoidI, Feat) to label new rows",
    )
