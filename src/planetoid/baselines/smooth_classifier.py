"""``SmoothNetworkClassifier``: base of methods that train a network whose outputs differ little within walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.baselines.reference import reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset, Features
from planetoid.data.scaling import scale_rows
from planetoid.data.types import Probabilities
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.explanation.contributions import Contributions, Question
from planetoid.io.model_files import Tensors
from planetoid.training.callbacks import Record
from planetoid.training.modules import load_module_tensors, module_tensors

if TYPE_CHECKING:
    from planetoid.baselines.smooth_network import SmoothNetwork
    from planetoid.export.operators import Operators, Value
    from planetoid.training.batches import FeatureRows

__all__ = ["SmoothNetworkClassifier"]


class SmoothNetworkClassifier(InductiveClassifier):
    """Trains a :class:`~planetoid.baselines.smooth_network.SmoothNetwork`, predicts by it and saves it."""

    # Parameters of every method of this kind, then those of some: what holds for the others.
    layers: int
    width: int
    steps: int
    learning_rate: float
    row_normalize: str | None
    verbose: int
    dropout: float = 0.0
    embedding: str = "output"
    dimension: int = 0

    network_: SmoothNetwork
    history_: list[Record]

    def _train(
        self, data: Dataset, *, penalty: float, margin: float, n_labelled: int, n_pairs: int, weight_decay: float
    ) -> FeatureRows:
        """Train a new network, and return the features as it takes them."""
        from planetoid.baselines.smooth_network import SmoothTraining, train

        assert data.X is not None
        features = self._features(data.X)
        self.network_ = self._new_network(data.n_classes, self._seed)
        plan = SmoothTraining(
            penalty=penalty,
            margin=margin,
            steps=self.steps,
            n_labelled=n_labelled,
            n_pairs=n_pairs,
            learning_rate=self.learning_rate,
            weight_decay=weight_decay,
            seed=self._seed,
            name=type(self).__name__,
            verbose=self.verbose,
        )
        self.history_ = train(self.network_, features, data, plan)
        return features

    def _new_network(self, n_classes: int, seed: int = 0) -> SmoothNetwork:
        from planetoid.baselines.smooth_network import SmoothNetwork
        from planetoid.training.randomness import StepRandom

        return SmoothNetwork(
            self.n_features_in_,
            n_classes,
            layers=self.layers,
            width=self.width,
            activation="relu",
            dropout=self.dropout,
            embedding=self.embedding,
            dimension=self.dimension,
            random=StepRandom(seed),
        )

    def _features(self, X: Features) -> FeatureRows:
        from planetoid.training.batches import FeatureRows

        return FeatureRows(scale_rows(X, self.row_normalize))

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        return reference_sample(data, probabilities)

    def _label_reasons(self, question: Question) -> list[Contributions]:
        if question.data is None:
            return []
        from planetoid.baselines.smooth_network import label_reasons

        assert question.data.X is not None
        labelled = self._features(question.data.X[question.data.labelled])
        return [label_reasons(self.network_, labelled, self._features(question.known_row()), question)]

    def _predict_rows(self, X: Features) -> Probabilities:
        from planetoid.baselines.smooth_network import predict

        return predict(self.network_, self._features(X))

    def _write_scores(self, operators: Operators) -> Value:
        return self.network_.write_logits(operators, operators.rows(self.row_normalize))

    def _tensors(self) -> Tensors:
        return module_tensors(self.network_)

    def _take_tensors(self, tensors: Tensors) -> None:
        self.network_ = self._new_network(len(self.classes_))
        load_module_tensors(self.network_, tensors)
