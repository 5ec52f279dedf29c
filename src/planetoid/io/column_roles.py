"""Which column of a table is what."""

from planetoid.io.edgelist import column_number
from planetoid.io.header import ID_NAMES, LABEL_NAMES
from planetoid.io.readers import feature_columns, find_id_column

__all__ = ["ID_NAMES", "LABEL_NAMES", "column_number", "feature_columns", "find_id_column"]
