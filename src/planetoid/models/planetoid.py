"""``Planetoid``: contexts are inputs, and two samples of them must agree; the method that is used by default."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn.utils.validation import check_is_fitted

from planetoid.baselines.reference import reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset, Features
from planetoid.data.scaling import Rows, scale_rows
from planetoid.data.types import FeaturesLike, Probabilities
from planetoid.engine.contexts import Contexts
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.estimator.embedding import EmbeddingMixin
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.explanation.contributions import Answer, Question
from planetoid.explanation.memory import remember
from planetoid.graph import Graph
from planetoid.graph.adjacency import mean_weight, strengths, symmetric_adjacency
from planetoid.io.model_files import Tensors
from planetoid.labels import mask_labels, some_of_each_class
from planetoid.models.attached import Attached, Edge
from planetoid.models.context_reasons import (
    ContextInputs,
    PooledPredictions,
    context_weights,
    explain_new_row,
    explain_node,
)
from planetoid.models.evidence import (
    FEW_LABELS,
    SECOND_POWER,
    VIEWS,
    Evidence,
    FeatureView,
    Teacher,
    ask_views,
    geometric_mean,
    kappa,
    most_labelled,
    sharpened,
)
from planetoid.models.inputs import Inputs
from planetoid.models.label_set_model import LabelSetModel, Material
from planetoid.models.student import Student, class_probabilities, distil
from planetoid.multi_label import SetSample, Top
from planetoid.parameters import N_JOBS, RANDOM_STATE, ROW_NORMALIZE, VERBOSE, Constraints, Integer
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.callbacks import CALLBACKS, Callback, Record, check_callbacks
from planetoid.training.fingerprints import fingerprint_of
from planetoid.training.settings import Consistency, Neighbourhood
from planetoid.utils.sparse_format import check_sparse_format
from planetoid.utils.threads import resolve_n_jobs

if TYPE_CHECKING:
    from planetoid.engine.consistency import Layers
    from planetoid.engine.neighbourhoods import Walks
    from planetoid.export.operators import Operators, Value
    from planetoid.models.label_set_views import Weighted

__all__ = ["Planetoid"]

PRIOR_CONFIDENCE = 0.8  # to which the teacher's predictions are sharpened before they are counted
PRIOR_LABELS = 3.0  # per class, from which on the teacher's counts weigh more than the frequencies of the labels
TEACHER_WEIGHT = 0.25  # of the teacher's log-probabilities in the prediction
TEACHER_LABELS = 20.0  # this / number of labels is added to that weight
TEACHER_KNOWS_BETTER = 4.0  # the same, where the network labels its own labels worse than the teacher those left out
LEAST_WIDTH, MOST_WIDTH = 32, 128  # of the embedding
PREDICTION_RESTART = 0.3  # of the walks over which predictions are averaged
GRAPH_DIMENSION = 64  # of the embedding that stands in for features
SETS_CONTEXTS = Contexts(r2=1.0, q=40, d=3)  # of the embedding for several labels per node
NEIGHBOURS, MOST_NODES = 10, 100_000  # of the graph that is made where there are features and no edges


class Planetoid(EmbeddingMixin, InductiveClassifier):
    """Planetoid: the contexts of a node are its input, and two samples of them must lead to the same label.

    The paper draws contexts c of a node i by random walks (Algorithm 1) and trains an embedding of i to predict them.
    Here the embedding is made of them: ``e_i`` is the mean of ``h(x_c)`` over sampled contexts. L_s fits the labelled
    nodes; L_u asks two independent samples of the contexts of an unlabelled node to agree. A prediction replaces the
    sample by its mean over all walks, so nothing about it is random.

    Before training, three simple classifiers are asked what features, neighbourhoods and the graph say on their own
    (:mod:`planetoid.models.evidence`). The most reliable one teaches the network in its first steps and decides what
    the network sees: where the graph misleads, the node's own features alone.

    Works with a graph, with features, or with both. Without edges, a graph of nearest neighbours is made from the
    features. Without features, or where they say nothing, they are replaced by an embedding of the graph
    (:class:`~planetoid.GraphEmbedding`). A directed edge counts in both directions.

    Several labels per node: a logistic regression per class on each of four views (the node's own features, those
    around it, a skip-gram embedding of the graph, and the labels around it), added up by how well each predicts labels
    that were left out (:mod:`planetoid.models.label_set_views`). ``embedding_`` is then that of the graph, or the
    features around a node if there are no edges; ``dimension``, ``neighbourhood``, ``training``, ``student`` and
    ``callbacks`` do not apply, and new nodes are labelled by their features alone.

    Parameters
    ----------
    dimension : int or "auto"
        Width of the embedding. ``"auto"`` is the number of classes, but between 32 and 128.
    view : {"auto", "features", "neighbourhood", "graph"}
        What predictions are made from: each node's own features, the features around it, or its place in the graph.
    neighbourhood : Neighbourhood
        How contexts are sampled.
    training : Consistency
        How the network is trained.
    student : bool
        Whether a network on features alone is distilled from the model, which labels new rows without edges.
    row_normalize : {"l2", "l1", None}
        Norm to which feature rows are scaled. The columns of dense features are centred before, and scaled to the same
        standard deviation if they are in different units or if the labels say so.
    callbacks : list of Callback, optional
        :class:`~planetoid.EarlyStopping`, :class:`~planetoid.Checkpoint` and others. With validation labels, training
        keeps the best parameters by default.
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
    opinions_ : float32 array of shape (n_nodes, n_classes)
        What the teacher and the other views add to the log-probabilities of the network.
    propagation_weight_ : float
        How far predictions are means over those of the contexts, each from its own row: from 0 to 1.
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
    multi_label = True

    constraints: ClassVar[Constraints] = {
        "dimension": (Integer(1), "auto"),
        "view": ("auto", *VIEWS),
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
        "neighbourhood__restart": Categorical((0.05, 0.15, 0.3)),
        "neighbourhood__degree_power": Categorical((0.5, 1.0)),
        "training__steps": Categorical((200, 300, 500)),
        "training__temperature": Categorical((0.3, 0.4, 0.5)),
        "training__weight_decay": Float(5e-4, 2e-2),
        "training__feature_dropout": Categorical((0.2, 0.5)),
    }

    embedding_: npt.NDArray[np.float32]
    history_: list[Record]
    view_: str
    opinions_: npt.NDArray[np.float32]
    reliability_: dict[str, float]
    propagation_weight_: float
    _layers: Layers
    _distilled: Layers | None  # the network that predicts each node from its own row
    _student: Student | None

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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_callbacks(self.callbacks)

    # ---- fit ------------------------------------------------------------------

    def _fit(self, data: Dataset) -> Probabilities:
        X = None
        if data.X is not None:
            some = self._some_labelled(data)
            self._inputs = Inputs.of(data.X, self.row_normalize, some, data.y[some])
            X = self._inputs.scaled(data.X)
        self._adjacency = self._connected(data, X)
        if data.Y is not None:
            return self._fit_sets(data, data.Y, X)
        teacher = self._ask(data, X)
        self.view_ = teacher.view
        self.reliability_ = {name: verdict.reliability for name, verdict in teacher.verdicts.items()}
        if self.view_ == "graph" or X is None:
            x = self._graph_features(data)
            teacher = self._with_embedding(data, x, teacher)
        else:
            x = sparse.csr_array(X)
        self._train(data, x, teacher)
        probabilities = np.asarray(softmax(self._pooled(data, x, teacher), axis=1))
        weight, _ = self._weights(teacher, len(data.labelled))
        self._layers = self._layers._replace(W2=weight * self._layers.W2, b2=weight * self._layers.b2)
        self._distilled, self.propagation_weight_ = None, 0.0
        if self.view_ != "features":
            probabilities = self._with_predictions_of_contexts(data, x, probabilities, min(1.0, float(weight)))
        self._student = None
        if self.student and X is not None:
            shared = self._distilled if self.view_ == "neighbourhood" else None
            self._student = Student.of(shared or self._distil(data, X, probabilities), X, probabilities)
        return probabilities

    def _fit_sets(self, data: Dataset, Y: sparse.csr_array, X: Rows | None) -> Probabilities:
        """Fit what :mod:`planetoid.models.label_set_model` has for several labels per node."""
        from planetoid.baselines.graph_embedding import GraphEmbedding

        embedding = None
        if self._has_edges and self.view in ("auto", "graph"):
            graph_embedding = GraphEmbedding(
                random_state=self._seed, n_jobs=self.n_jobs, verbose=self.verbose, contexts=SETS_CONTEXTS
            )
            embedding = graph_embedding.embed(data)
        material = Material(X, self._adjacency if self._adjacency.nnz else None, embedding)
        seen = mask_labels(Y, data.labelled)
        blocks = material.blocks(seen, self.view, self._seed)
        if not blocks:
            self._refuse_view(X)
        self._sets_model, self._left_out = LabelSetModel.learn(blocks, Y, data.labelled, self._seed)
        self.reliability_ = dict(self._sets_model.together.weights)
        self.view_ = max(self.reliability_, key=lambda name: self.reliability_[name])
        self.history_, self._student, self._distilled = [], None, None
        shown = blocks.get("neighbourhood", next(iter(blocks.values()))) if embedding is None else embedding
        self.embedding_ = np.asarray(shown if isinstance(shown, np.ndarray) else shown.toarray(), dtype=np.float32)
        return self._sets_model.together.probabilities(blocks)

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample:
        return self._left_out

    def _refuse_view(self, X: Rows | None) -> NoReturn:
        raise ParameterError(
            f"view={self.view!r} needs {'edges' if X is not None else 'features'}, and there are none",
            parameter="view",
        )

    def _with_predictions_of_contexts(
        self, data: Dataset, x: sparse.csr_array, probabilities: Probabilities, most: float
    ) -> Probabilities:
        """Pool the predictions of the network with the mean of those of a distilled network over a node's contexts.

        The second count as far as they agree with the first, beyond chance, with the weight ``most`` at most, or as
        validation labels say.
        """
        self._distilled = self._distil(data, x, probabilities)
        described = np.diff(x.indptr)[:, None] > 0
        self._own_predictions = np.where(described, class_probabilities(self._distilled, x), np.float32(0))
        propagated = self._propagated(self._adjacency, self._own_predictions, probabilities)
        answers = [opinion[data.y < 0].argmax(axis=1) for opinion in (probabilities, propagated)]
        agreement = most * max(0.0, kappa(answers[0], answers[1], data.n_classes))
        rows, codes = data.validation_nodes
        pools = {
            weight: geometric_mean(probabilities, propagated, weight)
            for weight in ((agreement, 1.0, 0.5, 0.0) if len(rows) else (agreement,))
        }
        best = max(pools, key=lambda weight: int((pools[weight][rows].argmax(axis=1) == codes).sum()))
        self.propagation_weight_ = best
        return pools[best]

    def _distil(self, data: Dataset, x: Rows, probabilities: Probabilities) -> Layers:
        return distil(
            x, probabilities, data.labelled, data.y[data.labelled], seed=self._seed,
            n_threads=resolve_n_jobs(self.n_jobs), verbose=self.verbose,
        )  # fmt: skip

    def _connected(self, data: Dataset, X: Rows | None) -> sparse.csr_array:
        """Return the edges as a symmetric matrix; without any, those of nearest neighbours."""
        graph = data.graph
        self._has_edges = graph.n_edges > 0
        if not self._has_edges and X is not None and 2 <= data.n_nodes <= MOST_NODES:
            from planetoid.graph.construct import knn_graph

            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PlanetoidWarning)  # of rows without features
                graph = knn_graph(X, min(NEIGHBOURS, data.n_nodes - 1), n_jobs=self.n_jobs)
        return symmetric_adjacency(graph).astype(np.float32)

    def _ask(self, data: Dataset, X: Rows | None) -> Teacher:
        """Ask what features, neighbourhoods and the graph say on their own."""
        evidence = Evidence(X, self._adjacency if self._adjacency.nnz else None)
        names: tuple[str, ...] = VIEWS if self.view == "auto" else (self.view,)
        if self.view == "auto" and not self._has_edges:  # a graph made from features says nothing beyond them
            names = ("features", "neighbourhood")
        if not set(names) & set(evidence.views()):
            self._refuse_view(X)
        some = self._some_labelled(data)
        return ask_views(evidence, some, data.y[some], data.n_classes, names=names, seed=self._seed)

    def _some_labelled(self, data: Dataset) -> npt.NDArray[np.int64]:
        return some_of_each_class(data.y, data.labelled, most_labelled(data.n_nodes, data.n_classes))

    def _with_embedding(self, data: Dataset, x: sparse.csr_array, teacher: Teacher) -> Teacher:
        """Let a regression on the embedding teach too, as far as it labels left-out nodes as well as the teacher."""
        some = self._some_labelled(data)
        codes = data.y[some]
        view = FeatureView(x.toarray(), None, some, np.random.default_rng([self._seed, 3]))
        fit = view.regression(np.eye(data.n_classes)[codes])
        opinion = sharpened(view.classify(codes, data.n_classes, fit), float(teacher.probabilities.max(axis=1).mean()))
        one, other = (
            (len(some) * accuracy + FEW_LABELS) ** SECOND_POWER for accuracy in (fit.accuracy, teacher.accuracy)
        )
        share = one / (one + other)
        return teacher._replace(
            probabilities=geometric_mean(teacher.probabilities, opinion, share),
            accuracy=max(fit.accuracy, teacher.accuracy),
            network_share=share,  # its input is the embedding
        )

    def _graph_features(self, data: Dataset) -> sparse.csr_array:
        """Return an embedding of the graph in the place of features."""
        from planetoid.baselines.graph_embedding import GraphEmbedding

        embedding = GraphEmbedding(
            dimension=GRAPH_DIMENSION, random_state=self._seed, n_jobs=self.n_jobs, verbose=self.verbose
        ).embed(data if self._has_edges else replace(data, graph=self._graph()))
        return sparse.csr_array(scale_rows(embedding, "l2"))

    def _train(self, data: Dataset, x: sparse.csr_array, teacher: Teacher) -> None:
        from planetoid.engine.consistency import Examples, FeatureArrays
        from planetoid.training.consistency_loss import ConsistencyLoss, new_layers
        from planetoid.training.trainer import Schedule, Trainer

        arrays = FeatureArrays(x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data.astype(np.float32))
        self._layers = new_layers(x.shape[1], self._width(data.n_classes), data.n_classes, self._seed)
        codes = data.y[data.labelled]
        examples = Examples(
            labelled=data.labelled.astype(np.int32),
            codes=codes.astype(np.int32),
            unlabelled=np.flatnonzero(data.y < 0).astype(np.int32),
            teacher=teacher.probabilities,
            prior=_class_prior(teacher.probabilities, codes),
        )
        loss = ConsistencyLoss(
            self._layers,
            arrays,
            self._walks(),
            examples,
            self.training,
            n_threads=resolve_n_jobs(self.n_jobs),
            evaluate=None if data.validation is None else lambda: self._evaluate(data, x, teacher),
        )
        schedule = Schedule(self.training.steps, (1.0,), None, self.training.evaluate_every)
        trainer = Trainer(
            [loss],
            schedule,
            self.callbacks or (),
            name=type(self).__name__,
            verbose=self.verbose,
            fingerprint=lambda: self._fingerprint(data),
        )
        trainer.run()
        self.history_ = trainer.history

    def _width(self, n_classes: int) -> int:
        return max(LEAST_WIDTH, min(MOST_WIDTH, n_classes)) if isinstance(self.dimension, str) else int(self.dimension)

    def _walks(self) -> Walks:
        from planetoid.engine.alias import alias_tables
        from planetoid.engine.arrays import GraphArrays
        from planetoid.engine.neighbourhoods import Walks

        adjacency, restart = self._adjacency, self._restart
        accept, alias = np.empty(0, np.float32), np.empty(0, np.int32)
        if adjacency.nnz and (adjacency.data != adjacency.data[0]).any():
            accept, alias = alias_tables(adjacency.indptr, adjacency.data)
        return Walks(
            seed=np.uint64(self._seed % 2**64),
            graph=GraphArrays(adjacency.indptr, adjacency.indices, accept, alias),
            importance=self._importance(adjacency),
            per_sample=int(self.neighbourhood.walks) if restart < 1 else 1,
            length=int(self.neighbourhood.length) if restart < 1 else 0,
            log_continue=float(np.log1p(-restart)) if restart < 1 else -np.inf,
        )

    @property
    def _restart(self) -> float:
        return 1.0 if self.view_ == "features" else float(self.neighbourhood.restart)

    def _importance(self, adjacency: sparse.csr_array) -> npt.NDArray[np.float32]:
        degrees = strengths(adjacency) / mean_weight(adjacency) + 1.0
        return np.asarray(degrees**-self.neighbourhood.degree_power, dtype=np.float32)

    # ---- predict --------------------------------------------------------------

    def _hidden(self, adjacency: sparse.csr_array, projected: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Return the embedding of every node of a graph, from x W1 of all of them."""
        from planetoid.engine.neighbourhoods import expected_contexts

        importance = self._importance(adjacency)
        length = int(self.neighbourhood.length) if self._restart < 1 else 0
        mean = expected_contexts(adjacency, importance, self._restart, length, projected)
        return np.asarray(np.maximum(mean + self._layers.b1, 0), dtype=np.float32)

    def _scores(self, hidden: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        return np.asarray(log_softmax(hidden @ self._layers.W2 + self._layers.b2, axis=1))

    def _pooled(self, data: Dataset, x: sparse.csr_array, teacher: Teacher) -> npt.NDArray[np.float32]:
        """Return log-probabilities of all fitted nodes, with the opinion of the teacher and of the other views."""
        self._projected = np.asarray(x @ self._layers.W1, dtype=np.float32)
        self.embedding_ = self._hidden(self._adjacency, self._projected)
        scores = self._scores(self.embedding_)
        fits = (scores[data.labelled].argmax(axis=1) == data.y[data.labelled]).mean()
        of_network, of_teacher = self._weights(teacher, len(data.labelled), fits=bool(fits >= teacher.accuracy))
        opinion = of_teacher * np.log(np.maximum(teacher.probabilities, np.float32(1e-12)))
        self.opinions_ = np.asarray(opinion + teacher.second_opinions, dtype=np.float32)
        return np.asarray(of_network * scores + self.opinions_)

    @staticmethod
    def _weights(teacher: Teacher, n_labels: int, *, fits: bool = True) -> tuple[np.float32, np.float32]:
        """Return the weights of the log-probabilities of the network, which fits its labels or not, and the teacher."""
        if teacher.network_share is not None:
            return np.float32(2 * teacher.network_share), np.float32(2 * (1 - teacher.network_share))
        return np.float32(1), np.float32(TEACHER_WEIGHT + TEACHER_LABELS / n_labels if fits else TEACHER_KNOWS_BETTER)

    def _propagated(
        self, adjacency: sparse.csr_array, own: npt.NDArray[np.float32], otherwise: Probabilities
    ) -> Probabilities:
        """Return the mean of the predictions of each node's contexts from their own rows.

        A node without features has no such prediction (a row of zeros); where no context has one, ``otherwise``.
        """
        from planetoid.engine.neighbourhoods import expected_contexts

        importance = self._importance(adjacency) * own.any(axis=1)
        mean = expected_contexts(adjacency, importance, PREDICTION_RESTART, int(self.neighbourhood.length), own)
        return np.where(mean.any(axis=1, keepdims=True), mean, otherwise)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        # What the reference sees is what the predictions are made from.
        if self.view_ == "graph":
            return reference_sample(replace(data, X=None, graph=self._graph()), probabilities, as_accurate=True)
        if self.view_ == "features":
            data = replace(data, graph=Graph.from_scipy(sparse.csr_array(self._adjacency.shape, dtype=np.float32)))
        elif not self._has_edges:
            data = replace(data, graph=self._graph())
        return reference_sample(data, probabilities)

    def _graph(self) -> Graph:
        return Graph.from_scipy(self._adjacency)

    def _evaluate(self, data: Dataset, x: sparse.csr_array, teacher: Teacher) -> Record:
        rows, codes = data.validation_nodes
        scores = log_softmax(self._pooled(data, x, teacher)[rows], axis=1)
        return {
            "val_accuracy": float((scores.argmax(axis=1) == codes).mean()),
            "val_loss": float(-scores[np.arange(len(rows)), codes].mean()),
        }

    def predict_proba(
        self,
        X: FeaturesLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        edges: Iterable[Edge] | None = None,
        ids: Iterable[Hashable] | None = None,
    ) -> Probabilities:
        """Return class probabilities: of all fitted nodes, of ``nodes``, or of new nodes.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame, optional
            Features of new nodes, one row each.
        nodes : iterable of ids, optional
            Fitted nodes.
        edges : iterable of (id, id) or (id, id, weight), optional
            Edges of the new nodes, to fitted ones or to each other. The new nodes are classified by their neighbourhood
            as if they had been in the graph, without being trained on. Without X they have no features of their own,
            and the result has a row for each id that is not fitted, in the order of appearance.
        ids : iterable of ids, optional
            The ids that ``edges`` uses for the rows of X. By default the index of a DataFrame; for an array, the
            integers after those of the fitted nodes, if these are 0, 1, 2, ...
        """
        if edges is None:
            return super().predict_proba(X, nodes=nodes)
        check_is_fitted(self, "label_distributions_")
        if nodes is not None:
            raise DataError("pass either edges (of new nodes) or nodes (fitted nodes), not both")
        return self._predict_attached(X, list(edges), ids)

    def predict(
        self,
        X: FeaturesLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        edges: Iterable[Edge] | None = None,
        ids: Iterable[Hashable] | None = None,
        top: Top | None = None,
    ) -> npt.NDArray[Any]:
        """Return labels; the parameters are those of :meth:`predict_proba`, and ``top`` for several labels per node."""
        return self._labels(self.predict_proba(X, nodes=nodes, edges=edges, ids=ids), top)

    def predict_set(
        self,
        X: FeaturesLike | None = None,
        *,
        nodes: Iterable[Hashable] | None = None,
        edges: Iterable[Edge] | None = None,
        ids: Iterable[Hashable] | None = None,
        alpha: float = 0.1,
    ) -> npt.NDArray[np.bool_]:
        """Return the classes that contain the true one with probability 1 - alpha.

        A boolean array with a column for each of ``classes_``; the other parameters are those of :meth:`predict_proba`.
        """
        found = self.predict_proba(X, nodes=nodes, edges=edges, ids=ids)
        return self._sets(found, alpha, nodes, fitted=X is None and edges is None)

    def _predict_attached(
        self, X: FeaturesLike | None, edges: list[Edge], ids: Iterable[Hashable] | None
    ) -> Probabilities:
        """Classify new nodes by their place in the graph of the fitted nodes and their own edges."""
        if self.multi_label_:
            raise DataError(
                "new nodes with edges are not supported for several labels per node",
                hint="predict from features alone, or fit with these nodes in the graph",
            )
        attached = Attached.of(self.node_ids_, self._adjacency, X, edges, ids)
        n, m = self._adjacency.shape[0], attached.n_new
        projected = np.zeros((m, self._projected.shape[1]), np.float32)
        if self.view_ == "graph":  # which has no features: the mean of the neighbours instead
            to_fitted = sparse.csr_array(attached.adjacency[n:, :n])
            degrees = np.maximum(strengths(to_fitted), 1e-12)[:, None]
            projected = np.asarray((to_fitted @ self._projected) / degrees, dtype=np.float32)
        elif X is not None:
            x = sparse.csr_array(self._inputs.scaled(self._check_new(X)))
            projected = np.asarray(x @ self._layers.W1, dtype=np.float32)
        hidden = self._hidden(attached.adjacency, np.vstack([self._projected, projected]))
        probabilities = np.asarray(softmax(self._scores(hidden), axis=1))
        if self._distilled is not None:
            own = np.zeros((m, len(self.classes_)), np.float32)
            if self.view_ == "neighbourhood" and X is not None:
                own = np.where(np.diff(x.indptr)[:, None] > 0, class_probabilities(self._distilled, x), own)
            propagated = self._propagated(attached.adjacency, np.vstack([self._own_predictions, own]), probabilities)
            probabilities = geometric_mean(probabilities, propagated, self.propagation_weight_)
        return self.calibration_.apply(probabilities[n:])

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
        return self._student.predict(self._inputs.scaled(X))

    def _write_scores(self, operators: Operators) -> Value:
        if self.multi_label_:
            return self._alone().write_scores(operators, self._inputs.write(operators))
        return self._new_rows_student().write_scores(operators, self._inputs.write(operators))

    def _embed_new(self, X: FeaturesLike) -> npt.NDArray[np.float32]:
        """Return the embedding of new rows: that of their features without any context.

        Where the model learned from the graph alone, it is the mean embedding of each class, weighted by the student's
        probabilities. A row that equals a fitted one has that node's embedding.
        """
        if (
            self.multi_label_
            or not hasattr(self, "n_features_in_")
            or (self.view_ == "graph" and self._student is None)
        ):
            return super()._embed_new(X)
        x = self._inputs.scaled(self._check_new(X))
        if self.view_ == "graph":
            assert self._student is not None
            weights = self.label_distributions_ / self.label_distributions_.sum(axis=0)
            embedded = np.asarray(self._student.predict(x) @ (weights.T @ self.embedding_), dtype=np.float32)
        else:
            embedded = np.asarray(np.maximum(x @ self._layers.W1 + self._layers.b1, 0), dtype=np.float32)
        if self._student is not None:
            same, at = self._student.known_rows(x)
            embedded[same] = self.embedding_[self._student.nodes[at]]
        return embedded

    def _explain(self, question: Question) -> Answer:
        if question.multi_label:
            return self._explain_sets(question)
        if question.row is None:
            assert self._student is not None  # there would be no prediction
            return explain_new_row(self._student, self._inputs.scaled(question.known_row()), question.contrast)
        length = int(self.neighbourhood.length) if self._restart < 1 else 0
        importance = self._importance(self._adjacency)
        inputs = ContextInputs(
            weights=context_weights(self._adjacency, importance, self._restart, length, question.row),
            projected=self._projected,
            x=self._explained_features(question.data),
            opinions=getattr(self, "opinions_", None),
        )
        answer = explain_node(question, question.row, inputs, self._layers, self.embedding_)
        if self._distilled is None:
            return answer
        own = self._own_predictions
        importance = self._importance(self._adjacency) * own.any(axis=1)
        length = int(self.neighbourhood.length)
        weights = context_weights(self._adjacency, importance, PREDICTION_RESTART, length, question.row)
        pooled = PooledPredictions(weights, own, self._distilled, self.propagation_weight_)
        return pooled.added_to(answer, question.contrast, inputs.x)

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
            adjacency = self._connected(data, X)
            embedding = self.embedding_ if "graph" in model.together.weights else None
            material = Material(X, adjacency if adjacency.nnz else None, embedding)
            return ExplainedViews.of(material, sparse.csr_array(data.one_hot() > 0), self.view, model.seed)

        return explain_labels_of_node(question, question.row, model, remember(data, (repr(self), model.seed), views))

    def _explained_features(self, data: Dataset | None) -> sparse.csr_array | None:
        """Return the inputs of the network, unless they are the coordinates of an embedding of the graph."""
        if self.view_ == "graph" or data is None or data.X is None:
            return None
        return sparse.csr_array(self._inputs.scaled(data.X))

    # ---- save and resume ------------------------------------------------------

    def _fingerprint(self, data: Dataset) -> str:
        """Return a digest of the data and of every parameter that changes the result."""
        parameters = {
            name: repr(value)
            for name, value in self.get_params(deep=False).items()
            if name not in ("callbacks", "n_jobs", "random_state", "verbose", "student")
        }
        return fingerprint_of(type(self).__name__, self._seed, parameters, data)

    def _tensors(self) -> Tensors:
        if self.multi_label_:
            has_features = hasattr(self, "n_features_in_")
            return self._sets_model.tensors() | (self._inputs.tensors() if has_features else {})
        tensors: Tensors = {f"layers.{name}": value for name, value in self._layers._asdict().items()}
        adjacency = self._adjacency
        tensors |= {"graph.indptr": adjacency.indptr, "graph.indices": adjacency.indices, "graph.data": adjacency.data}
        tensors["projected"] = self._projected
        if self._distilled is not None:
            tensors["own_predictions"] = self._own_predictions
            tensors |= {f"distilled.{name}": value for name, value in self._distilled._asdict().items()}
        if hasattr(self, "n_features_in_"):
            tensors |= self._inputs.tensors()
        if self._student is not None:
            if self._student.layers is not self._distilled:
                tensors |= {f"student.{name}": value for name, value in self._student.layers._asdict().items()}
            tensors |= {f"student.{name}": getattr(self._student, name) for name in ("keys", "nodes", "known")}
        return tensors

    def _take_tensors(self, tensors: Tensors) -> None:
        from planetoid.engine.consistency import Layers

        if "inputs.mean" in tensors:
            self._inputs = Inputs(tensors["inputs.mean"], tensors["inputs.deviation"], self.row_normalize)
        if self.multi_label_:
            self._sets_model = LabelSetModel.of_tensors(tensors)
            self._distilled = self._student = None
            return
        n = len(self.node_ids_)
        self._layers = Layers(*(tensors[f"layers.{name}"] for name in Layers._fields))
        parts = tensors["graph.data"], tensors["graph.indices"], tensors["graph.indptr"]
        self._adjacency = sparse.csr_array(parts, shape=(n, n))
        check_sparse_format(self._adjacency)
        self._projected = tensors["projected"]
        self._distilled = self._student = None
        if "own_predictions" in tensors:
            self._own_predictions = tensors["own_predictions"]
            self._distilled = Layers(*(tensors[f"distilled.{name}"] for name in Layers._fields))
        if "student.keys" in tensors:
            own = "student" if "student.W1" in tensors else "distilled"
            layers = Layers(*(tensors[f"{own}.{name}"] for name in Layers._fields))
            self._student = Student(layers, *(tensors[f"student.{name}"] for name in ("keys", "nodes", "known")))


def _cannot_label_rows(without: str) -> DataError:
    return DataError(
        f"the model was fitted {without}, so it cannot label new rows", hint="fit with features and student=True"
    )


def _class_prior(probabilities: npt.NDArray[np.float32], codes: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
    """Return the class prior: the frequencies of the labels, and with more labels what the teacher counts."""
    n_classes = probabilities.shape[1]
    per_class = len(codes) / n_classes
    share = (per_class / (per_class + PRIOR_LABELS)) ** 2
    counted = sharpened(probabilities, PRIOR_CONFIDENCE).mean(axis=0)
    labels = np.bincount(codes, minlength=n_classes) / len(codes)
    return np.asarray(share * counted + (1 - share) * labels, dtype=np.float32)
