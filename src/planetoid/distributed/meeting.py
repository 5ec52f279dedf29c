"""``fresh_prefix``: the processes of one attempt find each other in a store that earlier attempts have written to.

torchrun starts all processes again when one has died, and they may get the same store as before, with the addresses of
those that are dead. So they agree on a name that is new: everyone but process 0 leaves a greeting with a number of its
own, and process 0 answers each with the name. An old greeting is answered too, but nobody reads that answer.
"""

from __future__ import annotations

import time
from typing import Protocol
from uuid import uuid4

__all__ = ["fresh_prefix"]

POLL = 0.05


class Store(Protocol):
    """What torch's stores have in common, as far as it is used here."""

    def set(self, key: str, value: str, /) -> object: ...
    def get(self, key: str, /) -> bytes: ...
    def check(self, keys: list[str], /) -> bool: ...


def fresh_prefix(store: Store, rank: int, size: int, seconds: float) -> str:
    """Return a name that all processes of this attempt get, and no earlier one had; ``TimeoutError`` after a while."""
    until = time.monotonic() + seconds
    if rank == 0:
        return _invite(store, size, until)
    token = uuid4().hex
    store.set(f"hello/{rank}", token)
    _wait(store, f"answer/{token}", until)
    prefix = store.get(f"answer/{token}").decode()
    store.set(f"{prefix}/here/{rank}", "")
    return prefix


def _invite(store: Store, size: int, until: float) -> str:
    """Answer greetings until everyone has confirmed the name."""
    prefix, waiting = f"attempt-{uuid4().hex}", set(range(1, size))
    while waiting:
        for rank in sorted(waiting):
            if store.check([f"{prefix}/here/{rank}"]):
                waiting.remove(rank)
            elif store.check([f"hello/{rank}"]):
                store.set(f"answer/{store.get(f'hello/{rank}').decode()}", prefix)
        if waiting:
            _pause(until)
    return prefix


def _wait(store: Store, key: str, until: float) -> None:
    while not store.check([key]):
        _pause(until)


def _pause(until: float) -> None:
    if time.monotonic() > until:
        raise TimeoutError("the others have not come")
    time.sleep(POLL)
