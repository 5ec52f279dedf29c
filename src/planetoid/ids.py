"""Node ids of any hashable kind, stored as compactly as their kind allows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError

__all__ = ["NodeIds"]

IntArray = npt.NDArray[np.int64]


class NodeIds:
    """An immutable list of distinct node ids that finds the row of an id.

    Row numbers ``0..n-1`` take no memory, integers eight bytes, strings their
    bytes in an Arrow array; any other hashable is kept as a Python object.

    Parameters
    ----------
    values : iterable of hashable, or int
        The ids in row order; a plain number ``n`` stands for ``0..n-1``.

    Examples
    --------
    >>> ids = NodeIds(["a", "b", "c"])
    >>> ids.rows(["c", "nobody"])
    array([ 2, -1])
    >>> ids[1]
    'b'
    """

    __slots__ = ("__dict__", "_store", "kind")

    def __init__(self, values: Any) -> None:
        self.kind, self._store = _choose_store(values)
        self._refuse_duplicates()

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

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeIds):
            return NotImplemented
        if len(self) != len(other):
            return False
        if self.kind == other.kind == "range":
            return True
        if self.kind == other.kind == "str":
            return bool(self._store.equals(other._store))
        return bool(np.array_equal(self.to_numpy(), other.to_numpy()))

    __hash__ = None  # type: ignore[assignment]

    def __contains__(self, node: object) -> bool:
        return isinstance(node, Hashable) and self._row_of(node) >= 0

    def __repr__(self) -> str:
        shown = ", ".join(repr(self[row]) for row in range(min(3, len(self))))
        return f"NodeIds([{shown}{', ...' if len(self) > 3 else ''}], n={len(self):,})"

    @property
    def nbytes(self) -> int:
        """Bytes of the store (for objects, of the references alone)."""
        if self.kind == "range":
            return 0
        return int(self._store.nbytes)

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return the ids as a numpy array: int64, or object for all else."""
        if self.kind == "range":
            return np.arange(self._store, dtype=np.int64)
        if self.kind == "str":
            return np.asarray(self._store.to_numpy(zero_copy_only=False), dtype=object)
        return self._store.copy()  # type: ignore[no-any-return]

    def to_arrow(self) -> Any:
        """Return the ids as an Arrow array, int64 or string; objects are refused."""
        import pyarrow as pa

        if self.kind == "object":
            raise DataError("node ids that are neither integers nor strings cannot be written to a table")
        return self._store if self.kind == "str" else pa.array(self.to_numpy())

    def row(self, node: Hashable) -> int:
        """Return the row of one id, or raise ``DataError`` that names it."""
        found = self._row_of(node)
        if found < 0:
            raise DataError(f"there is no node {node!r} in the graph; {self._hint()}")
        return found

    def rows(self, nodes: Iterable[Hashable]) -> IntArray:
        """Return the row of each id, -1 where there is none."""
        if self.kind in ("range", "int"):
            return self._integer_rows(nodes)
        if self.kind == "str":
            return self._string_rows(nodes)
        lookup = self._lookup
        return np.array([lookup.get(node, -1) for node in nodes], dtype=np.int64)

    def known_rows(self, nodes: Iterable[Hashable]) -> IntArray:
        """Return the row of each id, or raise ``DataError`` naming the first unknown ones."""
        nodes = nodes if isinstance(nodes, (Sequence, np.ndarray)) else list(nodes)
        found = self.rows(nodes)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            names = ", ".join(repr(_plain(nodes[int(k)])) for k in missing[:3])
            more = f" and {len(missing) - 3:,} more" if len(missing) > 3 else ""
            raise DataError(f"not in the graph: {names}{more}; {self._hint()}")
        return found

    def take(self, rows: npt.NDArray[Any]) -> NodeIds:
        """Return the ids of the given rows, in that order."""
        if self.kind == "str":
            import pyarrow as pa

            return NodeIds(self._store.take(pa.array(np.asarray(rows, dtype=np.int64))))
        if self.kind == "range":
            return NodeIds(np.asarray(rows, dtype=np.int64))
        return NodeIds(self._store[rows])

    @cached_property
    def _lookup(self) -> dict[Hashable, int]:
        return {node: row for row, node in enumerate(self.to_numpy().tolist())}

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self._store, kind="stable")

    def _row_of(self, node: Hashable) -> int:
        if self.kind == "range":
            is_row = isinstance(node, (int, np.integer)) and 0 <= node < self._store
            return int(node) if is_row else -1  # type: ignore[call-overload, no-any-return]
        return self._lookup.get(_plain(node), -1)

    def _integer_rows(self, nodes: Iterable[Hashable]) -> IntArray:
        asked = np.asarray(nodes if isinstance(nodes, (Sequence, np.ndarray)) else list(nodes))
        if asked.size == 0:
            return np.empty(0, dtype=np.int64)
        if asked.dtype.kind not in "iu":
            return np.array([self._row_of(node) for node in asked.tolist()], dtype=np.int64)
        asked = asked.astype(np.int64)
        if self.kind == "range":
            return np.where((asked >= 0) & (asked < self._store), asked, -1)
        if len(self) == 0:
            return np.full(len(asked), -1, dtype=np.int64)
        place = np.searchsorted(self._store, asked, sorter=self._order)
        rows = self._order[np.minimum(place, len(self) - 1)]
        return np.where(self._store[rows] == asked, rows, -1)

    def _string_rows(self, nodes: Iterable[Hashable]) -> IntArray:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not isinstance(nodes, (pa.Array, pa.ChunkedArray)):
            nodes = list(nodes)
            if not all(isinstance(node, str) for node in nodes):
                return np.array([self._row_of(node) for node in nodes], dtype=np.int64)
            nodes = pa.array(nodes, type=self._store.type)
        found = pc.index_in(nodes.cast(self._store.type), value_set=self._store)
        return np.asarray(pc.fill_null(found, -1)).astype(np.int64)

    def _hint(self) -> str:
        if len(self) == 0:
            return "the graph has no nodes"
        kind = {"range": "integers", "int": "integers", "str": "strings", "object": "objects"}[self.kind]
        return f"its {len(self):,} ids are {kind} such as {self[0]!r}"

    def _refuse_duplicates(self) -> None:
        if self.kind == "range":
            return
        import pandas as pd

        repeated = pd.Series(self.to_numpy()).duplicated() if self.kind != "str" else _repeated(self._store)
        if repeated is not None and repeated.any():
            first = self[int(np.flatnonzero(repeated)[0])]
            raise DataError(f"node id {first!r} stands twice; every id must be there once")


