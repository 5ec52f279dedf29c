"""Pieces of networks that the neural methods share; importing this imports torch."""

from planetoid.nn.layers import Branch, InputLinear
from planetoid.nn.randomness import StepRandom, one_thread
from planetoid.nn.rows import FeatureRows, SparseBatch

__all__ = ["Branch", "FeatureRows", "InputLinear", "SparseBatch", "StepRandom", "one_thread"]
