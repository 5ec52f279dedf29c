"""Planetoid-T and Planetoid-G: free embeddings with a classifier on features and embeddings, or on embeddings alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from planetoid.data.dataset import Features
from planetoid.data.scaling import scale_rows
from planetoid.engine.contexts import Contexts
from planetoid.models.table_model import TABLE_SPACE, TableModel
from planetoid.parameters import ROW_NORMALIZE, Check, Constraints
from planetoid.search_space import Categorical, SearchSpace, Start
from planetoid.training.callbacks import Callback
from planetoid.training.settings import Network, Training

__all__ = ["PlanetoidG", "PlanetoidT"]

_LINEAR: Start = {
    "network__l": 0,
    "network__auxiliary_losses": False,
    "network__dropout": 0.0,
    "training__weight_decay": 0.01,
}
_LINEAR_X: Start = {"network__k": 0, **_LINEAR}
_RELU_X: Start = {
    "network__k": 1,
    "network__activation": "relu",
    "network__width": 64,
    "network__auxiliary_losses": False,
    "training__weight_decay": 0.01,
    "network__l": 0,
    "network__dropout": 0.0,
}
_FAST: Start = {
    "training__weight_decay": 1e-4,
    "training__pretrain": 10.0,
    "training__learning_rate": 0.1,
    "training__steps": 200,
    "contexts__r2": 1.0,
    "contexts__d": 6,
}
_LONG: Start = {
    "training__weight_decay": 3e-6,
    "training__pretrain": 17.0,
    "training__learning_rate": 0.1,
    "training__steps": 400,
    "contexts__r2": 1.0,
    "contexts__d": 3,
}
_WALKS_ALONE: Start = {"contexts__d": 6, "contexts__r2": 1.0}


class PlanetoidT(TableModel):
    """Planetoid-T: p(y | x, e) from features and free embeddings (transductive).

    The embedding of each node is trained to predict the node's class and its context in the graph, in alternation
    (Algorithm 2).

    Parameters
    ----------
    dimension : int
        Width of the embeddings e and of the context parameters w.
    network : Network
        The classifier: layers on x and on e, and a softmax over both.
    contexts : Contexts
        How contexts are sampled (Algorithm 1).
    training : Training
        How the model is trained (Algorithm 2); embedding tables take plain SGD steps on the context loss.
    row_normalize : {"l2", "l1", None}
        Norm to which feature rows are scaled.
    callbacks : list of Callback, optional
        For instance :class:`EarlyStopping`, which is added with its defaults when ``fit`` gets validation labels, and
        :class:`Checkpoint`.
    device : {"auto", "cpu", "cuda"}
    calibrate : bool
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None
    n_jobs : int or None
        Threads for contexts; the result does not depend on it.
    verbose : int
        Whether a progress bar is shown.

    Attributes
    ----------
    embedding_, context_ : float32 arrays of shape (n_nodes, dimension)
        The embeddings e and the context parameters w.
    head_ : torch module
        The classifier p(y | x, e).
    history_ : list of dict
        One record per piece of pre-training and one per evaluation.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.make_citation(n_nodes=300, seed=0)
    >>> split = data.split("random", per_class=10, n_val=50, n_test=100, seed=0)
    >>> model = pl.PlanetoidT(dimension=16, contexts=pl.Contexts(q=5), training=pl.Training(steps=20))
    >>> model.fit(data.X, pl.mask_labels(data.y, split.train), graph=data.graph).embedding_.shape
    (300, 16)
    """

    uses_features = "required"
    weight_decay_factor = 1.0

    constraints: ClassVar[Constraints] = {**TableModel.constraints, "row_normalize": ROW_NORMALIZE}
    search_space: ClassVar[SearchSpace] = {**TABLE_SPACE, "network__k": Categorical((0, 1))}
    search_starts: ClassVar[tuple[Start, ...]] = (_LINEAR_X, {**_LINEAR_X, "training__pretrain": 10.0}, _RELU_X)

    def __init__(
        self,
        *,
        dimension: int = 128,
        network: Network = Network(k=1, l=0, width=64, activation="relu"),
        contexts: Contexts = Contexts(),
        training: Training = Training(steps=160, learning_rate=0.035, embedding_learning_rate=0.02),
        row_normalize: str | None = "l2",
        callbacks: Sequence[Callback] | None = None,
        device: str = "auto",
        calibrate: bool = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.network = network
        self.contexts = contexts
        self.training = training
        self.row_normalize = row_normalize
        self.callbacks = callbacks
        self.device = device
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _scale(self, X: Features) -> Features:
        return scale_rows(X, self.row_normalize)


class PlanetoidG(TableModel):
    """Planetoid-G: p(y | e) from free embeddings alone, for graphs without features (transductive).

    Parameters
    ----------
    dimension : int
        Width of the embeddings e and of the context parameters w.
    network : Network
        The classifier on e; ``network.k`` must be 0, since there are no features.
    contexts, training, callbacks, device, calibrate, random_state, n_jobs, verbose
        As in :class:`PlanetoidT`.

    Attributes
    ----------
    embedding_, context_, head_, history_
        As in :class:`PlanetoidT`.

    Examples
    --------
    >>> import planetoid as pl
    >>> two_triangles = pl.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> model = pl.PlanetoidG(dimension=8).set_params(training__pretrain=200)
    >>> model.fit(None, {0: "left", 5: "right"}, graph=two_triangles).predict(nodes=[1, 4]).tolist()
    ['left', 'right']
    """

    uses_features = "never"
    weight_decay_factor = 0.25

    constraints: ClassVar[Constraints] = {
        **TableModel.constraints,
        "network": Check(
            "a Network object with k=0, since there are no features",
            lambda value: isinstance(value, Network) and value.k == 0,
        ),
    }
    search_space: ClassVar[SearchSpace] = TABLE_SPACE
    search_starts: ClassVar[tuple[Start, ...]] = (
        {**_WALKS_ALONE, "training__pretrain": 24.0},
        _LINEAR,
        {**_LINEAR, "training__weight_decay": 0.001},
        {**_LINEAR, "training__weight_decay": 1e-5, "training__pretrain": 10.0},
        {**_LINEAR, **_FAST},
        {**_LINEAR, **_FAST, "training__embedding_learning_rate": 0.01, "training__T2": 20.0},
        {**_LINEAR, **_LONG, "training__embedding_learning_rate": 0.003},
        {**_LINEAR, **_LONG, "training__embedding_learning_rate": 0.01, "training__T2": 5.0},
        {**_WALKS_ALONE, "training__pretrain": 20.0, "training__weight_decay": 5e-5},
    )

    def __init__(
        self,
        *,
        dimension: int = 128,
        network: Network = Network(k=0, l=1, width=None, activation="softmax", dropout=0.5, auxiliary_losses=True),
        contexts: Contexts = Contexts(),
        training: Training = Training(steps=200, learning_rate=0.05, embedding_learning_rate=0.1),
        callbacks: Sequence[Callback] | None = None,
        device: str = "auto",
        calibrate: bool = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.network = network
        self.contexts = contexts
        self.training = training
        self.callbacks = callbacks
        self.device = device
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
