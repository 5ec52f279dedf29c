"""Label a graph from a handful of labels.

``import planetoid as pl`` is fast: the parts that need torch, numba or
scikit-learn are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.registry import CLASSES, METHODS
from planetoid.utils.lazy import lazy_names

if TYPE_CHECKING:
    from planetoid import datasets as datasets
    from planetoid import distributed as distributed
    from planetoid import evaluation as evaluation
    from planetoid import export as export
    from planetoid import model_selection as model_selection
    from planetoid import presets as presets
    from planetoid import report as report
    from planetoid.data.dataset import Dataset as Dataset
    from planetoid.data.reading import read_dataset as read_dataset
    from planetoid.engine.contexts import Contexts as Contexts
    from planetoid.errors import DataError as DataError
    from planetoid.errors import DatasetNotFoundError as DatasetNotFoundError
    from planetoid.errors import NotInductiveError as NotInductiveError
    from planetoid.errors import ParameterError as ParameterError
    from planetoid.errors import PlanetoidError as PlanetoidError
    from planetoid.errors import PlanetoidWarning as PlanetoidWarning
    from planetoid.graph import Graph as Graph
    from planetoid.graph import construct as construct
    from planetoid.io import read_features as read_features
    from planetoid.io import read_labels as read_labels
    from planetoid.labels import mask_labels as mask_labels
    from planetoid.persistence import load as load
    from planetoid.training.callbacks import Callback as Callback
    from planetoid.training.callbacks import EarlyStopping as EarlyStopping
    from planetoid.training.checkpoint import Checkpoint as Checkpoint
    from planetoid.training.settings import Consistency as Consistency
    from planetoid.training.settings import Encoder as Encoder
    from planetoid.training.settings import Neighbourhood as Neighbourhood
    from planetoid.training.settings import Network as Network
    from planetoid.training.settings import Training as Training
    from planetoid.training.trackers import MLflowLogger as MLflowLogger
    from planetoid.training.trackers import WandbLogger as WandbLogger

if TYPE_CHECKING:  # the classes of the registry, written by scripts/update_docs.py
    from planetoid.baselines.diel import Diel as Diel
    from planetoid.baselines.feat import Feat as Feat
    from planetoid.baselines.gcn import GCN as GCN
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
    from planetoid.models.planetoid import Planetoid as Planetoid
    from planetoid.models.transductive import PlanetoidG as PlanetoidG
    from planetoid.models.transductive import PlanetoidT as PlanetoidT

__version__ = "0.1.0"

_MODULES = {
    "construct": "planetoid.graph.construct",
    "datasets": "planetoid.datasets",
    "distributed": "planetoid.distributed",
    "evaluation": "planetoid.evaluation",
    "export": "planetoid.export",
    "model_selection": "planetoid.model_selection",
    "presets": "planetoid.presets",
    "report": "planetoid.report",
}
_WHERE = {
    "Callback": "planetoid.training.callbacks",
    "Checkpoint": "planetoid.training.checkpoint",
    "Contexts": "planetoid.engine.contexts",
    "DataError": "planetoid.errors",
    "DatasetNotFoundError": "planetoid.errors",
    "EarlyStopping": "planetoid.training.callbacks",
    "Consistency": "planetoid.training.settings",
    "Encoder": "planetoid.training.settings",
    "Neighbourhood": "planetoid.training.settings",
    "Dataset": "planetoid.data.dataset",
    "Graph": "planetoid.graph",
    "MLflowLogger": "planetoid.training.trackers",
    "Network": "planetoid.training.settings",
    "NotInductiveError": "planetoid.errors",
    "ParameterError": "planetoid.errors",
    "PlanetoidError": "planetoid.errors",
    "PlanetoidWarning": "planetoid.errors",
    "Training": "planetoid.training.settings",
    "WandbLogger": "planetoid.training.trackers",
    "load": "planetoid.persistence",
    "mask_labels": "planetoid.labels",
    "read_dataset": "planetoid.data.reading",
    "read_features": "planetoid.io",
    "read_labels": "planetoid.io",
    **{name: f"planetoid.{info.module}" for name, info in CLASSES.items()},
}

__all__ = ["METHODS", "__version__", *_WHERE, *_MODULES]
__getattr__, __dir__ = lazy_names(__name__, {**_WHERE, **_MODULES}, ("METHODS", "__version__"))
