"""``Dataset``: a graph, features, labels and the split that came with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.datasets.splits import Split, planetoid_split, rate_split
from planetoid.errors import DataError, ParameterError
from planetoid.graph import Graph

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Dataset"]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Everything that an experiment needs, in node order.

    Attributes
    ----------
    name : str
    graph : Graph
    X : float32 ``csr_array`` or None
        A row without entries is a node without features.
    y : int32 array
        Code of each node's class in ``class_names``; -1 where it is unknown.
    class_names : tuple of str
    description : str
        What the nodes, edges and features are.
    origin : str
        Where it comes from.
    public : Split or None
        The split that came with the data.
    parent_rows : int64 array or None
        After :meth:`without`: the row that each node had before.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.load("cora-bundled")
    >>> data
    Dataset('cora-bundled', nodes=2,708, edges=5,278, features=1,433, classes=7)
    >>> data.split("random", seed=3)
    Split(train=140, val=500, test=1,000, protocol='20 per class, seed 3')
    """

    name: str
    graph: Graph
    X: Any
    y: npt.NDArray[np.int32]
    class_names: tuple[str, ...]
    description: str = ""
    origin: str = ""
    public: Split | None = None
    parent_rows: npt.NDArray[np.int64] | None = field(default=None)

    def __post_init__(self) -> None:
        y = np.array(self.y, dtype=np.int32)
        y.flags.writeable = False
        object.__setattr__(self, "y", y)
        n = self.graph.n_nodes
        if len(y) != n or (self.X is not None and self.X.shape[0] != n):
            rows = "none" if self.X is None else f"{self.X.shape[0]:,}"
            raise DataError(f"{self.name}: {n:,} nodes, but {len(y):,} labels and {rows} feature rows")
        if len(y) and (y.min() < -1 or y.max() >= len(self.class_names)):
            raise DataError(f"{self.name}: a label code is outside -1..{len(self.class_names) - 1}")

    # ---- what is in it --------------------------------------------------------

    @property
    def node_ids(self) -> npt.NDArray[Any]:
        """The ids of the nodes, in row order."""
        return self.graph.node_ids

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.n_nodes

    @property
    def n_features(self) -> int:
        """Number of feature columns, 0 without features."""
        return 0 if self.X is None else int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of class names, whether or not all of them occur."""
        return len(self.class_names)

    # ---- splits ---------------------------------------------------------------

    def split(
        self,
        kind: str = "public",
        *,
        seed: int = 0,
        rate: float | None = None,
        per_class: int = 20,
        n_val: int | None = None,
        n_test: int | None = None,
    ) -> Split:
        """Return labelled, validation and test rows.

        Parameters
        ----------
        kind : {"public", "random", "rate"}
            The split that came with the data; a new one of the paper's
            protocol (:func:`~planetoid.datasets.planetoid_split`); or one by
            labelling rate (:func:`~planetoid.datasets.rate_split`).
        seed : int
            For the last two.
        rate : float
            For ``"rate"``.
        per_class : int
            For ``"random"``.
        n_val, n_test : int, optional
            Default 500 and 1,000 for ``"random"``, none and all the rest for ``"rate"``.
        """
        if kind == "public":
            if self.public is None:
                raise ParameterError(f"{self.name} has no public split; use split('random', seed=0) to draw one")
            return self.public
        if kind == "random":
            val, test = 500 if n_val is None else n_val, 1000 if n_test is None else n_test
            return planetoid_split(self.y, per_class, val, test, seed)
        if kind == "rate":
            if rate is None:
                raise ParameterError("split('rate') needs rate=, the share of each class that is labelled")
            return rate_split(self.y, rate, n_val or 0, n_test, seed)
        raise ParameterError(f"there is no split {kind!r}; it is 'public', 'random' or 'rate'")

    # ---- parts ----------------------------------------------------------------

    def without(self, rows: npt.ArrayLike) -> Self:
        """Return the data with these nodes, their edges, features and labels gone.

        ``data.without(split.test)`` is what a method sees when the test nodes
        are truly unseen. Node ids stay what they were; ``parent_rows`` tells
        the old row of each node and :meth:`rows_from_parent` the new row of an
        old one.

        Examples
        --------
        >>> import planetoid as pl
        >>> data = pl.datasets.load("cora-bundled")
        >>> split = data.split("random")
        >>> seen = data.without(split.test)
        >>> seen.n_nodes
        1708
        >>> bool((seen.node_ids == data.node_ids[seen.parent_rows]).all())
        True
        """
        gone = np.zeros(self.n_nodes, dtype=bool)
        gone[np.asarray(rows, dtype=np.int64)] = True
        kept = np.flatnonzero(~gone)
        part = replace(
            self,
            graph=self.graph.subgraph(self.node_ids[kept]),
            X=None if self.X is None else self.X[kept],
            y=self.y[kept],
            parent_rows=kept,
            public=None,
        )
        if self.public is not None:
            given = (self.public.train, self.public.val, self.public.test)
            train, val, test = (rows[rows >= 0] for rows in map(part.rows_from_parent, given))
            part = replace(part, public=Split(train, val, test, self.public.protocol))
        return part

    def rows_from_parent(self, rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the rows that rows of the parent have here, -1 for those that are gone."""
        if self.parent_rows is None:
            raise ParameterError(f"{self.name} was not made by without(); its rows are the original ones")
        asked = np.asarray(rows, dtype=np.int64)
        place = np.searchsorted(self.parent_rows, asked)
        place = np.minimum(place, max(len(self.parent_rows) - 1, 0))
        if len(self.parent_rows) == 0:
            return np.full(asked.shape, -1, dtype=np.int64)
        return np.where(self.parent_rows[place] == asked, place, -1)

    # ---- telling --------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, nodes={self.n_nodes:,}, edges={self.graph.n_edges:,}, "
            f"features={self.n_features:,}, classes={self.n_classes:,})"
        )

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.description}"]
        lines += [f"  {what:<9} {text}" for what, text in self._facts()]
        return "\n".join(lines)

    def _facts(self) -> list[tuple[str, str]]:
        degrees = self.graph.degrees
        isolated = int((degrees == 0).sum())
        facts = [
            ("nodes", f"{self.n_nodes:,}" + (f" ({isolated:,} isolated)" if isolated else "")),
            ("edges", f"{self.graph.n_edges:,} distinct ({self.graph.summary.entries:,} adjacency entries read)"),
        ]
        if self.X is not None:
            empty = int((np.diff(self.X.indptr) == 0).sum())
            without = f", {empty:,} nodes without any" if empty else ""
            facts.append(("features", f"{self.n_features:,} ({self.X.nnz:,} entries{without})"))
        occur = len(np.unique(self.y[self.y >= 0]))
        some = "" if occur == self.n_classes else f", {occur:,} of them occur"
        names = ": " + ", ".join(self.class_names) if self.n_classes <= 10 else ""
        facts.append(("classes", f"{self.n_classes:,}{some}{names}"))
        facts.append(("labels", f"{int((self.y >= 0).sum()):,} known"))
        if self.public is not None:
            sizes = len(self.public.train), len(self.public.val), len(self.public.test)
            facts.append(("split", "public: {:,} labelled, {:,} validation, {:,} test".format(*sizes)))
        if self.origin:
            facts.append(("origin", self.origin))
        return facts
