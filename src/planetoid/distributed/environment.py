"""What a process knows about itself from its environment: whether it is one of several, and which."""

from __future__ import annotations

import os

__all__ = ["LOST_PROCESS", "STORE_VARIABLE", "is_launched", "is_one_of_several", "rank"]

STORE_VARIABLE = "PLANETOID_STORE"  # a file by which processes on one machine find each other, instead of a port
LOST_PROCESS = 3  # exit code of a process that has lost another one


def is_one_of_several() -> bool:
    """Tell whether this process was started as one of several, by torchrun or by ``planetoid fit --processes``."""
    return "RANK" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def is_launched() -> bool:
    """Tell whether this process was started by ``planetoid fit --processes``."""
    return STORE_VARIABLE in os.environ


def rank() -> int:
    """Return the number of this process, 0 if it is alone."""
    return int(os.environ["RANK"]) if is_one_of_several() else 0
