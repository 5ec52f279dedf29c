"""Manifold regularization (Belkin, Niyogi and Sindhwani, 2006)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.preprocessing import normalize

from planetoid.baselines.propagation import symmetric_adjacency
from planetoid.baselines.rkhs import LandmarkMap, Penalty, fit_rls, fit_svm
from planetoid.data.dataset import Dataset, Features
from planetoid.errors import ParameterError
from planetoid.estimator import InductiveClassifier, Probabilities
from planetoid.io.model_files import Tensors

if TYPE_CHECKING:
    from planetoid.baselines.smooth_network import SmoothNetwork

__all__ = ["ManifoldRegularization"]


class ManifoldRegularization(InductiveClassifier):
    """A classifier on features whose scores are to differ little along the edges.

    Besides the loss on labelled nodes and the norm of the function it pays
    ``intrinsic`` times the mean, over the edges by their weight, of
    ``(f(x_i) - f(x_j))^2``. The graph is needed to fit, not to predict. A
    directed edge counts at both of its ends.

    Parameters
    ----------
    kind : {"rls", "svm", "network"}, default "rls"
        Laplacian regularised least squares, the Laplacian SVM (hinge loss), both
        one class against the rest; or a network that is trained by sampled edges,
        whose f are the class probabilities.
    kernel : {"linear", "rbf"}, default "linear"
        The function space. No n x n kernel is ever formed: "linear" works on
        sparse features as they are, "rbf" on ``n_landmarks`` of the nodes (the
        Nystroem method; exact where there are as many landmarks as nodes).
    ambient : float, default 0.01
        Weight of the norm of f; for a network, the weight decay.
    intrinsic : float or None, default None
        Weight of the differences along edges; 0 leaves the graph out. ``None``
        is 10, for a network 1.
    gamma : float, default 1.0
        Of the RBF kernel ``exp(-gamma |x - z|^2)``.
    n_landmarks : int, default 1000
        For the RBF kernel.
    layers, width : int, default 1 and 64
        Hidden layers (ReLU) of a network.
    steps, edge_batch : int, default 200 and 500
        Training of a network: steps, and edges drawn for each.
    learning_rate : float, default 0.01
        Of Adam, for a network.
    row_normalize : {"l1", "l2", None}, default "l2"
        Scale each feature row before fitting and predicting.
    random_state : int, default 0
        Choice of landmarks; start and batches of a network.

    Attributes
    ----------
    coef_ : array of shape (n_features or at most n_landmarks, n_classes)
        Not for a network.
    intercept_ : array of shape (n_classes,)
        Not for a network.
    network_ : torch module
        Only for a network.

    Notes
    -----
    Belkin et al. divide ``f^T L f`` by the square of the number of nodes; here it
    is divided by the sum of the edge weights, so that one value of ``intrinsic``
    suits graphs of different size. Probabilities are the softmax of the scores:
    good for ranking, not calibrated.

    References
    ----------
    M. Belkin, P. Niyogi, V. Sindhwani, "Manifold regularization: a geometric
    framework for learning from labeled and unlabeled examples", JMLR 7, 2006.

    Examples
    --------
    The last column never occurs on a labelled node; the edges tell what it means:

    >>> import planetoid as pl
    >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1]]
    >>> model = pl.ManifoldRegularization().fit(X, ["a", "b", None, None], graph=[(1, 2), (1, 3)])
    >>> model.predict([[0.0, 0.0, 1.0]]).tolist()
    ['b']
    """

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
        random_state: int = 0,
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
        self.random_state = random_state

    def _fit(self, data: Dataset) -> Probabilities:
        self._check_parameters()
        X = self._scaled(data.X)
        if self.kind == "network":
            return self._fit_network(data, X)
        self._map = LandmarkMap(X, self.gamma, self.n_landmarks, self.random_state) if self.kernel == "rbf" else None
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

    def _fit_network(self, data: Dataset, X: Any) -> Probabilities:
        from planetoid.baselines.smooth_network import EdgeSampler, Schedule, predict, train
        from planetoid.training import FeatureRows

        rows = FeatureRows(X)
        self.network_ = self._new_network(data.n_classes)
        plan = Schedule(
            penalty=1.0 if self.intrinsic is None else self.intrinsic,
            margin=0.0,
            steps=self.steps,
            labelled_batch=200,
            edge_batch=self.edge_batch,
            learning_rate=self.learning_rate,
            weight_decay=self.ambient,
            seed=self.random_state,
        )
        train(self.network_, rows, data.y, EdgeSampler(data.graph), plan, data.validation)
        return predict(self.network_, rows)

    def _new_network(self, n_classes: int) -> SmoothNetwork:
        from planetoid.baselines.smooth_network import SmoothNetwork
        from planetoid.training import StepRandom

        return SmoothNetwork(
            self.n_features_in_,
            n_classes,
            layers=self.layers,
            width=self.width,
            activation="relu",
            dropout=0.0,
            embedding="output",
            dimension=0,
            random=StepRandom(self.random_state),
        )

    def _predict_rows(self, X: Features) -> Probabilities:
        if self.kind == "network":
            from planetoid.baselines.smooth_network import predict
            from planetoid.training import FeatureRows

            return predict(self.network_, FeatureRows(self._scaled(X)))
        return self._probabilities(self._mapped(self._scaled(X)))

    def _tensors(self) -> Tensors:
        if self.kind == "network":
            from planetoid.baselines.smooth_network import weights_of

            return weights_of(self.network_)
        return {} if self._map is None else self._map.tensors()

    def _take_tensors(self, tensors: Tensors) -> None:
        if self.kind == "network":
            from planetoid.baselines.smooth_network import set_weights

            self.network_ = set_weights(self._new_network(len(self.classes_)), tensors)
            return
        self._map = LandmarkMap.of(tensors, self.gamma) if self.kernel == "rbf" else None

    def _probabilities(self, features: Any) -> Probabilities:
        scores = np.asarray(features @ self.coef_ + self.intercept_)
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
        return np.asarray(softmax(scores, axis=1))

    def _mapped(self, X: Any) -> Any:
        return X if self._map is None else self._map(X)

    def _scaled(self, X: Features) -> Any:
        if self.row_normalize is not None:
            X = normalize(X, norm=self.row_normalize)
        precision = np.float32 if self.kind == "network" else np.float64
        return sparse.csr_array(X, dtype=precision) if sparse.issparse(X) else np.asarray(X, dtype=precision)

    def _check_parameters(self) -> None:
        for name, allowed in (
            ("kind", ("rls", "svm", "network")),
            ("kernel", ("linear", "rbf")),
            ("row_normalize", ("l1", "l2", None)),
        ):
            if getattr(self, name) not in allowed:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it is one of {', '.join(map(repr, allowed))}")
        for name in ("ambient", "gamma", "n_landmarks", "width", "steps", "edge_batch", "learning_rate"):
            if not getattr(self, name) > 0:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it must be positive")
        for name in ("intrinsic", "layers"):
            if getattr(self, name) is not None and not getattr(self, name) >= 0:
                raise ParameterError(f"{name}={getattr(self, name)!r}; it must not be negative")
