"""``write_report``: a fitted model as one HTML file that people like to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError, ParameterError
from planetoid.estimator import GraphClassifier
from planetoid.evaluation.results import versions
from planetoid.graph import Graph
from planetoid.persistence import FitRecord
from planetoid.report import sections
from planetoid.report.layout import map_places, map_rows, what_is_mapped
from planetoid.report.nodes import NodeTable, node_table
from planetoid.report.page import assemble
from planetoid.report.payload import map_payload
from planetoid.report.quality import Quality, measure_quality
from planetoid.report.ranking import as_csv, label_next
from planetoid.report.theme import theme_css
from planetoid.utils.atomic import atomic_write

__all__ = ["write_report"]

NEXT_SHOWN, NEXT_LISTED = 50, 500  # nodes to label next: in the page, in its CSV file


def write_report(
    path: str | Path,
    model: GraphClassifier,
    *,
    record: FitRecord | None = None,
    truth: Any = None,
    graph: Any = None,
    title: str | None = None,
    max_points: int = 100_000,
    seed: int = 0,
    n_jobs: int = 1,
    overwrite: bool = False,
    verbose: int = 0,
) -> dict[str, Any]:
    """Write a report on a fitted model: one HTML file that needs no network.

    It has a map of the nodes, what was predicted and how sure the model is,
    accuracy and calibration where classes are known that were not learned
    from, training curves, which nodes to label next, and what it takes to fit
    the model again.

    Parameters
    ----------
    path : str or Path
        Of the file, which appears as a whole or not at all.
    model : fitted estimator
    record : FitRecord, optional
        Tells what the model was fitted on; ``planetoid.persistence.read_record``
        reads it from a model's folder. Without it there are no labels to mark,
        and nothing can be measured, for the labels that were learned from are
        unknown.
    truth : array or dict, optional
        Labels to measure on, one a node in the order of the model, or
        ``{node id: label}``. Nodes that were learned from are left out.
        Without it the validation labels of the record are measured on.
    graph : Graph, or anything that ``Graph.of`` understands, optional
        Neighbours, if the record has none.
    title : str, optional
    max_points : int
        Nodes on the map; of more, a sample is shown in which all labelled
        nodes stay.
    seed : int
        Of the map; the same seed gives the same file.
    n_jobs : int
        Threads for the map; the result does not depend on it.
    overwrite : bool
        Whether a file that exists may be replaced.
    verbose : int

    Returns
    -------
    dict
        ``path``, ``bytes``, ``nodes``, ``points``, ``map_of``, ``labelled``,
        ``mean_confidence``, and ``measured_on``, ``protocol``, ``accuracy``,
        ``macro_f1``, ``calibration_error`` (``None`` where nothing is known).

    Examples
    --------
    >>> import tempfile, planetoid as pl
    >>> from planetoid.report import write_report
    >>> model = pl.LabelPropagation().fit(y={"a": "x", "d": "y"}, graph=[("a", "b"), ("b", "c"), ("c", "d")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     told = write_report(f"{folder}/report.html", model)
    >>> told["nodes"], told["map_of"]
    (4, 'class probabilities')
    """
    target = Path(path)
    _check(target, model, max_points, seed, n_jobs, overwrite)
    nodes = node_table(model, record, truth, None if graph is None else Graph.of(graph))
    if len(nodes.ids) == 0:
        raise DataError("the model has no nodes, so there is nothing to report")
    quality = measure_quality(nodes)
    rows = map_rows(nodes, max_points, seed)
    vectors, mapped = what_is_mapped(model)
    places = map_places(vectors[rows], seed=seed, n_jobs=n_jobs, verbose=verbose)
    page = _page(model, nodes, quality, record, title or f"{type(model).__name__} report", rows, places, mapped, seed)
    with atomic_write(target) as aside:
        aside.write_bytes(page)
    return {
        "path": str(target),
        "bytes": len(page),
        "nodes": len(nodes.ids),
        "points": len(rows),
        "map_of": mapped,
        "labelled": int((nodes.given >= 0).sum()) if nodes.has_record else None,
        "mean_confidence": float(nodes.confidence.mean()),
        "measured_on": None if quality is None else quality.n,
        "protocol": nodes.protocol or None,
        "accuracy": None if quality is None else quality.accuracy,
        "macro_f1": None if quality is None else quality.macro_f1,
        "calibration_error": None if quality is None else quality.calibration_error,
    }


def _check(target: Path, model: Any, max_points: int, seed: int, n_jobs: int, overwrite: bool) -> None:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "label_distributions_")
    for name, value, least in (("max_points", max_points, 1), ("seed", seed, 0)):
        if value < least:
            raise ParameterError(f"{name}={value!r}; it is a whole number, {least} at least")
    if n_jobs == 0:
        raise ParameterError("n_jobs=0; it is a number of threads, or -1 for all")
    if target.is_dir():
        raise DataError(f"{target} is a folder; name a file for the report, such as {target / 'report.html'}")
    if target.exists() and not overwrite:
        raise DataError(f"{target} exists already; pass overwrite=True to replace it")


def _page(
    model: GraphClassifier,
    nodes: NodeTable,
    quality: Quality | None,
    record: FitRecord | None,
    title: str,
    rows: npt.NDArray[np.int64],
    places: npt.NDArray[np.float64],
    mapped: str,
    seed: int,
) -> bytes:
    known = nodes.given >= 0
    if record is not None and record.validation is not None:
        known = known | (record.validation >= 0)
    next_rows, scores = label_next(nodes.probabilities, known, nodes.degrees, NEXT_LISTED)
    points = {int(row): place for place, row in enumerate(rows.tolist())}
    tools = f"t-SNE (openTSNE) of the {mapped}, seed {seed}, {len(rows):,} of {len(nodes.ids):,} nodes"
    parts = {
        "classes": sections.classes_section(nodes, quality),
        "quality": sections.quality_section(nodes, quality),
        "next": sections.next_section(nodes, next_rows, scores, NEXT_SHOWN, points),
        "training": sections.training_section(model),
        "data": sections.data_section(record),
        "reproduce": sections.reproduce_section(model, record, _versions(record), tools),
    }
    names = {"map": "Map", "classes": "Classes", "quality": "Quality", "next": "Label next"}
    names |= {"training": "Training", "data": "Data", "reproduce": "Reproduce"}
    links = "".join(f'<a href="#{key}">{name}</a>' for key, name in names.items() if parts.get(key, "map"))
    data = map_payload(nodes, rows, places) | {
        "csv": as_csv(next_rows, scores, nodes.ids, nodes.class_names, nodes.probabilities, nodes.degrees)
    }
    html = {
        "headline": sections.headline(model, nodes, quality, record),
        "map_told": _map_told(model, nodes, len(rows), mapped),
        "links": links,
        "sections": "\n".join(parts.values()),
    }
    return assemble(title, _subtitle(nodes), html, data, theme_css(nodes))


def _subtitle(nodes: NodeTable) -> str:
    labelled = int((nodes.given >= 0).sum())
    learned = f" learned from {labelled:,} labels" if nodes.has_record else ""
    return f"Classes of {len(nodes.ids):,} nodes{learned}"


def _map_told(model: GraphClassifier, nodes: NodeTable, shown: int, mapped: str) -> str:
    told = (
        "Nodes that lie close together have similar embeddings."
        if mapped == "embedding"
        else f"{type(model).__name__} has no embedding, so the map is one of class probabilities: "
        "nodes that lie close together are predicted alike."
    )
    if shown < len(nodes.ids):
        told += f" A sample of {shown:,} of {len(nodes.ids):,} nodes is shown, with every labelled one."
    return told


def _versions(record: FitRecord | None) -> dict[str, str]:
    """Return the versions the model was fitted with, where they are known, else those of now."""
    return record.versions if record is not None and record.versions else versions()
