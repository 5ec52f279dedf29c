"""``load``: a saved model back from its folder, with the class looked up in the registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from planetoid.errors import DataError, Fix, PlanetoidError
from planetoid.io.model_files import read_ids
from planetoid.parameters import Parameters
from planetoid.persistence.saved_model import SavedModel
from planetoid.registry import METHODS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["load", "restore"]


def load(path: str | Path, **overrides: object) -> GraphClassifier:
    """Load a model that ``estimator.save(path)`` wrote.

    Nothing in the folder is executed: ``model.json`` is plain data, tensors are
    safetensors, and the class is looked up by name among planetoid's own.

    Parameters
    ----------
    path : str or Path
        The folder.
    **overrides
        Parameters to use instead of the saved ones. Objects are not saved, so
        a ``PlanetoidI`` with its own encoder needs ``encoder=...`` here: one of
        the same structure, whose weights are in the folder.

    Examples
    --------
    >>> import tempfile, planetoid as pl
    >>> model = pl.Feat().fit([[1.0, 0.0], [0.0, 1.0]], ["fruit", "animal"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     pl.load(f"{folder}/model").predict([[0.9, 0.2]]).tolist()
    ['fruit']
    """
    return restore(SavedModel(path), **overrides)


def restore(saved: SavedModel, **overrides: object) -> GraphClassifier:
    """Return the model of an opened folder, with some parameters replaced."""
    model = METHODS[saved.method.name]()
    _check_overrides(saved, type(model), overrides)
    try:
        model.set_params(**_restored(model, saved.document["parameters"]))
    except (PlanetoidError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"cannot load the model: {error}", path=saved.path) from None
    model.set_params(**overrides)
    try:
        tensors = saved.tensors()
        model.node_ids_ = read_ids(saved.path, saved.document, tensors)
        model.classes_ = saved.classes
        features = saved.document["features"]
        if features is not None:
            model.n_features_in_ = int(features["count"])
            if features["names"] is not None:
                model.feature_names_in_ = np.array(features["names"], dtype=object)
        if saved.preparation is not None:
            model.preparation_ = saved.preparation
        model._set_state(saved.document["attributes"], tensors)
    except PlanetoidError as error:
        raise DataError(error.message, path=error.path or saved.path, hint=error.hint, fix=error.fixes) from None
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise DataError(f"the model is damaged ({type(error).__name__}: {error})", path=saved.path) from None
    return model


def _restored(model: GraphClassifier, saved: Mapping[str, object]) -> dict[str, object]:
    """Return saved parameters as the model takes them: parameter objects and tuples, which JSON does not have."""
    defaults = model.get_params(deep=False)
    return {name: _as_before(defaults.get(name), value) for name, value in saved.items()}


def _as_before(default: object, value: object) -> object:
    if isinstance(default, Parameters) and isinstance(value, dict):
        inner = default.get_params()
        return default.replace(**{name: _as_before(inner.get(name), one) for name, one in value.items()})
    return tuple(value) if isinstance(default, tuple) and isinstance(value, list) else value


def _check_overrides(saved: SavedModel, cls: type[GraphClassifier], overrides: Mapping[str, object]) -> None:
    """Require the parameters that could not be saved and that no default can replace."""
    not_saved = saved.document.get("not_saved")
    if not isinstance(not_saved, dict):
        raise DataError("the model is damaged: model.json has no entry 'not_saved'", path=saved.path)
    for name, value in not_saved.items():
        if name in cls.needed_to_load and name not in overrides:
            raise DataError(
                f"the model was fitted with {name}={value}, which cannot be saved",
                path=saved.path,
                fix=Fix(name, purpose="to load it"),
            )
