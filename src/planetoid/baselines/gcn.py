"""A graph convolutional network (Kipf and Welling, 2017): the yardstick of later methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import softmax

from planetoid.baselines.reference import reference_sample
from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import scale_rows
from planetoid.data.types import Probabilities
from planetoid.estimator.classifier import GraphClassifier
from planetoid.estimator.embedding import EmbeddingMixin
from planetoid.explanation.contributions import LOG_ODDS, Answer, Contributions, Question, by_label_gradient
from planetoid.graph.adjacency import normalized_adjacency, symmetric_adjacency
from planetoid.parameters import RANDOM_STATE, ROW_NORMALIZE, VERBOSE, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.callbacks import CALLBACKS, Callback, Record

if TYPE_CHECKING:
    from planetoid.training.gcn_loss import GraphConvolution

__all__ = ["GCN"]


class GCN(EmbeddingMixin, GraphClassifier):
    """Two graph convolutions: softmax(A_hat relu(A_hat X W1) W2), trained on the labelled nodes (transductive).

    A_hat = D^-1/2 (A + I) D^-1/2; in a weighted graph the self-loops I have the mean edge weight. A directed edge
    counts in both directions.

    Parameters
    ----------
    hidden : int, default 16
        Number of hidden units, the width of ``embedding_``.
    dropout : float, default 0.5
        Share of features and of hidden units that a step drops.
    learning_rate : float, default 0.01
        Of Adam.
    weight_decay : float, default 5e-4
        L2 penalty of the first layer.
    epochs : int, default 200
        Number of steps, each on all labelled nodes.
    row_normalize : {"l1", "l2", None}, default "l1"
        Norm to which each feature row is scaled.
    callbacks : list of Callback, optional
        With validation labels, training keeps the best parameters by default.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None, default 0
    verbose : int, default 0
        Whether a progress bar is shown.

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, hidden)
        The hidden layer.
    W1_, W2_ : float32 arrays
        The weights of the two layers.
    history_ : list of dict
        One record per evaluation.

    References
    ----------
    T. N. Kipf, M. Welling, "Semi-supervised classification with graph convolutional networks", ICLR 2017.

    Examples
    --------
    >>> import planetoid as pl
    >>> X = [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 0]]
    >>> graph = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (6, 3), (6, 4), (6, 5)]
    >>> pl.GCN().fit(X, {0: "a", 3: "b"}, graph=graph).predict(nodes=[2, 5, 6]).tolist()
    ['a', 'b', 'b']
    """

    uses_features = "required"
    uses_validation = True
    constraints: ClassVar[Constraints] = {
        "hidden": Integer(1),
        "dropout": Real(0, 1, closed="left"),
        "learning_rate": Real(0, closed="neither"),
        "weight_decay": Real(0),
        "epochs": Integer(0),
        "row_normalize": ROW_NORMALIZE,
        "callbacks": CALLBACKS,
        "calibrate": bool,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }
    search_space: ClassVar[SearchSpace] = {
        "hidden": Categorical((16, 64)),
        "dropout": Categorical((0.3, 0.5, 0.7)),
        "learning_rate": Float(0.003, 0.03),
        "weight_decay": Float(1e-5, 1e-2),
        "epochs": Categorical((100, 200, 400)),
        "row_normalize": Categorical(("l1", "l2", None)),
    }

    embedding_: npt.NDArray[np.float32]
    history_: list[Record]

    def __init__(
        self,
        *,
        hidden: int = 16,
        dropout: float = 0.5,
        learning_rate: float = 0.01,
        weight_decay: float = 5e-4,
        epochs: int = 200,
        row_normalize: str | None = "l1",
        callbacks: Sequence[Callback] | None = None,
        calibrate: bool = True,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.epochs = epochs
        self.row_normalize = row_normalize
        self.callbacks = callbacks
        self.calibrate = calibrate
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset) -> Probabilities:
        from planetoid.training.randomness import one_thread

        with one_thread():
            network = self._learn(data)
            self.embedding_, scores = network.predict()
        self.W1_, self.W2_ = (weights.detach().numpy() for weights in (network.first, network.second))
        shifted = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))

    def _explain(self, question: Question) -> Answer:
        if question.row is None:
            return super()._explain(question)
        data = question.known_data()
        assert data.X is not None
        X = sparse.csr_array(scale_rows(data.X, self.row_normalize))
        A = normalized_adjacency(symmetric_adjacency(data.graph))
        outgoing = self.W2_.astype(np.float64) @ question.contrast
        near = A[[question.row]]
        # The network has no biases, so the gradient times the input adds up to the score.
        gates = near.data[:, None] * (self.embedding_[near.indices] > 0) * outgoing
        pulls = A[near.indices].T @ gates  # gradient by A X W1 of the nodes two steps away
        around = np.flatnonzero(pulls.any(axis=1))
        gradients = pulls[around] @ self.W1_.T.astype(np.float64)  # by their features
        inputs = X[around].multiply(gradients).tocsr()
        meaning = "features of this node times the gradient of the score"
        columns = np.asarray(inputs.sum(axis=0)).ravel()
        present = np.flatnonzero(columns)
        parts = [
            self._label_reasons(question, question.row, A),
            Contributions("neighbours", around, np.asarray(inputs.sum(axis=1)).ravel(), meaning, 0.0),
            Contributions("features", present, columns[present], "value, near the node, times the gradient", 0.0),
        ]
        return Answer(float(columns.sum()), LOG_ODDS, parts)

    def _label_reasons(self, question: Question, row: int, A: sparse.csr_array) -> Contributions:
        data = question.known_data()
        rows = data.labelled
        hidden = (A[np.append(rows, row)] @ self.embedding_).astype(np.float64)
        probabilities = softmax(hidden[:-1] @ self.W2_, axis=1)
        return by_label_gradient(data, rows, hidden[:-1] @ hidden[-1], probabilities, question.contrast)

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        return reference_sample(data, probabilities)

    def _learn(self, data: Dataset) -> GraphConvolution:
        from planetoid.training.gcn_loss import GraphConvolution, GraphConvolutionLoss
        from planetoid.training.trainer import Schedule, Trainer

        assert data.X is not None
        X = sparse.csr_array(scale_rows(data.X, self.row_normalize))
        A = normalized_adjacency(symmetric_adjacency(data.graph))
        network = GraphConvolution(A, X, int(self.hidden), data.n_classes, float(self.dropout), self._seed)
        loss = GraphConvolutionLoss(network, data, float(self.learning_rate), float(self.weight_decay))
        schedule = Schedule(int(self.epochs), (1.0,), None, 10)
        name = type(self).__name__
        trainer = Trainer([loss], schedule, self.callbacks or (), name=name, verbose=self.verbose)
        trainer.run()
        self.history_ = trainer.history
        return network
