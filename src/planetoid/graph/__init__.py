"""The graph: an immutable CSR with the user's own node ids."""

from planetoid.graph.build import BuildSummary, EdgeList, EdgePolicy
from planetoid.graph.core import Graph

__all__ = ["BuildSummary", "EdgeList", "EdgePolicy", "Graph"]
