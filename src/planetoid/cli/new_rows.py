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
        from planetoid.io.features import feature_format

        _refuse_transductive(model, where)
        self.path, self._format = path, format
        self._kind = feature_format(path, format)
        names = getattr(model, "feature_names_in_", None)
        self._names = None if names is None else [str(name) for name in names]
        self._n_features = int(model.n_features_in_)
        self._id_column: str | int | None = id_column
        if self._names is not None and self._kind in ("npz", "svmlight"):
            raise DataError(
                f"{path} has no names of columns, but the model in {where} goes by names, such as {self._names[0]!r}; "
                "give a table with a header, or words"
            )
        if self._names is not None and self._kind == "table":
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
        """Tell whether all ids are integers, or are written so in text: a look at the ids alone."""
        import pyarrow as pa

        from planetoid.io.encode import integers_if_canonical
        from planetoid.io.features import iter_ids
        from planetoid.io.files import is_parquet

        if self._kind in ("npz", "svmlight"):
            return True
        as_it_is = is_parquet(self.path)
        parts = iter_ids(self.path, id_column=self._id_column, names=self._names, format=self._format)
        return all(pa.types.is_integer((part if as_it_is else integers_if_canonical(part)).type) for part in parts)

    def _match_columns(self, asked: str | None) -> str:
        """Check that every feature has its column; return the column of ids."""
        from planetoid.io.header import ID_NAMES
        from planetoid.io.pandas_index import STORED_INDEX
        from planetoid.io.table import open_table

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

    from planetoid.io.files import open_binary
    from planetoid.io.layout import decode_line
    from planetoid.io.match import rows_of

    lines = []
    with open_binary(path) as file:
        for number, line in enumerate(file, start=1):
            text = decode_line(path, number, line).strip()
            if text:
                lines.append((number, text))
    listed = _Listed(path, [number for number, _ in lines])
    if not lines:
        raise DataError(f"{path} lists no node; it has one id a line")
    rows = rows_of(ids, pa.array([text for _, text in lines]), listed)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        at = int(unknown[0])
        raise DataError(
            f"{path}, {listed.place(at)}: the model has no node {lines[at][1]!r} "
            f"({len(unknown):,} of {len(rows):,} are unknown)"
        )
    return rows


class _Listed:
    """Where each id stood, for messages."""

    def __init__(self, path: Path, numbers: list[int]) -> None:
        self.path, self._numbers = path, numbers

    def place(self, row: int) -> str:
        return f"line {self._numbers[row]}"


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
