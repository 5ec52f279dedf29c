"""``ModelView``: what a report shows of a model, fitted in this process or saved in a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from planetoid.parameters import Parameters

if TYPE_CHECKING:
    from planetoid.estimator.classifier import GraphClassifier
    from planetoid.ids import NodeIds

__all__ = ["ModelView", "SavedArrays"]


class _Method(Protocol):
    @property
    def embedding(self) -> bool: ...


class SavedArrays(Protocol):
    """A saved model whose arrays can be read without importing the class that computed them."""

    @property
    def class_name(self) -> str: ...
    @property
    def document(self) -> Mapping[str, Any]: ...
    @property
    def method(self) -> _Method: ...
    @property
    def classes(self) -> npt.NDArray[Any]: ...
    @property
    def node_ids(self) -> NodeIds: ...
    @property
    def probabilities(self) -> npt.NDArray[np.floating[Any]]: ...
    @property
    def embedding(self) -> npt.NDArray[np.floating[Any]]: ...
    @property
    def multi_label(self) -> bool: ...
    @property
    def threshold(self) -> float: ...
    def load(self) -> GraphClassifier: ...


@dataclass(frozen=True, eq=False)
class ModelView:
    """The arrays and parameters of a model that a report needs.

    Attributes
    ----------
    class_name : str
        For instance ``"PlanetoidT"``.
    classes : array of shape (n_classes,)
    node_ids : NodeIds
    probabilities : array of shape (n_nodes, n_classes)
    embedding : array of shape (n_nodes, dimension), or None
    history : list, or None
        Training history, where the method records one.
    parameters : dict
        All parameters; those of parameter objects as ``object.name``.
    threshold : float or None
        Probability from which on a label is predicted, if nodes may have several.
    """

    class_name: str
    classes: npt.NDArray[Any]
    node_ids: NodeIds
    probabilities: npt.NDArray[np.floating[Any]]
    embedding: npt.NDArray[np.floating[Any]] | None
    history: object
    parameters: dict[str, object]
    threshold: float | None = None

    @classmethod
    def of(cls, model: GraphClassifier | SavedArrays) -> ModelView:
        """Return the view of a fitted estimator or of a saved model."""
        if not hasattr(model, "document"):  # an estimator, whose class is not imported for a saved model
            return cls._of_estimator(cast("GraphClassifier", model))
        model = cast("SavedArrays", model)
        return cls(
            class_name=model.class_name,
            classes=model.classes,
            node_ids=model.node_ids,
            probabilities=model.probabilities,
            embedding=model.embedding if model.method.embedding else None,
            history=model.document["attributes"].get("history_"),
            parameters=_flat(model.document["parameters"]),
            threshold=model.threshold if model.multi_label else None,
        )

    @classmethod
    def _of_estimator(cls, model: GraphClassifier) -> ModelView:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model, "label_distributions_")
        return cls(
            class_name=type(model).__name__,
            classes=model.classes_,
            node_ids=model.node_ids_,
            probabilities=model.label_distributions_,
            embedding=getattr(model, "embedding_", None),
            history=getattr(model, "history_", None),
            parameters=_flat(model.get_params(deep=False)),
            threshold=model.threshold_ if model.multi_label_ else None,
        )

    @property
    def n_nodes(self) -> int:
        """Number of fitted nodes."""
        return len(self.node_ids)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)


def _flat(parameters: Mapping[str, object]) -> dict[str, object]:
    """Return parameters with those of parameter objects as ``object.name``."""
    flat: dict[str, object] = {}
    for name, value in parameters.items():
        inner = value.get_params() if isinstance(value, Parameters) else value
        if isinstance(inner, Mapping):
            flat |= {f"{name}.{key}": one for key, one in inner.items()}
        else:
            flat[name] = value
    return flat
