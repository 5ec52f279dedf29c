"""The graph: an immutable CSR with the user's own node ids."""

from planetoid.graph.build import BuildSummary, EdgePolicy
from planetoid.graph.convert import GraphLike
from planetoid.graph.core import Graph
from planetoid.io.edgelist import EdgeList

__all__ = ["BuildSummary", "EdgeList", "EdgePolicy", "Graph", "GraphLike"]
