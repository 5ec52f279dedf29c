"""Graphs from things that are not graphs yet: triples, feature vectors, coordinate lists."""

from planetoid.graph.construct.classes import drop_small_classes
from planetoid.graph.construct.knn import knn_graph
from planetoid.graph.construct.lists import bipartite_graph, from_lists
from planetoid.graph.construct.triples import RelationNode, from_triples

__all__ = ["RelationNode", "bipartite_graph", "drop_small_classes", "from_lists", "from_triples", "knn_graph"]
