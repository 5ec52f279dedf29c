"""``METHODS``: the short name of every method, read by the command line, the tables and the tests."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from planetoid.errors import ParameterError

if TYPE_CHECKING:
    from planetoid.estimator import GraphClassifier

__all__ = ["CLASSES", "METHODS"]

# class name -> (short name, module); a class is imported when it is asked for
CLASSES = {
    "PlanetoidT": ("planetoid-t", "planetoid.models.transductive"),
    "PlanetoidI": ("planetoid-i", "planetoid.models.inductive"),
    "PlanetoidG": ("planetoid-g", "planetoid.models.transductive"),
    "Feat": ("feat", "planetoid.baselines.feat"),
    "LabelPropagation": ("lp", "planetoid.baselines.label_propagation"),
    "LocalGlobalConsistency": ("lgc", "planetoid.baselines.local_global"),
    "ModifiedAdsorption": ("mad", "planetoid.baselines.modified_adsorption"),
    "ManifoldRegularization": ("manireg", "planetoid.baselines.manifold_regularization"),
    "SemiSupervisedEmbedding": ("semiemb", "planetoid.baselines.semi_supervised_embedding"),
    "TransductiveSVM": ("tsvm", "planetoid.baselines.transductive_svm"),
    "IterativeClassification": ("ica", "planetoid.baselines.iterative_classification"),
    "Diel": ("diel", "planetoid.baselines.diel"),
    "GraphEmbedding": ("graphemb", "planetoid.baselines.graph_embedding"),
}


class MethodRegistry(Mapping[str, "type[GraphClassifier]"]):
    """Short names to classes, imported on first use."""

    def __init__(self, classes: Mapping[str, tuple[str, str]]) -> None:
        self._where = {short: (module, name) for name, (short, module) in classes.items()}

    def __getitem__(self, name: str) -> type[GraphClassifier]:
        if name not in self._where:
            raise ParameterError(f"there is no method {name!r}; the methods are {', '.join(self._where)}")
        module, attribute = self._where[name]
        found: type[GraphClassifier] = getattr(importlib.import_module(module), attribute)
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._where

    def __iter__(self) -> Iterator[str]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)

    def __repr__(self) -> str:
        return f"METHODS({', '.join(self)})"


METHODS = MethodRegistry(CLASSES)
