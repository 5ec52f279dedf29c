"""``load``: a saved model back from its folder, with the class taken from the registry alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from planetoid.errors import DataError, PlanetoidError
from planetoid.io.model_files import read_model
from planetoid.registry import CLASSES, METHODS

if TYPE_CHECKING:
    from planetoid.estimator import GraphClassifier

__all__ = ["load"]


def load(path: str | Path, **overrides: Any) -> GraphClassifier:
    """Load a model that ``estimator.save(path)`` wrote.

    Nothing in the folder is executed: ``model.json`` is plain data, tensors are
    safetensors, and the class is looked up by name among planetoid's own.

    Parameters
    ----------
    path : path of the folder
    **overrides
        Parameters to use instead of the saved ones. What is not plain data is
        not saved, so a ``PlanetoidI`` with an encoder of the user's needs
        ``encoder=...`` here: one of the same structure, for its weights are in
        the folder.

    Examples
    --------
    >>> import tempfile, planetoid as pl
    >>> model = pl.Feat().fit([[1.0, 0.0], [0.0, 1.0]], ["fruit", "animal"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     pl.load(f"{folder}/model").predict([[0.9, 0.2]]).tolist()
    ['fruit']
    """
    document, tensors, ids = read_model(path)
    cls = _class_of(document, path)
    _check_overrides(cls, document, overrides, path)
    try:
        estimator = cls().set_params(**_flat(document["parameters"]))
    except (PlanetoidError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"cannot load the model in {path}: {error}") from None
    estimator.set_params(**overrides)
    try:
        estimator.node_ids_ = ids
        estimator.classes_ = np.array(document["classes"]["labels"], dtype=document["classes"]["dtype"])
        features = document["features"]
        if features is not None:
            estimator.n_features_in_ = int(features["count"])
            if features["names"] is not None:
                estimator.feature_names_in_ = np.array(features["names"], dtype=object)
        estimator._take_state(document["attributes"], tensors)
    except PlanetoidError as error:
        raise DataError(f"cannot load the model in {path}: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        raise DataError(f"the model in {path} is damaged ({type(error).__name__}: {error})") from None
    return estimator


def _flat(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with those of parameter objects as ``object__name``."""
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        flat |= {f"{name}__{inner}": one for inner, one in value.items()} if isinstance(value, dict) else {name: value}
    return flat


def _class_of(document: dict[str, Any], path: str | Path) -> type[GraphClassifier]:
    name = document.get("class")
    if not isinstance(name, str) or name not in CLASSES:
        raise DataError(f"the model in {path} is of the class {name!r}, which this planetoid does not have")
    return METHODS[CLASSES[name][0]]


def _check_overrides(
    cls: type[GraphClassifier], document: dict[str, Any], overrides: dict[str, Any], path: str | Path
) -> None:
    left_out = document.get("left_out")
    if not isinstance(left_out, dict):
        raise DataError(f"the model in {path} is damaged: model.json has no left_out")
    for name, value in left_out.items():
        if name in cls.needed_to_load and name not in overrides:
            raise DataError(
                f"the model in {path} was fitted with {name}={value}, which cannot be saved: "
                f"give it again, load(path, {name}=...)"
            )
