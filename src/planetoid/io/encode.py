"""From ids to numbers, in Arrow and in batches: no id ever becomes a Python object."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from planetoid.io.node_order import SortedIds, sorted_ids

__all__ = ["IdEncoder", "int64_or_string", "integers_if_canonical"]


class IdEncoder:
    """Number distinct ids as they occur, batch by batch.

    Each call hashes the ids known so far once, so batches should grow with them: see :attr:`batch_size`.

    >>> encoder = IdEncoder()
    >>> encoder.encode(pa.array(["b", "a", "b"]))
    array([0, 1, 0], dtype=int32)
    >>> encoder.encode(pa.array(["a", "c"]))
    array([1, 2], dtype=int32)
    >>> encoder.sorted()
    SortedIds(ids=NodeIds(['a', 'b', 'c'], n=3), position=array([1, 0, 2], dtype=int32))
    """

    def __init__(self) -> None:
        self._known: pa.Array | None = None

    def __len__(self) -> int:
        return 0 if self._known is None else len(self._known)

    @property
    def batch_size(self) -> int:
        """Number of values, from 2**16 to 2**19, that makes the next call efficient."""
        return min(max(2**16, len(self)), 2**19)

    def encode(self, *columns: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.int32]:
        """Return the number of each value of one or more columns, of integers or strings, in one array."""
        values, known = self._with_common_type(columns)
        found = pc.index_in(values, value_set=known)
        codes: npt.NDArray[np.int32] = pc.fill_null(found, -1).to_numpy().copy()
        if found.null_count:
            fresh = values.filter(pc.is_null(found)).combine_chunks().dictionary_encode()
            codes[codes < 0] = np.asarray(fresh.indices) + len(known)
            known = pa.concat_arrays([known, fresh.dictionary])
        self._known = known
        return codes

    def distinct(self, *, text: bool = False) -> pa.Array:
        """Return the ids in the order of their numbers.

        With ``text`` the ids were read from a text file: they become integers if all of them are written as integers.
        """
        return integers_if_canonical(self._known) if text else self._known

    def sorted(self, *, text: bool = False) -> SortedIds:
        """Return the ids in natural order and the position of each number there; the encoder is empty afterwards."""
        known = self.distinct(text=text)
        self._known = None
        return sorted_ids(known)

    def _with_common_type(self, columns: tuple[pa.Array | pa.ChunkedArray, ...]) -> tuple[pa.ChunkedArray, pa.Array]:
        """Bring new values and known ones to one type: int64 as long as all are integers, else string."""
        parts = [int64_or_string(column) for column in columns]
        types = {part.type for part in parts}
        if self._known is not None and len(self._known):
            types.add(self._known.type)
        common = types.pop() if len(types) == 1 else pa.large_string()
        known = pa.array([], type=common) if self._known is None else self._known.cast(common)
        return pa.chunked_array([chunk for part in parts for chunk in part.cast(common).chunks], type=common), known


def integers_if_canonical(values: pa.Array) -> pa.Array:
    """Return strings as int64 if each is an integer as Python would print it, else as they are.

    ``007`` and ``+7`` are names, not numbers: converted to 7 they would collide with it.
    """
    canonical = pc.match_substring_regex(values, r"^(0|-?[1-9][0-9]{0,18})$")
    if not pc.all(canonical, min_count=0).as_py():
        return values
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return values


def int64_or_string(values: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    """Return integers as int64, or as strings if one of them is larger, as unsigned ones may be."""
    values = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
    if pa.types.is_integer(values.type):
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid:  # unsigned and beyond 63 bits
            pass
    return values.cast(pa.large_string())
