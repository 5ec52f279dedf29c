"""``LabelSetModel``: what :class:`~planetoid.Planetoid` is for several labels per node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.dataset import Dataset
from planetoid.data.scaling import Rows, scale_rows
from planetoid.engine.contexts import Contexts
from planetoid.labels import mask_labels
from planetoid.models.label_set_views import Regressed, Weighted, label_shares, propagated, scaled_block
from planetoid.multi_label import SetSample
from planetoid.training.logistic_regression import LogisticRegressions

if TYPE_CHECKING:
    from planetoid.io.model_files import Tensors

__all__ = ["LabelSetModel", "Material", "embedded_for_sets"]

CONTEXTS = Contexts(r2=1.0, q=40, d=3)  # of the embedding

BY_VIEW = {  # the parameter view, and the views that it stands for
    "auto": ("features", "neighbourhood", "graph", "labels"),
    "features": ("features",),
    "neighbourhood": ("neighbourhood", "labels"),
    "graph": ("graph", "labels"),
}


class Material(NamedTuple):
    """What a model for several labels per node is made from; what is missing is ``None``."""

    X: Rows | None  # scaled rows
    adjacency: sparse.csr_array | None
    embedding: npt.NDArray[np.float32] | None

    def blocks(self, Y: sparse.csr_array, view: str, seed: int) -> dict[str, Rows]:
        """Return the rows of all nodes in each view; ``Y`` has the labels to learn from, and empty rows."""
        found: dict[str, Rows] = {}
        for name in BY_VIEW[view]:
            if name == "features" and self.X is not None:
                found[name] = self.X
            elif name == "neighbourhood" and self.X is not None and self.adjacency is not None:
                found[name] = propagated(self.X, self.adjacency, seed)
            elif name == "graph" and self.embedding is not None:
                found[name] = scaled_block(np.asarray(scale_rows(self.embedding, "l2"), dtype=np.float64))
            elif name == "labels" and self.adjacency is not None:
                found[name] = label_shares(self.adjacency, Y)
        return found

    def shown(self, blocks: dict[str, Rows]) -> npt.NDArray[np.float32]:
        """Return the embedding of the graph or, if there is none, the features around a node or another view."""
        if self.embedding is not None:
            return self.embedding
        found = blocks.get("neighbourhood", next(iter(blocks.values())))
        return np.asarray(found if isinstance(found, np.ndarray) else found.toarray(), dtype=np.float32)


def embedded_for_sets(data: Dataset, *, seed: int, n_jobs: int | None, verbose: int) -> npt.NDArray[np.float32]:
    """Return an embedding of the graph."""
    from planetoid.baselines.graph_embedding import GraphEmbedding

    return GraphEmbedding(random_state=seed, n_jobs=n_jobs, verbose=verbose, contexts=CONTEXTS).embed(data)


class LabelSetModel(NamedTuple):
    """Regressions on all views, and those on features alone, by which new rows are labelled."""

    together: Weighted
    alone: Weighted | None
    seed: int  # of the rows of the views

    @classmethod
    def learn(
        cls, blocks: dict[str, Rows], Y: sparse.csr_array, labelled: npt.NDArray[np.int64], seed: int
    ) -> tuple[LabelSetModel, SetSample]:
        """Fit on the labelled rows; return the model and what it says about the rows that are left out."""
        of_labelled = mask_labels(Y, labelled)[labelled]
        fitted = Regressed.on({name: rows[labelled] for name, rows in blocks.items()}, of_labelled)
        together = fitted.weighted(of_labelled, list(blocks))
        alone = fitted.weighted(of_labelled, ["features"]) if "features" in blocks else None
        return cls(together, alone, seed), SetSample(together.logits(fitted.left_out), of_labelled, "cross-fitting")

    def tensors(self) -> Tensors:
        """Return everything as arrays."""
        found: Tensors = {"seed": np.frombuffer(str(self.seed).encode(), dtype=np.uint8)}  # of any size
        for name, regression in self.together.regressions.items():
            found[f"views.{name}.coef"], found[f"views.{name}.intercept"] = regression.coef, regression.intercept
        for which, weighted in (("together", self.together), ("alone", self.alone)):
            if weighted is not None:
                found[f"{which}.weights"] = np.array([*weighted.weights.values(), weighted.shift])
        return found

    @classmethod
    def of_tensors(cls, tensors: Tensors) -> LabelSetModel:
        """Restore what :meth:`tensors` returned."""
        names = [name for name in BY_VIEW["auto"] if f"views.{name}.coef" in tensors]
        regressions = {
            name: LogisticRegressions(tensors[f"views.{name}.coef"], tensors[f"views.{name}.intercept"])
            for name in names
        }

        def weighted(which: str, some: list[str]) -> Weighted:
            *weights, shift = tensors[f"{which}.weights"].tolist()
            return Weighted({name: regressions[name] for name in some}, dict(zip(some, weights, strict=True)), shift)

        alone = weighted("alone", ["features"]) if "alone.weights" in tensors else None
        return cls(weighted("together", names), alone, int(tensors["seed"].tobytes()))
