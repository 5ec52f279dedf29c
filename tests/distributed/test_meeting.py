"""Processes of one attempt find each other, whatever earlier attempts have left in the store."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from torch.distributed import HashStore

from planetoid.distributed.meeting import fresh_prefix


def attempt(store, ranks, size=3, seconds=30.0):
    """Let some processes meet; return the name that each got, or the error."""
    with ThreadPoolExecutor(len(ranks)) as pool:
        found = [pool.submit(fresh_prefix, store, rank, size, seconds) for rank in ranks]
        return [one.exception() or one.result() for one in found]


def test_everyone_gets_the_same_name():
    first, *others = attempt(HashStore(), [0, 1, 2])
    assert first.startswith("attempt-")
    assert others == [first, first]


@pytest.mark.parametrize("ranks", [[0], [1], [0, 2], [1, 2], [0, 1, 2]])
def test_an_attempt_that_failed_leaves_nothing_that_misleads(ranks):
    store = HashStore()
    earlier = attempt(store, ranks, seconds=0.3)
    if len(ranks) < 3:
        assert any(isinstance(one, TimeoutError) for one in earlier)
    first, *others = attempt(store, [0, 1, 2])
    assert others == [first, first]
    assert first not in earlier
