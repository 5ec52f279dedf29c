"""From ids to numbers, in Arrow and in pieces: no id ever becomes a Python object."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.ids import NodeIds

__all__ = ["IdEncoder", "integers_if_canonical"]

Codes = npt.NDArray[np.int32]


class IdEncoder:
    """Number distinct ids as they come, batch by batch.

    Each call hashes the ids known so far once, so batches should grow with
    them: :attr:`worthwhile` says how many values make a call worth its while.

    >>> encoder = IdEncoder()
    >>> encoder.encode(pa.array(["b", "a", "b"]))
    array([0, 1, 0], dtype=int32)
    >>> encoder.encode(pa.array(["a", "c"]))
    array([1, 2], dtype=int32)
    >>> ids, place = encoder.sorted()
    >>> ids, place
    (NodeIds(['a', 'b', 'c'], n=3), array([1, 0, 2], dtype=int32))
    """

    def __init__(self) -> None:
        self._known: Any = None

    def __len__(self) -> int:
        return 0 if self._known is None else len(self._known)

    @property
    def worthwhile(self) -> int:
        """Number of values, between 2**16 and 2**19, that makes the next call worth its while."""
        return min(max(2**16, len(self)), 2**19)

    def encode(self, *columns: Any) -> Codes:
        """Return the number of each value of one or more Arrow arrays, of integers or strings, in one array."""
        values = self._in_common(columns)
        found = pc.index_in(values, value_set=self._known)
        codes: Codes = pc.fill_null(found, -1).to_numpy().copy()
        if found.null_count:
            fresh = values.filter(pc.is_null(found)).combine_chunks().dictionary_encode()
            codes[codes < 0] = np.asarray(fresh.indices) + len(self._known)
            self._known = pa.concat_arrays([self._known, fresh.dictionary])
        return codes

    def sorted(self, *, text: bool = False) -> tuple[NodeIds, Codes]:
        """Return the ids in order and the place of each number among them.

        With ``text`` the ids were read from a text file: they become integers
        if all of them are written as integers are.
        """
        known = integers_if_canonical(self._known) if text else self._known
        order = pc.array_sort_indices(known)
        place = np.empty(len(order), dtype=np.int32)
        place[np.asarray(order)] = np.arange(len(order), dtype=np.int32)
        self._known = None
        return NodeIds.distinct(known.take(order)), place

    def _in_common(self, columns: tuple[Any, ...]) -> Any:
        """Bring new values and known ones to one type: int64 as long as all are integers, else string."""
        parts = [_as_int64_or_string(column) for column in columns]
        kinds = {part.type for part in parts} | ({self._known.type} if len(self) else set())
        kind = kinds.pop() if len(kinds) == 1 else pa.large_string()
        self._known = pa.array([], type=kind) if self._known is None else self._known.cast(kind)
        return pa.chunked_array([chunk for part in parts for chunk in part.cast(kind).chunks], type=kind)


def integers_if_canonical(values: Any) -> Any:
    """Return strings as int64 if each is an integer in the usual way of writing, else as they are.

    ``007`` and ``+7`` are names, not numbers: turned into 7 they would collide with it.
    """
    usual = pc.match_substring_regex(values, r"^(0|-?[1-9][0-9]{0,18})$")
    if not pc.all(usual, min_count=0).as_py():
        return values
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return values


def _as_int64_or_string(values: Any) -> Any:
    values = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if pa.types.is_integer(values.type):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:  # unsigned and beyond 63 bits
            pass
    return values.cast(pa.large_string())
