"""``TableModel``: Planetoid with free embeddings, learned jointly with the classifier; the base of -T and -G."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from planetoid.data.dataset import Dataset, Features
from planetoid.data.types import Probabilities
from planetoid.engine.shards import ColumnShard, column_shard
from planetoid.explanation.contributions import Answer, Question
from planetoid.io.model_files import Tensors
from planetoid.models.base import CLASSIFIER_SPACE, PlanetoidBase, cpu_if_divided
from planetoid.parameters import N_JOBS, Check, Constraints
from planetoid.search_space import Categorical, Float, SearchSpace
from planetoid.training.modules import choose_device, load_module_tensors, module_tensors
from planetoid.training.settings import Training

if TYPE_CHECKING:
    import torch
    from typing_extensions import Self

    from planetoid.data.types import FeaturesLike, GraphLike
    from planetoid.engine.sampler import ContextSampler
    from planetoid.training.context_loss import TableContextLoss
    from planetoid.training.network import Head
    from planetoid.training.randomness import StepRandom

__all__ = ["TABLE_SPACE", "TableModel"]

TABLE_SPACE: SearchSpace = {
    **CLASSIFIER_SPACE,
    "training__pretrain": Float(5.0, 50.0),
    "training__embedding_learning_rate": Float(0.01, 0.5),
    "training__T2": Categorical((0.1, 0.5)),
    "contexts__r2": Categorical(("auto", 1.0)),
    "contexts__d": Categorical((3, 4, 6)),
    "network__l": Categorical((0, 1)),
}


class TableModel(PlanetoidBase):
    """Planetoid with a table of embeddings e and one of context parameters w; see the models themselves."""

    uses_processes = True
    n_jobs: int | None

    constraints: ClassVar[Constraints] = {
        **PlanetoidBase.constraints,
        "training": Check(
            "a Training object with context_optimizer='sgd', the only one for embedding tables",
            lambda value: isinstance(value, Training) and value.context_optimizer == "sgd",
        ),
        "n_jobs": N_JOBS,
    }

    context_: npt.NDArray[np.float32]
    head_: Head

    def _fit(self, data: Dataset) -> Probabilities:
        from planetoid.training.randomness import one_thread

        with one_thread():
            return self._learn(data)

    def _learn(self, data: Dataset) -> Probabilities:
        import torch

        from planetoid.engine.skipgram import new_tables
        from planetoid.training.batches import FeatureRows
        from planetoid.training.optimizers import NamedOptimizer
        from planetoid.training.prediction import predict_in_batches
        from planetoid.training.randomness import StepRandom
        from planetoid.training.supervised_loss import (
            EmbeddingTable,
            ShardedEmbeddingTable,
            SupervisedLoss,
            TableClassifier,
        )

        plan, shard = self.training, column_shard(self.dimension)
        device = choose_device(cpu_if_divided(self.device))
        connected = data.graph.connected()
        columns = slice(None) if shard is None else shard.columns
        tables = new_tables(data.n_nodes, self.dimension, self._seed, columns=columns)
        tables[0][~connected] = 0.0  # without a context the random start would only be noise
        e, w = (torch.from_numpy(table).to(device) for table in tables)
        features = None if data.X is None else FeatureRows(self._scale(data.X), device)
        random = StepRandom(self._seed, device)
        head = self.head_ = self._new_head(random, features is not None and features.is_sparse)
        optimizer = NamedOptimizer(
            plan.optimizer, (head.parameters(), plan.learning_rate), weight_decay=self._weight_decay(data)
        )
        table = EmbeddingTable(e, plan.embedding_learning_rate)
        if shard is not None:
            table = ShardedEmbeddingTable(e, plan.embedding_learning_rate, shard)
        supervised = SupervisedLoss(
            data, features, TableClassifier(head, table), [optimizer, table], batch_size=plan.N1, random=random
        )
        trainer = self._trainer(supervised, self._context_loss(data, e, w, shard), data)
        trainer.run()
        self.history_ = trainer.history
        self.embedding_, self.context_ = table.whole(e), table.whole(w)

        def predict(rows: slice) -> torch.Tensor:
            x = None if features is None else features.batch(rows)
            return head.log_probabilities(x, table.rows(rows)).exp()

        probabilities = predict_in_batches(predict, data.n_nodes)
        if features is None:
            probabilities[~connected] = 0.0  # an embedding that was never trained says nothing
        return probabilities

    def _scale(self, X: Features) -> Features:
        """Scale feature rows, where there are features."""
        return X

    def _new_head(self, random: StepRandom, sparse_features: bool = False) -> Head:
        """Return an untrained classifier p(y | x, e)."""
        from planetoid.training.network import Head

        n_features = 0 if self.uses_features == "never" else self.n_features_in_
        n_classes = len(self.classes_)
        return Head(n_features, self.dimension, n_classes, self.network, random, sparse_features, self.multi_label_)

    def _context_loss(
        self, data: Dataset, e: torch.Tensor, w: torch.Tensor, shard: ColumnShard | None
    ) -> TableContextLoss | None:
        """Return L_u over the tables: by the engine on the CPU, in the same memory; by torch elsewhere."""
        from planetoid.engine.on_device import DeviceSkipGram
        from planetoid.engine.skipgram import SkipGram
        from planetoid.training.context_loss import TableContextLoss

        samplers = self._samplers(data)
        if samplers is None:
            return None
        plan = self.training

        def skipgram(
            sampler: ContextSampler, learning_rate: float, final_rate: float | None = None
        ) -> SkipGram | DeviceSkipGram:
            if e.device.type != "cpu":
                return DeviceSkipGram(
                    sampler, e, w, learning_rate=learning_rate, final_rate=final_rate, batch_size=plan.N2,
                    n_jobs=self.n_jobs,
                )  # fmt: skip
            if shard is not None:
                from planetoid.engine.sharded import ShardedSkipGram

                return ShardedSkipGram(
                    sampler, e.numpy(), w.numpy(), shard, learning_rate=learning_rate, final_rate=final_rate
                )
            return SkipGram(
                sampler, e.numpy(), w.numpy(), learning_rate=learning_rate, final_rate=final_rate, batch_size=plan.N2,
                n_jobs=self.n_jobs,
            )  # fmt: skip

        decaying = skipgram(samplers.pretraining, plan.context_learning_rate)
        constant = skipgram(samplers.joint, plan.joint_learning_rate, plan.joint_learning_rate)
        labels = None if samplers.labels is None else skipgram(samplers.labels, plan.context_learning_rate)
        return TableContextLoss(
            decaying, constant, w, pretrain=plan.pretrain, walks=plan.N2, labels=labels,
            label_share=samplers.label_share, shard=shard,
        )  # fmt: skip

    def fold_in(self, graph: GraphLike, X: FeaturesLike | None = None) -> Self:
        """Return a model that also covers nodes which were added to the graph.

        Fitted nodes keep their embedding, context parameters and distribution, and the classifier stays as it is; the
        embeddings of new nodes are learned by context steps (``training.pretrain`` walks per node in the new graph)
        with all of that frozen. The model itself is not changed.

        Parameters
        ----------
        graph : Graph, or anything that ``Graph.of`` understands
            All nodes, the fitted ones and the new ones.
        X : array, sparse matrix or DataFrame
            One row per node of ``graph``; rows of fitted nodes are not used. Not for :class:`PlanetoidG`.
        """
        check_is_fitted(self, "label_distributions_")
        from planetoid.models.folding import fold_in

        return fold_in(self, graph, X)

    def _explain(self, question: Question) -> Answer:
        if question.row is None:
            return super()._explain(question)
        from planetoid.models.table_reasons import explain_table_model

        return explain_table_model(self, question.row, question)

    def _tensors(self) -> Tensors:
        return module_tensors(self.head_)

    def _take_tensors(self, tensors: Tensors) -> None:
        from planetoid.training.randomness import StepRandom

        self.head_ = self._new_head(StepRandom(0, choose_device(self.device)))
        load_module_tensors(self.head_, tensors)
