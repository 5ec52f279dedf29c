"""The registry of file formats: how a format is recognised, what it holds, and which class reads it.

A new format is one reader class and one entry in ``FORMATS``. If it is a table, the class extends
:class:`~planetoid.io.table.Table`, and edges, features, labels and node tables are all read from it; if it holds
features alone, the class extends :class:`~planetoid.io.feature_reader.FeatureReader`. Compressions are listed in
:mod:`planetoid.io.opening`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from planetoid.errors import DataError, ParameterError
from planetoid.io.limits import COLUMNS
from planetoid.io.locations import begins_with_json, is_in_parts, parts_of
from planetoid.io.opening import COMPRESSIONS, check_file, has_signature, plain_suffix

if TYPE_CHECKING:
    from typing import TypeAlias

    from planetoid.io.feature_reader import FeatureOptions, FeatureReader
    from planetoid.io.memory import ArrowStream, Connection
    from planetoid.io.table import Table, TableOptions

__all__ = ["FORMATS", "Content", "Format", "TableSource", "format_of", "open_features", "open_table"]

Content: TypeAlias = Literal["edges", "features", "labels", "nodes"]
TableSource: TypeAlias = "str | PathLike[str] | Table | ArrowStream | Connection"

READING_OPTIONS = ("id_column", "names", "ignore", "n_features", "header", "separator", "decimal")


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    name : str
        As in ``read_features(path, format=name)``.
    reader : str
        Module and class that read it, imported on first use.
    suffixes : tuple of str
        File name endings, without that of a compression.
    contents : tuple of str
        What can be read from it; everything from a table.
    options : tuple of str
        Parameters of :func:`planetoid.io.read_features` that apply to it.
    has_ids : bool
        Whether records have ids; otherwise the row number is the id.
    has_names : bool
        Whether features can have names.
    is_table : bool
        Whether its features are columns of a table; otherwise they have a reader of their own.
    is_text : bool
        Whether it may be compressed.
    signature : bytes or None
        First bytes of a file, by which it is recognised without its suffix.
    signature_offset : int
        Where the signature begins.
    signed_at_end : bool
        Whether the last bytes are the signature too.
    table_reader : str or None
        Module and class that read edges and labels, if it is not ``reader``.
    """

    name: str
    reader: str
    suffixes: tuple[str, ...]
    contents: tuple[Content, ...] = ("features",)
    options: tuple[str, ...] = ()
    has_ids: bool = True
    has_names: bool = True
    is_table: bool = False
    is_text: bool = True
    signature: bytes | None = None
    signature_offset: int = 0
    signed_at_end: bool = False
    table_reader: str | None = None

    def holds(self, content: Content) -> bool:
        """Return whether edges, features, labels or a node table can be read from this format."""
        return self.is_table or content in self.contents

    def is_signed(self, path: Path) -> bool:
        """Return whether a file has the signature of this format."""
        return self.signature is not None and has_signature(
            path, self.signature, at_end=self.signed_at_end, offset=self.signature_offset
        )

    def reader_class(self) -> object:
        """Import and return the class that reads features in this format."""
        return _imported(self.reader)

    def table_class(self) -> object:
        """Import and return the class that reads edges, labels and node tables in this format."""
        return self.reader_class() if self.table_reader is None else _imported(self.table_reader)


def _imported(where: str) -> object:
    module, name = where.split(":")
    found: object = getattr(importlib.import_module(module), name)
    return found


def _table(name: str, reader: str, suffixes: tuple[str, ...], **more: Any) -> Format:
    return Format(name, reader, suffixes, options=READING_OPTIONS, is_table=True, **more)


def _arrays(name: str, suffixes: tuple[str, ...], **more: Any) -> Format:
    return Format(
        name,
        "planetoid.io.arrays:ArrayFeatures",
        suffixes,
        contents=("edges", "features", "labels"),
        options=("n_features",),
        has_ids=False,
        has_names=False,
        is_text=False,
        table_reader="planetoid.io.arrays:ArrayTable",
        **more,
    )


TEXT_TABLE = _table("table", "planetoid.io.text_table:TextTable", (".csv", ".tsv", ".tab"))

FORMATS = {
    known.name: known
    for known in (
        TEXT_TABLE,
        _table(
            "parquet",
            "planetoid.io.parquet_table:ParquetTable",
            (".parquet", ".pq"),
            is_text=False,
            signature=b"PAR1",
            signed_at_end=True,
        ),
        _table(
            "arrow",
            "planetoid.io.feather:FeatherTable",
            (".feather", ".arrow", ".ipc", ".arrows"),
            is_text=False,
            signature=b"ARROW1",
            signed_at_end=True,
        ),
        _table("json", "planetoid.io.json_lines:JsonTable", (".jsonl", ".ndjson", ".json")),
        _table(
            "sqlite",
            "planetoid.io.databases:SqliteTable",
            (".sqlite", ".sqlite3", ".db"),
            is_text=False,
            signature=b"SQLite format 3\x00",
        ),
        _table(
            "duckdb",
            "planetoid.io.databases:DuckdbTable",
            (".duckdb", ".ddb"),
            is_text=False,
            signature=b"DUCK",
            signature_offset=8,
        ),
        Format("tokens", "planetoid.io.tokens:TokenFeatures", (".txt",), options=("names", "n_features")),
        Format(
            "svmlight",
            "planetoid.io.svmlight:SvmlightFeatures",
            (".svm", ".svmlight", ".libsvm"),
            options=("n_features",),
            has_ids=False,
            has_names=False,
        ),
        _arrays("npz", (".npz",)),
        _arrays("npy", (".npy",), signature=b"\x93NUMPY"),
        _arrays("mat", (".mat",), signature=b"MATLAB 5.0 MAT-file"),
    )
}


