"""Algorithm 1: contexts from random walks and shared labels, drawn on the fly."""

from planetoid.context.sampler import ContextSampler, Pairs

__all__ = ["ContextSampler", "Pairs"]
