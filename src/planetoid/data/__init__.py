"""One data room: a graph, features and labels over the same nodes, checked once."""