def _choose_store(values: Any) -> tuple[str, Any]:
    if isinstance(values, NodeIds):
        return values.kind, values._store
    if isinstance(values, (int, np.integer)):
        return "range", int(values)
    if isinstance(values, range) and values.start == 0 and values.step == 1:
        return "range", len(values)
    if type(values).__module__.startswith("pyarrow"):
        return _choose_arrow_store(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return _integer_store(values)
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    if listed and all(type(node) is int or isinstance(node, np.integer) for node in listed):
        try:
            return _integer_store(np.array(listed, dtype=np.int64))
        except OverflowError:
            pass
    if listed and all(isinstance(node, str) for node in listed):
        import pyarrow as pa

        return _choose_arrow_store(pa.array(listed))
    store = np.empty(len(listed), dtype=object)
    for row, node in enumerate(listed):
        if not isinstance(node, Hashable) or node is None or node != node:
            raise DataError(f"node {row} has the id {node!r}; an id must be hashable and not missing")
        store[row] = node
    store.flags.writeable = False
    return ("object", store) if len(store) else ("range", 0)


def _choose_arrow_store(values: Any) -> tuple[str, Any]:
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if values.null_count:
        raise DataError("a node id is missing (null)")
    if pa.types.is_integer(values.type):
        return _integer_store(values.to_numpy())
    if pa.types.is_large_string(values.type) and values.nbytes < 2**31:
        values = values.cast(pa.string())
    return "str", values


def _integer_store(values: npt.NDArray[Any]) -> tuple[str, Any]:
    values = np.ascontiguousarray(values, dtype=np.int64)
    if len(values) and values[0] == 0 and values[-1] == len(values) - 1 and (np.diff(values) == 1).all():
        return "range", len(values)
    if values.flags.writeable:
        values = values.copy()
        values.flags.writeable = False
    return "int", values


def _repeated(store: Any) -> npt.NDArray[np.bool_] | None:
    import pyarrow.compute as pc

    if len(pc.unique(store)) == len(store):
        return None
    import pandas as pd

    return np.asarray(pd.Series(store.to_pylist()).duplicated())


def _plain(node: Any) -> Any:
    return node.item() if isinstance(node, np.generic) else node
