"""``draw_split``: the split of a dataset that the name of a protocol stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.data.splits import Split, fold_split, multi_label_split, planetoid_split, rate_split
from planetoid.errors import ParameterError
from planetoid.parameters import Integer, check_parameters

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset

__all__ = ["draw_split"]


def draw_split(
    data: Dataset,
    kind: str,
    *,
    seed: int,
    rate: float | None,
    per_class: int,
    n_val: int | None,
    n_test: int | None,
    n_folds: int,
) -> Split:
    """Return labelled, validation and test rows; :meth:`planetoid.Dataset.split` has the arguments."""
    if kind == "public":
        if data.public is None:
            raise ParameterError(
                f"{data.name} has no public split", hint="use split('random', seed=0)", parameter="kind"
            )
        return data.public
    if kind == "random":
        val, test = 500 if n_val is None else n_val, 1000 if n_test is None else n_test
        if data.Y is not None:
            return multi_label_split(data.Y, per_class=per_class, n_val=val, n_test=test, seed=seed)
        return planetoid_split(data.y, per_class, val, test, seed)
    if kind == "rate":
        if data.Y is not None:
            return multi_label_split(data.Y, rate=rate, n_val=n_val or 0, n_test=n_test, seed=seed)
        if rate is None:
            raise ParameterError(
                "split('rate') requires rate, the share of each class that is labelled", parameter="rate"
            )
        return rate_split(data.y, rate, n_val or 0, n_test, seed)
    if kind == "folds":
        check_parameters("split", {"n_folds": n_folds}, {"n_folds": Integer(2)})
        return fold_split(data.y, n_folds, fold=seed % n_folds, seed=seed // n_folds)
    raise ParameterError(f"kind must be 'public', 'random', 'rate' or 'folds', got {kind!r}", parameter="kind")
