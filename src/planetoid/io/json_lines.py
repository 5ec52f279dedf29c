"""JSON: one object per line, a list of objects, or nodes and links as networkx and D3 write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import json as arrow_json

from planetoid.errors import DataError
from planetoid.io.databases import arrow_column
from planetoid.io.lines import numbered_lines
from planetoid.io.opening import open_bytes
from planetoid.io.table import TableOptions
from planetoid.io.typed_table import ArrowTable

__all__ = ["JsonTable"]

LINKS, NODES = ("links", "edges"), ("nodes",)
DEEPEST = 3  # objects inside of objects that become columns, as in address.city


class JsonTable(ArrowTable):
    """A JSON file; the fields of an object inside of an object are columns such as ``address.city``."""

    def __init__(self, path: Path, options: TableOptions) -> None:
        super().__init__(_read(path, options.content), path)


def _read(path: Path, content: str) -> pa.Table:
    if not _has_lines(path):
        return _flat(_from_objects(path, _objects(path, content)))
    try:
        with open_bytes(path) as file:
            options = arrow_json.ParseOptions(newlines_in_values=False)
            return _flat(arrow_json.read_json(file, parse_options=options))
    except (pa.ArrowInvalid, UnicodeDecodeError):  # a column of several types, a line that is no object, a strange name
        lines = (line for line in numbered_lines(path) if line.text.strip())
        return _flat(_from_objects(path, [_parsed(path, line.number, line.text) for line in lines]))


def _flat(data: pa.Table) -> pa.Table:
    for _ in range(DEEPEST):
        data = data.flatten()
    return data


def _has_lines(path: Path) -> bool:
    """Return whether the first line is an object of its own, and not one that holds lists of objects."""
    with open_bytes(path) as file:
        line = file.readline()
        while line and not line.strip():
            line = file.readline()
        try:
            first = json.loads(line)
        except ValueError:
            return line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}")
        more = bool(file.read(1))
    return isinstance(first, dict) and (more or not any(map(_is_list_of_objects, first.values())))


def _objects(path: Path, content: str) -> list[dict[str, Any]]:
    with open_bytes(path) as file:
        try:
            whole = json.load(file)
        except (ValueError, RecursionError) as error:
            raise DataError(f"the file is not valid JSON: {error}", path=path) from None
    if isinstance(whole, dict):
        lists = [name for name, value in whole.items() if _is_list_of_objects(value)]
        wanted = [name for name in lists if name in (LINKS if content == "edges" else NODES)]
        if len(lists) > 1 and len(wanted) != 1:
            raise DataError(
                f"the file is one JSON object with the lists {', '.join(map(repr, lists))}",
                path=path,
                hint="write the list to read as JSON lines, one object per line",
            )
        whole = next((whole[name] for name in wanted or lists), None)
    if not _is_list_of_objects(whole):
        raise DataError("the file is JSON, but not a list of objects", path=path, hint="write one object per line")
    return whole  # type: ignore[no-any-return]


def _is_list_of_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _parsed(path: Path, number: int, text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"the line is not valid JSON: {error}", path=path, line=number) from None
    if not isinstance(found, dict):
        raise DataError("the line is not a JSON object", path=path, line=number, hint='write {"id": ..., ...}')
    return found


def _from_objects(path: Path, objects: Sequence[dict[str, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for one in objects for name in one))
    if not names:
        raise DataError("the objects have no fields", path=path)
    columns = [arrow_column([one.get(name) for one in objects]) for name in names]
    return pa.Table.from_arrays(columns, names=names)
