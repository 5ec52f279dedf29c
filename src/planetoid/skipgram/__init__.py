"""Skip-gram on free embeddings: (i, c, gamma) to updates of e and w."""

from planetoid.skipgram.trainer import SkipGram

__all__ = ["SkipGram"]
