"""Helpers that several rooms share; nothing in here knows what a graph is."""
