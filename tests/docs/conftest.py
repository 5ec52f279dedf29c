"""Files and commands, as the tests of the command line have them."""

from tests.cli.conftest import files, invoke

__all__ = ["files", "invoke"]
