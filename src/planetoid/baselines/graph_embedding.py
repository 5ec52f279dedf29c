"""GraphEmb: DeepWalk's embeddings, learned without labels, and a softmax on top."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from planetoid.baselines.softmax_regression import fit_softmax
from planetoid.data.dataset import Dataset
from planetoid.engine import ContextSampler, SkipGram
from planetoid.engine.skipgram import new_tables
from planetoid.errors import ParameterError
from planetoid.estimator import EmbeddingMixin, GraphClassifier, Probabilities
from planetoid.utils.progress import progress

__all__ = ["GraphEmbedding"]

AUTO_C = 3.0  # times classes^2 / labels
PIECES = 100  # of a training, after each of which the bar moves


class GraphEmbedding(EmbeddingMixin, GraphClassifier):
    """Skip-gram embeddings of random walks (r2 = 1), then softmax regression on them.

    Parameters
    ----------
    dimension : int, default 128
    passes : float, default 20
        Walks that start at each node.
    q, d : int, default 10 and 4
        Nodes in a walk, and window: pairs are less than d steps apart.
    r1 : float, default 1/6
        Share of positive pairs; 1/6 is five negatives a positive.
    self_pairs : bool, default False
    node2vec_p, node2vec_q : float, default 1
        Return and in-out parameters of node2vec; 1 is DeepWalk.
    learning_rate : float, default 0.025
        Falls linearly to a hundredth of it.
    negatives : {"shared", "own"}, default "shared"
        See :class:`planetoid.engine.SkipGram`.
    C : float or "auto", default "auto"
        Inverse strength of the softmax's L2 penalty. ``"auto"`` is 3 times the square of the number of classes, a
        label: among many classes, each with few labels, a penalty that suits few would leave only the largest class.
    directory : path, optional
        Keep the tables in memory-mapped files there, for graphs larger than memory.
    random_state : int, default 0
    n_jobs : int, default 1
        Threads; the result is the same for any number.
    verbose : int, default 0

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, dimension)
    loss_ : float
        Mean of L_u over the last hundredth of the training.

    Examples
    --------
    >>> import planetoid as pl
    >>> two_triangles = pl.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> model = pl.GraphEmbedding(dimension=8, passes=200).fit(None, {0: "left", 5: "right"}, graph=two_triangles)
    >>> model.predict(nodes=[1, 4]).tolist()
    ['left', 'right']
    """

    embedding_: npt.NDArray[np.float32]

    def __init__(
        self,
        *,
        dimension: int = 128,
        passes: float = 20,
        q: int = 10,
        d: int = 4,
        r1: float = 1 / 6,
        self_pairs: bool = False,
        node2vec_p: float = 1.0,
        node2vec_q: float = 1.0,
        learning_rate: float = 0.025,
        negatives: str = "shared",
        C: float | str = "auto",
        directory: str | Path | None = None,
        random_state: int = 0,
        n_jobs: int | None = 1,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.passes = passes
        self.q = q
        self.d = d
        self.r1 = r1
        self.self_pairs = self_pairs
        self.node2vec_p = node2vec_p
        self.node2vec_q = node2vec_q
        self.learning_rate = learning_rate
        self.negatives = negatives
        self.C = C
        self.directory = directory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset) -> Probabilities:
        if self.dimension < 1 or int(self.dimension) != self.dimension:
            raise ParameterError(f"dimension={self.dimension!r}; it is a positive whole number")
        if not self.passes > 0:
            raise ParameterError(f"passes={self.passes!r}; it must be positive")
        inverse_penalty = self._inverse_penalty(data)
        self.embedding_ = self._embed(data)
        X = normalize(self.embedding_)
        rows = data.labelled
        softmax = fit_softmax(LogisticRegression(C=inverse_penalty, max_iter=1000), X[rows], data.y[rows])
        probabilities = np.asarray(softmax.predict_proba(X))
        probabilities[~data.graph.connected()] = 0.0  # an embedding that was never trained says nothing
        return probabilities

    def _inverse_penalty(self, data: Dataset) -> float:
        if self.C == "auto":
            return AUTO_C * data.n_classes**2 / len(data.labelled)
        if isinstance(self.C, str) or not self.C > 0:
            raise ParameterError(f"C={self.C!r}; it is 'auto' or a positive number")
        return float(self.C)

    def _embed(self, data: Dataset) -> npt.NDArray[np.float32]:
        graph = data.graph
        assert graph is not None
        e, w = new_tables(graph.n_nodes, int(self.dimension), self.random_state, self.directory)
        if graph.n_edges == 0:
            return e
        sampler = ContextSampler(
            graph,
            r1=self.r1,
            q=self.q,
            d=self.d,
            self_pairs=self.self_pairs,
            node2vec_p=self.node2vec_p,
            node2vec_q=self.node2vec_q,
            seed=self.random_state,
        )
        trainer = SkipGram(
            sampler, e, w, learning_rate=self.learning_rate, negatives=self.negatives, n_jobs=self.n_jobs
        )
        total = trainer.n_batches(self.passes * graph.n_nodes)
        edges = np.unique(np.linspace(0, total, PIECES + 1).astype(int))
        with progress("embedding", total, self.verbose) as advance:
            for first, last in pairwise(edges):
                self.loss_ = trainer.train(int(first), int(last), total)
                advance(last - first, f"loss {self.loss_:.4f}")
        return e
