"""Runs of Table 4: recall at k on coordinate lists, DIEL's or synthetic ones."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache

from planetoid.baselines.diel import Diel
from planetoid.datasets import CoordinateLists, load, make_coordinate_lists
from planetoid.evaluation import Result
from planetoid.evaluation.protocols import make_model, timed_fit

__all__ = ["LISTS_PREFIX", "load_lists", "run_on_lists"]

LISTS_PREFIX = "lists:"


@lru_cache(maxsize=1)
def load_lists(name: str, seed: int) -> CoordinateLists:
    """Return DIEL's run number ``seed`` (``"lists:diel"``), or synthetic lists at a scale (``"lists:0.1"``)."""
    which = name.removeprefix(LISTS_PREFIX)
    if which == "diel":
        data = load("diel", run=seed)
        assert isinstance(data, CoordinateLists)
        return data
    return make_coordinate_lists(scale=float(which), seed=seed)


def run_on_lists(data: CoordinateLists, method: str, seed: int, parameters: Mapping[str, object]) -> Result:
    """Fit a method on the distant labels of the lists and compute the recall of the true items among its top k.

    The score of an item is the highest score of the lists that contain it; ``Diel`` scores items itself, by the mean
    of their lists.
    """
    model = make_model(method, seed, parameters)
    fit = timed_fit(model, data.X, data.y, data.graph)
    start = time.perf_counter()
    scores = model.scores_[data.n_lists :] if isinstance(model, Diel) else data.item_scores(model.predict_proba())
    recall = data.recall_at_k(scores)
    return Result(
        method=method,
        dataset=data.name,
        protocol=f"labels of lists that contain a seed; recall at k = {data.k:,} over all true items",
        seed=seed,
        metrics={"recall": recall, "upper_bound": data.upper_bound},
        fit_seconds=fit.seconds,
        predict_seconds=time.perf_counter() - start,
        n_train=int((data.y >= 0).sum()),
        n_val=0,
        n_test=len(data.truth_rows),
        parameters=dict(parameters),
        warnings=fit.warnings,
    )
