"""Reasons in a report: for the nodes that it lists and for some others, bounded in cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from planetoid.errors import PlanetoidError

if TYPE_CHECKING:
    from planetoid.explanation import Explanation, Reason
    from planetoid.report.nodes import ReportNodes

__all__ = ["Explains", "explained_rows", "reasons_payload"]

TOP = 5  # reasons for a class, and as many against it, of each kind
MOST_WORK = 3_000_000  # nodes and edges of the graph, times explained nodes


class Explains(Protocol):
    """A fitted model."""

    def explain(self, node: Any, *, top: int) -> Explanation: ...


def explained_rows(
    nodes: ReportNodes, first: npt.NDArray[np.int64], on_map: npt.NDArray[np.int64], limit: int
) -> npt.NDArray[np.int64]:
    """Return the rows of at most ``limit`` nodes on the map to give reasons for; fewer where the graph is large.

    Those of ``first`` come first (the nodes to label next), then evaluated nodes with a wrong prediction, then others
    at equal distances.
    """
    size = nodes.model.n_nodes + (0 if nodes.adjacency is None else nodes.adjacency.nnz)
    limit = min(limit, MOST_WORK // max(1, size))
    if nodes.label_sets is None:
        is_wrong = nodes.truth[on_map] != nodes.predicted[on_map]
    else:
        is_wrong = (nodes.label_sets[on_map].toarray() != nodes.predicted_sets[on_map]).any(axis=1)
    wrong = on_map[nodes.evaluated[on_map] & is_wrong]
    listed = list(dict.fromkeys([*first[np.isin(first, on_map)].tolist(), *wrong.tolist()]))[:limit]
    rest = np.setdiff1d(on_map, listed)
    n_more = min(limit - len(listed), len(rest))
    if n_more > 0:
        listed += rest[np.linspace(0, len(rest) - 1, n_more).astype(np.int64)].tolist()
    return np.array(listed, dtype=np.int64)


def reasons_payload(
    model: Explains, nodes: ReportNodes, rows: npt.NDArray[np.int64], point_of: Mapping[int, int]
) -> dict[str, Any]:
    """Return reasons as plain data, by point of the map; meanings of numbers are listed once.

    Where a model cannot explain itself, ``problem`` says why.
    """
    meanings: dict[str, int] = {}
    found: dict[str, Any] = {}
    try:
        for row in rows.tolist():
            found[str(point_of[row])] = _plain(model.explain(nodes.ids[row], top=TOP), meanings)
    except PlanetoidError as error:
        return {"problem": error.message, "meanings": [], "nodes": {}}
    return {"problem": "", "meanings": list(meanings), "nodes": found}


def _plain(explanation: Explanation, meanings: dict[str, int]) -> dict[str, Any]:
    def number(text: str) -> int:
        return meanings.setdefault(text, len(meanings))

    return {
        "label": str(explanation.label),
        "other": None if explanation.runner_up_probability is None else str(explanation.runner_up),
        "score": _rounded(explanation.score),
        "quantity": number(explanation.quantity),
        "note": explanation.note,
        "groups": [
            {
                "kind": group.kind,
                "meaning": number(group.meaning),
                "count": group.n_reasons,
                "reasons": [_plain_reason(reason, group.kind) for reason in group.reasons],
            }
            for group in explanation.groups
        ],
    }


def _plain_reason(reason: Reason, kind: str) -> list[str | float | None]:
    name = f"column {reason.name}" if kind == "features" and isinstance(reason.name, int) else str(reason.name)
    return [name, _rounded(reason.contribution), reason.label_text or None]


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
