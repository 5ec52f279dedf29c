"""Semi-supervised embedding (Weston, Ratle and Collobert, 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.preprocessing import normalize

from planetoid.data.dataset import Dataset, Features
from planetoid.errors import ParameterError
from planetoid.estimator import EmbeddingMixin, InductiveClassifier, Probabilities

if TYPE_CHECKING:
    from planetoid.baselines.smooth_network import SmoothNetwork

__all__ = ["SemiSupervisedEmbedding"]


class SemiSupervisedEmbedding(EmbeddingMixin, InductiveClassifier):
    """A network one of whose layers places neighbours close to each other.

    Besides the loss on labelled rows it pays ``lambda_`` times the mean, over
    edges by their weight, of ``|g(x_i) - g(x_j)|^2``, and, for random pairs, of
    what their squared distance lacks to ``margin`` (without which the cheapest
    embedding puts everything in one place). The graph is needed to fit, not to
    predict. With ``validation`` labels the network is returned as it was when it
    did best on them.

    Parameters
    ----------
    embedding : {"hidden", "output", "auxiliary"}, default "hidden"
        What g is: the last hidden layer, the class probabilities, or a layer of
        its own on top of the hidden ones, beside the output.
    lambda_ : float, default 10.0
        Weight of the pairs; 0 gives the plain network.
    margin : float, default 1.0
        Squared distance up to which random pairs are pushed apart; 0: not at all.
    layers, width : int, default 1 and 64
        Hidden layers.
    activation : {"relu", "tanh", "softmax", "linear"}, default "relu"
    dimension : int, default 32
        Width of the auxiliary embedding.
    dropout : float, default 0.5
    steps : int, default 200
        Each on ``labelled_batch`` rows and ``edge_batch`` edges.
    labelled_batch, edge_batch : int, default 200
    learning_rate : float, default 0.01
        Of Adam.
    weight_decay : float, default 5e-4
    row_normalize : {"l1", "l2", None}, default "l2"
        Scale each feature row before fitting and predicting.
    random_state : int, default 0

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, width of g)
    history_ : list of float
        The loss of each step.
    network_ : torch module

    References
    ----------
    J. Weston, F. Ratle, R. Collobert, "Deep learning via semi-supervised
    embedding", ICML 2008.

    Examples
    --------
    The last column never occurs on a labelled node; the edges tell what it means:

    >>> import planetoid as pl
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> model = pl.SemiSupervisedEmbedding().fit(X, ["a", "b", None, None], graph=[(1, 2), (1, 3)])
    >>> model.predict([[0.0, 0.0, 1.0]]).tolist()
    ['b']
    >>> model.transform([[0.0, 0.0, 1.0]]).shape
    (1, 64)
    """

    embedding_: npt.NDArray[np.float32]
    network_: SmoothNetwork

    def __init__(
        self,
        *,
        embedding: str = "hidden",
        lambda_: float = 10.0,
        margin: float = 1.0,
        layers: int = 1,
        width: int = 64,
        activation: str = "relu",
        dimension: int = 32,
        dropout: float = 0.5,
        steps: int = 200,
        labelled_batch: int = 200,
        edge_batch: int = 200,
        learning_rate: float = 0.01,
        weight_decay: float = 5e-4,
        row_normalize: str | None = "l2",
        random_state: int = 0,
    ) -> None:
        self.embedding = embedding
        self.lambda_ = lambda_
        self.margin = margin
        self.layers = layers
        self.width = width
        self.activation = activation
        self.dimension = dimension
        self.dropout = dropout
        self.steps = steps
        self.labelled_batch = labelled_batch
        self.edge_batch = edge_batch
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.row_normalize = row_normalize
        self.random_state = random_state

    def _fit(self, data: Dataset) -> Probabilities:
        self._check_parameters()
        from planetoid.baselines.smooth_network import EdgeSampler, Schedule, predict, train
        from planetoid.training import FeatureRows

        rows = FeatureRows(self._scaled(data.X))
        self.network_ = self._new_network(data.n_classes)
        plan = Schedule(
            penalty=self.lambda_,
            margin=self.margin,
            steps=self.steps,
            labelled_batch=self.labelled_batch,
            edge_batch=self.edge_batch,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            seed=self.random_state,
        )
        self.history_ = train(self.network_, rows, data.y, EdgeSampler(data.graph), plan, data.validation)
        self.embedding_ = predict(self.network_, rows, embed=True)
        return predict(self.network_, rows)

    def _predict_rows(self, X: Features) -> Probabilities:
        from planetoid.baselines.smooth_network import predict
        from planetoid.training import FeatureRows

        return predict(self.network_, FeatureRows(self._scaled(X)))

    def _embed_new(self, X: Any) -> npt.NDArray[np.float32]:
        """Return g(x) of new rows."""
        from planetoid.baselines.smooth_network import predict
        from planetoid.training import FeatureRows

        return predict(self.network_, FeatureRows(self._scaled(self._check_new(X))), embed=True)

    def _new_network(self, n_classes: int) -> SmoothNetwork:
        from planetoid.baselines.smooth_network import SmoothNetwork
        from planetoid.training import StepRandom

        return SmoothNetwork(
            self.n_features_in_,
            n_classes,
            layers=self.layers,
            width=self.width,
            activation=self.activation,
            dropout=self.dropout,
            embedding=self.embedding,
            dimension=self.dimension,
            random=StepRandom(self.random_state),
        )

    def _tensors(self) -> dict[str, npt.NDArray[Any]]:
        from planetoid.baselines.smooth_network import weights_of

        return weights_of(self.network_)

    def _take_tensors(self, tensors: dict[str, npt.NDArray[Any]]) -> None:
        from planetoid.baselines.smooth_network import set_weights

        self.network_ = set_weights(self._new_network(len(self.classes_)), tensors)

    def _scaled(self, X: Features) -> Any:
        if self.row_normalize is None:
            return X
        scaled = normalize(X, norm=self.row_normalize)
        return sparse.csr_array(scaled) if sparse.issparse(scaled) else scaled

    def _check_parameters(self) -> None:
        for name, allowed in (("embedding", ("hidden", "output", "auxiliary")), ("row_normalize", ("l1", "l2", None))):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it is one of {', '.join(map(repr, allowed))}")
        if self.embedding == "hidden" and self.layers < 1:
            raise ParameterError("embedding='hidden' needs a hidden layer: layers=0")
        for name in ("lambda_", "margin", "layers", "weight_decay"):
            if not getattr(self, name) >= 0:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it must not be negative")
        for name in ("width", "dimension", "steps", "labelled_batch", "edge_batch", "learning_rate"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it must be positive")
        if not 0 <= self.dropout < 1:
            raise ParameterError(f"dropout={self.dropout!r}; it must be 0 at least and below 1")
