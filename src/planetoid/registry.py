"""``METHODS``: every method by its short name, read by the command line, the tables, the docs and the tests.

A new method is one line in ``CLASSES``; CONTRIBUTING.md has the steps.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from planetoid.errors import ParameterError

if TYPE_CHECKING:
    from planetoid.estimator import GraphClassifier

__all__ = ["CLASSES", "METHODS", "Entry", "MethodRegistry", "quick_first"]


class Entry(NamedTuple):
    """Where a method is found; its module is imported on first use.

    Attributes
    ----------
    short_name : str
        Name on the command line and in tables.
    class_name : str
    module : str
    seconds : float
        Typical time of a fit on Cora with default parameters; ``planetoid compare`` runs quick methods first.
    """

    short_name: str
    class_name: str
    module: str
    seconds: float


CLASSES: dict[str, Entry] = {
    entry.class_name: entry
    for entry in (
        Entry("planetoid-t", "PlanetoidT", "planetoid.models.transductive", 0.8),
        Entry("planetoid-i", "PlanetoidI", "planetoid.models.inductive", 2.3),
        Entry("planetoid-g", "PlanetoidG", "planetoid.models.transductive", 0.8),
        Entry("feat", "Feat", "planetoid.baselines.feat", 0.02),
        Entry("lp", "LabelPropagation", "planetoid.baselines.label_propagation", 0.02),
        Entry("lgc", "LocalGlobalConsistency", "planetoid.baselines.local_global", 0.02),
        Entry("mad", "ModifiedAdsorption", "planetoid.baselines.modified_adsorption", 0.02),
        Entry("poisson", "PoissonLearning", "planetoid.baselines.poisson_learning", 0.03),
        Entry("manireg", "ManifoldRegularization", "planetoid.baselines.manifold_regularization", 0.2),
        Entry("semiemb", "SemiSupervisedEmbedding", "planetoid.baselines.semi_supervised_embedding", 1.3),
        Entry("tsvm", "TransductiveSVM", "planetoid.baselines.transductive_svm", 1.8),
        Entry("ica", "IterativeClassification", "planetoid.baselines.iterative_classification", 0.1),
        Entry("ssgc", "PropagatedFeatures", "planetoid.baselines.propagated_features", 0.1),
        Entry("diel", "Diel", "planetoid.baselines.diel", 0.03),
        Entry("graphemb", "GraphEmbedding", "planetoid.baselines.graph_embedding", 0.6),
    )
}


class MethodRegistry(Mapping[str, "type[GraphClassifier]"]):
    """Short names to classes, imported on first use."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = {entry.short_name: entry for entry in entries}

    def __getitem__(self, name: str) -> type[GraphClassifier]:
        if name not in self._entries:
            raise ParameterError(f"there is no method {name!r}; the methods are {', '.join(self._entries)}")
        entry = self._entries[name]
        cls: type[GraphClassifier] = getattr(importlib.import_module(entry.module), entry.class_name)
        return cls

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"METHODS({', '.join(self)})"


METHODS = MethodRegistry(CLASSES.values())


def quick_first() -> list[str]:
    """Return the short names of all methods, those with the shortest fits first.

    >>> quick_first()[0], quick_first()[-1]
    ('feat', 'planetoid-i')
    """
    return [entry.short_name for entry in sorted(CLASSES.values(), key=lambda entry: entry.seconds)]
