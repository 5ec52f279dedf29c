"""``Planetoid``: contexts are inputs, and two samples of them must agree; the method that is used by default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from scipy.special import softmax

from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.models.calibration_reference import CalibrationReference
from planetoid.models.class_bias import chosen_bias, with_bias
from planetoid.models.graph_inputs import connected
from planetoid.models.inputs import Inputs
from planetoid.models.node_contexts import NodeContexts
from planetoid.models.planetoid_steps import PlanetoidSteps
from planetoid.models.student import Student
from planetoid.models.views import ALL_VIEWS
from planetoid.parameters import N_JOBS, RANDOM_STATE, ROW_NORMALIZE, VERBOSE, Constraints, Integer
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.callbacks import CALLBACKS, Callback
from planetoid.training.settings import Consistency, Neighbourhood
from planetoid.utils.threads import resolve_n_jobs

__all__ = ["Planetoid"]


class Planetoid(PlanetoidSteps):
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
        similar, adjacency = self._similar_rows(data, X, adjacency, teacher)
        x, teacher = self._network_input(data, X, adjacency, teacher)
        contexts = NodeContexts.of(
            adjacency, self.neighbourhood, self.view_, resolve_n_jobs(self.n_jobs), restart=teacher.restart
        )
        self.restart_ = contexts.restart
        network = self._train(data, x, contexts, teacher)
        probabilities = of_network = np.asarray(softmax(self._pooled(data, network, teacher), axis=1))
        self._network = network.weighted(teacher.network_weight)
        probabilities = self._with_contexts(data, x, contexts, teacher, similar, probabilities)
        self._second_view = self._look_again(data, X, x, adjacency, teacher, probabilities)
        self.second_share_ = 0.0 if self._second_view is None else self._second_view.share
        if self._second_view is not None:
            probabilities = self._second_view.pooled_with(probabilities)
        probabilities = self._with_others(data, X, contexts, probabilities)
        self._student = None
        if self.student and X is not None:
            self._student = Student.of(
                self._layers_on_features(data, X, teacher, of_network, probabilities), X, probabilities
            )
        inputs = None if X is None else self._inputs
        self._reference = CalibrationReference(
            self.view_, adjacency, inputs, x if self._asks_for_sample(data) else None
        )
        rows, codes = data.validation_nodes
        self.class_bias_ = chosen_bias(probabilities[rows], codes)
        return with_bias(probabilities, self.class_bias_)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        reference, self._reference = self._reference, self._reference._replace(rows=None)  # which may be large
        return reference.sample(data, probabilities)
