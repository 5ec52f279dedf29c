"""Table 4: recall at k on coordinate lists, DIEL's or made ones."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.baselines.diel import Diel
from planetoid.datasets import CoordinateLists, load, make_coordinate_lists
from planetoid.errors import PlanetoidWarning
from planetoid.evaluation import Result
from planetoid.registry import METHODS

__all__ = ["lists_of", "run_on_lists"]


@lru_cache(maxsize=1)
def lists_of(name: str, seed: int) -> CoordinateLists:
    """Return DIEL's run of a number (``"lists:diel"``), or lists made by a seed at a scale (``"lists:0.1"``)."""
    which = name.removeprefix("lists:")
    if which == "diel":
        data = load("diel", run=seed)
        assert isinstance(data, CoordinateLists)
        return data
    return make_coordinate_lists(scale=float(which), seed=seed)


def run_on_lists(data: CoordinateLists, method: str, seed: int, parameters: Mapping[str, Any]) -> Result:
    """Fit a method on the distant labels of the lists and count the true items among its k best.

    An item has the score of the best of the lists that it stands in; ``Diel`` scores items itself.
    """
    cls = METHODS[method]
    known = cls._get_param_names()
    model = cls().set_params(**({"random_state": seed} if "random_state" in known else {}) | dict(parameters))
    X = None if cls.uses_features == "never" else data.X
    given = {} if cls.uses_graph == "never" else {"graph": data.graph}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        model.fit(X, data.y, **given)
        fitted = time.perf_counter()
    items: npt.NDArray[np.floating[Any]]
    if isinstance(model, Diel):  # which scores items by the mean of their lists
        items = model.scores_[data.n_lists :]
    else:
        items = data.item_scores(model.predict_proba())
    recall = data.recall_at_k(items)
    return Result(
        method=method,
        dataset=data.name,
        protocol=f"labels of lists that contain a seed; recall at k = {data.k:,} over all true items",
        seed=seed,
        metrics={"recall": recall, "upper_bound": data.upper_bound},
        fit_seconds=fitted - start,
        predict_seconds=time.perf_counter() - fitted,
        n_train=int((data.y >= 0).sum()),
        n_val=0,
        n_test=len(data.truth_rows),
        parameters=dict(parameters),
        warnings=[str(entry.message) for entry in caught if issubclass(entry.category, PlanetoidWarning)],
    )
