"""Where the real data sets are, for the tests that need them."""

import os
from pathlib import Path

import pytest

# Thousands of small files are written, none of which has to survive a power failure; tests of syncing turn it on.
os.environ.setdefault("PLANETOID_NO_SYNC", "1")


@pytest.fixture(scope="session")
def data_root() -> Path:
    """The folder of real data sets: ``PLANETOID_DATA``, else ``../shared/data``."""
    given = os.environ.get("PLANETOID_DATA")
    root = Path(given) if given else Path(__file__).parents[2] / "shared" / "data"
    if not root.is_dir():
        pytest.skip("the real data sets are not on this machine (set PLANETOID_DATA)")
    return root
