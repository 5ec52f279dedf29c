"""Features of new nodes for a saved model: columns by name, rows in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from planetoid.errors import DataError, Fix, NotInductiveError, ParameterError, PlanetoidWarning, warn
from planetoid.registry import METHODS
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from planetoid.ids import NodeIds
    from planetoid.io import FeatureTable
    from planetoid.io.table import Table
    from planetoid.persistence import SavedModel

__all__ = ["NewNodes", "NewRows", "check_exclusive", "open_new", "read_node_list"]

SHOWN = 3  # columns that a message names


class NewNodes(Protocol):
    """New nodes with features as the model takes them, in blocks that fit in memory."""

    def blocks(self) -> Iterator[FeatureTable]: ...
    def has_integer_ids(self) -> bool: ...


class NewRows:
    """A file of features, checked against the features that a model was fitted on.

    Parameters
    ----------
    path : Path
    model : SavedModel
    id_column : str, optional
        By default one with a usual name, else the only one that is no feature.
    format : str, optional
        As for :func:`planetoid.io.read_features`.
    """

    def __init__(
        self,
        path: Path,
        model: SavedModel,
        id_column: str | None = None,
        format: str | None = None,  # noqa: A002
    ) -> None:
        from planetoid.io.formats import format_of

        _check_inductive(model)
        self.path, self._chosen_format = path, format
        self._format = format_of(path, format)
        self._names = model.feature_names
        self._n_features = model.n_features
        self._id_column = id_column
        if self._names is not None and not self._format.has_names:
            raise DataError(
                f"the file has no column names, but the features of the model have, such as {self._names[0]!r}",
                path=path,
                hint="use a table with a header, or tokens",
            )
        if self._names is not None and self._format.is_table:
            self._id_column = self._match_columns(self._names, id_column)

    def blocks(self) -> Iterator[FeatureTable]:
        """Read the rows in blocks that fit in memory, columns in the order of the model."""
        from planetoid.io import iter_features

        return iter_features(
            self.path,
            id_column=self._id_column,
            names=self._names,
            n_features=self._n_features if self._names is None else None,
            format=self._chosen_format,
        )

    def has_integer_ids(self) -> bool:
        """Return whether all ids are integers, or are written so in text; reads the ids alone where it can."""
        import pyarrow as pa

        from planetoid.io.column_roles import find_id_column
        from planetoid.io.encode import integers_if_canonical

        if not self._format.has_ids:
            return True
        if not self._format.is_table:
            parts, is_text = (table.ids.to_arrow() for table in self.blocks()), True
        else:
            table = self._open_table()
            id_column = find_id_column(table, self._id_column)
            parts, is_text = (batch.texts[0] for batch in table.batches([id_column])), table.is_text
        return all(pa.types.is_integer((integers_if_canonical(part) if is_text else part).type) for part in parts)

    def _open_table(self) -> Table:
        from planetoid.io.formats import open_table
        from planetoid.io.table import TableOptions

        return open_table(self.path, TableOptions(None if self._names is None and self._id_column is None else True))

    def _match_columns(self, features: Sequence[str], id_column: str | None) -> str:
        """Check that every feature has its column; return the column of ids."""
        from planetoid.io.column_roles import ID_NAMES
        from planetoid.io.pandas_index import STORED_INDEX

        columns = self._open_table().names
        self._check_features(features, set(columns))
        is_feature = set(features)
        others = [name for name in columns if name not in is_feature]
        usual = [name for name in others if name.lower() in ID_NAMES] or [one for one in others if one == STORED_INDEX]
        if id_column is None and not usual and len(others) != 1:
            candidates = f"candidates are {', '.join(map(repr, others[:SHOWN]))}" if others else "all are features"
            raise DataError(
                f"cannot infer which column holds the ids: {candidates}",
                path=self.path,
                fix=Fix("id_column", purpose="to choose it"),
            )
        chosen = id_column if id_column is not None else (usual or others)[0]
        ignored = [name for name in others if name != chosen]
        if ignored:
            names = ", ".join(map(repr, ignored[:SHOWN])) + ", ..." * (len(ignored) > SHOWN)
            columns_are = pluralize(len(ignored), "column is", "columns are")
            warn(PlanetoidWarning(f"{columns_are} not among the features of the model: {names}", path=self.path))
        return chosen

    def _check_features(self, features: Sequence[str], columns: set[str]) -> None:
        missing = [name for name in features if name not in columns]
        if missing:
            more = f" and {len(missing) - SHOWN:,} more" * (len(missing) > SHOWN)
            raise DataError(
                f"{pluralize(len(missing), 'feature column is', 'feature columns are')} missing: "
                f"{', '.join(map(repr, missing[:SHOWN]))}{more}; the model was fitted on "
                f"{pluralize(len(features), 'feature')}",
                path=self.path,
            )


def read_node_list(path: Path, ids: NodeIds) -> npt.NDArray[np.int64]:
    """Return the rows of the ids that a text file lists, one per line, in its order."""
    import numpy as np
    import pyarrow as pa

    from planetoid.io.lines import numbered_lines
    from planetoid.io.matching import rows_of
    from planetoid.io.table import Records

    lines = [(line.number, text) for line in numbered_lines(path) if (text := line.text.strip())]
    if not lines:
        raise DataError("the file lists no nodes; it must have one id per line", path=path)

    class Listed(Records):
        def line(self, row: int) -> int:
            return lines[row][0]

    rows = rows_of(ids, pa.array([text for _, text in lines]), Listed(path))
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        number, text = lines[int(unknown[0])]
        raise DataError(
            f"the model has no node {text!r} ({len(unknown):,} of {len(rows):,} are unknown)", path=path, line=number
        )
    return rows


def open_new(
    model: SavedModel,
    features: Path | None,
    nodes: Path | None,
    id_column: str | None,
    format: str | None,  # noqa: A002
) -> NewNodes | None:
    """Return the new nodes of ``--features`` or of ``--nodes``, ``None`` without either."""
    if nodes is not None:
        from planetoid.cli.raw_rows import RawRows

        _check_inductive(model)
        return RawRows(nodes, model, id_column)
    return None if features is None else NewRows(features, model, id_column, format)


def check_exclusive(features: Path | None, nodes: Path | None, ids: Path | None) -> None:
    """Raise ``ParameterError`` if more than one of new features, new raw rows and fitted nodes is asked for."""
    given = {"--features (new nodes)": features, "--nodes (new nodes)": nodes, "--ids (fitted nodes)": ids}
    both = [name for name, path in given.items() if path is not None]
    if len(both) > 1:
        raise ParameterError(f"{' and '.join(both)} are mutually exclusive")


def _check_inductive(model: SavedModel) -> None:
    if model.method.inductive:
        return
    others = ", ".join(name for name in METHODS if METHODS.info(name).inductive)
    raise NotInductiveError(
        f"the model is {model.method.name}, which is transductive: it labels only the "
        f"{pluralize(len(model.node_ids), 'node')} it was fitted on",
        path=model.path,
        hint=f"omit --features and --nodes to get those; to label new nodes, fit with --new-nodes or one of {others}",
    )
