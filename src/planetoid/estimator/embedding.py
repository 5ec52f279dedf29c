"""``EmbeddingMixin``: scikit-learn's ``transform`` for methods that learn an embedding of each node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from planetoid.data.dataset import Dataset
from planetoid.data.types import FeaturesLike
from planetoid.estimator.base import not_inductive
from planetoid.ids import NodeIds
from planetoid.io.embeddings import write_embedding
from planetoid.labels import Labels
from planetoid.parameters import check_parameters
from planetoid.utils.transform_output import CONTAINERS, check_input_features, in_container

if TYPE_CHECKING:
    from sklearn.utils import Tags
    from typing_extensions import Self

__all__ = ["EmbeddingMixin"]


class EmbeddingMixin:
    """Mixin of methods that learn an embedding of each node: scikit-learn's ``transform``, and an export."""

    embedding_: npt.NDArray[np.float32]
    node_ids_: NodeIds

    def fit_transform(
        self, X: FeaturesLike | Dataset | None = None, y: Labels | None = None, **fit_params: object
    ) -> npt.NDArray[np.float32]:
        """Fit, and return the embedding of every fitted node; takes the arguments of ``fit``."""
        self.fit(X, y, **fit_params)  # type: ignore[attr-defined]
        return self.transform()

    def transform(self, X: FeaturesLike | None = None) -> npt.NDArray[np.float32]:
        """Return the embedding of all fitted nodes or, for an inductive method, of new rows ``X``.

        After ``set_output(transform="pandas")`` it is a DataFrame, whose index are the node ids or that of ``X``.
        """
        check_is_fitted(self, "label_distributions_")
        found = self.embedding_.copy() if X is None else self._embed_new(X)
        chosen = getattr(self, "_sklearn_output_config", {})  # by this name, scikit-learn's clone keeps it
        index = self.node_ids_.to_numpy() if X is None else getattr(X, "index", None) if hasattr(X, "columns") else None
        return in_container(found, self.get_feature_names_out().tolist(), index, chosen)  # type: ignore[no-any-return]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what ``transform`` returns: ``"default"`` (an array), ``"pandas"`` or ``"polars"``.

        ``None`` leaves it as it is. Without a choice, ``sklearn.set_config(transform_output=...)`` decides.
        """
        if transform is not None:
            check_parameters("set_output", {"transform": transform}, {"transform": CONTAINERS})
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> npt.NDArray[np.object_]:
        """Return the names of the columns of the embedding: ``planetoidt0``, ``planetoidt1``, ...

        ``input_features`` are checked, as in scikit-learn, and make no difference.
        """
        check_is_fitted(self, "label_distributions_")
        check_input_features(self, input_features)
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{k}" for k in range(self.embedding_.shape[1])], dtype=object)

    def _embed_new(self, X: FeaturesLike) -> npt.NDArray[np.float32]:
        raise not_inductive(self)

    def export_embedding(self, path: str | Path, nodes: Iterable[Hashable] | None = None) -> None:
        """Write the embedding of all fitted nodes, or of ``nodes``, as ``.npz``, ``.parquet`` or word2vec text."""
        check_is_fitted(self, "label_distributions_")
        if nodes is None:
            write_embedding(path, self.node_ids_, self.embedding_)
            return
        rows = self.node_ids_.known_rows(nodes)
        write_embedding(path, self.node_ids_.take(rows), self.embedding_[rows])

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import TransformerTags

        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags = TransformerTags(preserves_dtype=["float32"])
        return tags
