"""The small graph of the tests of the models."""

from tests.models.conftest import small  # noqa: F401
