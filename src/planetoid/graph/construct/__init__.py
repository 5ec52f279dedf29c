"""Graphs from other data: triples, feature vectors, coordinate lists."""

from planetoid.graph.construct.item_lists import bipartite_graph, from_lists
from planetoid.graph.construct.knn import knn_graph
from planetoid.graph.construct.small_classes import drop_small_classes
from planetoid.graph.construct.triples import RelationNode, from_triples

__all__ = ["RelationNode", "bipartite_graph", "drop_small_classes", "from_lists", "from_triples", "knn_graph"]
