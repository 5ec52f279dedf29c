"""The compiled engine: Algorithm 1 draws contexts on the fly, skip-gram steps train tables on them."""

from planetoid.engine.sampler import ContextSampler, Pairs
from planetoid.engine.skipgram import SkipGram

__all__ = ["ContextSampler", "Pairs", "SkipGram"]
