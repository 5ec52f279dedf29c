"""``Dataset``: a graph, features and labels over the same nodes, in one order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from planetoid.data.agreement import known_label_sets, without_labelled
from planetoid.data.drawing import draw_split
from planetoid.data.sources import SourceFile
from planetoid.data.splits import Split, rate_split
from planetoid.errors import DataError, ParameterError
from planetoid.graph import Graph
from planetoid.ids import NodeIds
from planetoid.labels import as_classes, as_objects, mask_labels
from planetoid.parameters import Real, check_parameters

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from scipy import sparse
    from typing_extensions import Self

    from planetoid.preparation import Preparation

__all__ = ["Dataset", "Features"]

Features: TypeAlias = "npt.NDArray[np.float32] | sparse.csr_array"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A graph, features and labels in node order; what every method learns from.

    Attributes
    ----------
    name : str
    graph : Graph
        Without an edge where no graph was given; its ids are the node ids.
    X : float32 ``csr_array`` or array, or None
        A row of zeros is a node without features.
    y : int32 array
        Code of each node's class in ``classes``; -1 where it is unknown.
    classes : array, or a sequence of labels
        The classes as they were given, usually strings or integers.
    validation : int32 array or None
        As ``y``, for nodes that may be used to stop or to choose, never to fit. A node that has the same label in
        ``y`` is ignored, with a warning; a different label is an error.
    feature_names : array of str or None
    preparation : Preparation or None
        How the features were made from the columns of a node table.
    warnings : tuple of str
        What was repaired, dropped or ignored while reading.
    description : str
        What the nodes, edges and features are.
    origin : str
        Where it comes from.
    sources : tuple of SourceFile
        The files that it was read from, with their SHA-256.
    public : Split or None
        The split that came with the data.
    parent_rows : int64 array or None
        After :meth:`without`: the row that each node had before.
    Y : boolean ``csr_array`` of shape (n_nodes, n_classes), or None
        All labels of each node, if nodes may have several. ``y`` and ``validation`` then say which nodes are for
        training and for validation, by one label each, the node's rarest; rows of other nodes are empty.

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
    X: Features | None
    y: npt.NDArray[np.int32]
    classes: npt.NDArray[Any]
    validation: npt.NDArray[np.int32] | None = None
    feature_names: npt.NDArray[np.object_] | None = None
    description: str = ""
    origin: str = ""
    sources: tuple[SourceFile, ...] = ()
    public: Split | None = None
    parent_rows: npt.NDArray[np.int64] | None = None
    preparation: Preparation | None = None
    warnings: tuple[str, ...] = ()
    Y: sparse.csr_array | None = None

    def __post_init__(self) -> None:
        classes = cast("npt.NDArray[Any] | Sequence[object]", self.classes)
        if not isinstance(classes, np.ndarray):
            object.__setattr__(self, "classes", as_classes(classes))
        n = self.graph.n_nodes
        for name in ("y", "validation"):
            given = getattr(self, name)
            if given is None:
                continue
            codes = np.array(given, dtype=np.int32)
            codes.flags.writeable = False
            object.__setattr__(self, name, codes)
            if len(codes) != n or (self.X is not None and self.X.shape[0] != n):
                rows = "none" if self.X is None else f"{self.X.shape[0]:,}"
                raise DataError(f"{self.name}: {n:,} nodes, but {len(codes):,} labels and {rows} feature rows")
            if n and (codes.min() < -1 or codes.max() >= self.n_classes):
                raise DataError(f"{self.name}: a label code is outside -1..{self.n_classes - 1}")
        if self.validation is not None:
            object.__setattr__(self, "validation", without_labelled(self.validation, self))
        if self.Y is not None:
            object.__setattr__(self, "Y", known_label_sets(self.Y, self))

    # ---- contents -------------------------------------------------------------

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
        """Number of classes, whether or not all of them occur."""
        return len(self.classes)

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text."""
        return tuple(map(str, self.classes.tolist()))

    @property
    def multi_label(self) -> bool:
        """Whether nodes may have several labels."""
        return self.Y is not None

    @property
    def labels(self) -> npt.NDArray[np.object_]:
        """The class of each node, or the list of its classes if it may have several; ``None`` where it is unknown."""
        if self.Y is not None:
            lists = np.split(self.classes[self.Y.indices], self.Y.indptr[1:-1])
            return as_objects([one.tolist() or None for one in lists])
        return np.append(self.classes.astype(object), np.array([None]))[self.y]

    def source(self, role: str) -> SourceFile | None:
        """Return the file of a role (``"edges"``, ``"labels"``, ...), ``None`` if there is none."""
        return next((file for file in self.sources if file.role == role), None)

    # ---- what a method learns from ------------------------------------------

    @property
    def ids(self) -> NodeIds:
        """The node ids, which find the row of an id."""
        return self.graph.ids

    @property
    def labelled(self) -> npt.NDArray[np.int64]:
        """Rows of the labelled nodes."""
        return np.flatnonzero(self.y >= 0)

    @property
    def validation_nodes(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Rows of the nodes with a validation label, and their class codes; empty without any."""
        if self.validation is None:
            return np.empty(0, np.int64), np.empty(0, np.int32)
        rows = np.flatnonzero(self.validation >= 0)
        return rows, self.validation[rows]

    @property
    def class_prior(self) -> npt.NDArray[np.float64]:
        """Share of each class among the labelled nodes; the shares sum to 1 unless nodes may have several labels."""
        if self.Y is not None:
            return np.asarray(self.Y[self.labelled].mean(axis=0, dtype=np.float64))
        counts = np.bincount(self.y[self.y >= 0], minlength=self.n_classes)
        return np.asarray(counts / counts.sum(), dtype=np.float64)

    @property
    def labels_per_class(self) -> float:
        """Mean number of labelled nodes per class."""
        return len(self.labelled) / max(1, self.n_classes)

    def one_hot(self) -> npt.NDArray[np.float64]:
        """Labels as an n x k matrix with zero rows for the unlabelled."""
        matrix = np.zeros((self.n_nodes, self.n_classes))
        rows = self.labelled
        if self.Y is not None:
            matrix[rows] = self.Y[rows].toarray()
            return matrix
        matrix[rows, self.y[rows]] = 1.0
        return matrix

    @cached_property
    def has_features(self) -> npt.NDArray[np.bool_]:
        """Which nodes have a feature other than zero."""
        if self.X is None:
            return np.zeros(self.n_nodes, dtype=bool)
        if isinstance(self.X, np.ndarray):
            return np.asarray(self.X.any(axis=1))
        return np.asarray(np.diff(self.X.indptr) > 0)

    @cached_property
    def reached(self) -> npt.NDArray[np.bool_]:
        """Which nodes are in a connected component with a labelled node.

        >>> import planetoid as pl
        >>> graph = pl.Graph.from_edges([0, 2], [1, 3])
        >>> pl.Dataset("pairs", graph, None, [0, -1, -1, -1], ["a"]).reached.tolist()
        [True, True, False, False]
        """
        if not self.n_nodes:
            return np.zeros(0, dtype=bool)
        components = self.graph.components()
        has_label = np.zeros(int(components.max()) + 1, dtype=bool)
        has_label[components[self.labelled]] = True
        return np.asarray(has_label[components])

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
        n_folds: int = 5,
    ) -> Split:
        """Return labelled, validation and test rows.

        Parameters
        ----------
        kind : {"public", "random", "rate", "folds"}
            The split that came with the data; a new one of the paper's protocol
            (:func:`~planetoid.datasets.planetoid_split`); one by labelling rate
            (:func:`~planetoid.datasets.rate_split`); or a fold of a repeated stratified cross-validation
            (:func:`~planetoid.datasets.fold_split`). If nodes may have several labels, ``"random"`` and ``"rate"`` are
            those of :func:`~planetoid.datasets.multi_label_split`, and folds are balanced by the rarest label of each.
        seed : int
            For all but the first. Seeds 0 to ``n_folds - 1`` are the folds of one division of the labels, the next
            ``n_folds`` those of another.
        rate : float
            For ``"rate"``.
        per_class : int
            For ``"random"``.
        n_val, n_test : int, optional
            Default 500 and 1,000 for ``"random"``, none and all the rest for ``"rate"``.
        n_folds : int
            For ``"folds"``.
        """
        return draw_split(
            self, kind, seed=seed, rate=rate, per_class=per_class, n_val=n_val, n_test=n_test, n_folds=n_folds
        )

    def hold_out(self, share: float, seed: int = 0) -> Self:
        """Return the data with a share of each class's labels moved from ``y`` to ``validation``.

        At least one label per class stays in ``y``.

        Examples
        --------
        >>> import planetoid as pl
        >>> data = pl.datasets.make_citation(100, n_classes=2).hold_out(0.25, seed=1)
        >>> int((data.y >= 0).sum()), int((data.validation >= 0).sum())
        (74, 26)
        """
        check_parameters("hold_out", {"share": share}, {"share": Real(0, 1, closed="neither")})
        if self.validation is not None:
            raise ParameterError(f"{self.name} already has validation labels", parameter="share")
        split = rate_split(self.y, 1 - share, seed=seed)
        if len(split.test) == 0:
            raise DataError(f"no label can be held out for validation: {self.name} has too few labels per class")
        return replace(self, y=mask_labels(self.y, split.train), validation=mask_labels(self.y, split.test))

    # ---- parts ----------------------------------------------------------------

    def without(self, rows: npt.ArrayLike) -> Self:
        """Return the data without these nodes, their edges, features and labels.

        ``data.without(split.test)`` is what a method sees when the test nodes
        are truly unseen. Node ids do not change; ``parent_rows`` has the old row
        of each node, and :meth:`rows_from_parent` returns the new row of an old one.

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
        remain = np.ones(self.n_nodes, dtype=bool)
        remain[np.asarray(rows, dtype=np.int64)] = False
        kept = np.flatnonzero(remain)
        part = replace(
            self,
            graph=self.graph.subgraph(self.node_ids[kept]),
            X=None if self.X is None else self.X[kept],
            y=self.y[kept],
            validation=None if self.validation is None else self.validation[kept],
            Y=None if self.Y is None else self.Y[kept],
            parent_rows=kept,
            public=None,
        )
        if self.public is not None:
            given = (self.public.train, self.public.val, self.public.test)
            train, val, test = (rows[rows >= 0] for rows in map(part.rows_from_parent, given))
            part = replace(part, public=Split(train, val, test, self.public.protocol))
        return part

    def rows_from_parent(self, rows: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """Return the rows here of rows of the parent, -1 for removed ones."""
        if self.parent_rows is None:
            raise ParameterError(f"{self.name} has no parent: it was not returned by without()")
        wanted = np.asarray(rows, dtype=np.int64)
        if len(self.parent_rows) == 0:
            return np.full(wanted.shape, -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.parent_rows, wanted), len(self.parent_rows) - 1)
        return np.where(self.parent_rows[found] == wanted, found, -1)

    # ---- text -----------------------------------------------------------------

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.name!r}, nodes={self.n_nodes:,}, edges={self.graph.n_edges:,}, "
            f"features={self.n_features:,}, classes={self.n_classes:,})"
        )

    def details(self) -> list[tuple[str, str]]:
        """Return further rows for the description, of subclasses that hold more."""
        return []

    def __str__(self) -> str:
        from planetoid.data.summary import describe

        title = f"{self.name}: {self.description}" if self.description else self.name
        return "\n".join([title, *(f"  {name:<10} {text}" for name, text in describe(self))])
