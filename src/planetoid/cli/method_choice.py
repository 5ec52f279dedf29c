"""Which method suits the data: the rules of ``--method auto``, and why a method is excluded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from planetoid.errors import DataError, ParameterError
from planetoid.registry import METHODS, fastest_first

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset

__all__ = [
    "Choice",
    "by_prior",
    "check_suitable",
    "choose_method",
    "excluded_lines",
    "exclusion_reason",
    "parse_methods",
    "suitable_methods",
]

# A Planetoid model holds two tables of 128 numbers per node, 1 KB; above this many nodes they take gigabytes.
LARGE = 2_000_000

# By their mean rank on data of eight kinds (docs/results/beyond.md); a method that is not listed comes after these.
BEST_FIRST = (
    "planetoid", "planetoid-t", "ica", "ssgc", "planetoid-i", "gcn", "graphemb", "poisson", "lp", "lgc", "feat",
)  # fmt: skip


class Choice(NamedTuple):
    """A method and the reason for it; the reason is empty where the user chose."""

    method: str
    reason: str


def choose_method(data: Dataset, *, new_nodes: bool = False) -> Choice:
    """Choose a method by what there is to learn from.

    Parameters
    ----------
    data : Dataset
    new_nodes : bool
        Whether nodes that are not in the graph yet will have to be labelled.

    Examples
    --------
    >>> import planetoid as pl
    >>> choose_method(pl.datasets.make_citation(100))
    Choice(method='planetoid', reason='there are edges and features, and it learns from both')
    """
    has_edges, has_features = data.graph.n_edges > 0, data.X is not None
    if not has_edges and not has_features:
        raise DataError("there are neither edges nor features to learn from")
    if new_nodes and not has_features:
        raise ParameterError(
            "--new-nodes requires --features or --nodes: new nodes are labelled by their features alone"
        )
    if not has_edges:
        reason = "there are features but no edges, so it connects each node with those of the most similar features"
        return Choice("planetoid", reason)
    if has_features:
        more = ", and labels new nodes by features alone" if new_nodes else ""
        return Choice("planetoid", f"there are edges and features, and it learns from both{more}")
    if data.n_nodes > LARGE:
        return Choice(
            "lp", f"there are no features and more than {LARGE:,} nodes, whose embeddings would take gigabytes"
        )
    return Choice("planetoid", "there are edges but no features, and it learns embeddings from the edges")


def by_prior(methods: Iterable[str]) -> list[str]:
    """Return methods in the order in which they are to be preferred if nothing is known about the data.

    >>> by_prior(["lp", "mad", "planetoid"])
    ['planetoid', 'lp', 'mad']
    """
    order = {name: rank for rank, name in enumerate(dict.fromkeys((*BEST_FIRST, *METHODS)))}
    return sorted(methods, key=lambda name: order[name])


def exclusion_reason(method: str, data: Dataset, *, new_nodes: bool = False) -> str | None:
    """Return why a method cannot be used on the data, or makes no sense there; ``None`` if it can.

    >>> import planetoid as pl
    >>> from dataclasses import replace
    >>> exclusion_reason("planetoid-t", replace(pl.datasets.make_citation(100), X=None))
    'requires features'
    """
    info = METHODS.info(method)
    if data.X is None and (info.features == "required" or (new_nodes and info.inductive)):
        return "requires features"
    if info.graph == "required" and data.graph.n_edges == 0:
        return "requires a graph"
    if new_nodes and not info.inductive:
        return "does not label new nodes"
    if data.multi_label and not info.multi_label:
        return "takes one label per node"
    if method == "diel" and data.has_features.all():
        return "is for lists with features and items without; here every node has features"
    return None


def check_suitable(methods: Iterable[str], data: Dataset, *, new_nodes: bool) -> None:
    """Raise ``ParameterError`` for a method that cannot be used on the data; diel can be, where it makes no sense."""
    for method in methods:
        reason = exclusion_reason(method, data, new_nodes=new_nodes)
        if reason is not None and method != "diel":
            raise ParameterError(f"{method} does not suit the data: it {reason}", parameter="method")


def suitable_methods(data: Dataset, *, new_nodes: bool = False) -> tuple[list[str], dict[str, str]]:
    """Return the methods that suit the data, fast ones first, and why the others are excluded."""
    ordered = fastest_first()
    reasons = {name: exclusion_reason(name, data, new_nodes=new_nodes) for name in ordered}
    excluded = {name: reason for name, reason in reasons.items() if reason is not None}
    return [name for name in ordered if name not in excluded], excluded


def excluded_lines(reasons: dict[str, str]) -> list[str]:
    """Return one line per reason, with the methods that it excludes.

    >>> excluded_lines({"feat": "requires features", "lp": "requires a graph", "tsvm": "requires features"})
    ['excluded: feat, tsvm (requires features)', 'excluded: lp (requires a graph)']
    """
    by_reason: dict[str, list[str]] = {}
    for method, reason in reasons.items():
        by_reason.setdefault(reason, []).append(method)
    return [f"excluded: {', '.join(methods)} ({reason})" for reason, methods in by_reason.items()]


def parse_methods(names: str) -> list[str]:
    """Split names at commas and check that each is a method.

    >>> parse_methods("lp, feat")
    ['lp', 'feat']
    """
    methods = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for method in methods:
        METHODS.info(method)
    if not methods:
        raise ParameterError(f"--method names no method; the methods are {', '.join(METHODS)}")
    return methods
