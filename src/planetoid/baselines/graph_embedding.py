"""GraphEmb: DeepWalk's embeddings, learned without labels, and a softmax on top."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from planetoid.calibration import Sample
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import scale_rows
from planetoid.engine.contexts import Contexts
from planetoid.engine.sampler import ContextSampler
from planetoid.estimator import EmbeddingMixin, GraphClassifier, Probabilities
from planetoid.multi_label import SetSample
from planetoid.parameters import N_JOBS, RANDOM_STATE, VERBOSE, Check, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.callbacks import Record
from planetoid.training.logistic_regression import fit_logistic, left_out_sets
from planetoid.training.softmax_regression import fit_softmax, labels_to_leave_out, left_out_sample, products
from planetoid.utils.progress import progress
from planetoid.utils.seeds import new_seed

__all__ = ["GraphEmbedding"]

AUTO_C = 3.0  # times classes^2 / labels
AUTO_C_SETS = 30.0  # of each of the independent regressions of several labels per node
PIECES = 100  # records of a training, and moves of the progress bar


class GraphEmbedding(EmbeddingMixin, GraphClassifier):
    """Skip-gram embeddings of random walks (r2 = 1), then softmax regression on them.

    Several labels per node: a logistic regression per class.

    Parameters
    ----------
    dimension : int, default 128
    pretrain : float, default 20
        Walks per node.
    contexts : Contexts, default Contexts(r2=1.0)
        How contexts are sampled (Algorithm 1); no labels are used, so ``contexts.r2`` is 1 or ``"auto"``.
    context_learning_rate : float, default 0.025
        Learning rate per pair, decayed linearly to 1 %.
    negatives : {"shared", "own"}, default "shared"
        See :class:`planetoid.engine.SkipGram`.
    C : float or "auto", default "auto"
        Inverse strength of the softmax's L2 penalty. ``"auto"`` is 3 times the square of the number of classes, per
        label: among many classes, each with few labels, a penalty that suits few would leave only the largest class.
        With several labels per node it is 30.
    directory : path, optional
        Folder for memory-mapped tables, for graphs larger than memory.
    calibrate : bool, default True
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None, default 0
    n_jobs : int or None, default None
        Threads; the result does not depend on it.
    verbose : int, default 0
        Whether a progress bar is shown.

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, dimension)
    history_ : list of dict
        Mean ``context_loss`` of each hundredth of the training, with the share ``pretrained`` by then.

    Examples
    --------
    >>> import planetoid as pl
    >>> two_triangles = pl.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> model = pl.GraphEmbedding(dimension=8, pretrain=200).fit(None, {0: "left", 5: "right"}, graph=two_triangles)
    >>> model.predict(nodes=[1, 4]).tolist()
    ['left', 'right']
    """

    multi_label = True
    constraints: ClassVar[Constraints] = {
        "dimension": Integer(1),
        "pretrain": Real(0, closed="neither"),
        "contexts": Check(
            "a Contexts object with r2=1 or r2='auto', since no labels are used",
            lambda value: isinstance(value, Contexts) and value.r2 in (1, "auto"),
        ),
        "context_learning_rate": Real(0, closed="neither"),
        "negatives": ("shared", "own"),
        "C": (Real(0, closed="neither"), "auto"),
        "directory": (str, Path, None),
        "calibrate": bool,
        "random_state": RANDOM_STATE,
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }
    search_space: ClassVar[SearchSpace] = {
        "pretrain": Float(3.0, 60.0),
        "contexts__d": Categorical((3, 4, 6)),
        "C": Float(0.3, 1000.0),
        "dimension": Categorical((64, 128)),
    }

    embedding_: npt.NDArray[np.float32]
    history_: list[Record]

    def __init__(
        self,
        *,
        dimension: int = 128,
        pretrain: float = 20,
        contexts: Contexts = Contexts(r2=1.0),
        context_learning_rate: float = 0.025,
        negatives: str = "shared",
        C: float | str = "auto",
        directory: str | Path | None = None,
        calibrate: bool = True,
        random_state: int | None = 0,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.pretrain = pretrain
        self.contexts = contexts
        self.context_learning_rate = context_learning_rate
        self.negatives = negatives
        self.C = C
        self.directory = directory
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset) -> Probabilities:
        from sklearn.linear_model import LogisticRegression

        self.embedding_ = self._embed(data)
        X = scale_rows(self.embedding_, "l2")
        rows = data.labelled
        if data.Y is not None:
            self._logistic = fit_logistic(X[rows], data.Y[rows], self._inverse_penalty(data))
            probabilities = np.asarray(expit(self._logistic.logits(X)))
            probabilities[~data.graph.connected()] = 0.0
            return probabilities
        solver = LogisticRegression(C=self._inverse_penalty(data), max_iter=1000)
        self._softmax = fit_softmax(solver, X[rows], data.y[rows])
        probabilities = np.asarray(self._softmax.predict_proba(X))
        probabilities[~data.graph.connected()] = 0.0  # an embedding that was never trained says nothing
        return probabilities

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        rows = labels_to_leave_out(data)
        connected = data.graph.connected()[rows]  # the others say nothing
        X = scale_rows(self.embedding_[rows[connected]], "l2")
        scores = self._softmax.decision_function(X)
        return left_out_sample(products(X), scores, rows[connected], self._inverse_penalty(data), data, probabilities)

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample:
        rows = labels_to_leave_out(data)
        rows = rows[data.graph.connected()[rows]]
        X = scale_rows(self.embedding_[rows], "l2")
        return left_out_sets(X, rows, self._inverse_penalty(data), data, self._logistic)

    def _inverse_penalty(self, data: Dataset) -> float:
        if isinstance(self.C, str) and data.multi_label:
            return AUTO_C_SETS
        return AUTO_C * data.n_classes**2 / len(data.labelled) if isinstance(self.C, str) else float(self.C)

    def embed(self, data: Dataset) -> npt.NDArray[np.float32]:
        """Return the embedding alone, without a classifier on it."""
        if not hasattr(self, "_seed"):
            self._seed = new_seed(self.random_state)
        return self._embed(data)

    def _embed(self, data: Dataset) -> npt.NDArray[np.float32]:
        from planetoid.engine.skipgram import SkipGram, new_tables

        self.history_ = []
        graph = data.graph
        e, w = new_tables(graph.n_nodes, self.dimension, self._seed, self.directory)
        if graph.n_edges == 0:
            return e
        sampler = ContextSampler(graph, self.contexts, seed=self._seed)
        skipgram = SkipGram(
            sampler, e, w, learning_rate=self.context_learning_rate, negatives=self.negatives, n_jobs=self.n_jobs
        )
        total = skipgram.n_batches(self.pretrain * graph.n_nodes)
        bounds = np.unique(np.linspace(0, total, PIECES + 1).astype(int)).tolist()
        with progress("embedding", total, self.verbose) as advance:
            for first, last in pairwise(bounds):
                loss = skipgram.train(first, last, total)
                self.history_.append({"step": 0, "pretrained": last / total, "context_loss": loss})
                advance(last - first, f"loss {loss:.4f}")
        return e
