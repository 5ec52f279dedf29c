"""What the three Planetoid models have in common: settings, training and its surroundings."""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import normalize

from planetoid.data.dataset import Dataset, Features
from planetoid.engine.sampler import ContextSampler, check_context_parameters
from planetoid.errors import DataError, ParameterError, PlanetoidWarning
from planetoid.estimator import EmbeddingMixin, GraphClassifier
from planetoid.io.model_files import Tensors

__all__ = ["PlanetoidBase", "choose_device", "module_tensors", "take_module_tensors"]

# Parameters that do not change the result, so a checkpoint may be taken up with others.
FREE_TO_CHANGE = ("n_jobs", "verbose", "checkpoint", "checkpoint_every", "callbacks")

MONITORS = ("val_accuracy", "val_loss")

# r2="auto": a labelled node meets so many label pairs for each pair from a walk. More than that, and the
# embeddings of labelled nodes come apart from those of the others, which the classifier then fails on.
LABEL_PAIRS_A_WALK_PAIR = 0.1

# Of weight_decay="auto", which is 1 / (number of classes)^2 below that: among many classes the labels of one weigh
# little in the mean loss, and what suits seven classes would leave a hundred with the most frequent one.
MOST_DECAY = 0.05


class PlanetoidBase(EmbeddingMixin, GraphClassifier):
    """Settings and helpers of the Planetoid models; see the models themselves."""

    decay_strength: ClassVar[float] = 0.25  # of weight_decay="auto"

    embedding_: npt.NDArray[np.float32]
    history_: list[dict[str, Any]]

    def _check(self) -> None:
        """Raise ``ParameterError`` for a parameter that cannot work, before any work starts."""
        for name, least in (
            ("dimension", 1),
            ("steps", 0),
            ("N1", 1),
            ("N2", 1),
            ("evaluate_every", 1),
            ("patience", 1),
            ("random_state", 0),
            *((name, 0) for name in ("layers_x", "layers_e", "layers_2") if hasattr(self, name)),
            *((name, 1) for name in ("width", "hidden") if getattr(self, name, None) is not None),
        ):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
                raise ParameterError(f"{name}={value!r}; it is a whole number, {least} at least")
        for name in ("T1", "T2", "pretrain", "weight_decay", "checkpoint_every", "embedding_rate"):
            value = getattr(self, name, 0)
            if name == "weight_decay" and value == "auto":
                continue
            if isinstance(value, str) or not 0 <= value < np.inf:
                raise ParameterError(f"{name}={value!r}; it is a number that is not negative")
        for name in ("learning_rate", "context_rate", "joint_rate"):
            value = getattr(self, name, 1)
            if not 0 < value < np.inf:
                raise ParameterError(f"{name}={value!r}; it is a positive number")
        if self.monitor not in MONITORS:
            raise ParameterError(f"monitor={self.monitor!r}; it is {' or '.join(map(repr, MONITORS))}")
        if self.lambda_ is not None and not self.lambda_ >= 0:
            raise ParameterError(f"lambda_={self.lambda_!r}; it is None or a number that is not negative")
        if not 0 <= self.dropout < 1:
            raise ParameterError(f"dropout={self.dropout!r}; it is in [0, 1)")
        if getattr(self, "row_normalize", None) not in ("l1", "l2", None):
            raise ParameterError(f"row_normalize={self.row_normalize!r}; it is 'l1', 'l2' or None")
        share = 1.0 if self.r2 == "auto" else self.r2
        if isinstance(share, str):
            raise ParameterError(f"r2={share!r}; it is 'auto' or a number in [0, 1]")
        check_context_parameters(self.r1, share, self.q, self.d, self.self_pairs)

    def _sampler(self, data: Dataset) -> ContextSampler | None:
        """Return Algorithm 1 over the data's graph, or None where there is nothing to draw."""
        graph = data.graph
        assert graph is not None
        if graph.n_edges == 0:
            warnings.warn(
                f"{type(self).__name__}: the graph has no edges, so there is no context to learn from",
                PlanetoidWarning,
                stacklevel=5,
            )
            return None
        labelled = len(data.labelled)
        r2 = 1 - LABEL_PAIRS_A_WALK_PAIR * labelled / data.n_nodes if self.r2 == "auto" else self.r2
        counts = np.bincount(data.y[data.y >= 0])
        if r2 < 1 and not self.self_pairs and counts.max() < 2:
            if self.r2 != "auto":
                warnings.warn(
                    f"{type(self).__name__}: each of the {len(counts)} classes has one example, so labels give no "
                    f"positive pair and r2={self.r2} is taken as 1",
                    PlanetoidWarning,
                    stacklevel=5,
                )
            r2 = 1.0
        return ContextSampler(
            graph,
            data.y,
            r1=self.r1,
            r2=r2,
            q=self.q,
            d=self.d,
            self_pairs=self.self_pairs,
            seed=self.random_state,
        )

    def _decay(self, data: Dataset) -> float:
        """Return the weight decay; ``"auto"`` is weak where each class has a small share of the labels."""
        if self.weight_decay != "auto":
            return float(self.weight_decay)
        return self.decay_strength * min(MOST_DECAY, 1.0 / data.n_classes**2)

    def _scaled(self, X: Features) -> Features:
        kind = getattr(self, "row_normalize", None)
        return X if kind is None else normalize(X, norm=kind).astype(np.float32, copy=False)

    def _training(self, supervised: Any, context: Any, data: Dataset) -> Any:
        """Put Algorithm 2 together."""
        from planetoid.training.callbacks import EarlyStopping, ProgressBar, all_of
        from planetoid.training.checkpoint import Checkpoint
        from planetoid.training.trainer import Schedule, Training

        callbacks = all_of(self.callbacks)
        if data.validation is not None:
            callbacks.insert(0, EarlyStopping(self.monitor, self.patience, self.threshold, self.load_best))
        callbacks.append(ProgressBar(self.verbose))
        schedule = Schedule(int(self.steps), self.T1, self.T2, self.lambda_, int(self.evaluate_every))
        keep = None
        if self.checkpoint is not None:
            keep = Checkpoint(self.checkpoint, self._fingerprint(data), self.checkpoint_every)
        return Training(supervised, context, schedule, callbacks, keep, type(self).__name__)

    def _fingerprint(self, data: Dataset) -> str:
        """Return a digest of the data and of every parameter that matters."""
        digest = hashlib.sha256(type(self).__name__.encode())
        parameters = {name: _told(value) for name, value in self.get_params().items() if name not in FREE_TO_CHANGE}
        digest.update(json.dumps(parameters, sort_keys=True).encode())
        arrays: list[Any] = [data.y, data.validation]
        if data.graph is not None:
            arrays += [data.graph.indptr, data.graph.indices, data.graph.weights]
        if data.X is not None:
            arrays += [data.X] if isinstance(data.X, np.ndarray) else [data.X.indptr, data.X.indices, data.X.data]
        for array in arrays:
            digest.update(b"-" if array is None else np.ascontiguousarray(array).data)
        return digest.hexdigest()


