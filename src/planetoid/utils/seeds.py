"""Seeds from ``random_state``."""

from __future__ import annotations

import secrets
from typing import SupportsInt

__all__ = ["new_seed"]


def new_seed(random_state: SupportsInt | None) -> int:
    """Return the seed of a fit: ``random_state`` itself, or a fresh one where it is ``None``.

    >>> new_seed(3)
    3
    >>> new_seed(None) == new_seed(None)
    False
    """
    return secrets.randbits(63) if random_state is None else int(random_state)
