"""Helpers without knowledge of graphs or models, shared by the other packages."""
