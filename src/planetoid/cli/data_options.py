"""``DataOptions``: the options that name files, as arguments of ``planetoid.read_dataset``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from planetoid.cli.console import status
from planetoid.data.sources import ROLES
from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.data.files import Column
    from planetoid.errors import PlanetoidError

__all__ = ["DataOptions"]


class TableArguments(TypedDict):
    """Arguments of ``read_dataset`` that say how tables are read."""

    source_column: Column
    target_column: Column
    weight_column: Column
    id_column: Column
    label_column: Column
    ignore: tuple[str, ...]
    text_columns: tuple[str, ...]
    categorical: tuple[str, ...]
    unlabelled: tuple[str, ...]
    features_format: str | None
    header: dict[str, bool]
    decimal: str | None
    query: dict[str, str]
    multi_label: bool
    label_separator: str | None


@dataclass(frozen=True)
class DataOptions:
    """Files, and how to read them. ``header`` and ``no_header`` have the roles of files that have a header or none.

    >>> DataOptions(labels=Path("l.csv"), header=("labels",)).headers()
    {'labels': True}
    """

    edges: Path | None = None
    features: Path | None = None
    nodes: Path | None = None
    labels: Path | None = None
    validation: Path | None = None
    directed: bool = False
    source_column: Column = None
    target_column: Column = None
    weight_column: Column = None
    id_column: Column = None
    label_column: Column = None
    ignore: tuple[str, ...] = ()
    text_columns: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()
    features_format: str | None = None
    header: tuple[str, ...] = ()
    no_header: tuple[str, ...] = ()
    decimal: str | None = None
    query: tuple[str, ...] = ()
    multi_label: bool = False
    label_separator: str | None = None

    def paths(self) -> dict[str, Path]:
        """Return the files by role."""
        return {role: path for role in ROLES if (path := getattr(self, role)) is not None}

    def check_present(self) -> None:
        """Raise ``DataError`` for a file that is not there."""
        for path in self.paths().values():
            if str(path) != "-" and not any(mark in str(path) for mark in "*?[") and not path.exists():
                raise DataError("no such file", path=path)

    def require(self, *, labels: bool) -> None:
        """Raise ``ParameterError`` if a required file is missing, before any file is opened."""
        if self.edges is None and self.features is None and self.nodes is None:
            raise ParameterError("there is nothing to learn from: pass --edges, --nodes or --features")
        if self.features is not None and self.nodes is not None:
            raise ParameterError("--features and --nodes are mutually exclusive")
        if labels and self.labels is None and self.nodes is None:
            raise ParameterError(
                "--labels is required: a table of id and label of the labelled nodes; or --nodes with --label-column"
            )
        piped = [role for role, path in self.paths().items() if str(path) == "-"]
        if len(piped) > 1:
            raise ParameterError(f"only one file can be read from standard input, not --{' and --'.join(piped)}")
        self.headers()
        self.queries()

    def read(self, *, labels: bool = True, quiet: bool) -> Dataset:
        """Read all files; with ``labels``, some are required."""
        with status(f"reading {', '.join(map(str, self.paths().values()))}", quiet=quiet):
            from planetoid.data.reading import read_dataset

            data = read_dataset(
                self.edges,
                self.features,
                self.labels,
                self.validation,
                nodes=self.nodes,
                directed=self.directed,
                **self._table_arguments(),
            )
        if labels and data.n_classes == 0 and self.labels is None:
            raise ParameterError(
                f"{self.nodes} has no column that is called label or class; pass --label-column COLUMN or --labels FILE"
            )
        return data

    def errors(self, *, quiet: bool) -> list[PlanetoidError]:
        """Return what is wrong with each of the files."""
        from planetoid.data.files import DatasetFiles

        with status("reading every file on its own", quiet=quiet):
            return DatasetFiles(self.paths(), **self._table_arguments()).errors()

    def headers(self) -> dict[str, bool]:
        """Return for the files that ``--header`` and ``--no-header`` name whether they have a header."""
        for option, roles in (("--header", self.header), ("--no-header", self.no_header)):
            for role in roles:
                if role not in ROLES:
                    raise ParameterError(f"{option} must be one of {', '.join(ROLES)}, got {role}")
        both = [role for role in self.header if role in self.no_header]
        if both:
            raise ParameterError(f"--header {both[0]} and --no-header {both[0]} are mutually exclusive")
        return dict.fromkeys(self.header, True) | dict.fromkeys(self.no_header, False)

    def queries(self) -> dict[str, str]:
        """Return the queries that ``--query`` gives, by role."""
        found = {}
        for text in self.query:
            role, equals, query = text.partition("=")
            if role not in ROLES or not equals or not query.strip():
                raise ParameterError(f"--query must be ROLE=SQL with one of {', '.join(ROLES)}, got {text}")
            found[role] = query
        return found

    def as_arguments(self) -> list[str]:
        """Return all options that were given as arguments of a command line.

        >>> DataOptions(nodes=Path("n.csv"), id_column=0, ignore=("a", "b"), directed=True).as_arguments()
        ['--nodes', 'n.csv', '--directed', '--id-column', '0', '--ignore', 'a', '--ignore', 'b']
        """
        arguments = []
        for field in fields(self):
            value, option = getattr(self, field.name), "--" + field.name.replace("_", "-")
            if value is True:
                arguments.append(option)
            elif value is not None and value is not False:  # a column may be 0
                values = value if isinstance(value, tuple) else (value,)
                arguments += [part for one in values for part in (option, str(one))]
        return arguments

    def _table_arguments(self) -> TableArguments:
        return {
            "source_column": self.source_column,
            "target_column": self.target_column,
            "weight_column": self.weight_column,
            "id_column": self.id_column,
            "label_column": self.label_column,
            "ignore": self.ignore,
            "text_columns": self.text_columns,
            "categorical": self.categorical,
            "unlabelled": self.unlabelled,
            "features_format": self.features_format,
            "header": self.headers(),
            "decimal": self.decimal,
            "query": self.queries(),
            "multi_label": self.multi_label,
            "label_separator": self.label_separator,
        }
