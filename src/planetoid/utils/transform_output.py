"""``in_container``: an array as what ``set_output`` or scikit-learn's configuration asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, ParameterError, PlanetoidError

__all__ = ["CONTAINERS", "check_input_features", "in_container"]

CONTAINERS = ("default", "pandas", "polars")


def in_container(
    values: npt.NDArray[np.float32],
    columns: Sequence[str],
    index: npt.NDArray[Any] | None,
    chosen: Mapping[str, str | None],
) -> Any:
    """Return an array, or a table with named columns.

    Parameters
    ----------
    values : array of shape (n, n_columns)
    columns : names
    index : array, optional
        Ids of the rows, for pandas.
    chosen : dict
        What ``set_output`` stored: ``{"transform": "pandas"}``; without an entry, scikit-learn's configuration decides.

    Examples
    --------
    >>> row = np.array([[1.0, 2.0]], np.float32)
    >>> in_container(row, ["a", "b"], np.array(["x"]), {"transform": "pandas"}).to_dict("index")
    {'x': {'a': 1.0, 'b': 2.0}}
    """
    from sklearn import get_config

    kind = chosen.get("transform") or get_config().get("transform_output", "default")
    if kind == "default":
        return values
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(values, index=index, columns=list(columns))
    if kind == "polars":
        try:
            import polars as pl
        except ImportError:
            raise PlanetoidError("polars is not installed", hint="pip install polars") from None
        return pl.DataFrame(values, schema=list(columns))
    raise ParameterError(f"transform must be {', '.join(map(repr, CONTAINERS))} or None, got {kind!r}")


def check_input_features(model: object, names: npt.ArrayLike | None) -> None:
    """Raise ``DataError`` if names are not those of the features that a model was fitted on."""
    count: int | None = getattr(model, "n_features_in_", None)
    if names is None or count is None:
        return
    given, fitted = np.asarray(names, dtype=object), getattr(model, "feature_names_in_", None)
    if len(given) != count:
        raise DataError(
            f"input_features should have length equal to number of features ({count}), got {len(given)}",
        )
    if fitted is not None and not np.array_equal(given, fitted):
        raise DataError("input_features is not equal to feature_names_in_")
