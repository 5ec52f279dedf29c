"""Node ids of any hashable kind, stored as compactly as their kind allows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError

if TYPE_CHECKING:
    from typing import TypeAlias

    import pyarrow as pa

__all__ = ["IdsLike", "NodeIds"]

IntArray: TypeAlias = npt.NDArray[np.int64]
IdsLike: TypeAlias = "NodeIds | Iterable[Hashable] | int"  # an int n stands for 0, 1, ..., n - 1
ListedIds: TypeAlias = "npt.NDArray[Any] | pa.Array | pa.ChunkedArray | list[Hashable]"


class _Store(NamedTuple):
    """Ids and how they are stored: their number, an int64 array, an Arrow array of strings, or an array of objects."""

    kind: str
    values: Any  # what kind says


class NodeIds:
    """An immutable list of distinct node ids that finds the row of an id.

    Row numbers ``0..n-1`` take no memory, integers eight bytes each, strings their bytes in an Arrow array; any other
    hashable is stored as a Python object.

    Parameters
    ----------
    values : iterable of hashable, or int
        The ids in row order; a number ``n`` stands for ``0..n-1``.

    Attributes
    ----------
    kind : {"range", "int", "str", "object"}
        How the ids are stored.

    Examples
    --------
    >>> ids = NodeIds(["a", "b", "c"])
    >>> ids.rows(["c", "nobody"])
    array([ 2, -1])
    >>> ids[1]
    'b'
    """

    __slots__ = ("__dict__", "_store", "kind")

    kind: str
    _store: Any  # see _Store

    def __init__(self, values: IdsLike) -> None:
        self.kind, self._store = _choose_store(values)
        if not isinstance(values, NodeIds):
            self._check_unique()

    @classmethod
    def distinct(cls, values: IdsLike) -> NodeIds:
        """Make ids of values that are known to be distinct, without a check."""
        ids = cls.__new__(cls)
        ids.kind, ids._store = _choose_store(values)
        return ids

    def __len__(self) -> int:
        return self._store if self.kind == "range" else len(self._store)

    def __getitem__(self, row: int) -> Hashable:
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)} node ids")
        row = range(len(self))[row]
        if self.kind == "range":
            return int(row)
        if self.kind == "int":
            return int(self._store[row])
        if self.kind == "str":
            return str(self._store[row].as_py())
        return self._store[row]  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.to_numpy().tolist())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return :meth:`to_numpy`, so that ids can be the index of a pandas table."""
        return self.to_numpy() if dtype is None else self.to_numpy().astype(dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeIds):
            return NotImplemented
        if len(self) != len(other) or self.kind != other.kind:
            return False
        if self.kind == "range":
            return True
        if self.kind == "str":
            return bool(self._store.equals(other._store))
        return bool(np.array_equal(self._store, other._store))

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, node: object) -> bool:
        return self._row_of(node) >= 0

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[row]) for row in range(min(3, len(self))))
        return f"NodeIds([{shown}{', ...' if len(self) > 3 else ''}], n={len(self):,})"

    @property
    def nbytes(self) -> int:
        """Bytes in memory (for objects, of the references alone)."""
        return 0 if self.kind == "range" else int(self._store.nbytes)

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return the ids as a numpy array: int64, or object for all other kinds."""
        if self.kind == "range":
            return np.arange(self._store, dtype=np.int64)
        return _as_numpy(self._store) if self.kind == "str" else np.array(self._store)

    def to_arrow(self) -> pa.Array:
        """Return the ids as an Arrow array, int64 or string; other kinds are an error."""
        import pyarrow as pa

        if self.kind == "object":
            raise DataError(f"node ids such as {self[0]!r} are neither integers nor strings, as a table requires")
        return self._store if self.kind == "str" else pa.array(self.to_numpy())

    def row(self, node: Hashable) -> int:
        """Return the row of one id, or raise ``DataError``."""
        found = self._row_of(node)
        if found < 0:
            raise DataError("not in the graph", node=node, hint=self._description())
        return found

    def rows(self, nodes: Iterable[Hashable]) -> IntArray:
        """Return the row of each id in an iterable, an array or an Arrow array; -1 for an unknown one."""
        listed = _listed(nodes)
        if self.kind == "str":
            strings = _as_strings(listed)
            if strings is not None:
                return self._string_rows(strings.cast(self._store.type))
        elif self.kind in ("range", "int"):
            integers = _as_integers(listed)
            if integers is not None:
                return self._integer_rows(integers)
        return np.array([self._row_of(node) for node in listed], dtype=np.int64)

    def known_rows(self, nodes: Iterable[Hashable]) -> IntArray:
        """Return the row of each id, or raise ``DataError`` naming the first unknown ones."""
        listed = _listed(nodes)
        found = self.rows(listed)
        missing = np.flatnonzero(found < 0)
        if len(missing) == 1:
            raise DataError("not in the graph", node=_plain(listed[int(missing[0])]), hint=self._description())
        if len(missing):
            names = ", ".join(repr(_plain(listed[int(k)])) for k in missing[:3])
            more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            raise DataError(f"{len(missing):,} nodes are not in the graph: {names}{more}", hint=self._description())
        return found

    def at(self, rows: npt.NDArray[np.integer]) -> npt.NDArray[Any]:
        """Return the ids of the given rows, which may repeat, as an array."""
        if self.kind == "range":
            return np.asarray(rows, dtype=np.int64)
        return _as_numpy(self._store.take(rows)) if self.kind == "str" else np.asarray(self._store[rows])

    def take(self, rows: npt.NDArray[np.integer]) -> NodeIds:
        """Return the ids of the given rows, in that order."""
        rows = np.asarray(rows, dtype=np.int64)
        if self.kind == "range":
            return NodeIds(rows)
        return NodeIds(self._store.take(rows) if self.kind == "str" else self._store[rows])

    @cached_property
    def _lookup(self) -> dict[Hashable, int]:
        return {node: row for row, node in enumerate(self._store.tolist())}

    @cached_property
    def _order(self) -> npt.NDArray[np.integer]:
        """Rows by increasing id, of integers or strings, to look an id up by bisection."""
        if self.kind == "int":
            return np.argsort(self._store, kind="stable")
        import pyarrow.compute as pc

        return np.asarray(pc.array_sort_indices(self._store))

    def _row_of(self, value: object) -> int:
        node = _plain(value)
        if self.kind == "object":
            try:
                return self._lookup.get(node, -1)
            except TypeError:  # not hashable, so not an id
                return -1
        if self.kind == "str":
            return self._row_of_string(node) if isinstance(node, str) else -1
        if type(node) is not int or not -(2**63) <= node < 2**63:
            return -1
        return int(self._integer_rows(np.array([node]))[0])

    def _row_of_string(self, node: str) -> int:
        # By bisection: a dictionary of all ids would be many times the size of the graph.
        rank = bisect_left(range(len(self)), node, key=lambda k: self._store[int(self._order[k])].as_py())
        row = int(self._order[rank]) if rank < len(self) else -1
        return row if row >= 0 and self[row] == node else -1

    def _integer_rows(self, nodes: IntArray) -> IntArray:
        if self.kind == "range":
            return np.where((nodes >= 0) & (nodes < self._store), nodes, -1)
        rank = np.searchsorted(self._store, nodes, sorter=self._order)
        rows = self._order[np.minimum(rank, len(self) - 1)]
        return np.where(self._store[rows] == nodes, rows, -1)

    def _string_rows(self, nodes: pa.Array) -> IntArray:
        import pyarrow.compute as pc

        found = pc.index_in(nodes, value_set=self._store)
        return np.asarray(pc.fill_null(found, -1)).astype(np.int64)

    def _description(self) -> str:
        if len(self) == 0:
            return "the graph has no nodes"
        kind = {"range": "integers", "int": "integers", "str": "strings", "object": "objects"}[self.kind]
        return f"its {len(self):,} ids are {kind} such as {self[0]!r}"

    def _check_unique(self) -> None:
        if self._n_distinct() == len(self):
            return
        seen: set[Hashable] = set()
        for row in range(len(self)):
            node = self[row]
            if node in seen:
                raise DataError("duplicate node id", node=node, row=row)
            seen.add(node)

    def _n_distinct(self) -> int:
        if self.kind == "range":
            return len(self)
        if self.kind == "int":
            return len(np.unique(self._store))
        if self.kind == "object":
            return len(self._lookup)
        import pyarrow.compute as pc

        return len(pc.unique(self._store))


def _choose_store(values: IdsLike) -> _Store:
    if isinstance(values, NodeIds):
        return _Store(values.kind, values._store)
    if isinstance(values, (int, np.integer)):
        if isinstance(values, bool) or values < 0:
            raise DataError(f"the number of nodes must be an integer >= 0, got {values}")
        return _Store("range", int(values))
    if isinstance(values, range) and values.start == 0 and values.step == 1:
        return _Store("range", len(values))
    if _is_arrow(values):
        return _arrow_store(values)
    listed = _listed(values)
    integers = _as_integers(listed)
    if integers is not None:
        return _integer_store(integers)
    strings = _as_strings(listed)
    return _object_store(listed) if strings is None else _arrow_store(strings)


def _arrow_store(values: pa.Array | pa.ChunkedArray) -> _Store:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if values.null_count:
        raise DataError("a node id is missing (null)", row=int(np.flatnonzero(values.is_null())[0]))
    if len(values) == 0:
        return _Store("range", 0)
    if pa.types.is_integer(values.type):
        return _integer_store(values.cast(pa.int64()).to_numpy())
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        raise DataError(f"node ids in an Arrow array must be integers or strings, not {values.type}")
    small = values.nbytes < 2**31  # else 32 bits do not reach the end of the bytes
    return _Store("str", values.cast(pa.string() if small else pa.large_string()))


def _integer_store(values: npt.NDArray[np.integer]) -> _Store:
    integers = np.ascontiguousarray(values, dtype=np.int64)
    if len(integers) == 0:
        return _Store("range", 0)
    if integers[0] == 0 and integers[-1] == len(integers) - 1 and (np.diff(integers) == 1).all():
        return _Store("range", len(integers))
    if integers.flags.writeable:
        integers = integers.copy()
        integers.flags.writeable = False
    return _Store("int", integers)


def _object_store(listed: ListedIds) -> _Store:
    values = np.empty(len(listed), dtype=object)
    for row, node in enumerate(listed):
        if not isinstance(node, Hashable) or node is None or node != node:
            raise DataError(f"a node id must be hashable and not missing, got {node!r}", row=row)
        values[row] = node
    values.flags.writeable = False
    return _Store("object", values)


def _as_integers(listed: ListedIds) -> IntArray | None:
    """Return ids as int64 if every one is an integer that fits, else None."""
    if isinstance(listed, np.ndarray) and listed.dtype.kind in "iu":
        fits = listed.dtype != np.uint64 or len(listed) == 0 or listed.max() < 2**63
        return listed.astype(np.int64, copy=False) if fits else None
    if _is_arrow(listed):
        return _as_integers(listed.to_numpy()) if str(listed.type).lstrip("u").startswith("int") else None
    plain = (_plain(node) for node in listed)
    if not all(type(node) is int and -(2**63) <= node < 2**63 for node in plain):
        return None
    return np.array(listed, dtype=np.int64)


def _as_strings(listed: ListedIds) -> pa.Array | None:
    """Return ids as an Arrow array if every one is a string, else None."""
    import pyarrow as pa

    if _is_arrow(listed):
        return listed if pa.types.is_string(listed.type) or pa.types.is_large_string(listed.type) else None
    if not all(isinstance(node, str) for node in listed):
        return None
    try:
        return pa.array(listed, type=pa.large_string())
    except UnicodeEncodeError:  # half of a surrogate pair: a Python string, but not valid text
        return None


def _listed(nodes: Iterable[Hashable]) -> ListedIds:
    """Return any iterable as a list; arrays as they are."""
    return nodes if isinstance(nodes, np.ndarray) or _is_arrow(nodes) else list(nodes)


def _is_arrow(values: object) -> TypeGuard[pa.Array]:
    return type(values).__module__.startswith("pyarrow")


def _as_numpy(strings: pa.Array) -> npt.NDArray[np.object_]:
    return np.asarray(strings.to_numpy(zero_copy_only=False), dtype=object)


def _plain(node: Any) -> Hashable:
    """Return a scalar of numpy or Arrow as a Python object."""
    if _is_arrow(node):
        return node.as_py()  # type: ignore[no-any-return]
    return node.item() if isinstance(node, np.generic) else node  # type: ignore[no-any-return]
