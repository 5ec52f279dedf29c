"""The compiled engine: Algorithm 1 draws contexts on the fly, skip-gram steps train tables on them.

Where to find what:

- the parameters of Algorithm 1: :mod:`planetoid.engine.contexts`
- Algorithm 1: :mod:`planetoid.engine.sampler` (the class), :mod:`planetoid.engine.draws` (what is drawn),
  :mod:`planetoid.engine.pair_lists` (line by line as printed), :mod:`planetoid.engine.generator` (random numbers)
- Equation 3, the context loss L_u, over tables of embeddings: :mod:`planetoid.engine.skipgram` (the class),
  :mod:`planetoid.engine.steps` (the compiled gradient steps); over the rows of a network:
  :mod:`planetoid.engine.pair_kernels`; on a device: :mod:`planetoid.engine.on_device`
- contexts as the input of a network: :mod:`planetoid.engine.neighbourhoods` (samples and their mean),
  :mod:`planetoid.engine.consistency` (training steps); values propagated over a graph: :mod:`planetoid.engine.filters`

Importing this package loads neither numba nor scipy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from planetoid.utils.lazy import lazy_names

if TYPE_CHECKING:
    from planetoid.engine.arrays import Pairs as Pairs
    from planetoid.engine.contexts import Contexts as Contexts
    from planetoid.engine.sampler import ContextSampler as ContextSampler
    from planetoid.engine.skipgram import SkipGram as SkipGram

_WHERE = {
    "ContextSampler": "planetoid.engine.sampler",
    "Contexts": "planetoid.engine.contexts",
    "Pairs": "planetoid.engine.arrays",
    "SkipGram": "planetoid.engine.skipgram",
}

__all__ = ["ContextSampler", "Contexts", "Pairs", "SkipGram"]
__getattr__, __dir__ = lazy_names(__name__, _WHERE)
