"""Several labels per node in a report: which labels are known, and how good predictions are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from planetoid.data.label_sets import LabelSets, encode_label_sets, one_label_each
from planetoid.errors import DataError
from planetoid.evaluation.metrics import multi_label_f1
from planetoid.multi_label import indicator

if TYPE_CHECKING:
    from planetoid.persistence import FitRecord
    from planetoid.report.model_view import ModelView
    from planetoid.report.nodes import Codes, Labels, ReportNodes

__all__ = ["SetQuality", "known_sets", "measure_sets"]


@dataclass(frozen=True, eq=False)
class SetQuality:
    """Metrics of several labels per node, on nodes that were not trained on.

    Attributes
    ----------
    n : int
        Number of nodes.
    micro_f1, macro_f1 : float
    micro_f1_known, macro_f1_known : float
        With as many labels predicted as each node has.
    f1 : array of shape (n_classes,)
        Of each class, NaN for one that does not occur.
    counts : int array of shape (n_classes,)
        Labels of each class.
    """

    n: int
    micro_f1: float
    macro_f1: float
    micro_f1_known: float
    macro_f1_known: float
    f1: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]


def known_sets(model: ModelView, record: FitRecord | None, truth: Labels | None) -> tuple[sparse.csr_array, Codes]:
    """Return all known labels of each node, and one label of each node in the truth, -1 for the others.

    A label in the truth that is no class of the model does not count; one that equals a class as text does.
    """
    shape = (model.n_nodes, model.n_classes)
    known = sparse.csr_array(shape, dtype=bool)
    if record is not None and record.set_indptr is not None and record.set_indices is not None:
        if len(record.set_indptr) != model.n_nodes + 1 or (record.set_indices >= model.n_classes).any():
            raise DataError("the record of the fit belongs to another model: its labels do not match the nodes")
        entries = np.ones(len(record.set_indices), dtype=bool), record.set_indices, record.set_indptr
        known = sparse.csr_array(entries, shape=shape)
    if truth is None:
        return known, np.full(model.n_nodes, -1, dtype=np.int32)
    true = _of_model(encode_label_sets(truth, model.node_ids, "truth"), model)
    unknown = np.diff(known.indptr) == 0  # what the model was trained on stays as it is
    return sparse.csr_array(known + sparse.diags_array(unknown.astype(float)) @ true, dtype=bool), one_label_each(true)


def _of_model(truth: LabelSets, model: ModelView) -> sparse.csr_array:
    """Return labels in the columns of the model's classes."""
    classes = model.classes.tolist()
    code_of = {str(label): code for code, label in enumerate(classes)} | {label: k for k, label in enumerate(classes)}
    columns = np.array([code_of.get(label, code_of.get(str(label), -1)) for label in truth.classes.tolist()], int)
    entries = truth.Y.tocoo()
    inside = columns[entries.col] >= 0 if len(columns) else np.zeros(0, dtype=bool)
    if not inside.any():
        raise DataError("truth has none of the model's classes", parameter="truth")
    places = entries.row[inside], columns[entries.col[inside]]
    return sparse.csr_array((np.ones(int(inside.sum()), dtype=bool), places), shape=(model.n_nodes, len(classes)))


def measure_sets(nodes: ReportNodes) -> SetQuality | None:
    """Return the metrics, ``None`` if nodes have one label each or there is none to evaluate on."""
    if nodes.label_sets is None or not nodes.evaluated.any():
        return None
    truth = nodes.label_sets[nodes.evaluated]
    labels, predicted = truth.toarray(), nodes.predicted_sets[nodes.evaluated]
    as_predicted = multi_label_f1(labels, predicted)
    counted = indicator(nodes.probabilities[nodes.evaluated], 0.0, np.diff(truth.indptr))
    as_many = multi_label_f1(labels, counted)
    both, either = (labels & predicted).sum(axis=0), labels.sum(axis=0) + predicted.sum(axis=0)
    return SetQuality(
        n=len(labels),
        micro_f1=as_predicted.micro,
        macro_f1=as_predicted.macro,
        micro_f1_known=as_many.micro,
        macro_f1_known=as_many.macro,
        f1=np.where(labels.any(axis=0), 2 * both / np.maximum(either, 1), np.nan),
        counts=labels.sum(axis=0),
    )
