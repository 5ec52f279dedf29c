"""``NodeTable``: what a report knows of each node, from the model, its record, a graph and the truth."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.checks import encode_labels
from planetoid.errors import DataError, PlanetoidWarning
from planetoid.estimator import GraphClassifier
from planetoid.graph import Graph
from planetoid.ids import NodeIds
from planetoid.persistence import FitRecord

__all__ = ["NodeTable", "node_table"]

Codes = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class NodeTable:
    """One entry a node, in the order of the model.

    Attributes
    ----------
    ids : NodeIds
    class_names : list of str
        The classes of the model, then those that only the truth has.
    n_classes : int
        Of the model.
    probabilities : array of shape (n_nodes, n_classes)
    given : int32 array
        Labels that were learned from, -1 where there is none.
    truth : int32 array
        The class of each node as far as it is known: from the truth, from the
        validation labels, from the labels that were learned from.
    measured : bool array
        Nodes to measure on; none that was learned from is among them.
    protocol : str
        What ``measured`` is, in words.
    has_record : bool
        Whether it is known what the model learned from.
    adjacency : csr_array of shape (n_nodes, n_nodes), or None
        Neighbours in either direction, without loops.
    notes : list of str
        What a reader of the figures should know.
    """

    ids: NodeIds
    class_names: list[str]
    n_classes: int
    probabilities: npt.NDArray[Any]
    given: Codes
    truth: Codes
    measured: npt.NDArray[np.bool_]
    protocol: str
    has_record: bool
    adjacency: Any = None
    notes: list[str] = field(default_factory=list)

    @cached_property
    def predicted(self) -> npt.NDArray[np.int64]:
        return np.asarray(self.probabilities.argmax(axis=1))

    @cached_property
    def confidence(self) -> npt.NDArray[Any]:
        return np.asarray(self.probabilities.max(axis=1))

    @cached_property
    def degrees(self) -> npt.NDArray[np.int64] | None:
        return None if self.adjacency is None else np.diff(self.adjacency.indptr).astype(np.int64)


def node_table(
    model: GraphClassifier, record: FitRecord | None = None, truth: Any = None, graph: Graph | None = None
) -> NodeTable:
    """Put together, by node id, what is known; a ``DataError`` says what does not fit."""
    ids, n = model.node_ids_, len(model.node_ids_)
    nothing = np.full(n, -1, dtype=np.int32)
    given = nothing if record is None else _codes(record.y, model, "labels")
    held = nothing if record is None or record.validation is None else _codes(record.validation, model, "validation")
    names = [str(label) for label in model.classes_.tolist()]
    notes: list[str] = []
    true = nothing
    if truth is not None:
        true, more = encode_truth(truth, ids, model.classes_)
        names += more
        notes += _notes_on_truth(true, given, more, len(model.classes_))
        if record is None:
            notes.append(
                "There is no record of the labels that the model learned from; accuracy would be measured on them too, "
                "so it is left out."
            )
    measured, protocol = _what_to_measure(true, held, given, record is not None)
    known = np.where(true >= 0, true, np.where(held >= 0, held, given))
    return NodeTable(
        ids,
        names,
        len(model.classes_),
        model.label_distributions_,
        given,
        known,
        measured,
        protocol,
        record is not None,
        _adjacency(record, graph, ids),
        notes,
    )


def encode_truth(truth: Any, ids: NodeIds, classes: npt.NDArray[Any]) -> tuple[Codes, list[str]]:
    """Return the truth as codes of ``classes``, and the names of classes beyond, which the codes after those mean.

    A label that is no class as it stands may be one as text: 1 and ``"1"`` are the same to a reader.

    >>> codes, more = encode_truth({"b": "2", "c": "x"}, NodeIds(["a", "b", "c"]), np.array([1, 2]))
    >>> codes.tolist(), more
    ([-1, 1, 2], ['x'])
    """
    codes, found = encode_labels(truth, ids, "truth")
    if len(found) == 0:
        raise DataError("truth has no label: every entry is unlabelled (-1, None or NaN)")
    labels = classes.tolist()
    place = {str(label): code for code, label in enumerate(labels)} | {label: code for code, label in enumerate(labels)}
    more: list[str] = []
    renumber = np.empty(len(found) + 1, dtype=np.int32)
    renumber[-1] = -1
    for code, label in enumerate(found.tolist()):
        known = place.get(label, place.get(str(label)))
        if known is None:
            known = len(labels) + len(more)
            more.append(str(label))
        renumber[code] = known
    if len(more) == len(found):
        raise DataError(
            f"truth has no class of the model: its labels are such as {more[0]!r}, those of the model {labels[0]!r}"
        )
    return renumber[codes], more


def _codes(codes: npt.NDArray[np.int32], model: GraphClassifier, what: str) -> Codes:
    n, k = model.label_distributions_.shape
    if len(codes) != n or (n and (codes.min() < -1 or codes.max() >= k)):
        raise DataError(f"the record of the fit does not belong to the model: its {what} do not fit {n:,} nodes")
    return codes


def _notes_on_truth(true: Codes, given: Codes, more: list[str], n_classes: int) -> list[str]:
    notes = []
    if more:
        count = int((true >= n_classes).sum())
        some = ", ".join(more[:3]) + (", …" if len(more) > 3 else "")
        notes.append(f"{count:,} nodes have a true class that the model was never shown ({some}); they count as wrong.")
    differ = int(((true >= 0) & (given >= 0) & (true != given)).sum())
    if differ:
        notes.append(f"{differ:,} nodes were learned with a label other than the true one.")
    return notes


def _what_to_measure(true: Codes, held: Codes, given: Codes, has_record: bool) -> tuple[npt.NDArray[np.bool_], str]:
    """Return the nodes to measure on and what they are: never those learned from, best not those that chose."""
    if not has_record:
        return np.zeros(len(given), dtype=bool), ""
    unlearned = given < 0
    clean = (true >= 0) & unlearned & (held < 0)
    if clean.any():
        apart = "neither learned from nor held back for validation" if (held >= 0).any() else "not learned from"
        return clean, f"nodes whose class is known and was {apart}"
    chosen = (held >= 0) & unlearned
    if chosen.any():
        return (
            chosen,
            "validation nodes, which the method may have looked at to stop; others may fare a little worse",
        )
    return np.zeros(len(given), dtype=bool), ""


def _adjacency(record: FitRecord | None, graph: Graph | None, ids: NodeIds) -> Any:
    n = len(ids)
    if graph is not None:
        rows = ids.rows(graph.node_ids)
        strangers = int((rows < 0).sum())
        if strangers == len(rows):
            raise DataError(f"no node of the graph is one of the model's; those have ids such as {ids[0]!r}")
        if strangers:
            warnings.warn(
                f"{strangers:,} of {len(rows):,} nodes of the graph are unknown to the model and are ignored",
                PlanetoidWarning,
                stacklevel=4,
            )
        source, target = np.repeat(rows, np.diff(graph.indptr)), rows[graph.indices]
        both = (source >= 0) & (target >= 0)
        source, target = source[both], target[both]
    elif record is not None and record.indptr is not None and record.indices is not None:
        if len(record.indptr) != n + 1:
            raise DataError(f"the record of the fit does not belong to the model: its graph does not have {n:,} nodes")
        source, target = np.repeat(np.arange(n), np.diff(record.indptr)), record.indices
    else:
        return None
    apart = source != target
    ends = np.concatenate([source[apart], target[apart]]), np.concatenate([target[apart], source[apart]])
    links = sparse.coo_array((np.ones(len(ends[0]), dtype=np.int32), ends), shape=(n, n)).tocsr()
    links.sum_duplicates()
    return links