def _told(value: Any) -> str:
    """Return a text that is the same in another process: no address, but the weights of a module."""
    if hasattr(value, "state_dict"):
        digest = hashlib.sha256()
        for tensor in value.state_dict().values():
            digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
        return f"{value!r} {digest.hexdigest()}"
    if callable(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__name__)}"
    return repr(value)


def module_tensors(module: Any) -> Tensors:
    """Return the parameters and buffers of a torch module as arrays."""
    return {name: value.detach().cpu().numpy() for name, value in module.state_dict().items()}


def take_module_tensors(module: Any, tensors: Tensors) -> None:
    """Take arrays of :func:`module_tensors` into a module of the same structure."""
    import torch

    try:
        module.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in tensors.items()})
    except RuntimeError as error:
        raise DataError(f"its weights do not fit the network: {error}") from None


def choose_device(name: str) -> Any:
    """Return the torch device of that name; ``"auto"`` is a GPU where there is one."""
    import torch

    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name not in ("cpu", "cuda") and not name.startswith("cuda:"):
        raise ParameterError(f"device={name!r}; it is 'cpu', 'cuda' or 'auto'")
    if name != "cpu" and not torch.cuda.is_available():
        raise ParameterError(f"device={name!r}, but torch finds no GPU; use device='cpu' or 'auto'")
    return torch.device(name)
