"""``Planetoid``: contexts are inputs, and two samples of them must agree; the method that is used by default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import log_softmax, softmax

from planetoid.baselines.reference import reference_sample
from planetoid.calibration import MIN_LABELS, Sample, how_few
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows
from planetoid.data.types import Probabilities
from planetoid.errors import ParameterError
from planetoid.graph.adjacency import reached_from
from planetoid.labels import mask_labels, some_of_each_class
from planetoid.models.class_bias import chosen_bias, with_bias
from planetoid.models.context_network import ContextNetwork
from planetoid.models.context_predictions import ContextPredictions
from planetoid.models.evidence import Evidence, ask_views, most_labelled
from planetoid.models.fitted_planetoid import FittedPlanetoid
from planetoid.models.graph_inputs import MANY_CLASSES, as_seen_by, beside_spectrum, connected, graph_features
from planetoid.models.hops import FEWEST_NODES, Hops
from planetoid.models.hops import MOST_NODES as MOST_NODES_OF_HOPS
from planetoid.models.inputs import Inputs, keeping_few
from planetoid.models.label_set_model import LabelSetModel, Material, embedded_for_sets
from planetoid.models.node_contexts import NodeContexts
from planetoid.models.opinions import to_probabilities
from planetoid.models.second_view import (
    MOST_NODES,
    SecondView,
    embedding_opinion,
    regression_beside,
    second_share,
)
from planetoid.models.student import DistilledLayers, Student, distil
from planetoid.models.teacher import Teacher
from planetoid.models.unreached import Unreached
from planetoid.models.views import ALL_VIEWS, OF_OWN_ROWS
from planetoid.multi_label import SetSample
from planetoid.parameters import N_JOBS, RANDOM_STATE, ROW_NORMALIZE, VERBOSE, Constraints, Integer
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.callbacks import CALLBACKS, Callback, Record
from planetoid.training.fingerprints import fingerprint_of
from planetoid.training.settings import Consistency, Neighbourhood
from planetoid.utils.threads import resolve_n_jobs

__all__ = ["Planetoid"]

LEAST_WIDTH, MOST_WIDTH = 32, 128  # of the embedding
BETTER_WITH_FEW_LABELS = 0.8  # factor of the temperature with one label per class: contexts gain most then


class Planetoid(FittedPlanetoid):
    """Planetoid: the contexts of a node are its input, and two samples of them must lead to the same label.

    The paper draws contexts c of a node i by random walks (Algorithm 1) and trains an embedding of i to predict them.
    Here the embedding is made of them: ``e_i`` is the mean of ``h(x_c)`` over sampled contexts. L_s fits the labelled
    nodes; L_u asks two independent samples of the contexts of an unlabelled node to agree. A prediction replaces the
    sample by its mean over all walks, so nothing about it is random.

    Before training, simple classifiers are asked what features, neighbourhoods and the graph say on their own
    (:mod:`planetoid.models.evidence`). The most reliable one teaches the network in its first steps and decides what
    the network sees: where the graph misleads, the node's own features alone; where joined nodes differ in a regular
    way, a node's features beside those of its neighbours (:mod:`planetoid.models.hops`). Where the features around a
    node and its place in the graph are about as reliable, predictions from both are pooled
    (:mod:`planetoid.models.second_view`).

    Works with a graph, with features, or with both. Without edges, a graph of nearest neighbours is made from the
    features. Without features, or where they say nothing, they are replaced by an embedding of the graph
    (:class:`~planetoid.GraphEmbedding`, beside eigenvectors). A directed edge counts in both directions.

    Several labels per node: a logistic regression per class on each of four views (the node's own features, those
    around it, a skip-gram embedding of the graph, and the labels around it), added up by how well each predicts labels
    that were left out (:mod:`planetoid.models.label_set_views`). ``embedding_`` is then that of the graph, or the
    features around a node if there are no edges; ``dimension``, ``neighbourhood``, ``training``, ``student`` and
    ``callbacks`` do not apply, and new nodes are labelled by their features alone.

    Parameters
    ----------
    dimension : int or "auto"
        Width of the embedding. ``"auto"`` is the number of classes, but between 32 and 128.
    view : {"auto", "features", "neighbourhood", "graph", "hops"}
        What predictions are made from: each node's own features, the features around it, its place in the graph, or its
        own features beside those one and two steps away (not for several labels per node).
    neighbourhood : Neighbourhood
        How contexts are sampled.
    training : Consistency
        How the network is trained.
    student : bool
        Whether a network on features alone is distilled from the model, which labels new rows without edges.
    row_normalize : {"l2", "l1", None}
        Norm to which feature rows are scaled. The columns of dense features are centred before, and scaled to the same
        standard deviation if they are in different units or if the labels say so; likewise, columns are added for the
        length of a row, or for what is not linear in few dense columns. None switches the latter off.
    callbacks : list of Callback, optional
        :class:`~planetoid.EarlyStopping`, :class:`~planetoid.Checkpoint` and others. With validation labels, training
        keeps the best parameters by default, and the labels also choose ``class_bias_``.
    n_jobs : int or None
        Number of threads; None is 1, -1 all cores. The result does not depend on it.
    calibrate : bool
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None
    verbose : int
        Whether a progress bar is shown.

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, dimension)
    view_ : str
        What predictions are made from.
    reliability_ : dict
        How reliable each view was found to be, if there was a choice.
    restart_ : float
        Probability that a walk over contexts ends after each step.
    opinions_ : float32 array of shape (n_nodes, n_classes)
        What the teacher and the other views add to the log-probabilities of the network.
    propagation_weight_ : float
        How far predictions are means over those of the contexts, each from its own row: from 0 to 1.
    second_share_ : float
        Share of the other view of the graph, or of a regression on the same, in the predictions of fitted nodes: from 0
        to 1/2.
    class_bias_ : float32 array of shape (n_classes,)
        What validation labels add to the log-probability of each class; 0 without them.
    history_ : list of dict
        One record per evaluation.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_citation(300, seed=1)
    >>> split = data.split("random", per_class=5, n_val=0, n_test=200, seed=0)
    >>> model = pl.Planetoid().fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph)
    >>> model.embedding_.shape
    (300, 32)
    >>> bool((model.predict()[split.test] == data.y[split.test]).mean() > 0.7)
    True
    """

    uses_features = "optional"
    uses_graph = "optional"
    uses_validation = True
    uses_processes = True
    multi_label = True

    constraints: ClassVar[Constraints] = {
        "dimension": (Integer(1), "auto"),
        "view": ("auto", *ALL_VIEWS),
        "neighbourhood": Neighbourhood,
        "training": Consistency,
        "student": bool,
        "row_normalize": ROW_NORMALIZE,
        "callbacks": CALLBACKS,
        "n_jobs": N_JOBS,
        "calibrate": bool,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }
    search_space: ClassVar[SearchSpace] = {
        "dimension": Categorical(("auto", 64)),
        "neighbourhood__restart": Categorical(("auto", 0.05, 0.15, 0.3)),
        "neighbourhood__degree_power": Categorical((0.5, 1.0)),
        "training__steps": Categorical((200, 300, 500)),
        "training__temperature": Categorical((0.3, 0.4, 0.5)),
        "training__weight_decay": Float(5e-4, 2e-2),
        "training__feature_dropout": Categorical((0.2, 0.5)),
    }

    set_search_space: ClassVar[SearchSpace] = {  # for several labels per node, with features
        "view": Categorical(("auto", "features", "neighbourhood", "graph")),
        "row_normalize": Categorical(("l2", "l1", None)),
    }

    def __init__(
        self,
        *,
        dimension: int | str = "auto",
        view: str = "auto",
        neighbourhood: Neighbourhood = Neighbourhood(),
        training: Consistency = Consistency(),
        student: bool = True,
        row_normalize: str | None = "l2",
        callbacks: Sequence[Callback] | None = None,
        n_jobs: int | None = None,
        calibrate: bool = True,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.view = view
        self.neighbourhood = neighbourhood
        self.training = training
        self.student = student
        self.row_normalize = row_normalize
        self.callbacks = callbacks
        self.n_jobs = n_jobs
        self.calibrate = calibrate
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def search_space_for(cls, data: Dataset) -> SearchSpace:
        """Return what has an effect: for several labels per node, which views there are and how rows are scaled."""
        if not data.multi_label:
            return cls.search_space
        return {} if data.X is None else cls.set_search_space

    def _fit(self, data: Dataset) -> Probabilities:
        X = None
        if data.X is not None:
            some = self._some_labelled(data)
            self._inputs = Inputs.of(data.X, self.row_normalize, some, data.y[some])
            X = self._inputs.scaled(data.X)
        adjacency = connected(data, X, self.n_jobs)
        if data.Y is not None:
            return self._fit_sets(data, data.Y, X, adjacency)
        teacher = self._ask(data, X, adjacency)
        self.view_ = teacher.view
        self.reliability_ = {name: verdict.reliability for name, verdict in teacher.verdicts.items()}
        if self.view_ == "hops":
            assert self._hops is not None
            x = self._hops.rows(adjacency)
        elif self.view_ == "graph" or X is None:
            x = graph_features(data, adjacency, seed=self._seed, n_jobs=self.n_jobs, verbose=self.verbose)
            x = beside_spectrum(x, adjacency, data.n_classes, seed=self._seed, hops=self._hops)
            some = self._some_labelled(data)
            teacher = teacher.with_embedding(x, some, data.y[some], self._seed)
        else:
            x = sparse.csr_array(X)
        if self.view_ != "hops":
            self._hops = None
        small = data.n_nodes <= MOST_NODES and data.n_classes < MANY_CLASSES
        by_reference = self.calibrate and len(data.validation_nodes[0]) < MIN_LABELS
        self._graph_embedding = x.toarray() if small and by_reference and self.view_ == "graph" else None
        self._rows_of_hops = x if by_reference and self.view_ == "hops" else None
        contexts = NodeContexts.of(
            adjacency, self.neighbourhood, self.view_, resolve_n_jobs(self.n_jobs), restart=teacher.restart
        )
        self.restart_ = contexts.restart
        network = self._train(data, x, contexts, teacher)
        probabilities = np.asarray(softmax(self._pooled(data, network, teacher), axis=1))
        weight = teacher.network_weight
        self._network = network.weighted(weight)
        self._context_predictions, self.propagation_weight_ = None, 0.0
        if self.view_ not in OF_OWN_ROWS:
            predictions = ContextPredictions.of(self._distil(data, x, probabilities), x)
            probabilities, self.propagation_weight_ = predictions.pooled_with(
                probabilities, contexts, data, min(1.0, float(weight)), teacher.accuracy
            )
            self._context_predictions = predictions
        self._second_view = None
        if data.n_nodes <= MOST_NODES:
            self._second_view = self._look_again(data, X, x, adjacency, teacher, probabilities)
        self.second_share_ = 0.0
        if self._second_view is not None:
            self.second_share_ = self._second_view.share
            probabilities = self._second_view.pooled_with(probabilities)
        self._unreached = None
        if self.view_ == "graph" and X is not None:
            n_threads = resolve_n_jobs(self.n_jobs)
            self._unreached = Unreached.of(data, X, adjacency, probabilities, seed=self._seed, n_threads=n_threads)
        layers = None  # of a network on features
        if self.view_ == "neighbourhood" and self._context_predictions is not None:
            layers = self._context_predictions.layers
        elif self.view_ == "features" and X is not None and not data.has_features.all():
            layers = self._distil(data, X, probabilities)
            self._unreached = Unreached.without_features(layers, data.has_features, adjacency, probabilities)
        if self._unreached is not None:
            probabilities = self._unreached.replaced_in(probabilities, contexts.around(), data.class_prior)
        self._student = None
        if self.student and X is not None:
            self._student = Student.of(
                self._distil(data, X, probabilities) if layers is None else layers, X, probabilities
            )
        rows, codes = data.validation_nodes
        self.class_bias_ = chosen_bias(probabilities[rows], codes)
        return with_bias(probabilities, self.class_bias_)

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

    def _distil(self, data: Dataset, x: Rows, probabilities: Probabilities) -> DistilledLayers:
        return distil(
            x, probabilities, data.labelled, data.y[data.labelled], seed=self._seed,
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

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        sample = self._reference_sample(data, probabilities)
        factor = sample.temperature_factor
        if data.graph.n_edges and self.view_ not in OF_OWN_ROWS:
            factor *= BETTER_WITH_FEW_LABELS ** how_few(data.labels_per_class)
        return sample._replace(temperature_factor=factor, fewest=1)  # usual values are some guide

    def _reference_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        if self._rows_of_hops is not None:
            seen = as_seen_by("features", replace(data, X=self._rows_of_hops), self._network.contexts.adjacency)
            self._rows_of_hops = None
            return reference_sample(seen, probabilities, as_accurate=True)
        seen = as_seen_by(self.view_, data, self._network.contexts.adjacency)
        if seen.X is not None and not self._inputs.only_norm:
            seen = replace(seen, X=self._inputs.scaled(seen.X))  # the reference does not scale columns
        embedding, self._graph_embedding = self._graph_embedding, None
        return reference_sample(seen, probabilities, as_accurate=True, embedding=embedding)
