"""Files for the readers to read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from planetoid.errors import PlanetoidWarning


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Write text or bytes into a file of some name, and return its path."""

    def write(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def told():
    """Run something that warns once; return what it gives and the text of the warning."""

    def run(function, *arguments, **options):
        with pytest.warns(PlanetoidWarning) as caught:
            found = function(*arguments, **options)
        (warning,) = caught
        return found, str(warning.message)

    return run
