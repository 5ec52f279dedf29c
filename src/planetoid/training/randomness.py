"""Random numbers that are a pure function of (seed, step)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["StepRandom", "one_thread"]

ODD = 0x9E3779B97F4A7C15
STEP = 0xBF58476D1CE4E5B9


class StepRandom:
    """A generator that is seeded anew for each step.

    So a training that resumes from a checkpoint needs no generator's state, and torch's global generator is never
    touched.
    """

    def __init__(self, seed: int, device: torch.device | str = "cpu") -> None:
        self.seed = int(seed)
        self.generator = torch.Generator(device=device)
        self.device = self.generator.device
        self.at(0)

    def at(self, step: int) -> StepRandom:
        """Set the generator to the start of a step's numbers."""
        self.generator.manual_seed(((self.seed + 1) * ODD + step * STEP) % 2**63)
        return self

    def keep_mask(self, shape: torch.Size, drop: float) -> torch.Tensor:
        """Return a dropout mask, scaled so that the mean is preserved."""
        keep = torch.rand(shape, generator=self.generator, device=self.device) >= drop
        return keep.to(torch.float32) / (1.0 - drop)

    @contextmanager
    def for_modules(self) -> Iterator[None]:
        """Seed torch's global generator for modules that draw from it, and restore it afterwards."""
        with torch.random.fork_rng(devices=[self.device] if self.device.type == "cuda" else []):
            torch.manual_seed(int(torch.randint(2**62, (1,), generator=self.generator, device=self.device)))
            yield

    def permutation(self, n: int, size: int) -> torch.Tensor:
        """Return ``size`` different numbers below n."""
        return torch.randperm(n, generator=self.generator, device=self.device)[:size]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread.

    Sums in several threads depend on their number, and for networks as small as ours the others would mostly wait.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
