"""Planetoid-I: embeddings are a function of the features, so that new rows can be labelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt

from planetoid.data.dataset import Dataset, Features
from planetoid.data.scaling import scale_rows
from planetoid.data.types import Probabilities
from planetoid.engine.contexts import Contexts
from planetoid.engine.shards import column_shard
from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.estimator.inductive import InductiveClassifier
from planetoid.explanation.contributions import Contributions, Question, by_label_gradient
from planetoid.io.model_files import Tensors
from planetoid.models.base import CLASSIFIER_SPACE, PlanetoidBase, cpu_if_divided
from planetoid.parameters import ROW_NORMALIZE, Check, Constraints
from planetoid.search_space import Categorical, Float, SearchSpace, Start
from planetoid.training.callbacks import Callback
from planetoid.training.modules import choose_device, load_module_tensors, module_tensors
from planetoid.training.settings import Encoder, Network, Training

if TYPE_CHECKING:
    import torch
    from torch import nn

    from planetoid.export.operators import Operators, Value
    from planetoid.models.inductive_network import InductiveNetwork
    from planetoid.training.batches import Batch, FeatureRows
    from planetoid.training.context_loss import EncoderContextLoss
    from planetoid.training.randomness import StepRandom

__all__ = ["PlanetoidI"]

SPARSE_TABLE_FROM = 5_000  # rows of w from which its gradient is sparse
# The rows of a w that is divided are a multiple of this, for torch's optimizers round the rest of a table, which does
# not fill a vector, in another way, and what that is would depend on the number of columns.
ROWS_TOGETHER = 64

_LINEAR: Start = {
    "network__k": 0,
    "network__l": 0,
    "network__auxiliary_losses": False,
    "network__dropout": 0.0,
    "training__weight_decay": 0.01,
}
_RELU: Start = {
    "network__k": 1,
    "network__activation": "relu",
    "network__width": 64,
    "network__auxiliary_losses": False,
    "training__weight_decay": 0.01,
}
_FROZEN_ENCODER: Start = {  # by labels; for many classes
    "training__weight_decay": 1e-5,
    "training__pretrain": 4.0,
    "encoder__activation": "linear",
    "row_normalize": "l1",
    "training__embedding_learning_rate": 0.0,
    "training__learning_rate": 0.1,
    "training__context_learning_rate": 0.03,
    "training__steps": 300,
}


class PlanetoidI(PlanetoidBase, InductiveClassifier):
    """Planetoid-I: p(y | x) with e = h^{l1}(x), trained to predict contexts too (inductive).

    Parameters
    ----------
    dimension : int
        Width of the embedding e = h^{l1}(x).
    encoder : Encoder, torch module or callable
        The l1 layers from x to e. Instead of these: a torch module, or a factory called with the number of features,
        that maps a batch of rows to embeddings (n, dimension). A batch is a dense float32 tensor or, for sparse X, a
        :class:`planetoid.training.batches.SparseBatch`, of the rows as they were passed; the classifier then sees e
        alone, and ``network.k`` and ``row_normalize`` do not apply. A module is copied, not changed. A model with such
        an encoder can be saved, and is loaded by passing the encoder again.
    network : Network
        The classifier: k layers on x, l (the paper's l2) layers on e, and a softmax over both; with k = l = 0 the
        softmax sees x and e themselves.
    contexts : Contexts
        How contexts are sampled (Algorithm 1). Walks pass through nodes without features (zero rows), which are
        contexts, but never i.
    training : Training
        How the model is trained (Algorithm 2). ``training.embedding_learning_rate`` is that of the encoder in the
        supervised loss: a small one keeps what the contexts taught. ``training.joint_learning_rate`` does not apply.
    row_normalize : {"l2", "l1", None}
        Norm to which feature rows are scaled.
    callbacks : list of Callback, optional
        As in :class:`PlanetoidT`.
    device : {"auto", "cpu", "cuda"}
    calibrate : bool
        Whether ``fit`` calibrates the probabilities; see ``calibration_``.
    random_state : int or None
    verbose : int
        Whether a progress bar is shown.

    Attributes
    ----------
    embedding_ : float32 array of shape (n_nodes, dimension)
        h^{l1}(x) of the fitted nodes.
    network_ : torch module
        Encoder and classifier.
    history_ : list of dict
        One record per piece of pre-training and one per evaluation.
    """

    needed_to_load = ("encoder",)
    uses_processes = True
    weight_decay_factor = 0.5

    constraints: ClassVar[Constraints] = {
        **PlanetoidBase.constraints,
        "encoder": (Encoder, Check("a torch module or a callable that returns one", callable)),
        "row_normalize": ROW_NORMALIZE,
    }
    search_space: ClassVar[SearchSpace] = {
        **CLASSIFIER_SPACE,
        "dimension": Categorical((128, 256)),
        "training__pretrain": Float(1.0, 6.0),
        "training__context_learning_rate": Float(0.002, 0.03),
        "training__T2": Categorical((0.1, 0.5)),
        "contexts__r2": Categorical(("auto", 1.0)),
        "contexts__d": Categorical((3, 4)),
        "network__k": Categorical((0, 1)),
        "network__l": Categorical((0, 1)),
        "encoder__activation": Categorical(("relu", "tanh", "linear")),
        "training__embedding_learning_rate": Categorical((0.01, 0.001, 0.0)),
        "row_normalize": Categorical(("l2", "l1")),
    }
    search_starts: ClassVar[tuple[Start, ...]] = (
        _RELU,
        _LINEAR,
        {"row_normalize": "l1", "dimension": 256, "training__pretrain": 3.0},
        {**_LINEAR, **_FROZEN_ENCODER},
    )

    network_: InductiveNetwork

    def __init__(
        self,
        *,
        dimension: int = 128,
        encoder: Encoder | nn.Module | Callable[[int], nn.Module] = Encoder(),
        network: Network = Network(k=0, l=0, width=None, activation="softmax"),
        contexts: Contexts = Contexts(r1=1 / 2, self_pairs=True),
        training: Training = Training(
            steps=200,
            T2=0.5,
            N2=50,
            pretrain=5,
            learning_rate=0.01,
            embedding_learning_rate=0.001,
            context_optimizer="adam",
            context_learning_rate=0.01,
        ),
        row_normalize: str | None = "l2",
        callbacks: Sequence[Callback] | None = None,
        device: str = "auto",
        calibrate: bool = True,
        random_state: int | None = 0,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.encoder = encoder
        self.network = network
        self.contexts = contexts
        self.training = training
        self.row_normalize = row_normalize
        self.callbacks = callbacks
        self.device = device
        self.calibrate = calibrate
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, data: Dataset) -> Probabilities:
        from planetoid.training.randomness import one_thread

        with one_thread():
            return self._learn(data)

    def _learn(self, data: Dataset) -> Probabilities:
        from planetoid.training.batches import FeatureRows
        from planetoid.training.optimizers import NamedOptimizer
        from planetoid.training.prediction import predict_in_batches
        from planetoid.training.randomness import StepRandom
        from planetoid.training.supervised_loss import SupervisedLoss

        assert data.X is not None
        plan, device = self.training, choose_device(cpu_if_divided(self.device))
        rows = self._labelled_with_features(data)
        features = FeatureRows(self._scale(data.X), device)
        random = StepRandom(self._seed, device)
        network = self.network_ = self._new_network(random, features.is_sparse)
        optimizer = NamedOptimizer(
            plan.optimizer,
            (network.encoder.parameters(), plan.embedding_learning_rate),
            (network.head.parameters(), plan.learning_rate),
            weight_decay=self._weight_decay(data),
        )
        supervised = SupervisedLoss(data, features, network, [optimizer], batch_size=plan.N1, random=random, rows=rows)
        trainer = self._trainer(supervised, self._context_loss(data, features, random), data)
        trainer.run()
        self.history_ = trainer.history
        del trainer  # and with it the table of w, which may be larger than all that follows
        self.embedding_ = self._embed_new(data.X)
        probabilities = predict_in_batches(lambda part: network.probabilities(features.batch(part)), data.n_nodes)
        probabilities[~data.has_features] = 0.0
        return probabilities

    def _labelled_with_features(self, data: Dataset) -> npt.NDArray[np.int64]:
        """Return the labelled nodes that have features to learn from."""
        labelled = data.labelled
        usable = labelled[data.has_features[labelled]]
        if len(usable) == 0:
            raise DataError("PlanetoidI: none of the labelled nodes has features, so there is nothing to learn from")
        if len(usable) < len(labelled):
            warn(
                PlanetoidWarning(
                    f"PlanetoidI: {len(labelled) - len(usable):,} of {len(labelled):,} labelled nodes have no "
                    "features; their labels are not used"
                )
            )
        return usable

    def _scale(self, X: Features) -> Features:
        return scale_rows(X, self.row_normalize if isinstance(self.encoder, Encoder) else None)

    def _new_network(self, random: StepRandom, sparse_features: bool = False) -> InductiveNetwork:
        from planetoid.models.inductive_network import InductiveNetwork

        return InductiveNetwork(
            self.n_features_in_,
            self.dimension,
            len(self.classes_),
            self.encoder,
            self.network,
            random,
            sparse_features,
            self.multi_label_,
        )

    def _context_loss(self, data: Dataset, features: FeatureRows, random: StepRandom) -> EncoderContextLoss | None:
        """Return L_u through the encoder."""
        import torch
        from torch import nn

        from planetoid.training.context_loss import EncoderContextLoss
        from planetoid.training.layer_gradient import LayerGradient
        from planetoid.training.layers import SparseParameter
        from planetoid.training.optimizers import NamedOptimizer
        from planetoid.utils.memory import BYTES_PER_WEIGHT, require_memory

        samplers = self._samplers(data)
        if samplers is None:
            return None
        plan, shard = self.training, column_shard(self.dimension)
        kind = SparseParameter if data.n_nodes >= SPARSE_TABLE_FROM else nn.Parameter
        shape = data.n_nodes, self.dimension
        if shard is not None:
            shape = -(-data.n_nodes // ROWS_TOGETHER) * ROWS_TOGETHER, shard.widths[shard.exchange.rank]
        require_memory(BYTES_PER_WEIGHT * shape[0] * shape[1])
        w = kind(torch.zeros(shape, device=random.device))
        encoder_optimizer, context_optimizer = (
            NamedOptimizer(plan.context_optimizer, (trained, plan.context_learning_rate))
            for trained in (self.network_.encoder.parameters(), [w])
        )
        layer = self.network_.only_layer
        on_cpu_alone = random.device.type == "cpu" and shard is None
        compiled = None
        if layer is not None and features.is_sparse and on_cpu_alone:
            plain = plan.context_optimizer == "sgd"
            compiled = LayerGradient(layer, w, sgd_rate=plan.context_learning_rate if plain else None)
        return EncoderContextLoss(
            samplers.joint,
            features,
            data.has_features,
            self.network_.encode,
            w,
            encoder_optimizer,
            context_optimizer,
            n_pretrain=int(np.ceil(plan.pretrain * data.n_nodes / plan.N2)),
            walks=plan.N2,
            random=random,
            pretraining=samplers.pretraining,
            labels=samplers.labels,
            label_share=samplers.label_share,
            shard=shard,
            compiled=compiled,
        )

    def _predict_rows(self, X: Features) -> Probabilities:
        return self._predict(X, self.network_.probabilities)

    def _write_scores(self, operators: Operators) -> Value:
        norm = self.row_normalize if isinstance(self.encoder, Encoder) else None
        return self.network_.write_logits(operators, operators.rows(norm))

    def _label_reasons(self, question: Question) -> list[Contributions]:
        """Return what labels add through the output layer; rows without features are not learned from."""
        data = question.data
        if data is None or data.X is None:
            return []
        from planetoid.training.batches import FeatureRows
        from planetoid.training.head_reasons import HeadInputs, output_products

        device = next(self.network_.parameters()).device
        rows = data.labelled[data.has_features[data.labelled]]

        def inputs(X: Features) -> HeadInputs:
            features = FeatureRows(self._scale(X), device)
            e = self.network_.encode(features.batch(slice(None)), None).detach()
            return HeadInputs(features if self.network_.built_in else None, e)

        X = data.X[rows]
        products = output_products(self.network_.head, inputs(X), inputs(question.known_row()))
        return [by_label_gradient(data, rows, products, self._predict_rows(X), question.contrast)]

    def _embed_new(self, X: object) -> npt.NDArray[np.float32]:
        """Return the embeddings h^{l1}(x) of rows, fitted or not."""
        return self._predict(self._check_new(X), lambda batch: self.network_.encode(batch, None))

    def _predict(self, X: Features, function: Callable[[Batch], torch.Tensor]) -> npt.NDArray[np.float32]:
        from planetoid.training.batches import FeatureRows
        from planetoid.training.prediction import predict_in_batches

        if X.shape[0] == 0:
            raise DataError("X has no rows")
        rows = FeatureRows(self._scale(X), next(self.network_.parameters()).device)
        return predict_in_batches(lambda part: function(rows.batch(part)), len(rows))

    def _tensors(self) -> Tensors:
        return module_tensors(self.network_)

    def _take_tensors(self, tensors: Tensors) -> None:
        from planetoid.training.randomness import StepRandom

        self.network_ = self._new_network(StepRandom(0, choose_device(self.device)))
        load_module_tensors(self.network_, tensors)
