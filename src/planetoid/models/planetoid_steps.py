"""The steps of fitting a :class:`~planetoid.Planetoid`: what to trust, the network, and what is pooled with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import log_softmax

from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows
from planetoid.data.types import Probabilities
from planetoid.errors import ParameterError
from planetoid.graph.adjacency import reached_from
from planetoid.labels import mask_labels, some_of_each_class
from planetoid.models.context_network import ContextNetwork
from planetoid.models.context_predictions import ContextPredictions
from planetoid.models.evidence import Evidence, ask_views, most_labelled, neighbours_say_more
from planetoid.models.fitted_planetoid import FittedPlanetoid
from planetoid.models.graph_inputs import MANY_CLASSES, beside_spectrum, graph_features
from planetoid.models.hops import FEWEST_NODES, Hops
from planetoid.models.hops import MOST_NODES as MOST_NODES_OF_HOPS
from planetoid.models.inputs import keeping_few
from planetoid.models.label_set_model import LabelSetModel, Material, embedded_for_sets
from planetoid.models.node_contexts import NodeContexts
from planetoid.models.opinions import geometric_mean, to_probabilities
from planetoid.models.second_view import (
    MOST_NODES,
    SecondView,
    embedding_opinion,
    regression_beside,
    second_share,
)
from planetoid.models.similar_rows import SimilarRows
from planetoid.models.student import DistilledLayers, distil
from planetoid.models.teacher import Teacher
from planetoid.models.unreached import Unreached
from planetoid.models.views import ALL_VIEWS, OF_OWN_ROWS
from planetoid.multi_label import SetSample
from planetoid.training.callbacks import Callback, Record
from planetoid.training.fingerprints import fingerprint_of
from planetoid.training.settings import Consistency
from planetoid.utils.threads import resolve_n_jobs

__all__ = ["PlanetoidSteps"]

LEAST_WIDTH, MOST_WIDTH = 32, 128  # of the embedding
# Reliability of features relative to that of the graph, for which they count not at all, and fully:
SIMILAR_ROWS_COUNT = 0.55, 0.75
FINAL_PREDICTIONS_COUNT = 0.7, 1.0  # for the student, beside those of the network
EFFORT_WITH_SIMILAR_ROWS = 0.5  # of distilling a network whose predictions are averaged over similar rows


class PlanetoidSteps(FittedPlanetoid):
    """What ``fit`` does, step by step; :class:`~planetoid.Planetoid` puts the steps together."""

    dimension: int | str
    training: Consistency
    callbacks: Sequence[Callback] | None
    verbose: int

    def _similar_rows(
        self, data: Dataset, X: Rows | None, adjacency: sparse.csr_array, teacher: Teacher
    ) -> tuple[SimilarRows | None, sparse.csr_array]:
        """Return what knows similar rows, if they count, and a graph in which such nodes are joined if that helps."""
        similar = None
        if self.view_ == "neighbourhood" and data.graph.n_edges and isinstance(X, sparse.csr_array):
            similar = SimilarRows.of(X)
        if X is None or similar is None:
            return None, adjacency
        some, joined = self._some_labelled(data), similar.joined(adjacency)
        is_better = neighbours_say_more(X, adjacency, joined, some, data.y[some], data.n_classes)
        similar = similar.weighted(teacher.features_rival_graph(*SIMILAR_ROWS_COUNT))
        return similar, joined if is_better else adjacency

    def _network_input(
        self, data: Dataset, X: Rows | None, adjacency: sparse.csr_array, teacher: Teacher
    ) -> tuple[sparse.csr_array, Teacher]:
        """Return the rows that the network sees, and a teacher that may have learned from them too."""
        if self.view_ == "hops":
            assert self._hops is not None
            return self._hops.rows(adjacency), teacher
        hops, self._hops = self._hops, None
        if self.view_ != "graph" and X is not None:
            return sparse.csr_array(X), teacher
        x = graph_features(data, adjacency, seed=self._seed, n_jobs=self.n_jobs, verbose=self.verbose)
        x = beside_spectrum(x, adjacency, data.n_classes, seed=self._seed, hops=hops)
        some = self._some_labelled(data)
        return x, teacher.with_embedding(x, some, data.y[some], self._seed)

    def _with_contexts(
        self,
        data: Dataset,
        x: sparse.csr_array,
        contexts: NodeContexts,
        teacher: Teacher,
        similar: SimilarRows | None,
        probabilities: Probabilities,
    ) -> Probabilities:
        """Pool the predictions with those of the contexts of each node, if it has contexts."""
        self._context_predictions, self.propagation_weight_ = None, 0.0
        if self.view_ in OF_OWN_ROWS:
            return probabilities
        is_student = similar is None or teacher.features_rival_graph(*FINAL_PREDICTIONS_COUNT) == 0
        effort = 1.0 if is_student else EFFORT_WITH_SIMILAR_ROWS
        self._context_predictions = ContextPredictions.of(self._distil(data, x, probabilities, effort), x)
        if similar is not None:
            self._context_predictions = self._context_predictions.averaged(similar)
        most = min(1.0, float(teacher.network_weight))
        probabilities, self.propagation_weight_ = self._context_predictions.pooled_with(
            probabilities, contexts, data, most, teacher.accuracy
        )
        return probabilities

    def _with_others(
        self, data: Dataset, X: Rows | None, contexts: NodeContexts, probabilities: Probabilities
    ) -> Probabilities:
        """Predict otherwise for nodes about which the view says nothing: no label reaches them, or no features."""
        self._unreached = None
        if self.view_ == "graph" and X is not None:
            self._unreached = Unreached.of(
                data, X, contexts.adjacency, probabilities, seed=self._seed, n_threads=contexts.n_threads
            )
        elif self.view_ == "features" and X is not None and not data.has_features.all():
            layers = self._distil(data, X, probabilities)
            self._unreached = Unreached.without_features(layers, data.has_features, contexts.adjacency, probabilities)
        if self._unreached is None:
            return probabilities
        return self._unreached.replaced_in(probabilities, contexts.around(), data.class_prior)

    def _layers_on_features(
        self, data: Dataset, X: Rows, teacher: Teacher, of_network: Probabilities, probabilities: Probabilities
    ) -> DistilledLayers:
        """Return a network on features that says what the model predicts, which may have been distilled already.

        Where the graph says more than the features, these can tell what the network predicts, but not what the contexts
        of a node add to it.
        """
        if self.view_ == "neighbourhood" and self._context_predictions is not None:
            share = teacher.features_rival_graph(*FINAL_PREDICTIONS_COUNT)
            if share == 0:
                return self._context_predictions.layers
            probabilities = geometric_mean(of_network, probabilities, share)
        elif self.view_ == "features" and self._unreached is not None:
            return self._unreached.predictions.layers
        return self._distil(data, X, probabilities)

    def _fit_sets(
        self, data: Dataset, Y: sparse.csr_array, X: Rows | None, adjacency: sparse.csr_array
    ) -> Probabilities:
        """Fit what :mod:`planetoid.models.label_set_model` has for several labels per node."""
        if self.view == "hops":
            self._refuse_view(X)
        embedding = None
        if data.graph.n_edges and self.view in ("auto", "graph"):
            embedding = embedded_for_sets(data, seed=self._seed, n_jobs=self.n_jobs, verbose=self.verbose)
        material = Material(X, adjacency if adjacency.nnz else None, embedding)
        blocks = material.blocks(mask_labels(Y, data.labelled), self.view, self._seed)
        if not blocks:
            self._refuse_view(X)
        self._sets_model, self._left_out = LabelSetModel.learn(blocks, Y, data.labelled, self._seed)
        self.reliability_ = dict(self._sets_model.together.weights)
        self.view_ = max(self.reliability_, key=lambda name: self.reliability_[name])
        self.history_, self._unreached = [], None
        self._student, self._context_predictions, self._second_view, self._hops = None, None, None, None
        self.embedding_ = material.shown(blocks)
        return self._sets_model.together.probabilities(blocks)

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample:
        return self._left_out

    def _refuse_view(self, X: Rows | None) -> NoReturn:
        if self.view == "hops":
            raise ParameterError(
                f"view='hops' needs a graph with edges and {FEWEST_NODES:,} to {MOST_NODES_OF_HOPS:,} nodes, and one "
                "label per node",
                parameter="view",
            )
        raise ParameterError(
            f"view={self.view!r} needs {'edges' if X is not None else 'features'}, and there are none",
            parameter="view",
        )

    def _distil(self, data: Dataset, x: Rows, probabilities: Probabilities, effort: float = 1.0) -> DistilledLayers:
        return distil(
            x, probabilities, data.labelled, data.y[data.labelled], seed=self._seed, effort=effort,
            n_threads=resolve_n_jobs(self.n_jobs), verbose=self.verbose,
        )  # fmt: skip

    def _ask(
        self, data: Dataset, X: Rows | None, adjacency: sparse.csr_array, names: tuple[str, ...] | None = None
    ) -> Teacher:
        """Ask what features, neighbourhoods and the graph say on their own, or only some of them."""
        if names is None:
            names = ALL_VIEWS if self.view == "auto" else (self.view,)
            if self.view == "auto" and data.graph.n_edges == 0:  # a graph made from features says nothing beyond them
                names = ("features", "neighbourhood")
            self._hops = Hops.of(X, adjacency, seed=self._seed) if "hops" in names else None
        hops = self._hops if "hops" in names else None
        evidence = Evidence(X, adjacency if adjacency.nnz else None, resolve_n_jobs(self.n_jobs), hops)
        if hops is None and not set(names) & set(evidence.views()):
            self._refuse_view(X)
        some = self._some_labelled(data)
        teacher = ask_views(evidence, some, data.y[some], data.n_classes, names=names, seed=self._seed)
        return teacher._replace(share_of_labels=len(some) / len(data.labelled))

    def _look_again(
        self,
        data: Dataset,
        X: Rows | None,
        x: sparse.csr_array,
        adjacency: sparse.csr_array,
        teacher: Teacher,
        probabilities: Probabilities,
    ) -> SecondView | None:
        """Return what the other view of the graph says, if it is almost as reliable; or a regression on inputs x."""
        if data.n_nodes > MOST_NODES:
            return None
        share = second_share(teacher.verdicts, self.view_, len(data.labelled))
        some, n_threads = self._some_labelled(data), resolve_n_jobs(self.n_jobs)
        if share == 0 or X is None:
            many = self.view_ == "graph" and data.n_classes >= MANY_CLASSES
            return regression_beside(probabilities, x, some, data.y[some]) if many else None
        if self.view_ == "neighbourhood":
            x = graph_features(data, adjacency, seed=self._seed, n_jobs=self.n_jobs, verbose=self.verbose)
            opinion = embedding_opinion(
                x, adjacency, some, data.y[some], data.n_classes, seed=self._seed, n_threads=n_threads
            )
            opinion = np.where(reached_from(adjacency, some)[:, None], opinion, probabilities)  # else it is a guess
        else:
            teacher = self._ask(data, X, adjacency, ("neighbourhood",))
            contexts = NodeContexts.of(adjacency, self.neighbourhood, teacher.view, n_threads)
            network = self._train(data, sparse.csr_array(X), contexts, teacher, watched=False)
            scores = network.log_probabilities(network.embedding())
            scores += teacher.opinions(teacher.weight(len(data.labelled), fits=True))
            opinion = to_probabilities(scores)
        return SecondView.beside(probabilities, opinion, share)

    def _some_labelled(self, data: Dataset) -> npt.NDArray[np.int64]:
        return some_of_each_class(data.y, data.labelled, most_labelled(data.n_nodes, data.n_classes))

    def _train(
        self,
        data: Dataset,
        x: sparse.csr_array,
        contexts: NodeContexts,
        teacher: Teacher,
        *,
        watched: bool = True,
    ) -> ContextNetwork:
        """Train a network on labels, and on the agreement of two samples of the contexts of a node.

        A network that is not ``watched`` has no validation labels, callbacks or history.
        """
        from planetoid.training.consistency_loss import ConsistencyLoss, feature_arrays, new_layers
        from planetoid.training.trainer import Schedule, Trainer

        def trained() -> ContextNetwork:
            return ContextNetwork.of(loss.whole_layers(), contexts, x)

        loss = ConsistencyLoss(
            new_layers(x.shape[1], self._width(data.n_classes), data.n_classes, self._seed),
            feature_arrays(x),
            contexts.walks(self._seed),
            teacher.examples(data.y, data.labelled),
            keeping_few(self.training, x.shape[1]),
            n_threads=resolve_n_jobs(self.n_jobs),
            evaluate=(
                (lambda: self._evaluate(data, trained(), teacher)) if watched and data.validation is not None else None
            ),
        )
        trainer = Trainer(
            [loss],
            Schedule(self.training.steps, (1.0,), None, self.training.evaluate_every),
            (self.callbacks or ()) if watched else (),
            name=type(self).__name__,
            verbose=self.verbose,
            fingerprint=lambda: fingerprint_of(self, self._seed, data, ignored=("student",)),
        )
        trainer.run()
        if watched:
            self.history_ = trainer.history
        return trained()

    def _width(self, n_classes: int) -> int:
        return max(LEAST_WIDTH, min(MOST_WIDTH, n_classes)) if isinstance(self.dimension, str) else int(self.dimension)

    def _pooled(self, data: Dataset, network: ContextNetwork, teacher: Teacher) -> npt.NDArray[np.float32]:
        """Return log-probabilities of all fitted nodes, with the opinion of the teacher and of the other views."""
        self.embedding_ = network.embedding()
        scores = network.log_probabilities(self.embedding_)
        fits = (scores[data.labelled].argmax(axis=1) == data.y[data.labelled]).mean()
        weight = teacher.weight(len(data.labelled), fits=bool(fits >= teacher.accuracy))
        self.opinions_ = teacher.opinions(weight)
        scores *= teacher.network_weight
        scores += self.opinions_
        return scores

    def _evaluate(self, data: Dataset, network: ContextNetwork, teacher: Teacher) -> Record:
        rows, codes = data.validation_nodes
        scores = log_softmax(self._pooled(data, network, teacher)[rows], axis=1)
        return {
            "val_accuracy": float((scores.argmax(axis=1) == codes).mean()),
            "val_loss": float(-scores[np.arange(len(rows)), codes].mean()),
        }
