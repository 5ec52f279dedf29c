"""Which method suits the data: the rules of ``--method auto``, and why a method does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from planetoid.errors import DataError, ParameterError
from planetoid.registry import METHODS, fastest_first

if TYPE_CHECKING:
    from planetoid.cli.inputs import Data

__all__ = ["Situation", "check_names", "choose", "fitting", "misfit"]

# A planetoid model keeps two tables of 128 numbers a node, 1 KB; above so many nodes that is gigabytes.
LARGE = 2_000_000


@dataclass(frozen=True)
class Situation:
    """What a method would have to learn from, and what is wanted of it.

    Attributes
    ----------
    n_nodes : int
    has_edges, has_features : bool
    all_described : bool
        Whether every node has a feature other than zero.
    new_nodes : bool
        Whether labels are wanted for nodes that are not in the graph yet.
    """

    n_nodes: int
    has_edges: bool
    has_features: bool
    all_described: bool = True
    new_nodes: bool = False

    @classmethod
    def of(cls, data: Data, *, new_nodes: bool = False) -> Situation:
        """Return the situation of some data."""
        described = bool(data.described.all())
        return cls(data.graph.n_nodes, data.graph.n_edges > 0, data.X is not None, described, new_nodes)


def choose(situation: Situation) -> tuple[str, str]:
    """Return the short name of a method for the data, and a sentence that says why.

    >>> choose(Situation(2708, has_edges=True, has_features=True))[0]
    'planetoid-t'
    >>> choose(Situation(2708, has_edges=False, has_features=True))
    ('feat', 'there are features and no edges, so a classifier on features is all that can be learned')
    """
    if not situation.has_edges and not situation.has_features:
        raise DataError("there are neither edges nor features, so there is nothing to learn from")
    if situation.new_nodes and not situation.has_features:
        raise ParameterError(
            "--new-nodes needs --features: a node that is not in the graph can be labelled by its features alone"
        )
    if not situation.has_edges:
        return "feat", "there are features and no edges, so a classifier on features is all that can be learned"
    if situation.new_nodes:
        return "planetoid-i", "it learns from graph and features, and labels new nodes by their features alone"
    if situation.has_features:
        return "planetoid-t", "there are edges and features, and it learns from both"
    if situation.n_nodes > LARGE:
        why = f"the graph has no features and more than {LARGE:,} nodes, for which embeddings take gigabytes"
        return "lp", why
    return "planetoid-g", "there are edges and no features, and it learns embeddings from the edges"


def misfit(method: str, situation: Situation) -> str | None:
    """Return why a method cannot work on the data, or makes no sense there; ``None`` if it fits.

    >>> misfit("planetoid-t", Situation(10, has_edges=True, has_features=False))
    'it needs features, and there are none'
    """
    cls = METHODS[method]
    if cls.uses_features == "required" and not situation.has_features:
        return "it needs features, and there are none"
    if cls.uses_graph == "required" and not situation.has_edges:
        return "it needs a graph, and there are no edges"
    if situation.new_nodes and not cls.inductive:
        return "it labels only nodes that were in the graph"
    if method == "diel" and situation.all_described:
        return "it is made for lists with features and items without; here every node has features"
    return None


def fitting(situation: Situation) -> tuple[list[str], dict[str, str]]:
    """Return the methods that fit the data, quick ones first, and why the others do not."""
    ordered = fastest_first()  # so that an interrupted comparison has the most results
    reasons = {method: why for method in ordered if (why := misfit(method, situation)) is not None}
    return [method for method in ordered if method not in reasons], reasons


def check_names(names: str) -> list[str]:
    """Split names at commas and check that each is a method.

    >>> check_names("lp, feat")
    ['lp', 'feat']
    """
    methods = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    for method in methods:
        if method not in METHODS:
            raise ParameterError(f"there is no method {method!r}; the methods are {', '.join(METHODS)}")
    if not methods:
        raise ParameterError(f"--method names no method; the methods are {', '.join(METHODS)}")
    return methods
