"""``ask``: a question to a method, and its answer in the ids and names of the user."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.data.checks import check_fit
from planetoid.errors import DataError, ParameterError
from planetoid.explanation.contributions import Answer, Contributions, Question
from planetoid.explanation.result import Explanation, Reason, ReasonGroup
from planetoid.parameters import Integer, check_parameters

if TYPE_CHECKING:
    from planetoid.data.dataset import Dataset
    from planetoid.data.types import FeaturesLike
    from planetoid.estimator.classifier import GraphClassifier

__all__ = ["ask"]


def ask(
    model: GraphClassifier,
    node: Hashable | None,
    X: FeaturesLike | None,
    top: int,
    label: Hashable | None,
    data: Dataset | None,
) -> Explanation:
    """Return the reasons for a class; the parameters are those of ``explain``."""
    name = type(model).__name__
    check_parameters(f"{name}.explain", {"top": top}, {"top": Integer(1)})
    if (node is None) == (X is None):
        raise DataError("pass either a node (one of the fitted ones) or X (one new row)")
    known = model._fitted_data() if data is None else _checked(model, data)
    if X is None:
        fitted_row = model.node_ids_.row(node)
        row: int | None = fitted_row
        probabilities = model.label_distributions_[fitted_row]
        x = None if known is None or known.X is None else known.X[[fitted_row]]
    else:
        row, x = None, model._check_row(X)
        probabilities = model.predict_proba(X)[0]
    code = int(probabilities.argmax()) if label is None else _code_of(label, model.classes_)
    other = None if model.multi_label_ else _runner_up(probabilities, code)
    contrast = np.zeros(len(probabilities))
    contrast[code] = 1.0
    if other is not None:
        contrast[other] = -1.0
    answer = model._explain(Question(row, x, contrast, known, name, model.multi_label_))
    return Explanation(
        node=None if row is None else model.node_ids_[row],
        label=_item(model.classes_, code),
        runner_up=None if other is None else _item(model.classes_, other),
        probability=float(probabilities[code]),
        runner_up_probability=None if other is None else float(probabilities[other]),
        method=name,
        score=float(answer.score),
        quantity=answer.quantity,
        groups=_groups(model, answer, known, top),
        note=answer.note,
    )


def _runner_up(probabilities: npt.NDArray[np.floating[Any]], code: int) -> int:
    """Return the most probable class but one."""
    return int(np.where(np.arange(len(probabilities)) == code, -1.0, probabilities).argmax())


def _checked(model: GraphClassifier, data: Dataset) -> Dataset:
    """Return data that was passed, in the classes of the model; other nodes than those of the fit are an error."""
    found = check_fit(
        data, None, None, uses_features=model.uses_features, uses_graph=model.uses_graph, who=type(model).__name__
    )
    if found.ids != model.node_ids_ or found.classes.tolist() != model.classes_.tolist():
        raise DataError(
            "the data has other nodes or classes than the model was fitted on", hint="pass the data of the fit"
        )
    if found.multi_label != model.multi_label_:
        raise DataError(
            f"the data has {'several labels' if found.multi_label else 'one label'} per node, unlike that of the fit",
            hint="pass the data of the fit",
        )
    if found.X is not None and found.X.shape[1] != getattr(model, "n_features_in_", None):
        raise DataError(f"the data has {found.X.shape[1]} features, the model was fitted on another number of them")
    return found


def _code_of(label: Hashable, classes: npt.NDArray[Any]) -> int:
    """Return the code of a class, also if it is given as text."""
    listed = classes.tolist()
    for code, known in enumerate(listed):
        if known == label:
            return code
    names = [str(known) for known in listed]
    if str(label) in names:
        return names.index(str(label))
    shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
    raise ParameterError(f"there is no class {label!r}; the classes are {shown}", parameter="label")


def _groups(model: GraphClassifier, answer: Answer, data: Dataset | None, top: int) -> tuple[ReasonGroup, ...]:
    return tuple(_group(model, part, data, top) for part in answer.parts)


def _group(model: GraphClassifier, part: Contributions, data: Dataset | None, top: int) -> ReasonGroup:
    present = np.flatnonzero(part.values)
    at, values = part.at[present], part.values[present]
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    n_for = min(top, int((ranked > 0).sum()))
    n_against = min(top, int((ranked < 0).sum()))
    listed = np.concatenate([order[:n_for], order[len(order) - n_against :]])
    return ReasonGroup(
        kind=part.kind,
        meaning=part.meaning,
        reasons=tuple(_reason(model, part.kind, int(at[k]), float(values[k]), data) for k in listed.tolist()),
        n_reasons=len(values),
        total=float(values.sum()),
        base=None if part.base is None else float(part.base),
    )


def _reason(model: GraphClassifier, kind: str, at: int, value: float, data: Dataset | None) -> Reason:
    if kind == "features":
        names = getattr(model, "feature_names_in_", None)
        return Reason(at if names is None else str(names[at]), value)
    node, code = model.node_ids_[at], -1 if data is None else int(data.y[at])
    if data is None or code < 0:
        return Reason(node, value)
    if data.Y is not None:
        codes = np.sort(data.Y[[at]].indices).tolist()
        return Reason(node, value, labels=tuple(_item(model.classes_, one) for one in codes))
    return Reason(node, value, _item(model.classes_, code))


def _item(classes: npt.NDArray[Any], code: int) -> Hashable:
    """Return a class as a Python object."""
    found: Hashable = classes[code : code + 1].tolist()[0]
    return found