def format_of(path: str | Path, chosen: str | None = None, content: Content = "features") -> Format:
    """Return the format of a file: the one chosen, else by its suffix, else by its content, else a text table.

    ``"table"`` stands for any format that is a table, so that it is right for Parquet too.

    >>> format_of("words.txt.gz").name, format_of("f.parquet", "table").name, format_of("f.txt", content="labels").name
    ('tokens', 'parquet', 'table')
    """
    path = Path(path)
    possible = [known for known in FORMATS.values() if known.holds(content)]
    if chosen is not None and chosen not in [known.name for known in possible]:
        names = ", ".join(repr(known.name) for known in possible)
        raise ParameterError(f"format must be one of {names}, got {chosen!r}", parameter="format")
    if chosen is not None and chosen != TEXT_TABLE.name:
        return FORMATS[chosen]
    if chosen == TEXT_TABLE.name:
        possible = [known for known in possible if known.is_table]
    if is_in_parts(path):
        return format_of(parts_of(path)[0], chosen, content)
    by_suffix = next((known for known in possible if plain_suffix(path) in known.suffixes), TEXT_TABLE)
    if by_suffix.is_text and by_suffix.is_table:  # the suffix may be wrong, as that of a pipe is
        signed = next((known for known in possible if known.is_signed(path)), None)
        if signed is not None:
            return signed
        if by_suffix is TEXT_TABLE and FORMATS["json"] in possible and begins_with_json(path):
            return FORMATS["json"]
    return by_suffix


def open_table(source: TableSource, options: TableOptions | None = None, content: Content = "nodes") -> Table:
    """Open a file, several files, a database or a table in memory as a table of edges, labels or nodes."""
    from planetoid.io.table import Table, TableOptions

    options = options or TableOptions()
    if isinstance(source, Table):
        return source
    if not isinstance(source, (str, PathLike)):
        from planetoid.io.memory import table_in_memory

        return table_in_memory(source, options)
    path = Path(source)
    if is_in_parts(path):
        from planetoid.io.parts import PartsTable

        return PartsTable(path, [open_table(part, options, content) for part in parts_of(path)])
    found = format_of(path, None if content in ("edges", "labels") else TEXT_TABLE.name, content)
    _check_compression(path, found)
    if options.query is not None and found.name not in ("sqlite", "duckdb"):
        raise ParameterError("a query requires a database", parameter="query", path=path)
    open_as = cast("Callable[[Path, TableOptions], Table]", found.table_class())
    return open_as(path, replace(options, content=content))


def open_features(source: TableSource, options: FeatureOptions) -> FeatureReader:
    """Open a file of features; columns chosen by name imply a header."""
    from planetoid.io.feature_reader import TableFeatures

    path = Path(source) if isinstance(source, (str, PathLike)) else None
    found = TEXT_TABLE if path is None else format_of(path, options.format)
    for name in READING_OPTIONS:
        value = getattr(options, name)
        if value is not None and name not in found.options:
            raise ParameterError(
                f"{name} does not apply to the format {found.name!r}, got {value!r}", parameter=name, path=path
            )
    reader: FeatureReader
    if found.is_table:
        if options.names is not None and options.ignore is not None:
            raise ParameterError("names and ignore are mutually exclusive", parameter="ignore")
        chosen = (options.names, options.ignore)
        columns = [options.id_column, *(column for columns in chosen if columns is not None for column in columns)]
        implied = True if any(isinstance(column, str) for column in columns) else None
        reader = TableFeatures(open_table(source, options.of_table(implied)), options)
    else:
        assert path is not None
        _check_compression(path, found)
        open_as = cast("Callable[[Path, FeatureOptions], FeatureReader]", found.reader_class())
        reader = open_as(path, options)
    COLUMNS.check(reader.n_features, path)
    if options.n_features is not None and reader.n_features != options.n_features:
        raise DataError(
            f"the file has {reader.n_features:,} features, but {options.n_features:,} are required", path=path
        )
    return reader


def _check_compression(path: Path, found: Format) -> None:
    start = check_file(path)
    if found.name == "npz":  # a zip archive itself
        return
    compression = next((known for known in COMPRESSIONS if start.startswith(known.magic)), None)
    if compression is not None and not found.is_text:
        raise DataError(
            f"the file is compressed with {compression.name}, which {found.name} files must not be",
            path=path,
            hint="decompress it",
        )
