"""The registry of file formats: how a format is recognised, what it holds, and which class reads it.

A new format is one reader class and one entry in ``FORMATS``. If it is a table, the class extends
:class:`~planetoid.io.table.Table`, and edges, features and labels are all read from it; if it holds features alone, the
class extends :class:`~planetoid.io.feature_reader.FeatureReader`. Compressions are listed in
:mod:`planetoid.io.opening`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from planetoid.errors import DataError, ParameterError
from planetoid.io.limits import COLUMNS
from planetoid.io.opening import COMPRESSIONS, check_file, has_signature, plain_suffix

if TYPE_CHECKING:
    from typing import TypeAlias

    from planetoid.io.feature_reader import FeatureOptions, FeatureReader
    from planetoid.io.table import Table

__all__ = ["FORMATS", "Content", "Format", "format_of", "open_features", "open_table"]

Content: TypeAlias = Literal["edges", "features", "labels"]

READING_OPTIONS = ("id_column", "names", "ignore", "n_features", "header", "separator")


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
    options : tuple of str
        Parameters of :func:`planetoid.io.read_features` that apply to it.
    has_ids : bool
        Whether records have ids; otherwise the row number is the id.
    has_names : bool
        Whether features can have names.
    is_sparse : bool
        Whether features become a sparse matrix.
    is_table : bool
        Whether it has columns, from which edges, features and labels are read; otherwise it has features alone.
    is_text : bool
        Whether it may be compressed.
    signature : bytes or None
        First and last bytes of a file, by which it is recognised without its suffix.
    """

    name: str
    reader: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...] = ()
    has_ids: bool = True
    has_names: bool = True
    is_sparse: bool = False
    is_table: bool = False
    is_text: bool = True
    signature: bytes | None = None

    def holds(self, content: Content) -> bool:
        """Return whether edges, features or labels can be read from this format."""
        return self.is_table or content == "features"

    def reader_class(self) -> object:
        """Import and return the class that reads this format."""
        module, name = self.reader.split(":")
        found: object = getattr(importlib.import_module(module), name)
        return found


TEXT_TABLE = Format(
    "table",
    "planetoid.io.text_table:TextTable",
    (".csv", ".tsv", ".tab"),
    options=READING_OPTIONS,
    is_table=True,
)

FORMATS = {
    known.name: known
    for known in (
        TEXT_TABLE,
        Format(
            "parquet",
            "planetoid.io.parquet_table:ParquetTable",
            (".parquet", ".pq"),
            options=READING_OPTIONS,
            is_table=True,
            is_text=False,
            signature=b"PAR1",
        ),
        Format(
            "tokens",
            "planetoid.io.tokens:TokenFeatures",
            (".txt",),
            options=("names", "n_features"),
            is_sparse=True,
        ),
        Format(
            "svmlight",
            "planetoid.io.svmlight:SvmlightFeatures",
            (".svm", ".svmlight", ".libsvm"),
            options=("n_features",),
            has_ids=False,
            has_names=False,
            is_sparse=True,
        ),
        Format(
            "npz",
            "planetoid.io.matrices:MatrixFeatures",
            (".npz",),
            options=("n_features",),
            has_ids=False,
            has_names=False,
            is_sparse=True,
            is_text=False,
        ),
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
    by_suffix = next((known for known in possible if plain_suffix(path) in known.suffixes), TEXT_TABLE)
    if by_suffix is not TEXT_TABLE:
        return by_suffix
    signed = (known for known in possible if known.signature is not None and has_signature(path, known.signature))
    return next(signed, TEXT_TABLE)


def open_table(path: Path, header: bool | None = None, separator: str | None = None) -> Table:
    """Open a file as a table."""
    found = format_of(path, TEXT_TABLE.name)
    _check_compression(path, found)
    open_as = cast("Callable[[Path, bool | None, str | None], Table]", found.reader_class())
    return open_as(path, header, separator)


def open_features(path: Path, options: FeatureOptions) -> FeatureReader:
    """Open a file of features; columns chosen by name imply a header."""
    from planetoid.io.feature_reader import TableFeatures

    found = format_of(path, options.format)
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
        header = implied if options.header is None else options.header
        reader = TableFeatures(open_table(path, header, options.separator), options)
    else:
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
    compression = next((known for known in COMPRESSIONS if start.startswith(known.magic)), None)
    if compression is not None and not found.is_text:
        raise DataError(
            f"the file is compressed with {compression.name}, which {found.name} files must not be",
            path=path,
            hint="decompress it",
        )
