"""``SavingMixin``: a fitted method as a folder of files, and its state when it is loaded again or copied."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from planetoid.calibration import Calibration
from planetoid.errors import DataError
from planetoid.estimator.base import MethodBase
from planetoid.explanation.fitted_data import data_tensors, is_small, restored_data
from planetoid.io.model_files import Document, Plain, Tensors, as_plain, write_model
from planetoid.parameters import Parameters

__all__ = ["SavingMixin"]


class SavingMixin(MethodBase):
    """How a fitted method is saved; one with more than plain attributes says what else is needed."""

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

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        if state.get("_data") is not None and not is_small(state["_data"]):
            state = {**state, "_data": None}  # copies of a model do not carry much data along
        return state


def _plain_parameter(value: object) -> Plain:
    """Return a parameter as JSON, a parameter object as a dictionary; raise ``TypeError`` for any other object."""
    if isinstance(value, Parameters):
        return {name: _plain_parameter(one) for name, one in value.get_params().items()}
    return as_plain(value)
