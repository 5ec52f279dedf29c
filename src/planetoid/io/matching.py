"""Which node each record of a file belongs to."""

from planetoid.io.match import rows_of

__all__ = ["rows_of"]
