"""``new_sampler``: Algorithm 1 with the paper's parameters where a test says nothing else."""

import planetoid as pl
from planetoid.engine import ContextSampler

PAPER = pl.Contexts(r1=5 / 6, r2=1.0, q=10, d=3, self_pairs=True)


def new_sampler(graph, labels=None, *, seed=0, **contexts):
    return ContextSampler(graph, PAPER.replace(**contexts), labels, seed=seed)
