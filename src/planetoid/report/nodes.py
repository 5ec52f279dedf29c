"""``ReportNodes``: the labels, predictions and neighbours of every node, aligned by node id."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.label_arrays import encode_labels
from planetoid.errors import DataError, PlanetoidWarning, warn
from planetoid.multi_label import indicator
from planetoid.report.label_sets import known_sets
from planetoid.report.model_view import ModelView
from planetoid.report.shown import ShownColumns

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence
    from typing import TypeAlias

    from planetoid.graph import Graph
    from planetoid.ids import NodeIds
    from planetoid.persistence import FitRecord
    from planetoid.report.shown import ShownLike

__all__ = ["Codes", "Labels", "ReportNodes", "encode_truth"]

Codes = npt.NDArray[np.int32]
# one per node, or {node id: label}
Labels: TypeAlias = "npt.ArrayLike | Sequence[Hashable] | Mapping[Hashable, Hashable]"


@dataclass(frozen=True, eq=False)
class ReportNodes:
    """The nodes of a model with everything that is known about them; one entry per node, in the model's order.

    The labels of the record are used as they are: codes of ``model.classes``.

    Attributes
    ----------
    model : ModelView
    class_names : list of str
        The classes of the model, followed by classes that occur in the truth only.
    labels : int32 array
        Training labels as codes, -1 where there is none.
    validation : int32 array
        Validation labels as codes, -1 where there is none.
    truth : int32 array
        The known class of each node: from the truth, the validation labels or the training labels; -1 if unknown.
    evaluated : bool array
        Nodes that metrics are computed on; no training node is among them.
    evaluated_on : str
        What these nodes are, as a phrase.
    has_record : bool
        Whether the training labels are known.
    adjacency : csr_array of shape (n_nodes, n_nodes), or None
        Neighbours in both directions, without self-loops.
    notes : list of str
        Remarks on the truth.
    label_sets : csr_array of shape (n_nodes, n_classes), or None
        All labels of training, validation and evaluated nodes, if nodes may have several. The codes above are then one
        label of each, the rarest.
    shown : ShownColumns
        Names and other columns to show.
    """

    model: ModelView
    class_names: list[str]
    labels: Codes
    validation: Codes
    truth: Codes
    evaluated: npt.NDArray[np.bool_]
    evaluated_on: str
    has_record: bool
    adjacency: sparse.csr_array | None = None
    notes: list[str] = field(default_factory=list)
    label_sets: sparse.csr_array | None = None
    shown: ShownColumns = field(default_factory=lambda: ShownColumns({}))

    @classmethod
    def of(
        cls,
        model: ModelView,
        record: FitRecord | None = None,
        truth: Labels | None = None,
        graph: Graph | None = None,
        shown: ShownLike | None = None,
    ) -> ReportNodes:
        """Combine a model with the record of its fit, other known labels and a graph; a mismatch is a ``DataError``."""
        none = np.full(model.n_nodes, -1, dtype=np.int32)
        labels = none if record is None else _checked_codes(record.y, model, "labels")
        validation = none
        if record is not None and record.validation is not None:
            validation = _checked_codes(record.validation, model, "validation labels")
        class_names = [str(label) for label in model.classes.tolist()]
        true, notes, label_sets = none, [], None
        if model.threshold is not None:
            label_sets, true = known_sets(model, record, truth)
        elif truth is not None:
            encoded = encode_truth(truth, model.node_ids, model.classes)
            true = encoded.codes
            class_names += encoded.unknown_classes
            notes = _notes_on_truth(encoded, labels, model.n_classes, has_record=record is not None)
        evaluated = _evaluated_nodes(true, validation, labels, has_record=record is not None)
        return cls(
            model=model,
            class_names=class_names,
            labels=labels,
            validation=validation,
            truth=np.where(true >= 0, true, np.where(validation >= 0, validation, labels)),
            evaluated=evaluated.nodes,
            evaluated_on=evaluated.phrase,
            has_record=record is not None,
            adjacency=_adjacency(record, graph, model.node_ids),
            notes=notes,
            label_sets=label_sets,
            shown=ShownColumns.of(shown, model.node_ids),
        )

    @property
    def ids(self) -> NodeIds:
        """Node ids."""
        return self.model.node_ids

    @property
    def n_classes(self) -> int:
        """Number of classes of the model."""
        return self.model.n_classes

    @property
    def probabilities(self) -> npt.NDArray[np.floating[Any]]:
        """Class probabilities."""
        return self.model.probabilities

    @property
    def n_labelled(self) -> int:
        """Number of training labels."""
        return int((self.labels >= 0).sum())

    @cached_property
    def predicted(self) -> npt.NDArray[np.int64]:
        """Code of the most probable class."""
        return np.asarray(self.probabilities.argmax(axis=1))

    @cached_property
    def confidence(self) -> npt.NDArray[np.floating[Any]]:
        """Probability of the most probable class."""
        return np.asarray(self.probabilities.max(axis=1))

    @cached_property
    def predicted_sets(self) -> npt.NDArray[np.bool_]:
        """Which labels are predicted; just the most probable one unless nodes may have several."""
        if self.model.threshold is not None:
            return indicator(self.probabilities, self.model.threshold) > 0
        return np.asarray(self.predicted[:, None] == np.arange(self.n_classes))

    def joined(self, row: int, known: bool = True) -> str:
        """Return the known or predicted labels of a node as text."""
        if known and self.label_sets is not None:
            codes = self.label_sets[[row]].indices.tolist()
        else:
            codes = np.flatnonzero(self.predicted_sets[row]).tolist()
        return "; ".join(self.class_names[code] for code in codes)

    @cached_property
    def degrees(self) -> npt.NDArray[np.int64] | None:
        """Number of neighbours, ``None`` without a graph."""
        return None if self.adjacency is None else np.diff(self.adjacency.indptr).astype(np.int64)


class EncodedTruth(NamedTuple):
    """Codes of ``classes``; codes beyond them belong to ``unknown_classes``."""

    codes: Codes
    unknown_classes: list[str]


def encode_truth(truth: Labels, ids: NodeIds, classes: npt.NDArray[Any]) -> EncodedTruth:
    """Return labels as codes of the model's classes.

    A label that is not a class may equal one as text: 1 and ``"1"`` are the same class.

    >>> from planetoid.ids import NodeIds
    >>> encoded = encode_truth({"b": "2", "c": "x"}, NodeIds(["a", "b", "c"]), np.array([1, 2]))
    >>> encoded.codes.tolist(), encoded.unknown_classes
    ([-1, 1, 2], ['x'])
    """
    codes, found = encode_labels(truth, ids, "truth")
    if len(found) == 0:
        raise DataError("truth has no labels: every entry is unlabelled (-1, None, NaN or '')", parameter="truth")
    known = classes.tolist()
    code_of = {str(label): code for code, label in enumerate(known)} | {label: code for code, label in enumerate(known)}
    unknown: list[str] = []
    recode = np.full(len(found) + 1, -1, dtype=np.int32)  # the last entry is that of -1
    for number, label in enumerate(found.tolist()):
        code = code_of.get(label, code_of.get(str(label)))
        if code is None:
            code = len(known) + len(unknown)
            unknown.append(str(label))
        recode[number] = code
    if len(unknown) == len(found):
        raise DataError(
            f"truth has none of the model's classes: it has {unknown[0]!r}, the model has {str(known[0])!r}",
            parameter="truth",
        )
    return EncodedTruth(recode[codes], unknown)


def _checked_codes(codes: Codes, model: ModelView, what: str) -> Codes:
    if len(codes) != model.n_nodes or (len(codes) and (codes.min() < -1 or codes.max() >= model.n_classes)):
        raise DataError(f"the record of the fit belongs to another model: its {what} do not match the nodes")
    return codes


def _notes_on_truth(encoded: EncodedTruth, labels: Codes, n_classes: int, *, has_record: bool) -> list[str]:
    notes = []
    true, unknown = encoded
    if unknown:
        count = int((true >= n_classes).sum())
        names = ", ".join(unknown[:3]) + (", …" if len(unknown) > 3 else "")
        notes.append(
            f"Nodes whose true class does not occur in the training labels count as errors: {count:,} ({names})."
        )
    differ = int(((true >= 0) & (labels >= 0) & (true != labels)).sum())
    if differ:
        notes.append(f"Training labels that differ from the true class: {differ:,}.")
    if not has_record:
        notes.append(
            "The training labels are not recorded, so accuracy is not computed: training nodes cannot be excluded."
        )
    return notes


class _Evaluated(NamedTuple):
    nodes: npt.NDArray[np.bool_]
    phrase: str


def _evaluated_nodes(true: Codes, validation: Codes, labels: Codes, *, has_record: bool) -> _Evaluated:
    """Return the nodes to evaluate on: never training nodes, and validation nodes only if there are no others."""
    if has_record:
        untrained = labels < 0
        test = (true >= 0) & untrained & (validation < 0)
        if test.any():
            neither = "used neither for training nor for validation"
            use = neither if (validation >= 0).any() else "not used for training"
            return _Evaluated(test, f"labelled nodes that were {use}")
        held_out = (validation >= 0) & untrained
        if held_out.any():
            return _Evaluated(
                held_out,
                "validation nodes, which may have been used for early stopping: "
                "accuracy on other nodes may be slightly lower",
            )
    return _Evaluated(np.zeros(len(labels), dtype=bool), "")


def _adjacency(record: FitRecord | None, graph: Graph | None, ids: NodeIds) -> sparse.csr_array | None:
    n = len(ids)
    if graph is not None:
        rows = ids.rows(graph.node_ids)
        unknown = int((rows < 0).sum())
        if unknown == len(rows):
            raise DataError(
                f"the graph has none of the model's nodes, whose ids look like {ids[0]!r}", parameter="graph"
            )
        if unknown:
            warn(
                PlanetoidWarning(
                    f"{unknown:,} of {len(rows):,} nodes of the graph are not in the model and are ignored"
                )
            )
        source, target = np.repeat(rows, np.diff(graph.indptr)), rows[graph.indices]
        known = (source >= 0) & (target >= 0)
        source, target = source[known], target[known]
    elif record is not None and record.indptr is not None and record.indices is not None:
        if len(record.indptr) != n + 1:
            raise DataError("the record of the fit belongs to another model: its graph does not match the nodes")
        source, target = np.repeat(np.arange(n), np.diff(record.indptr)), record.indices
    else:
        return None
    distinct = source != target
    source, target = source[distinct], target[distinct]
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    adjacency = sparse.coo_array((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(n, n)).tocsr()
    adjacency.sum_duplicates()
    return adjacency
