"""The labels of a :class:`~planetoid.Dataset` agree: a label is for training or for validation, others are hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.labels import mask_labels
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from scipy import sparse

    from planetoid.data.dataset import Dataset

__all__ = ["known_label_sets", "without_labelled"]


def known_label_sets(Y: sparse.csr_array, data: Dataset) -> sparse.csr_array:
    """Return the labels of training and validation nodes, without those of all others."""
    known = data.y >= 0 if data.validation is None else (data.y >= 0) | (data.validation >= 0)
    if Y.shape != (data.n_nodes, data.n_classes) or (np.diff(Y.indptr)[known] == 0).any():
        raise DataError(f"{data.name}: Y does not have a row for each node, with some label where y has one")
    return mask_labels(Y, known).astype(bool)


def without_labelled(validation: npt.NDArray[np.int32], data: Dataset) -> npt.NDArray[np.int32] | None:
    """Return the validation labels without those of labelled nodes, ``None`` if none is left."""
    both = (validation >= 0) & (data.y >= 0)
    if not both.any():
        return validation
    file = data.source("validation")
    path = None if file is None else file.path
    different = np.flatnonzero(both & (validation != data.y))
    if len(different):
        row = int(different[0])
        label, other = data.classes[[validation[row], data.y[row]]].tolist()
        raise DataError(
            f"the validation label is {label!r}, but the label is {other!r}",
            node=data.ids[row],
            path=path,
            hint="remove one of them: a label is either for training or for validation",
        )
    warn(
        PlanetoidWarning(
            f"{pluralize(int(both.sum()), 'validation label is', 'validation labels are')} of labelled nodes and "
            "ignored",
            path=path,
            hint="a label is either for training or for validation",
        )
    )
    if both.sum() == (validation >= 0).sum():
        return None
    rest = np.where(both, np.int32(-1), validation)
    rest.flags.writeable = False
    return rest
