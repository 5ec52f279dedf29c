"""The data of the page's script: the nodes on the map, packed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.report.packing import packed

if TYPE_CHECKING:
    from scipy import sparse

    from planetoid.report.nodes import ReportNodes

__all__ = ["NeighbourLists", "map_payload", "visible_neighbours"]

TOP_CLASSES = 3  # per node, with their probabilities
MAX_NEIGHBOURS = 60  # listed per node, those of the highest degree
STEPS = 65_535  # resolution of coordinates and probabilities


def map_payload(
    nodes: ReportNodes, rows: npt.NDArray[np.int64], coordinates: npt.NDArray[np.float64]
) -> dict[str, Any]:
    """Return the map as plain data: one entry per point, in drawing order."""
    probabilities = nodes.probabilities[rows]
    top = np.argsort(-probabilities, axis=1, kind="stable")[:, : min(TOP_CLASSES, nodes.n_classes)]
    top_probabilities = np.take_along_axis(probabilities, top, axis=1)
    payload = {
        "n": len(rows),
        "total": nodes.model.n_nodes,
        "top": top.shape[1],
        "nClasses": nodes.n_classes,
        "ids": [str(node) for node in nodes.ids.at(rows).tolist()],
        "classes": nodes.class_names,
        "shown": [{"name": name, "cells": cells} for name, cells in nodes.shown.at(rows.tolist()).items()],
        "hasTruth": bool(nodes.evaluated.any()),
        "coordinates": packed(_scaled(coordinates)),
        "topClasses": packed(top.astype(np.uint16)),
        "topProbabilities": packed(np.round(top_probabilities * STEPS).astype(np.uint16)),
        "labels": packed(nodes.labels[rows].astype(np.int16)),
        "truth": packed(nodes.truth[rows].astype(np.int16)),
        "evaluated": packed(nodes.evaluated[rows].astype(np.uint8)),
        "neighbours": None,
    }
    if nodes.label_sets is not None:  # which have no code each: as text, and no comparison with the predicted class
        payload["truth"] = packed(np.full(len(rows), -1, dtype=np.int16))
        payload["hasTruth"] = False
        payload["labelSets"] = [nodes.joined(row) for row in rows.tolist()]
        payload["predictedSets"] = [nodes.joined(row, known=False) for row in rows.tolist()]
    if nodes.adjacency is not None and nodes.degrees is not None:
        lists = visible_neighbours(nodes.adjacency, rows)
        payload["neighbours"] = {
            "degrees": packed(nodes.degrees[rows].astype(np.uint32)),
            "starts": packed(lists.starts.astype(np.uint32)),
            "points": packed(lists.points.astype(np.uint32)),
        }
    return payload


class NeighbourLists(NamedTuple):
    """Neighbours of each point in CSR form: those of point i are ``points[starts[i]:starts[i + 1]]``."""

    starts: npt.NDArray[np.int64]
    points: npt.NDArray[np.int64]


def visible_neighbours(
    adjacency: sparse.csr_array, rows: npt.NDArray[np.int64], limit: int = MAX_NEIGHBOURS
) -> NeighbourLists:
    """Return for each point the neighbours that are on the map too, in order of decreasing degree.

    ``rows`` are the rows of the points; each point has at most ``limit`` neighbours.
    """
    point_of = np.full(adjacency.shape[0], -1, dtype=np.int64)
    point_of[rows] = np.arange(len(rows))
    degrees = np.diff(adjacency.indptr)
    part = adjacency[rows]
    source, target = np.repeat(np.arange(len(rows)), np.diff(part.indptr)), part.indices
    visible = point_of[target] >= 0
    source, target = source[visible], target[visible]
    order = np.lexsort((target, -degrees[target], source))
    source, target = source[order], target[order]
    counts = np.bincount(source, minlength=len(rows))
    rank = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    starts = np.concatenate([[0], np.cumsum(np.minimum(counts, limit))])
    return NeighbourLists(starts, point_of[target[rank < limit]])


def _scaled(coordinates: npt.NDArray[np.float64]) -> npt.NDArray[np.uint16]:
    """Return x0, y0, x1, y1, ... in a square of side ``STEPS``, filled by the longer side."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    side = max(float((high - low).max()), 1e-12)
    centred = (coordinates - (low + high) / 2) / side + 0.5
    return np.asarray(np.round(centred * STEPS), dtype=np.uint16).ravel()
