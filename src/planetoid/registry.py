"""``METHODS``: the short name of every method, read by the command line, the tables and the tests.

A new method is one line in ``CLASSES``; CONTRIBUTING.md has the steps. What the line says about it is known without
importing its module, and with it torch, numba or scikit-learn; a test compares it with the class.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from planetoid.errors import ParameterError

if TYPE_CHECKING:
    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["CLASSES", "METHODS", "MethodInfo", "fastest_first"]


class MethodInfo(NamedTuple):
    """What is known about a method before it is imported.

    Attributes
    ----------
    name : str
        The short name.
    module : str
        Below the package ``planetoid``.
    seconds : float
        Typical time of a fit on Cora with default parameters; ``planetoid compare`` runs fast methods first.
    features, graph : {"required", "optional", "never"}
        Whether the method uses them; the class attributes ``uses_features`` and ``uses_graph``.
    inductive : bool
        Whether it labels new rows.
    embedding : bool
        Whether it learns an ``embedding_``.
    multi_label : bool
        Whether it takes several labels per node.
    """

    name: str
    module: str
    seconds: float
    features: str = "never"
    graph: str = "required"
    inductive: bool = False
    embedding: bool = False
    multi_label: bool = False


CLASSES: dict[str, MethodInfo] = {
    "Planetoid": MethodInfo(
        "planetoid", "models.planetoid", 1.0, "optional", "optional", inductive=True, embedding=True, multi_label=True
    ),
    "PlanetoidT": MethodInfo("planetoid-t", "models.transductive", 0.8, "required", embedding=True, multi_label=True),
    "PlanetoidI": MethodInfo(
        "planetoid-i", "models.inductive", 2.3, "required", inductive=True, embedding=True, multi_label=True
    ),
    "PlanetoidG": MethodInfo("planetoid-g", "models.transductive", 0.8, embedding=True, multi_label=True),
    "Feat": MethodInfo("feat", "baselines.feat", 0.02, "required", graph="never", inductive=True, multi_label=True),
    "LabelPropagation": MethodInfo("lp", "baselines.label_propagation", 0.02, multi_label=True),
    "LocalGlobalConsistency": MethodInfo("lgc", "baselines.local_global", 0.02),
    "ModifiedAdsorption": MethodInfo("mad", "baselines.modified_adsorption", 0.02),
    "PoissonLearning": MethodInfo("poisson", "baselines.poisson_learning", 0.03),
    "ManifoldRegularization": MethodInfo(
        "manireg", "baselines.manifold_regularization", 0.2, "required", inductive=True
    ),
    "SemiSupervisedEmbedding": MethodInfo(
        "semiemb", "baselines.semi_supervised_embedding", 1.3, "required", inductive=True, embedding=True
    ),
    "TransductiveSVM": MethodInfo("tsvm", "baselines.transductive_svm", 1.8, "required", graph="never", inductive=True),
    "IterativeClassification": MethodInfo("ica", "baselines.iterative_classification", 0.1, "required"),
    "PropagatedFeatures": MethodInfo("ssgc", "baselines.propagated_features", 0.1, "required"),
    "GCN": MethodInfo("gcn", "baselines.gcn", 1.5, "required", embedding=True),
    "Diel": MethodInfo("diel", "baselines.diel", 0.03, "required", inductive=True),
    "GraphEmbedding": MethodInfo("graphemb", "baselines.graph_embedding", 0.6, embedding=True, multi_label=True),
}


class MethodRegistry(Mapping[str, "type[GraphClassifier]"]):
    """Short names to classes, imported on first use."""

    def __init__(self, classes: Mapping[str, MethodInfo]) -> None:
        self._class_names = {info.name: name for name, info in classes.items()}
        self._infos = {info.name: info for info in classes.values()}

    def __getitem__(self, name: str) -> type[GraphClassifier]:
        module = importlib.import_module(f"planetoid.{self.info(name).module}")
        found: type[GraphClassifier] = getattr(module, self._class_names[name])
        return found

    def info(self, name: str) -> MethodInfo:
        """Return what is known about a method without importing it."""
        if name not in self._infos:
            raise ParameterError(f"there is no method {name!r}; the methods are {', '.join(self)}", parameter="method")
        return self._infos[name]

    def class_name(self, name: str) -> str:
        """Return the name of a method's class without importing it."""
        return self._class_names[self.info(name).name]

    def __contains__(self, name: object) -> bool:
        return name in self._infos

    def __iter__(self) -> Iterator[str]:
        return iter(self._infos)

    def __len__(self) -> int:
        return len(self._infos)

    def __repr__(self) -> str:
        return f"METHODS({', '.join(self)})"


METHODS = MethodRegistry(CLASSES)


def fastest_first() -> list[str]:
    """Return the short names of all methods in the order of their typical fit times.

    >>> fastest_first()[0], fastest_first()[-1]
    ('feat', 'planetoid-i')
    """
    return sorted(METHODS, key=lambda name: METHODS.info(name).seconds)
