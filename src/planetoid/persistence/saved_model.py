"""``SavedModel``: the labels that a saved model holds, without torch, numba and scikit-learn."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.io.model_files import Document, Tensors, open_tensors, read_consistently, read_document, read_ids
from planetoid.registry import CLASSES, MethodInfo

if TYPE_CHECKING:
    from planetoid.estimator.classifier import GraphClassifier
    from planetoid.ids import NodeIds
    from planetoid.io.tensor_files import TensorFile
    from planetoid.preparation import Preparation

__all__ = ["SavedModel"]


class SavedModel:
    """A model in its folder: what it is, and the arrays it was saved with.

    Class probabilities and embeddings of the fitted nodes are part of a saved model, so that they can be read without
    the classes that computed them; :meth:`load` gives the whole model, which predicts new rows. The files are opened
    and verified at once: if another process replaces the model, this object still has the one that it was made from.

    Parameters
    ----------
    path : str or Path
        The folder.

    Attributes
    ----------
    path : Path
    class_name : str
        For example ``"PlanetoidT"``.
    method : MethodInfo
        Its entry in the registry, with the short name.
    classes : array
        The labels; a column of :attr:`probabilities` each.

    Examples
    --------
    >>> import tempfile, planetoid as pl
    >>> model = pl.LabelPropagation().fit(None, {"a": "red", "c": "blue"}, graph=[("a", "b"), ("b", "d"), ("c", "e")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     saved = SavedModel(f"{folder}/model")
    ...     saved.predict().tolist()
    ['red', 'red', 'blue', 'red', 'blue']
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.document: Document
        self.document, self._tensors = read_consistently(self.path, self._open)
        name = self.document.get("class")
        if not isinstance(name, str) or name not in CLASSES:
            raise DataError(f"the model has the class {name!r}, which this planetoid does not have", path=self.path)
        self.class_name: str = name
        self.method: MethodInfo = CLASSES[name]

    def _open(self) -> tuple[Document, TensorFile]:
        document = read_document(self.path)
        return document, open_tensors(self.path, document)

    @cached_property
    def classes(self) -> npt.NDArray[Any]:
        """The labels, in the order of the columns of :attr:`probabilities`."""
        try:
            entry = self.document["classes"]
            return np.array(entry["labels"], dtype=entry["dtype"])
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(f"its classes cannot be read ({error})") from None

    @property
    def n_features(self) -> int | None:
        """Number of features that the model was fitted on, ``None`` if on none."""
        features = self._features()
        return None if features is None else int(features["count"])

    @property
    def feature_names(self) -> list[str] | None:
        """Names of these features, ``None`` if they had none."""
        features = self._features()
        return None if features is None else features["names"]

    @cached_property
    def preparation(self) -> Preparation | None:
        """How features are made from a node table, ``None`` if the model was not fitted on one."""
        document = self.document.get("preparation")
        if document is None:
            return None
        from planetoid.preparation import Preparation

        try:
            return Preparation.from_dict(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._damaged(f"its preparation of columns cannot be read ({error})") from None

    @cached_property
    def node_ids(self) -> NodeIds:
        """Ids of the fitted nodes, in row order."""
        return read_ids(self.path, self.document, self._read("node_ids."))

    @cached_property
    def probabilities(self) -> npt.NDArray[np.floating[Any]]:
        """Class probabilities of every fitted node."""
        found = self._read("attributes.label_distributions_").popitem()[1]
        if found.shape != (len(self.node_ids), len(self.classes)):
            raise self._damaged("its probabilities do not fit its nodes and classes")
        return found

    @property
    def multi_label(self) -> bool:
        """Whether nodes may have several labels."""
        return bool(self._attribute("multi_label_", False))

    @property
    def threshold(self) -> float:
        """Probability from which on a label is predicted, if nodes may have several."""
        return float(self._attribute("threshold_", 0.5))

    def _attribute(self, name: str, default: float) -> float:
        value = self.document.get("attributes", {}).get(name, default)
        if not isinstance(value, (bool, int, float)):
            raise self._damaged(f"its {name} cannot be read")
        return value

    @cached_property
    def set_thresholds(self) -> npt.NDArray[np.float64]:
        """Thresholds of prediction sets; see :mod:`planetoid.prediction_sets`."""
        found = self._tensors.read("attributes.set_thresholds_")
        if self.multi_label:
            raise DataError(
                "prediction sets are for models with one label per node: they contain its true class with a stated "
                "probability",
                path=self.path,
                hint="for several, use the calibrated probability of each label, or the most probable ones",
            )
        if not found:
            raise DataError(
                "the model has no prediction sets: it was fitted without calibration, or with fewer than ten labels",
                path=self.path,
            )
        return np.asarray(found.popitem()[1], dtype=np.float64)

    @cached_property
    def node_set_thresholds(self) -> npt.NDArray[np.float64]:
        """Thresholds of the prediction sets of fitted nodes; those of :attr:`set_scores`, if there are any."""
        found = self._tensors.read("attributes.node_set_thresholds_")
        return np.asarray(found.popitem()[1], dtype=np.float64) if found else self.set_thresholds

    @cached_property
    def set_scores(self) -> npt.NDArray[np.float32] | None:
        """Scores that the prediction sets of fitted nodes are chosen by, ``None`` if by :attr:`probabilities`."""
        found = self._tensors.read("attributes.set_scores_")
        return found.popitem()[1] if found else None

    @cached_property
    def embedding(self) -> npt.NDArray[np.float32]:
        """Embedding of every fitted node, of a method that learns one."""
        if not self.method.embedding:
            raise DataError(f"{self.class_name} learns no embedding", path=self.path)
        return self._read("attributes.embedding_").popitem()[1]

    def predict(self) -> npt.NDArray[Any]:
        """Return the most probable label of every fitted node, an indicator matrix if nodes may have several."""
        if self.multi_label:
            from planetoid.multi_label import indicator

            return indicator(self.probabilities, self.threshold)
        labels: npt.NDArray[Any] = self.classes[self.probabilities.argmax(axis=1)]
        return labels

    def tensors(self) -> Tensors:
        """Return all arrays by name, those of the node ids included."""
        return self._tensors.read()

    def load(self, **overrides: object) -> GraphClassifier:
        """Return the whole model; see :func:`planetoid.load`."""
        from planetoid.persistence.loading import restore

        return restore(self, **overrides)

    def _features(self) -> Document | None:
        features = self.document.get("features")
        if features is not None and (not isinstance(features, dict) or not {"count", "names"} <= features.keys()):
            raise self._damaged("its features cannot be read")
        return features

    def _read(self, prefix: str) -> Tensors:
        tensors = self._tensors.read(prefix)
        if not tensors and not prefix.startswith("node_ids"):  # row numbers need no tensor
            raise self._damaged(f"tensors.safetensors has no {prefix}")
        return tensors

    def _damaged(self, reason: str) -> DataError:
        return DataError(f"the model is damaged: {reason}", path=self.path)
