"""Semi-supervised embedding (Weston, Ratle and Collobert, 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from planetoid.baselines.smooth_classifier import SmoothNetworkClassifier
from planetoid.data.dataset import Dataset
from planetoid.data.types import Probabilities
from planetoid.errors import ParameterError
from planetoid.estimator.embedding import EmbeddingMixin
from planetoid.parameters import RANDOM_STATE, ROW_NORMALIZE, VERBOSE, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, Int, SearchSpace

if TYPE_CHECKING:
    pass

__all__ = ["SemiSupervisedEmbedding"]


class SemiSupervisedEmbedding(EmbeddingMixin, SmoothNetworkClassifier):
    """A network one of whose layers embeds neighbours close to each other.

    Besides the loss on labelled nodes it minimises ``lambda_`` times the mean of ``|g(x_i) - g(x_j)|^2`` over pairs of
    nodes, and pushes random pairs apart until their squared distance is ``margin`` (without which the cheapest
    embedding maps all nodes to one point). The pairs are those of Planetoid's walks (q = 10, d = 3) whose nodes both
    have features; walks pass through nodes without. The graph is needed to fit, not to predict. With ``validation``
    labels the parameters of the best evaluation are returned.

    Parameters
    ----------
    embedding : {"hidden", "output", "auxiliary"}, default "hidden"
        What g is: the last hidden layer, the class probabilities, or a layer of its own on top of the hidden ones,
        beside the output.
    lambda_ : float, default 10.0
        Weight of the loss over pairs; 0 gives the plain network.
    margin : float, default 1.0
        Squared distance up to which random pairs are pushed apart; 0: not at all.
    layers, width : int, default 1 and 64
        Hidden layers, and units per layer.
    dimension : int, default 32
        Width of the auxiliary embedding.
    dropout : float, default 0.5
    steps : int, default 200
        Training steps.
    batch_size : int, default 200
        Labelled nodes, and pairs, per step.
    learning_rate : float, default 0.01
        Of Adam.
    weight_decay : float, default 5e-4
    row_normalize : {"l1", "l2", None}, default "l2"
        Norm to which feature rows are scaled.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None, default 0
    verbose : int, default 0
        Whether a progress bar is shown.

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, width of g)
    history_ : list of dict
        One record per evaluation, every ten steps: ``loss``, ``pair_loss`` and, with validation labels,
        ``val_accuracy`` and ``val_loss``.
    network_ : torch module

    References
    ----------
    J. Weston, F. Ratle, R. Collobert, "Deep learning via semi-supervised embedding", ICML 2008.

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

    uses_validation = True

    constraints: ClassVar[Constraints] = {
        "embedding": ("hidden", "output", "auxiliary"),
        "lambda_": Real(0),
        "margin": Real(0),
        "layers": Integer(0),
        "width": Integer(1),
        "dimension": Integer(1),
        "dropout": Real(0, 1, closed="left"),
        "steps": Integer(1),
        "batch_size": Integer(1),
        "learning_rate": Real(0, closed="neither"),
        "weight_decay": Real(0),
        "row_normalize": ROW_NORMALIZE,
        "calibrate": bool,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }
    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Float(0.003, 0.1),
        "weight_decay": Float(1e-5, 0.02),
        "steps": Int(50, 800),
        "lambda_": Float(0.1, 300.0),
        "margin": Categorical((0.0, 0.5, 1.0)),
        "dropout": Categorical((0.0, 0.3, 0.5, 0.7)),
        "width": Categorical((16, 64, 128)),
        "embedding": Categorical(("hidden", "output", "auxiliary")),
    }

    embedding_: npt.NDArray[np.float32]

    def __init__(
        self,
        *,
        embedding: str = "hidden",
        lambda_: float = 10.0,
        margin: float = 1.0,
        layers: int = 1,
        width: int = 64,
        dimension: int = 32,
        dropout: float = 0.5,
        steps: int = 200,
        batch_size: int = 200,
        learning_rate: float = 0.01,
        weight_decay: float = 5e-4,
        row_normalize: str | None = "l2",
        calibrate: bool = True,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.embedding = embedding
        self.lambda_ = lambda_
        self.margin = margin
        self.layers = layers
        self.width = width
        self.dimension = dimension
        self.dropout = dropout
        self.steps = steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.row_normalize = row_normalize
        self.calibrate = calibrate
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.embedding == "hidden" and self.layers == 0:
            raise ParameterError(
                f"{type(self).__name__}: layers must be an integer >= 1 for embedding='hidden', got 0",
                parameter="layers",
            )

    def _fit(self, data: Dataset) -> Probabilities:
        from planetoid.baselines.smooth_network import embed, predict

        features = self._train(
            data,
            penalty=self.lambda_,
            margin=self.margin,
            n_labelled=self.batch_size,
            n_pairs=self.batch_size,
            weight_decay=self.weight_decay,
        )
        self.embedding_ = embed(self.network_, features)
        return predict(self.network_, features)

    def _embed_new(self, X: object) -> npt.NDArray[np.float32]:
        """Return g(x) of new rows."""
        from planetoid.baselines.smooth_network import embed

        return embed(self.network_, self._features(self._check_new(X)))
