"""Graphs from things that are not graphs yet: triples, feature vectors, coordinate lists."""

from planetoid.construct.classes import drop_small_classes
from planetoid.construct.knn import knn_graph
from planetoid.construct.lists import bipartite_graph, from_lists
from planetoid.construct.triples import RelationNode, from_triples

__all__ = ["RelationNode", "bipartite_graph", "drop_small_classes", "from_lists", "from_triples", "knn_graph"]
