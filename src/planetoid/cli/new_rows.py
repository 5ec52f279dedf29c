"""Features of new nodes for a model that was fitted before: columns by name, rows in pieces."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planetoid.cli.console import counted
from planetoid.errors import DataError, NotInductiveError, ParameterError, PlanetoidWarning
from planetoid.registry import CLASSES, METHODS

if TYPE_CHECKING:
    from planetoid.estimator import GraphClassifier
    from planetoid.ids import NodeIds
    from planetoid.io import FeatureTable

__all__ = ["NewRows", "listed_nodes", "short_name"]

SHOWN = 3  # columns that a message names


class NewRows:
    """A file of features, checked against the features of a model.

    Parameters
    ----------
    path : Path
    model : GraphClassifier
    where : Path
        Of the model, for messages.
    id_column : str, optional
        By default one with a usual name, else the only one that is no feature.
    format : str, optional
        As for :func:`planetoid.io.read_features`.
    """

    def __init__(
        self,
        path: Path,
        model: GraphClassifier,
        where: Path,
        id_column: str | None = None,
        format: str | None = None,  # noqa: A002
    ) -> None:
        from planetoid.io.formats import format_of

        _refuse_transductive(model, where)
        self.path, self._format = path, format
        self._file_format = format_of(path, format)
        names = getattr(model, "feature_names_in_", None)
        self._names = None if names is None else [str(name) for name in names]
        self._n_features = int(model.n_features_in_)
        self._id_column: str | int | None = id_column
        if self._names is not None and not self._file_format.has_names:
            raise DataError(
                f"{path} has no names of columns, but the model in {where} goes by names, such as {self._names[0]!r}; "
                "give a table with a header, or words"
            )
        if self._names is not None and self._file_format.is_table:
            self._id_column = self._match_columns(id_column)

    def pieces(self) -> Iterator[FeatureTable]:
        """Read the rows in pieces that fit into memory, columns in the order of the model."""
        from planetoid.io import iter_features

        return iter_features(
            self.path,
            id_column=self._id_column,
            names=self._names,
            n_features=self._n_features if self._names is None else None,
            format=self._format,
        )

    def has_integer_ids(self) -> bool:
        """Return whether all ids are integers, or are written so in text; reads the ids alone where it can."""
        import pyarrow as pa

        from planetoid.io.column_roles import find_id_column
        from planetoid.io.encode import integers_if_canonical
        from planetoid.io.formats import open_table

        if not self._file_format.has_ids:
            return True
        if not self._file_format.is_table:
            parts, is_text = (table.ids.to_arrow() for table in self.pieces()), True
        else:
            table = open_table(self.path, header=None if self._names is None and self._id_column is None else True)
            id_column = find_id_column(table, self._id_column)
            parts, is_text = (batch.texts[0] for batch in table.batches([id_column])), table.is_text
        return all(pa.types.is_integer((integers_if_canonical(part) if is_text else part).type) for part in parts)

    def _match_columns(self, asked: str | None) -> str:
        """Check that every feature has its column; return the column of ids."""
        from planetoid.io.column_roles import ID_NAMES
        from planetoid.io.formats import open_table
        from planetoid.io.pandas_index import STORED_INDEX

        assert self._names is not None
        wanted = set(self._names)
        columns = open_table(self.path, True).names
        have = set(columns)
        missing = [name for name in self._names if name not in have]
        if missing:
            shown = ", ".join(map(repr, missing[:SHOWN])) + (
                f" and {len(missing) - SHOWN:,} more" * (len(missing) > SHOWN)
            )
            what = f"the column {shown}" if len(missing) == 1 else f"{len(missing):,} columns: {shown}"
            raise DataError(f"{self.path} lacks {what}; the model was fitted on {counted(len(self._names), 'feature')}")
        others = [name for name in columns if name not in wanted]
        usual = [name for name in others if name.lower() in ID_NAMES] or [
            name for name in others if name == STORED_INDEX
        ]
        if asked is None and not usual and len(others) != 1:
            found = f"it could be one of {', '.join(map(repr, others[:SHOWN]))}" if others else "all are features"
            raise DataError(f"{self.path}: which column has the ids? Say --id-column NAME ({found})")
        chosen = asked if asked is not None else (usual or others)[0]
        ignored = [name for name in others if name != chosen]
        if ignored:
            one_or_more = "column is no feature of the model and is", "columns are no features of the model and are"
            warnings.warn(
                f"{self.path}: {counted(len(ignored), *one_or_more)} ignored: "
                f"{', '.join(map(repr, ignored[:SHOWN]))}{', ...' * (len(ignored) > SHOWN)}",
                PlanetoidWarning,
                stacklevel=3,
            )
        return chosen


def short_name(model: GraphClassifier) -> str:
    """Return the name of a model's method in ``METHODS``."""
    return CLASSES[type(model).__name__][0]


def listed_nodes(path: Path, ids: NodeIds) -> Any:
    """Return the rows of the ids that a text file lists, one a line, in its order."""
    import numpy as np
    import pyarrow as pa

    from planetoid.io.lines import numbered_lines
    from planetoid.io.matching import rows_of
    from planetoid.io.table import Records

    lines = [(number, text.strip()) for number, text in numbered_lines(path) if text.strip()]
    if not lines:
        raise DataError(f"{path} lists no node; it has one id a line")

    class Listed(Records):
        def line(self, row: int) -> int:
            return lines[row][0]

    rows = rows_of(ids, pa.array([text for _, text in lines]), Listed(path))
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        at = int(unknown[0])
        raise DataError(
            f"the model has no such node ({len(unknown):,} of {len(rows):,} are unknown)",
            path=path,
            line=lines[at][0],
            node=lines[at][1],
        )
    return rows


def _refuse_transductive(model: GraphClassifier, where: Path) -> None:
    if model.inductive:
        return
    others = ", ".join(name for name, cls in METHODS.items() if cls.inductive)
    raise NotInductiveError(
        f"the model in {where} is {short_name(model)}, which is transductive: it labels only the "
        f"{counted(len(model.node_ids_), 'node')} it was fitted on. Leave --features out to get those; to label new "
        f"rows, fit again with --new-nodes or one of {others}"
    )


def refuse_both(features: Path | None, nodes: Path | None) -> None:
    """Refuse new rows and fitted nodes at the same time."""
    if features is not None and nodes is not None:
        raise ParameterError("--features asks for new rows, --nodes for nodes that were fitted; give one of them")
