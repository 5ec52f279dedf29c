"""Algorithm 2 and the parts of networks that the neural methods share; importing this imports torch."""

from planetoid.training.batches import FeatureRows, SparseBatch
from planetoid.training.layers import Branch, InputLinear
from planetoid.training.randomness import StepRandom, one_thread

__all__ = ["Branch", "FeatureRows", "InputLinear", "SparseBatch", "StepRandom", "one_thread"]
