"""A user's files, as the tests of the command line have them."""

from tests.cli.conftest import files

__all__ = ["files"]
