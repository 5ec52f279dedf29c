"""GraphEmb: DeepWalk's embeddings, learned without labels, and a softmax on top."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import expit

from planetoid.calibration import Sample, graph_uniform
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows, scale_rows
from planetoid.data.types import Probabilities
from planetoid.engine.contexts import Contexts
from planetoid.engine.sampler import ContextSampler
from planetoid.engine.shards import ColumnShard, column_shard
from planetoid.estimator.classifier import GraphClassifier
from planetoid.estimator.embedding import EmbeddingMixin
from planetoid.explanation.contributions import LOG_ODDS, SET_LOG_ODDS, Answer, Question, by_predictions_of_neighbours
from planetoid.multi_label import SetSample
from planetoid.parameters import N_JOBS, RANDOM_STATE, VERBOSE, Check, Constraints, Integer, Real
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.callbacks import CALLBACKS, Callback, Record
from planetoid.training.fingerprints import fingerprint_of
from planetoid.training.logistic_reasons import by_labelled_nodes
from planetoid.training.logistic_regression import LogisticRegressions, fit_logistic, left_out_sets
from planetoid.training.softmax_reasons import by_optimality
from planetoid.training.softmax_regression import (
    SoftmaxRegression,
    fit_softmax,
    labels_to_leave_out,
    left_out_sample,
    products,
)
from planetoid.utils.seeds import seed_of_fit

__all__ = ["GraphEmbedding"]

AUTO_C = 3.0  # times classes^2 / labels
AUTO_C_SETS = 30.0  # of each of the independent regressions of several labels per node


def inverse_penalty(n_classes: int, n_labels: int) -> float:
    """Return the inverse strength of the penalty of a softmax regression on an embedding."""
    return AUTO_C * n_classes**2 / n_labels


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
    callbacks : list of Callback, optional
        For instance :class:`Checkpoint`.
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
    coef_, intercept_ : arrays
        Of the softmax regression on rows of the embedding, scaled to length 1; a row per class, but for two classes.
        Of several labels per node: of the regressions, a row per class.
    history_ : list of dict
        Mean ``context_loss`` of each fiftieth of the training, with the share ``pretrained`` by then.

    Examples
    --------
    >>> import planetoid as pl
    >>> two_triangles = pl.Graph.from_edges([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> model = pl.GraphEmbedding(dimension=8, pretrain=200).fit(None, {0: "left", 5: "right"}, graph=two_triangles)
    >>> model.predict(nodes=[1, 4]).tolist()
    ['left', 'right']
    """

    multi_label = True
    uses_processes = True

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
        "callbacks": CALLBACKS,
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
        callbacks: Sequence[Callback] | None = None,
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
        self.callbacks = callbacks
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, data: Dataset) -> Probabilities:
        e, shard = self._train(data)
        rows = data.labelled
        known = e[rows] if shard is None else shard.rows(e, rows)
        self._labelled_rows = scale_rows(known, "l2")
        predict = self._fit_softmax(data) if data.Y is None else self._fit_sets(data, data.Y)
        if shard is None:
            self.embedding_ = e
            probabilities = predict(scale_rows(e, "l2"))
        else:
            self.embedding_ = shard.whole(e)
            parts = (scale_rows(shard.rows(e, some), "l2") for some in shard.row_blocks(len(e)))
            probabilities = np.concatenate([predict(part) for part in parts])
        probabilities[~data.graph.connected()] = 0.0  # an embedding that was never trained says nothing
        return probabilities

    def _fit_softmax(self, data: Dataset) -> Callable[[Rows], Probabilities]:
        """Fit a softmax regression; return what predicts by it."""
        codes = data.y[data.labelled]
        self._softmax = fit_softmax(self._labelled_rows, codes, data.n_classes, self._inverse_penalty(data))
        self.coef_, self.intercept_ = self._softmax.coef, self._softmax.intercept
        return self._softmax.probabilities

    def _fit_sets(self, data: Dataset, Y: sparse.csr_array) -> Callable[[Rows], Probabilities]:
        """Fit a logistic regression per class, for several labels per node; return what predicts by them."""
        fitted = self._logistic = fit_logistic(self._labelled_rows, Y[data.labelled], self._inverse_penalty(data))
        self.coef_, self.intercept_ = fitted.coef.T, fitted.intercept
        return lambda rows: np.asarray(expit(fitted.logits(rows)))

    def _explain(self, question: Question) -> Answer:
        if question.row is None:
            return super()._explain(question)
        data, row = question.known_data(), question.row
        if not data.graph.connected()[row]:
            return Answer(0.0, question.log_odds_name, [], "nothing is known about this node: it has no edges")
        X = scale_rows(self.embedding_[np.append(data.labelled, row)], "l2").astype(np.float64)
        around = by_predictions_of_neighbours(question, row, self.label_distributions_)
        penalty = self._inverse_penalty(data)
        if question.multi_label:
            fitted = LogisticRegressions(self.coef_.T, self.intercept_)
            labels = by_labelled_nodes(question, data.labelled, X[:-1], X[-1:], fitted, penalty)
            return Answer(float(fitted.logits(X[-1:])[0] @ question.contrast), SET_LOG_ODDS, [labels, around])
        solver = SoftmaxRegression(self.coef_, self.intercept_, penalty)
        labels = by_optimality(question, data.labelled, X[:-1], X[-1:], solver)
        return Answer(float(solver.scores(X[-1:])[0] @ question.contrast), LOG_ODDS, [labels, around])

    def _calibration_sample(self, data: Dataset, probabilities: Probabilities) -> Sample:
        rows = labels_to_leave_out(data)
        rows = rows[data.graph.connected()[rows]]  # the others say nothing
        X = self._labelled_rows[np.searchsorted(data.labelled, rows)]
        scores = self._softmax.scores(X)
        components = data.graph.components()
        reached = np.bincount(components[data.labelled])[components[rows]] > 1  # also without the label of the node
        sample = left_out_sample(
            products(X), scores, rows, self._inverse_penalty(data), data, probabilities, counted=reached
        )
        return sample._replace(usual_uniform=graph_uniform(data.n_classes))

    def _set_sample(self, data: Dataset, probabilities: Probabilities) -> SetSample:
        rows = labels_to_leave_out(data)
        rows = rows[data.graph.connected()[rows]]
        X = self._labelled_rows[np.searchsorted(data.labelled, rows)]
        return left_out_sets(X, rows, self._inverse_penalty(data), data, self._logistic)

    def _inverse_penalty(self, data: Dataset) -> float:
        if isinstance(self.C, str) and data.multi_label:
            return AUTO_C_SETS
        return inverse_penalty(data.n_classes, len(data.labelled)) if isinstance(self.C, str) else float(self.C)

    def embed(self, data: Dataset) -> npt.NDArray[np.float32]:
        """Return the embedding alone, without a classifier on it."""
        if not hasattr(self, "_seed"):
            self._seed = seed_of_fit(self.random_state)
        e, shard = self._train(data)
        return e if shard is None else shard.gathered(e)

    def _train(self, data: Dataset) -> tuple[npt.NDArray[np.float32], ColumnShard | None]:
        """Return the embedding, or the columns of it that this process has."""
        from planetoid.engine.sharded import ShardedSkipGram
        from planetoid.engine.skipgram import SkipGram, new_tables
        from planetoid.training.table_loss import SkipGramLoss
        from planetoid.training.trainer import Schedule, Trainer

        self.history_ = []
        graph, shard = data.graph, column_shard(self.dimension)
        directory, columns = self.directory, slice(None)
        if shard is not None:
            columns = shard.columns
            directory = None if directory is None else Path(directory) / f"columns-{columns.start}"
        e, w = new_tables(graph.n_nodes, self.dimension, self._seed, directory, columns)
        if graph.n_edges == 0:
            return e, shard
        sampler, rate = ContextSampler(graph, self.contexts, seed=self._seed), self.context_learning_rate
        skipgram = (
            SkipGram(sampler, e, w, learning_rate=rate, negatives=self.negatives, n_jobs=self.n_jobs)
            if shard is None
            else ShardedSkipGram(sampler, e, w, shard, learning_rate=rate, negatives=self.negatives)
        )
        trainer = Trainer(
            [SkipGramLoss(skipgram, self.pretrain * graph.n_nodes, shard)],
            Schedule(0),
            self.callbacks or (),
            name=type(self).__name__,
            verbose=self.verbose,
            fingerprint=lambda: fingerprint_of(self, self._seed, data, ignored=("C", "calibrate", "directory")),
        )
        trainer.run()
        self.history_ = trainer.history
        return e, shard
