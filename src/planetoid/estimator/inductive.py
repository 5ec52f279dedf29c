"""``InductiveClassifier``: the contract of methods that label new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from planetoid.data.checks import check_features
from planetoid.data.dataset import Features
from planetoid.data.types import FeaturesLike, Probabilities
from planetoid.errors import DataError, PlanetoidError
from planetoid.estimator.classifier import GraphClassifier
from planetoid.explanation.contributions import Answer, Contributions, Question, by_occlusion

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["InductiveClassifier"]


class InductiveClassifier(GraphClassifier):
    """Base class of methods that label new rows; they also implement :meth:`_predict_rows`."""

    uses_features = "required"
    inductive = True

    def _predict_rows(self, X: Features) -> Probabilities:
        """Return class probabilities of validated float32 rows."""
        raise NotImplementedError

    def _write_scores(self, operators: Operators) -> Value:
        """Describe how :meth:`_predict_rows` scores rows, before the softmax, for :func:`planetoid.export.to_onnx`."""
        raise PlanetoidError(f"{type(self).__name__} cannot be exported")

    def _predict_new(self, X: FeaturesLike) -> Probabilities:
        return self.calibration_.apply(self._predict_rows(self._check_new(X)))

    def _explain(self, question: Question) -> Answer:
        """Explain by the features: what the prediction from features alone would lose without each of them."""

        def score(rows: Features) -> npt.NDArray[np.float64]:
            return question.log_odds(self._predict_rows(rows))

        x = question.known_row()
        parts = [by_occlusion(x, score), *self._label_reasons(question)]
        return Answer(float(score(x)[0]), question.log_odds_name, parts)

    def _label_reasons(self, question: Question) -> list[Contributions]:
        """Return the contributions of labelled nodes, of a method that knows them."""
        return []

    def _check_row(self, X: FeaturesLike) -> Features:
        row = self._check_new(X)
        if row.shape[0] != 1:
            raise DataError(f"explain takes one new row at a time, X has {row.shape[0]:,}")
        return row

    def _check_new(self, X: FeaturesLike) -> Features:
        """Validate new rows against the fitted features, by column name if there are names; prepare raw rows."""
        if hasattr(self, "preparation_") and not isinstance(X, np.ndarray):
            from planetoid.io.memory import ArrowStream, to_arrow

            if isinstance(X, ArrowStream):
                table = to_arrow(X)
                return self.preparation_.transform(dict(zip(table.column_names, table.columns, strict=True)))
        fitted_names = getattr(self, "feature_names_in_", None)
        if fitted_names is not None and hasattr(X, "columns"):
            columns = {str(name): name for name in X.columns}
            missing = [name for name in fitted_names if name not in columns]
            if missing:
                more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
                raise DataError(f"X lacks the feature column {missing[0]!r}{more}")
            X = X[[columns[name] for name in fitted_names]]  # type: ignore[index]
        features = check_features(X).X
        if features.shape[1] != self.n_features_in_:
            raise DataError(
                f"X has {features.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input"
            )
        return features
