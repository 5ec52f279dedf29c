"""``Sources``: the files that a command is given, and what it is told about them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    from planetoid.io.table import Table

__all__ = ["ROLES", "Sources"]

ROLES = ("edges", "features", "labels", "validation")

Column = str | int | None


@dataclass(frozen=True)
class Sources:
    """Paths, and what the options say about the tables in them.

    Columns are names, or numbers counted from 0. ``header`` and ``no_header`` name roles; a file that is in neither
    is looked at.

    >>> Sources(labels=Path("l.csv"), header=("labels",)).has_header("labels")
    True
    """

    edges: Path | None = None
    features: Path | None = None
    labels: Path | None = None
    validation: Path | None = None
    directed: bool = False
    source_column: Column = None
    target_column: Column = None
    weight_column: Column = None
    id_column: Column = None
    label_column: Column = None
    ignore: tuple[str, ...] = ()
    features_format: str | None = None
    header: tuple[str, ...] = ()
    no_header: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for option, roles in (("--header", self.header), ("--no-header", self.no_header)):
            for role in roles:
                if role not in ROLES:
                    raise ParameterError(f"{option} {role}: it names one of {', '.join(ROLES)}")
        both = sorted(set(self.header) & set(self.no_header))
        if both:
            raise ParameterError(f"--header {both[0]} and --no-header {both[0]} cannot both be right")
        if self.ignore and not (self.features is not None and self.is_table("features")):
            raise ParameterError("--ignore names columns of --features, which has to be a table")

    def require(self, *, labels: bool) -> None:
        """Refuse options that name too few files."""
        if self.edges is None and self.features is None:
            raise ParameterError("there is nothing to learn from: give --edges, --features or both")
        if labels and self.labels is None:
            raise ParameterError("--labels is missing: a table of id and label, for the nodes whose label is known")

    def files(self) -> list[tuple[str, Path]]:
        """Return what each file is, and the file."""
        return [(role, path) for role in ROLES if (path := getattr(self, role)) is not None]

    def is_table(self, role: str) -> bool:
        """Tell whether a file has columns: all are, but for some formats of features."""
        return role != "features" or self.format_of_features() == "table"

    def format_of_features(self) -> str:
        """Return the format of the features: what was asked for, else what the suffix says."""
        from planetoid.io.features import FORMATS, feature_format

        if self.features_format is not None and self.features_format not in FORMATS:
            raise ParameterError(f"--features-format {self.features_format}: it is one of {', '.join(FORMATS)}")
        assert self.features is not None
        return feature_format(self.features, self.features_format)

    def has_header(self, role: str) -> bool | None:
        """Tell whether a file has a header; ``None``: its first lines tell."""
        return True if role in self.header else False if role in self.no_header else None

    def id_column_of(self, role: str) -> Column:
        """Return the column of ids to ask for in one file: what was named, if the file has it."""
        if self.id_column is None or not self.is_table(role):
            return None
        if isinstance(self.id_column, int) or self._has_column(role, self.id_column):
            return self.id_column
        with_ids = [name for name, _ in self.files() if name != "edges" and self.is_table(name)]
        if not any(self._has_column(name, self.id_column) for name in with_ids):
            files = ", ".join(str(getattr(self, name)) for name in with_ids)
            raise DataError(f"there is no column {self.id_column!r} in {files}; --id-column names the column of ids")
        return None

    def wanted_features(self) -> list[str] | None:
        """Return the columns of features that are not to be ignored, ``None`` for all."""
        if not self.ignore:
            return None
        from planetoid.io.readers import feature_columns, find_id_column

        table = self._open("features", header=True)
        for name in self.ignore:
            if name not in table.names:
                raise DataError(f"{self.features} has no column {name!r} to ignore")
        node = find_id_column(table, self.id_column_of("features"))
        return [table.names[number] for number in feature_columns(table, node, self.ignore)]

    def hashed(self) -> list[dict[str, str]]:
        """Return role, path and SHA-256 of every file, for the record of a fit."""
        return [{"role": role, "path": str(path), "sha256": _sha256(path)} for role, path in self.files()]

    def _has_column(self, role: str, name: str) -> bool:
        return name in self._open(role, header=self.has_header(role) is not False).names

    def _open(self, role: str, header: bool) -> Table:
        from planetoid.io.table import open_table

        path = getattr(self, role)
        assert path is not None
        return open_table(path, header)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
