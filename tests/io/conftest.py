"""Files for the readers to read, and what they say about them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from planetoid.errors import DataError, PlanetoidWarning


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Write text or bytes into a file of some name, and return its path."""

    def write(content: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def with_warning():
    """Run something that warns once; return its result and the text of the warning."""

    def run(function, *arguments, **options):
        with pytest.warns(PlanetoidWarning) as caught:
            result = function(*arguments, **options)
        (warning,) = caught
        return result, str(warning.message)

    return run


@pytest.fixture
def error_of():
    """Run something that fails on a file; return the error, whose text must begin with the path."""

    def run(function, path: Path, *arguments, **options) -> DataError:
        with pytest.raises(DataError) as caught:
            function(path, *arguments, **options)
        assert caught.value.path == Path(path)
        assert str(caught.value).startswith(str(path))
        return caught.value

    return run


@pytest.fixture
def text_after_path(error_of):
    """Run something that fails on a file; return the text of the error after the path."""
    return lambda function, path, *arguments, **options: str(
        error_of(function, path, *arguments, **options)
    ).removeprefix(str(path))
