"""The files of a data set, each read on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np
import numpy.typing as npt

from planetoid.data.sources import ROLES
from planetoid.errors import DataError, ParameterError, PlanetoidError

if TYPE_CHECKING:
    from typing import TypeAlias

    from planetoid.graph import EdgeList, Graph
    from planetoid.ids import NodeIds
    from planetoid.io.feature_table import FeatureBlocks

__all__ = ["Column", "DatasetFiles"]

Column: TypeAlias = "str | int | None"


class LabelOptions(TypedDict):
    """How a table of labels is read."""

    id_column: str | int | None
    label_column: str | int | None
    header: bool | None


@dataclass(frozen=True)
class DatasetFiles:
    """Paths by role, and the arguments of :func:`~planetoid.read_dataset` that say how to read them."""

    paths: Mapping[str, Path]
    source_column: Column = None
    target_column: Column = None
    weight_column: Column = None
    id_column: Column = None
    label_column: Column = None
    ignore: Sequence[str] = ()
    features_format: str | None = None
    header: bool | Mapping[str, bool] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.header, Mapping):
            for role in self.header:
                self._check_header_role(role)
        if self.ignore and not ("features" in self.paths and self.is_table("features")):
            raise ParameterError("ignore names columns of features, which must be a table", parameter="ignore")

    def is_table(self, role: str) -> bool:
        """Return whether a file has columns; only some formats of features have none."""
        from planetoid.io.formats import format_of

        return role != "features" or format_of(self.paths[role], self.features_format).is_table

    def read_edges(self) -> tuple[NodeIds, EdgeList]:
        """Return the ids that occur in the edges, and the edges as row numbers."""
        from planetoid.io import read_edges

        return read_edges(
            self.paths["edges"],
            source=self.source_column,
            target=self.target_column,
            weight=self.weight_column,
            header=self._has_header("edges"),
        )

    def read_features(self) -> FeatureBlocks:
        """Return the features in file order."""
        from planetoid.io import read_feature_blocks

        return read_feature_blocks(
            self.paths["features"],
            id_column=self._id_column_of("features"),
            names=self._feature_names(),
            header=self._has_header("features"),
            format=self.features_format,
        )

    def read_labels(self, role: str, graph: Graph) -> npt.NDArray[np.object_]:
        """Return the label of each node of the graph, ``None`` for unlabelled nodes."""
        from planetoid.io import read_labels

        return read_labels(self.paths[role], graph, **self._label_options(role))

    def _check_labels(self, role: str) -> None:
        from planetoid.io import read_labels

        read_labels(self.paths[role], **self._label_options(role))

    def _label_options(self, role: str) -> LabelOptions:
        return LabelOptions(
            id_column=self._id_column_of(role), label_column=self.label_column, header=self._has_header(role)
        )

    def errors(self) -> list[PlanetoidError]:
        """Read every file on its own, and return what is wrong with each."""
        readers: dict[str, Callable[[], object]] = {
            "edges": self.read_edges,
            "features": self.read_features,
            "labels": lambda: self._check_labels("labels"),
            "validation": lambda: self._check_labels("validation"),
        }
        errors = []
        for role in self.paths:
            try:
                readers[role]()
            except PlanetoidError as error:
                errors.append(error)
        return errors

    def _check_header_role(self, role: str) -> None:
        if role not in ROLES:
            known = ", ".join(map(repr, ROLES))
            raise ParameterError(f"header must be given for some of {known}, got {role!r}", parameter="header")
        if role in self.paths and not self.is_table(role):
            raise ParameterError(f"{self.paths[role]} is no table and has no header", parameter="header")

    def _has_header(self, role: str) -> bool | None:
        """Return whether a file has a header; ``None`` if that is to be detected."""
        if not self.is_table(role):
            return None
        return self.header.get(role) if isinstance(self.header, Mapping) else self.header

    def _id_column_of(self, role: str) -> Column:
        """Return the column of ids in a table; a name applies to the tables that have it."""
        if self.id_column is None or not self.is_table(role):
            return None
        if isinstance(self.id_column, int) or self.id_column in self._column_names(role):
            return self.id_column
        with_ids = [other for other in self.paths if other != "edges" and self.is_table(other)]
        if not any(self.id_column in self._column_names(other) for other in with_ids):
            files = ", ".join(str(self.paths[other]) for other in with_ids)
            raise DataError(f"there is no column {self.id_column!r} in {files}", parameter="id_column")
        return None

    def _feature_names(self) -> list[str] | None:
        """Return the columns of features without the ignored ones, ``None`` for all."""
        from planetoid.io.column_roles import feature_columns, find_id_column
        from planetoid.io.formats import open_table

        if not self.ignore:
            return None
        table = open_table(self.paths["features"], header=True)
        for name in self.ignore:
            if name not in table.names:
                raise DataError(f"there is no column {name!r} to ignore", path=table.path, parameter="ignore")
        node = find_id_column(table, self._id_column_of("features"))
        return [table.names[number] for number in feature_columns(table, node, self.ignore)]

    def _column_names(self, role: str) -> Sequence[str]:
        from planetoid.io.formats import open_table

        return open_table(self.paths[role], self._has_header(role) is not False).names
