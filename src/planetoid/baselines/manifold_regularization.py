"""Manifold regularization (Belkin, Niyogi and Sindhwani, 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from planetoid.baselines.rkhs import LandmarkMap, Penalty, fit_rls, fit_svm
from planetoid.baselines.smooth_classifier import SmoothNetworkClassifier
from planetoid.data.dataset import Dataset, Features
from planetoid.data.scaling import Rows, scale_rows
from planetoid.data.types import Probabilities
from planetoid.explanation.contributions import Answer, Contributions, Question, linear_answer
from planetoid.graph.adjacency import symmetric_adjacency
from planetoid.io.model_files import Tensors
from planetoid.parameters import RANDOM_STATE, ROW_NORMALIZE, VERBOSE, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, SearchSpace

if TYPE_CHECKING:
    from planetoid.export.operators import Operators, Value

__all__ = ["ManifoldRegularization"]

LABELLED_PER_STEP = 200  # of a network


class ManifoldRegularization(SmoothNetworkClassifier):
    """A classifier on features whose scores differ little along edges.

    Besides the loss on labelled nodes and the norm of the function it minimises ``intrinsic`` times the mean, over the
    edges by their weight, of ``(f(x_i) - f(x_j))^2``; a network takes the pairs of Planetoid's walks (q = 10, d = 3)
    whose nodes both have features instead of edges. The graph is needed to fit, not to predict. A directed edge counts
    at both of its ends.

    Parameters
    ----------
    kind : {"rls", "svm", "network"}, default "rls"
        Laplacian regularised least squares or the Laplacian SVM (hinge loss), both one class against the rest; or a
        network that is trained on sampled pairs, whose f are the class probabilities: what the paper compares with.
    kernel : {"linear", "rbf"}, default "linear"
        The function space. No n x n kernel is ever formed: "linear" works on sparse features as they are, "rbf" on
        ``n_landmarks`` of the nodes (the Nystroem method; exact where there are as many landmarks as nodes).
    ambient : float, default 0.01
        Weight of the norm of f; for a network, the weight decay.
    intrinsic : float or None, default None
        Weight of these differences; 0 ignores the graph. ``None`` is 10, for a network 1.
    gamma : float, default 1.0
        Of the RBF kernel ``exp(-gamma |x - z|^2)``.
    n_landmarks : int, default 1000
        For the RBF kernel.
    layers, width : int, default 1 and 64
        Hidden layers (ReLU) of a network, and units per layer.
    steps : int, default 200
        Training steps of a network, each on up to 200 labelled nodes and ``edge_batch`` pairs.
    edge_batch : int, default 500
        Pairs per training step of a network.
    learning_rate : float, default 0.01
        Of Adam, for a network.
    row_normalize : {"l1", "l2", None}, default "l2"
        Norm to which feature rows are scaled.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None, default 0
        Choice of landmarks; initial weights and batches of a network.
    verbose : int, default 0
        Whether a progress bar is shown while a network is trained.

    Attributes
    ----------
    coef_ : array of shape (n_features or at most n_landmarks, n_classes)
        Not for a network.
    intercept_ : array of shape (n_classes,)
        Not for a network.
    network_ : torch module
        Only for a network.
    history_ : list of dict
        Only for a network: one record per evaluation, every ten steps.

    Notes
    -----
    Belkin et al. divide ``f^T L f`` by the square of the number of nodes; here it is divided by the sum of the edge
    weights, so that one value of ``intrinsic`` suits graphs of different size. Probabilities are the softmax of the
    scores: good for ranking, not calibrated.

    References
    ----------
    M. Belkin, P. Niyogi, V. Sindhwani, "Manifold regularization: a geometric framework for learning from labeled and
    unlabeled examples", JMLR 7, 2006.

    Examples
    --------
    The last column never occurs on a labelled node; the edges tell what it means:

    >>> import planetoid as pl
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> model = pl.ManifoldRegularization().fit(X, ["a", "b", None, None], graph=[(1, 2), (1, 3)])
    >>> model.predict([[0.0, 0.0, 1.0]]).tolist()
    ['b']
    """

    constraints: ClassVar[Constraints] = {
        "kind": ("rls", "svm", "network"),
        "kernel": ("linear", "rbf"),
        "ambient": Real(0, closed="neither"),
        "intrinsic": (Real(0), None),
        "gamma": Real(0, closed="neither"),
        "n_landmarks": Integer(1),
        "layers": Integer(0),
        "width": Integer(1),
        "steps": Integer(1),
        "edge_batch": Integer(1),
        "learning_rate": Real(0, closed="neither"),
        "row_normalize": ROW_NORMALIZE,
        "calibrate": bool,
        "random_state": RANDOM_STATE,
        "verbose": VERBOSE,
    }
    search_space: ClassVar[SearchSpace] = {
        "kind": Categorical(("rls", "svm")),
        "kernel": Categorical(("linear", "rbf")),
        "ambient": Float(1e-4, 1.0),
        "intrinsic": Float(1e-3, 100.0),
    }

    coef_: npt.NDArray[np.float64]
    intercept_: npt.NDArray[np.float64]
    _map: LandmarkMap | None

    def __init__(
        self,
        *,
        kind: str = "rls",
        kernel: str = "linear",
        ambient: float = 0.01,
        intrinsic: float | None = None,
        gamma: float = 1.0,
        n_landmarks: int = 1000,
        layers: int = 1,
        width: int = 64,
        steps: int = 200,
        edge_batch: int = 500,
        learning_rate: float = 0.01,
        row_normalize: str | None = "l2",
        calibrate: bool = True,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.kind = kind
        self.kernel = kernel
        self.ambient = ambient
        self.intrinsic = intrinsic
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.layers = layers
        self.width = width
        self.steps = steps
        self.edge_batch = edge_batch
        self.learning_rate = learning_rate
        self.row_normalize = row_normalize
        self.calibrate = calibrate
        self.random_state = random_state
        self.verbose = verbose

    @property
    def uses_validation(self) -> bool:
        """Whether ``fit`` uses validation labels: to calibrate, and a network to stop early."""
        return self.kind == "network" or self.calibrate

    def _fit(self, data: Dataset) -> Probabilities:
        assert data.X is not None
        if self.kind == "network":
            return self._fit_network(data)
        X = self._scaled(data.X)
        self._map = LandmarkMap(X, self.gamma, self.n_landmarks, self._seed) if self.kernel == "rbf" else None
        features = self._mapped(X)
        adjacency = symmetric_adjacency(data.graph)
        intrinsic = 10.0 if self.intrinsic is None else self.intrinsic
        penalty = Penalty.of(features, adjacency, self.ambient, intrinsic)
        rows = data.labelled
        targets = 2.0 * data.one_hot()[rows] - 1.0
        if data.n_classes == 2:
            targets = targets[:, 1:]  # the other is its opposite
        self.coef_, self.intercept_ = (fit_rls if self.kind == "rls" else fit_svm)(penalty, rows, targets)
        return self._probabilities(features)

    def _fit_network(self, data: Dataset) -> Probabilities:
        from planetoid.baselines.smooth_network import predict

        features = self._train(
            data,
            penalty=1.0 if self.intrinsic is None else self.intrinsic,
            margin=0.0,
            n_labelled=LABELLED_PER_STEP,
            n_pairs=self.edge_batch,
            weight_decay=self.ambient,
        )
        return predict(self.network_, features)

    def _explain(self, question: Question) -> Answer:
        if self.kind == "network" or self.kernel == "rbf":
            return super()._explain(question)
        return linear_answer(question, self._scaled(question.known_row()), self.coef_.T, self.intercept_, -1, 1)

    def _label_reasons(self, question: Question) -> list[Contributions]:
        return super()._label_reasons(question) if self.kind == "network" else []

    def _predict_rows(self, X: Features) -> Probabilities:
        if self.kind == "network":
            return super()._predict_rows(X)
        return self._probabilities(self._mapped(self._scaled(X)))

    def _write_scores(self, operators: Operators) -> Value:
        if self.kind == "network":
            return super()._write_scores(operators)
        rows = operators.rows(self.row_normalize)
        features = rows if self._map is None else self._map.write(operators, rows)
        scores = operators.linear(features, self.coef_, self.intercept_)
        return operators.both_signs(scores) if self.coef_.shape[1] == 1 else scores

    def _tensors(self) -> Tensors:
        if self.kind == "network":
            return super()._tensors()
        return {} if self._map is None else self._map.tensors()

    def _take_tensors(self, tensors: Tensors) -> None:
        if self.kind == "network":
            super()._take_tensors(tensors)
            return
        self._map = LandmarkMap.of(tensors, self.gamma) if self.kernel == "rbf" else None

    def _probabilities(self, features: Rows) -> Probabilities:
        scores = np.asarray(features @ self.coef_ + self.intercept_)
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
        return np.asarray(softmax(scores, axis=1))

    def _mapped(self, X: Rows) -> Rows:
        return X if self._map is None else self._map(X)

    def _scaled(self, X: Features) -> Rows:
        return scale_rows(X, self.row_normalize, np.float64)
