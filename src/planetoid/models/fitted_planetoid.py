"""``FittedPlanetoid``: what a fitted ``Planetoid`` does: label new nodes, give reasons, and go to a file and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax

from planetoid.data.dataset import Features
from planetoid.data.types import FeaturesLike, Probabilities
from planetoid.errors import DataError
from planetoid.estimator.embedding import EmbeddingMixin
from planetoid.explanation.contributions import Answer, Question
from planetoid.explanation.memory import remember
from planetoid.io.model_files import Tensors
from planetoid.models.attached import Attached, AttachingClassifier
from planetoid.models.class_bias import with_bias
from planetoid.models.context_network import ContextNetwork
from planetoid.models.context_predictions import ContextPredictions, mean_prediction
from planetoid.models.context_reasons import (
    PooledPredictions,
    explain_hops,
    explain_new_row,
    explain_node,
    nothing_known,
    of_given_features,
    scaled_and_shifted,
)
from planetoid.models.graph_inputs import connected
from planetoid.models.hops import Hops
from planetoid.models.inputs import Inputs
from planetoid.models.label_set_model import LabelSetModel, Material
from planetoid.models.node_contexts import USUAL_RESTART
from planetoid.models.opinions import geometric_mean
from planetoid.models.second_view import SecondView
from planetoid.models.student import Student
from planetoid.models.unreached import Unreached, by_features_where_unreached
from planetoid.training.callbacks import Record
from planetoid.training.settings import Neighbourhood

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value
    from planetoid.models.label_set_views import Weighted

__all__ = ["FittedPlanetoid"]


class FittedPlanetoid(EmbeddingMixin, AttachingClassifier):
    """The model that :class:`~planetoid.Planetoid` has learned: a network, and what is pooled with it.

    With several labels per node it is a :class:`~planetoid.models.label_set_model.LabelSetModel` instead.
    """

    view: str
    neighbourhood: Neighbourhood
    student: bool
    row_normalize: str | None
    n_jobs: int | None

    embedding_: npt.NDArray[np.float32]
    history_: list[Record]
    view_: str
    opinions_: npt.NDArray[np.float32]
    reliability_: dict[str, float]
    restart_: float
    propagation_weight_: float
    second_share_: float
    class_bias_: npt.NDArray[np.float32]
    _network: ContextNetwork
    _context_predictions: ContextPredictions | None
    _second_view: SecondView | None
    _unreached: Unreached | None
    _hops: Hops | None
    _student: Student | None
    _inputs: Inputs
    _sets_model: LabelSetModel

    # ---- predict --------------------------------------------------------------

    def _predict_attached(self, X: FeaturesLike | None, attached: Attached) -> Probabilities:
        network, x = self._network, None
        if X is not None and hasattr(self, "n_features_in_"):
            x = sparse.csr_array(self._inputs.scaled(self._check_new(X)))
        if self.view_ == "graph":  # which has no features: the mean of the neighbours instead
            return self._predict_by_edges(attached, x)
        if self._hops is not None:
            projected = np.asarray(self._hops.extended(attached.adjacency, x) @ network.layers.W1, dtype=np.float32)
        elif x is not None:
            projected = np.asarray(x @ network.layers.W1, dtype=np.float32)
        else:
            projected = np.zeros((attached.n_new, network.projected.shape[1]), np.float32)
        found = self._extended(attached, projected, x)
        if self.view_ == "features":
            found = self._by_neighbours_where_undescribed(attached, found, x)
        return with_bias(found, self.class_bias_)

    def _by_neighbours_where_undescribed(
        self, attached: Attached, found: Probabilities, x: sparse.csr_array | None
    ) -> Probabilities:
        """Return the probabilities of new nodes; those without features have the mean of the nodes around them."""
        described = np.zeros(attached.n_new, bool) if x is None else np.diff(x.indptr) > 0
        if described.all():
            return found
        network = self._network
        fitted = np.asarray(softmax(network.log_probabilities(self.embedding_), axis=1))
        if self._unreached is not None:
            fitted = np.where(self._unreached.reached[:, None], fitted, 0.0)
        own = np.vstack([fitted, np.where(described[:, None], found, 0.0)]).astype(np.float32)
        contexts = network.contexts._replace(adjacency=attached.adjacency).around()
        mean = mean_prediction(own, contexts, np.vstack([fitted, found]))[len(fitted) :]
        return np.where(described[:, None], found, mean)

    def _predict_by_edges(self, attached: Attached, x: sparse.csr_array | None) -> Probabilities:
        """Label new nodes by the embeddings of their neighbours; where no label reaches them, by rows x."""
        found = self._extended(attached, attached.mean_of_neighbours(self._network.projected), None)
        unreached, reached, layers = self._unreached, None, None
        if unreached is not None:
            reached, layers = unreached.reached, unreached.predictions.layers
        elif self._student is not None:
            layers = self._student.layers
        if x is not None and layers is not None:
            found = by_features_where_unreached(found, attached.adjacency, reached, layers, x)
        return with_bias(found, self.class_bias_)

    def _extended(
        self, attached: Attached, projected: npt.NDArray[np.float32], x: sparse.csr_array | None
    ) -> Probabilities:
        """Return the predictions of the network and of contexts for new nodes, by their first layer and rows x."""
        network = self._network.extended(attached.adjacency, projected)
        probabilities = np.asarray(softmax(network.log_probabilities(network.embedding()), axis=1))
        if self._context_predictions is not None:
            predictions = self._context_predictions.extended(attached.n_new, x)
            mean = predictions.mean(network.contexts, probabilities)
            probabilities = geometric_mean(probabilities, mean, self.propagation_weight_)
        return probabilities[len(probabilities) - attached.n_new :]

    def _fitted_adjacency(self) -> sparse.csr_array:
        return self._network.contexts.adjacency

    def _predict_new(self, X: FeaturesLike) -> Probabilities:
        if self.multi_label_:
            self._alone()
        else:
            self._new_rows_student()
        return super()._predict_new(X)

    def _alone(self) -> Weighted:
        """Return what labels new rows by their features, where nodes may have several labels."""
        if self._sets_model.alone is None:
            how = f"with view={self.view!r}" if hasattr(self, "n_features_in_") else "without features"
            raise DataError(
                f"the model was fitted {how}, so it cannot label new rows",
                hint="fit with features and view='auto' or view='features'",
            )
        return self._sets_model.alone

    def _new_rows_student(self) -> Student:
        """Return what labels new rows."""
        if self._student is None:
            raise _cannot_label_rows("without a student" if not self.student else "without features")
        return self._student

    def _predict_rows(self, X: Features) -> Probabilities:
        if self.multi_label_:
            return self._alone().probabilities({"features": self._inputs.scaled(X)})
        assert self._student is not None
        if self._inputs.only_norm:
            found = self._student.predict(X, self.row_normalize)
        else:
            found = self._student.predict(self._inputs.scaled(X))
        return with_bias(found, self.class_bias_)

    def _write_scores(self, operators: Operators) -> Value:
        if self.multi_label_:
            return self._alone().write_scores(operators, self._inputs.write(operators, self.n_features_in_))
        return self._new_rows_student().write_scores(
            operators, self._inputs.write(operators, self.n_features_in_), self.class_bias_
        )

    def _embed_new(self, X: FeaturesLike) -> npt.NDArray[np.float32]:
        """Return the embedding of new rows: that of their features without any context.

        Where the model learned from the graph alone, or from hops, it is the mean embedding of each class, weighted by
        the student's probabilities. A row that equals a fitted one has that node's embedding.
        """
        by_student = self.view_ in ("graph", "hops")  # rows alone are not what the network sees
        known = hasattr(self, "n_features_in_") and (not by_student or self._student is not None)
        if self.multi_label_ or not known:
            return super()._embed_new(X)
        x = self._inputs.scaled(self._check_new(X))
        if by_student:
            assert self._student is not None
            weights = self.label_distributions_ / self.label_distributions_.sum(axis=0)
            found = with_bias(self._student.predict(x), self.class_bias_)
            embedded = np.asarray(found @ (weights.T @ self.embedding_), dtype=np.float32)
        else:
            layers = self._network.layers
            embedded = np.asarray(np.maximum(x @ layers.W1 + layers.b1, 0), dtype=np.float32)
        if self._student is not None:
            same, at = self._student.known_rows(x)
            embedded[same] = self.embedding_[self._student.nodes[at]]
        return embedded

    def _explain(self, question: Question) -> Answer:
        if question.multi_label:
            answer = self._explain_sets(question)
        else:
            bias = float(self.class_bias_ @ question.contrast)
            answer = scaled_and_shifted(self._explain_scores(question), 1.0, bias)
        known = hasattr(self, "n_features_in_")
        if not known or not self._inputs.adds_columns or (question.data is None and question.row is not None):
            return answer
        X = question.known_row() if question.row is None else question.known_data().X
        assert X is not None
        row = self._inputs.scaled(X if question.row is None else X[[question.row]])
        return of_given_features(answer, self._inputs, row)

    def _explain_scores(self, question: Question) -> Answer:
        """Explain the prediction without the bias of the classes."""
        if question.row is None:
            assert self._student is not None  # there would be no prediction
            return explain_new_row(self._student, self._inputs.scaled(question.known_row()), question.contrast)
        network, predictions = self._network, self._context_predictions
        x = None  # unless features have a meaning, which the coordinates of an embedding of the graph have not
        if self.view_ != "graph" and question.data is not None and question.data.X is not None:
            x = sparse.csr_array(self._inputs.scaled(question.data.X))
        opinions = getattr(self, "opinions_", None)
        if self._hops is not None:
            return explain_hops(question, question.row, network, self.embedding_, self._hops, opinions)
        answer = explain_node(question, question.row, network, self.embedding_, x, opinions)
        if predictions is not None:
            shares = predictions.shares(network.contexts, question.row)
            pooled = PooledPredictions(shares, predictions.own, predictions.layers, self.propagation_weight_)
            answer = pooled.added_to(answer, question.contrast, x)
        if self._second_view is not None:
            answer = self._second_view.added_to(answer, question.row, question.contrast)
        if self._unreached is not None and not self._unreached.reached[question.row]:
            predictions = self._unreached.predictions
            shares = predictions.shares(network.contexts.around(), question.row)
            if not shares.any():
                return nothing_known(question)
            answer = PooledPredictions(shares, predictions.own, predictions.layers, 1.0).added_to(
                answer, question.contrast, None
            )
        return answer

    def _explain_sets(self, question: Question) -> Answer:
        from planetoid.models.label_set_reasons import (
            ExplainedViews,
            explain_labels_of_new_row,
            explain_labels_of_node,
        )

        data, model = question.data, self._sets_model
        X = None if data is None or data.X is None else self._inputs.scaled(data.X)
        if question.row is None:
            return explain_labels_of_new_row(question, model, self._inputs.scaled(question.known_row()), X)
        data = question.known_data()

        def views() -> ExplainedViews:
            adjacency = connected(data, X, n_jobs=self.n_jobs)
            embedding = self.embedding_ if "graph" in model.together.weights else None
            material = Material(X, adjacency if adjacency.nnz else None, embedding)
            return ExplainedViews.of(material, sparse.csr_array(data.one_hot() > 0), self.view, model.seed)

        return explain_labels_of_node(question, question.row, model, remember(data, (repr(self), model.seed), views))

    # ---- save -----------------------------------------------------------------

    def _tensors(self) -> Tensors:
        tensors = self._sets_model.tensors() if self.multi_label_ else self._network.tensors()
        if self._context_predictions is not None:
            tensors |= self._context_predictions.tensors()
        if self._second_view is not None:
            tensors |= self._second_view.tensors()
        if self._unreached is not None:
            tensors |= self._unreached.tensors()
        if self._hops is not None:
            tensors |= self._hops.tensors()
        if hasattr(self, "n_features_in_"):
            tensors |= self._inputs.tensors()
        if self._student is not None:
            of_contexts = None if self._context_predictions is None else self._context_predictions.layers
            tensors |= self._student.tensors(shared=self._student.layers is of_contexts)
        return tensors

    def _take_tensors(self, tensors: Tensors) -> None:
        self._context_predictions = self._student = self._second_view = self._unreached = self._hops = None
        if "inputs.mean" in tensors:
            self._inputs = Inputs.of_tensors(tensors, self.row_normalize)
        if self.multi_label_:
            self._sets_model = LabelSetModel.of_tensors(tensors)
            return
        if not hasattr(self, "class_bias_"):  # a model of before
            self.class_bias_, self.restart_ = np.zeros(len(self.classes_), np.float32), USUAL_RESTART
        self._network = ContextNetwork.of_tensors(
            tensors, len(self.node_ids_), self.neighbourhood, self.view_, self.restart_
        )
        if "own_predictions" in tensors:
            self._context_predictions = ContextPredictions.of_tensors(tensors)
        if "second_view.share" in tensors:
            self._second_view = SecondView.of_tensors(tensors)
        if "unreached.reached" in tensors:
            self._unreached = Unreached.of_tensors(tensors)
        if "hops.values" in tensors:
            self._hops = Hops.of_tensors(tensors)
        if "student.keys" in tensors:
            self._student = Student.of_tensors(tensors)


def _cannot_label_rows(without: str) -> DataError:
    return DataError(
        f"the model was fitted {without}, so it cannot label new rows", hint="fit with features and student=True"
    )
