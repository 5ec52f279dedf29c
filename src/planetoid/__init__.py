"""Label a graph from a handful of labels.

``import planetoid as pl`` is quick: the parts that need torch, numba or
scikit-learn are imported when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from planetoid.registry import CLASSES, METHODS

if TYPE_CHECKING:
    from planetoid import datasets as datasets
    from planetoid import evaluation as evaluation
    from planetoid import presets as presets
    from planetoid import report as report
    from planetoid.graph import Graph as Graph
    from planetoid.graph import construct as construct
    from planetoid.io import read_features as read_features
    from planetoid.io import read_labels as read_labels
    from planetoid.labels import mask_labels as mask_labels
    from planetoid.persistence import load as load

if TYPE_CHECKING:  # the classes of the registry, written by scripts/update_docs.py
    from planetoid.baselines.diel import Diel as Diel
    from planetoid.baselines.feat import Feat as Feat
    from planetoid.baselines.graph_embedding import GraphEmbedding as GraphEmbedding
    from planetoid.baselines.iterative_classification import IterativeClassification as IterativeClassification
    from planetoid.baselines.label_propagation import LabelPropagation as LabelPropagation
    from planetoid.baselines.local_global import LocalGlobalConsistency as LocalGlobalConsistency
    from planetoid.baselines.manifold_regularization import ManifoldRegularization as ManifoldRegularization
    from planetoid.baselines.modified_adsorption import ModifiedAdsorption as ModifiedAdsorption
    from planetoid.baselines.poisson_learning import PoissonLearning as PoissonLearning
    from planetoid.baselines.propagated_features import PropagatedFeatures as PropagatedFeatures
    from planetoid.baselines.semi_supervised_embedding import SemiSupervisedEmbedding as SemiSupervisedEmbedding
    from planetoid.baselines.transductive_svm import TransductiveSVM as TransductiveSVM
    from planetoid.models.inductive import PlanetoidI as PlanetoidI
    from planetoid.models.transductive import PlanetoidG as PlanetoidG
    from planetoid.models.transductive import PlanetoidT as PlanetoidT

__version__ = "0.1.0"

_MODULES = {
    "construct": "planetoid.graph.construct",
    "datasets": "planetoid.datasets",
    "evaluation": "planetoid.evaluation",
    "presets": "planetoid.presets",
    "report": "planetoid.report",
}
_WHERE = {
    "Graph": "planetoid.graph",
    "load": "planetoid.persistence",
    "mask_labels": "planetoid.labels",
    "read_features": "planetoid.io",
    "read_labels": "planetoid.io",
    **{name: info.module for name, info in CLASSES.items()},
}

__all__ = ["METHODS", "__version__", *_WHERE, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'planetoid' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
