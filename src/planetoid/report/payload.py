"""What the script in the page works on: the nodes of the map, packed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.report.nodes import NodeTable
from planetoid.report.packing import packed

__all__ = ["map_payload", "shown_neighbours"]

TOP = 3  # classes whose probability is told
MAX_NEIGHBOURS = 60  # of a node that are listed, those with most neighbours of their own first
STEPS = 65_535  # places and probabilities are told in so many steps


def map_payload(nodes: NodeTable, rows: npt.NDArray[np.int64], places: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return the map as plain data: one entry a shown node, in drawing order."""
    probabilities = nodes.probabilities[rows]
    top = np.argsort(-probabilities, axis=1, kind="stable")[:, : min(TOP, nodes.n_classes)]
    likely = np.take_along_axis(probabilities, top, axis=1)
    payload = {
        "n": len(rows),
        "total": len(nodes.ids),
        "top": top.shape[1],
        "nClasses": nodes.n_classes,
        "ids": [str(node) for node in nodes.ids.at(rows).tolist()],
        "classes": nodes.class_names,
        "hasTruth": bool(nodes.measured.any()),
        "places": packed(_scaled(places)),
        "topClasses": packed(top.astype(np.uint16)),
        "topProbabilities": packed(np.round(likely * STEPS).astype(np.uint16)),
        "given": packed(nodes.given[rows].astype(np.int16)),
        "truth": packed(nodes.truth[rows].astype(np.int16)),
        "measured": packed(nodes.measured[rows].astype(np.uint8)),
        "neighbours": None,
    }
    if nodes.adjacency is not None:
        starts, found = shown_neighbours(nodes.adjacency, rows)
        assert nodes.degrees is not None
        payload["neighbours"] = {
            "degrees": packed(nodes.degrees[rows].astype(np.uint32)),
            "starts": packed(starts.astype(np.uint32)),
            "found": packed(found.astype(np.uint32)),
        }
    return payload


def shown_neighbours(
    adjacency: Any, rows: npt.NDArray[np.int64], most: int = MAX_NEIGHBOURS
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return for each shown node which of its neighbours are shown too, as places in ``rows``.

    In CSR form; those with most neighbours come first, and no more than
    ``most`` are kept of each.
    """
    place = np.full(adjacency.shape[0], -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    degrees = np.diff(adjacency.indptr)
    part = adjacency[rows]
    source, target = np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.indices
    shown = place[target] >= 0
    source, target = source[shown], target[shown]
    order = np.lexsort((target, -degrees[target], source))
    source, target = source[order], target[order]
    counts = np.bincount(source, minlength=len(rows))
    rank = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank < most
    starts = np.concatenate([[0], np.cumsum(np.minimum(counts, most))])
    return starts, place[target[kept]]


def _scaled(places: npt.NDArray[np.float64]) -> npt.NDArray[np.uint16]:
    """Return x0, y0, x1, y1, ... on a square of ``STEPS``, the longer side filled."""
    low, high = places.min(axis=0), places.max(axis=0)
    side = max(float((high - low).max()), 1e-12)
    centred = (places - (low + high) / 2) / side + 0.5
    return np.asarray(np.round(centred * STEPS), dtype=np.uint16).ravel()
