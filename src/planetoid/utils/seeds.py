"""Seeds from ``random_state``."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import SupportsInt

__all__ = ["agreeing", "new_seed", "seed_of_fit"]

_agreement: ContextVar[Callable[[int], int] | None] = ContextVar("agreement", default=None)


def new_seed(random_state: SupportsInt | None) -> int:
    """Return ``random_state`` itself as a seed, or a fresh one where it is ``None``.

    >>> new_seed(3)
    3
    >>> new_seed(None) == new_seed(None)
    False
    """
    return secrets.randbits(63) if random_state is None else int(random_state)


def seed_of_fit(random_state: SupportsInt | None) -> int:
    """Return the seed of a fit: the same in all processes that fit one model, also if it is a fresh one."""
    seed, agree = new_seed(random_state), _agreement.get()
    return seed if random_state is not None or agree is None else agree(seed)


@contextmanager
def agreeing(agree: Callable[[int], int]) -> Iterator[None]:
    """Let fresh seeds of fits inside be those that ``agree`` returns; all processes call it at the same time."""
    token = _agreement.set(agree)
    try:
        yield
    finally:
        _agreement.reset(token)
