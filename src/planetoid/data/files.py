"""The sources of a dataset, each read on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import numpy.typing as npt

from planetoid.data.sources import ROLES
from planetoid.errors import DataError, ParameterError, PlanetoidError
from planetoid.preparation.kinds import ColumnOptions

if TYPE_CHECKING:
    from typing import TypeAlias

    from planetoid.data.node_table import NodeTable
    from planetoid.graph import EdgeList, Graph
    from planetoid.ids import NodeIds
    from planetoid.io.feature_table import FeatureBlocks
    from planetoid.io.formats import TableSource
    from planetoid.io.table import Table

__all__ = ["Column", "DatasetFiles"]

Column: TypeAlias = "str | int | None"


class LabelOptions(TypedDict):
    """How a table of labels is read."""

    id_column: str | int | None
    label_column: str | int | None
    header: bool | None
    query: str | None
    unlabelled: Sequence[str]


@dataclass(frozen=True)
class DatasetFiles:
    """Sources by role, and the arguments of :func:`~planetoid.read_dataset` that say how to read them."""

    sources: Mapping[str, TableSource]
    source_column: Column = None
    target_column: Column = None
    weight_column: Column = None
    id_column: Column = None
    label_column: Column = None
    ignore: Sequence[str] = ()
    text_columns: Sequence[str] = ()
    categorical: Sequence[str] = ()
    unlabelled: Sequence[str] = ()
    features_format: str | None = None
    header: bool | Mapping[str, bool] | None = None
    decimal: str | None = None
    query: str | Mapping[str, str] | None = None
    multi_label: bool = False
    label_separator: str | None = None

    def __post_init__(self) -> None:
        if "nodes" in self.sources and "features" in self.sources:
            raise ParameterError("nodes and features are mutually exclusive", parameter="features")
        for parameter in ("header", "query"):
            given = getattr(self, parameter)
            for role in given if isinstance(given, Mapping) else ():
                self._check_role(parameter, role)
        # A stream can be read only once, a query should run only once.
        in_memory = {role: self._open(role) for role in self.sources if self.path(role) is None}
        object.__setattr__(self, "sources", {**self.sources, **in_memory})
        columns = self.ignore and not (
            "nodes" in self.sources or ("features" in self.sources and self.is_table("features"))
        )
        if columns:
            raise ParameterError("ignore names columns of features, which must be a table", parameter="ignore")
        for parameter in ("text_columns", "categorical"):
            if getattr(self, parameter) and "nodes" not in self.sources:
                raise ParameterError(f"{parameter} names columns of nodes", parameter=parameter)
        self.column_options()

    @property
    def has_sets(self) -> bool:
        """Whether nodes may have several labels."""
        return self.multi_label or self.label_separator is not None

    def path(self, role: str) -> Path | None:
        """Return the file of a role, ``None`` if its table is in memory or there is none."""
        source = self.sources.get(role)
        return Path(source) if isinstance(source, (str, PathLike)) else None

    def column_options(self) -> ColumnOptions:
        """Return what is known about the columns of the node table."""
        return ColumnOptions(tuple(self.text_columns), tuple(self.categorical), self.decimal)

    def is_table(self, role: str) -> bool:
        """Return whether a source has columns; only some formats of features have none."""
        from planetoid.io.formats import format_of

        path = self.path(role)
        return role != "features" or path is None or format_of(path, self.features_format).is_table

    def read_edges(self) -> tuple[NodeIds, EdgeList]:
        """Return the ids that occur in the edges, and the edges as row numbers."""
        from planetoid.io import read_edges

        return read_edges(
            self.sources["edges"],
            source=self.source_column,
            target=self.target_column,
            weight=self.weight_column,
            header=self._edges_have_header(),
            decimal=self.decimal,
            query=self._query_of("edges"),
        )

    def read_features(self) -> FeatureBlocks:
        """Return the features in file order."""
        from planetoid.io import read_feature_blocks
        from planetoid.io.feature_reader import FeatureOptions

        options = FeatureOptions(
            id_column=self._id_column_of("features"),
            names=self._feature_names(),
            header=self._has_header("features"),
            decimal=self.decimal if self.is_table("features") else None,
            query=self._query_of("features"),
            format=self.features_format,
        )
        return read_feature_blocks(self.sources["features"], options)

    def read_nodes(self) -> NodeTable:
        """Return the node table with its ids, and its other columns as they are."""
        from planetoid.data.node_table import NodeTable

        return NodeTable.of(
            self._open("nodes"),
            self._id_column_of("nodes"),
            self.label_column if self._has_label_column("nodes") else None,
            self.column_options(),
            self.ignore,
            has_other_labels="labels" in self.sources,
        )

    def read_labels(self, role: str, graph: Graph) -> npt.NDArray[np.object_]:
        """Return the label of each node of the graph, or a list of them, ``None`` for unlabelled nodes."""
        return self._aligned_labels(self.sources[role], graph, self._label_options(role))

    def read_labels_of_nodes(self, nodes: NodeTable, graph: Graph) -> npt.NDArray[np.object_] | None:
        """Return the labels in the node table, ``None`` if it has no column of labels."""
        if nodes.label_column is None:
            return None
        options = LabelOptions(
            id_column=nodes.id_column,
            label_column=nodes.label_column,
            header=None,
            query=None,
            unlabelled=self.unlabelled,
        )
        return self._aligned_labels(nodes.table, graph, options)

    def _aligned_labels(self, source: TableSource, graph: Graph, options: LabelOptions) -> npt.NDArray[np.object_]:
        from planetoid.io import read_label_sets, read_labels

        if self.has_sets:
            return read_label_sets(source, graph, label_separator=self.label_separator, **options)
        return read_labels(source, graph, **options)

    def errors(self) -> list[PlanetoidError]:
        """Read every source on its own, and return what is wrong with each."""
        readers: dict[str, Callable[[], object]] = {
            "edges": self.read_edges,
            "features": self.read_features,
            "nodes": lambda: self.read_nodes().ids,
            "labels": lambda: self._check_labels("labels"),
            "validation": lambda: self._check_labels("validation"),
        }
        errors = []
        for role in self.sources:
            try:
                readers[role]()
            except PlanetoidError as error:
                errors.append(error)
        return errors

    def _check_labels(self, role: str) -> None:
        from planetoid.io import read_label_sets, read_labels

        if self.has_sets:
            source = self.sources[role]
            read_label_sets(source, label_separator=self.label_separator, **self._label_options(role))
        else:
            read_labels(self.sources[role], **self._label_options(role))

    def _label_options(self, role: str) -> LabelOptions:
        return LabelOptions(
            id_column=self._id_column_of(role),
            label_column=self.label_column if self._has_label_column(role) else None,
            header=self._has_header(role),
            query=self._query_of(role),
            unlabelled=self.unlabelled,
        )

    def _has_label_column(self, role: str) -> bool:
        """Return whether the chosen column of labels applies to a table: a name does not if only others have it."""
        if not isinstance(self.label_column, str):
            return self.label_column is not None and role != "nodes"
        others = [one for one in ("nodes", "labels", "validation") if one in self.sources and one != role]
        if self.label_column in self._column_names(role):
            return True
        return not any(self.label_column in self._column_names(other) for other in others)

    def _check_role(self, parameter: str, role: str) -> None:
        if role not in ROLES:
            known = ", ".join(map(repr, ROLES))
            raise ParameterError(f"{parameter} must be given for some of {known}, got {role!r}", parameter=parameter)
        if parameter == "header" and role in self.sources and not self.is_table(role):
            raise ParameterError(f"{self.path(role)} is no table and has no header", parameter="header")

    def _has_header(self, role: str) -> bool | None:
        """Return whether a file has a header; ``None`` if that is to be detected."""
        if not self.is_table(role):
            return None
        return self.header.get(role) if isinstance(self.header, Mapping) else self.header

    def _edges_have_header(self) -> bool | None:
        """Return whether the edges have a header: also if their first line has the name of another table's ids."""
        known = self._has_header("edges")
        tables = [role for role in self.sources if role != "edges" and self.is_table(role)]
        if known is not None or not tables:
            return known
        edges = self._open("edges")
        if edges.header_is_certain or edges.has_names:
            return None
        first = {edges.cell(0, column) for column in range(len(edges.names))}
        for role in tables:
            with suppress(PlanetoidError):  # which is raised when that table is read
                other = self._open(role)
                name = self.id_column if self.id_column in other.names else other.names[0]
                if other.has_names and name in first:
                    return True
        return None

    def _query_of(self, role: str) -> str | None:
        return self.query.get(role) if isinstance(self.query, Mapping) else self.query

    def _id_column_of(self, role: str) -> Column:
        """Return the column of ids in a table; a name applies to the tables that have it."""
        if self.id_column is None or not self.is_table(role):
            return None
        if isinstance(self.id_column, int) or self.id_column in self._column_names(role):
            return self.id_column
        with_ids = [other for other in self.sources if other != "edges" and self.is_table(other)]
        if not any(self.id_column in self._column_names(other) for other in with_ids):
            from planetoid.io.column_roles import listed_names

            columns = {str(self.path(other) or other): self._column_names(other) for other in with_ids}
            raise DataError(
                f"there is no column {self.id_column!r} in {', '.join(columns)}",
                hint="; ".join(
                    f"the columns of {file} are {listed_names(names, 5)}" for file, names in columns.items()
                ),
                parameter="id_column",
            )
        return None

    def _feature_names(self) -> list[str] | None:
        """Return the columns of features without the ignored ones, ``None`` for all."""
        from planetoid.io.column_roles import feature_columns, find_id_column

        if not self.ignore:
            return None
        table = self._open("features", header=True)
        for name in self.ignore:
            if name not in table.names:
                raise DataError(f"there is no column {name!r} to ignore", path=table.path, parameter="ignore")
        node = find_id_column(table, self._id_column_of("features"))
        return [table.names[number] for number in feature_columns(table, node, self.ignore)]

    def _column_names(self, role: str) -> Sequence[str]:
        return self._open(role, header=self._has_header(role) is not False).names

    def _open(self, role: str, header: bool | None = None) -> Table:
        from planetoid.io.formats import open_table
        from planetoid.io.table import TableOptions

        header = self._has_header(role) if header is None else header
        if header is None and role == "nodes":
            named = (self.id_column, self.label_column, *self.ignore, *self.text_columns, *self.categorical)
            header = True if any(isinstance(column, str) for column in named) else None
        options = TableOptions(header, None, self.decimal, self._query_of(role))
        return open_table(self.sources[role], options, "labels" if role == "validation" else role)  # type: ignore[arg-type]
