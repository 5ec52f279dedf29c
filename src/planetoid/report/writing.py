"""``write_report``: a fitted model as one HTML file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.graph import Graph
from planetoid.parameters import N_JOBS, VERBOSE, Integer, check_parameters
from planetoid.report import sections
from planetoid.report.label_sets import SetQuality, measure_sets
from planetoid.report.layout import map_coordinates, map_rows, map_vectors
from planetoid.report.model_view import ModelView
from planetoid.report.nodes import ReportNodes
from planetoid.report.page import assemble
from planetoid.report.payload import map_payload
from planetoid.report.quality import Quality, measure_quality
from planetoid.report.ranking import Ranking, as_csv, label_next
from planetoid.report.reasons import Explains, explained_rows, reasons_payload
from planetoid.report.theme import theme_css
from planetoid.utils.atomic import atomic_write
from planetoid.utils.versions import package_versions

if TYPE_CHECKING:
    from planetoid.data.types import GraphLike
    from planetoid.estimator.classifier import GraphClassifier
    from planetoid.evaluation.cross_validation import HeldOut
    from planetoid.persistence import FitRecord
    from planetoid.report.model_view import SavedArrays
    from planetoid.report.nodes import Labels
    from planetoid.report.shown import ShownLike

__all__ = ["ReportSummary", "write_report"]

NEXT_SHOWN, NEXT_LISTED = 50, 500  # nodes to label next: on the page, in its CSV file


@dataclass(frozen=True)
class ReportSummary:
    """What a report contains.

    Attributes
    ----------
    path : Path
    n_bytes : int
        Size of the file.
    n_nodes, n_points : int
        Nodes of the model, and of these on the map.
    map_of : str
        What the map is computed from: ``"embedding"`` or ``"class probabilities"``.
    n_labelled : int or None
        Training labels, if they are recorded.
    mean_confidence : float
    n_evaluated : int
        Nodes that the metrics are computed on.
    evaluated_on : str
        What these nodes are.
    accuracy, macro_f1, calibration_error : float or None
        ``None`` without nodes to evaluate on.
    micro_f1 : float or None
        In the place of accuracy, if nodes may have several labels.
    """

    path: Path
    n_bytes: int
    n_nodes: int
    n_points: int
    map_of: str
    n_labelled: int | None
    mean_confidence: float
    n_evaluated: int
    evaluated_on: str
    accuracy: float | None
    macro_f1: float | None
    calibration_error: float | None
    micro_f1: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for ``json.dump``."""
        return asdict(self) | {"path": str(self.path)}


def write_report(
    path: str | Path,
    model: GraphClassifier | SavedArrays,
    *,
    record: FitRecord | None = None,
    truth: Labels | None = None,
    graph: GraphLike | None = None,
    show: ShownLike | None = None,
    held_out: HeldOut | None = None,
    title: str | None = None,
    max_points: int = 100_000,
    max_reasons: int = 100,
    seed: int = 0,
    n_jobs: int | None = None,
    overwrite: bool = False,
    verbose: int = 0,
) -> ReportSummary:
    """Write a report on a fitted model: one HTML file that needs no network.

    It has a map of the nodes, the predictions and their confidence, accuracy and calibration on labels that were not
    used for training, training curves, a ranking of the nodes to label next, and how to reproduce the model.

    Parameters
    ----------
    path : str or Path
        The file, written atomically.
    model : fitted estimator or saved model
    record : FitRecord, optional
        The data of the fit; ``planetoid.record.read_record`` reads it from a model's folder. Without it, training
        labels are unknown: they are not marked, and nothing can be evaluated.
    truth : array or dict, optional
        Labels to evaluate on, one per node in the order of the model, or ``{node id: label}``. Training nodes are
        excluded. By default, the validation labels of the record are used.
    graph : Graph, or anything that ``Graph.of`` understands, optional
        Neighbours, if the record has none.
    show : dict or pandas table, optional
        Columns to show beside node ids, the first as the names of the nodes: ``{column: one entry per node}`` in the
        order of the model, or a table whose index holds node ids.
    held_out : HeldOut, optional
        The outcome of :func:`planetoid.evaluation.cross_validate`, to evaluate on if there are no other labels.
    title : str, optional
    max_points : int
        Maximum number of nodes on the map. A larger graph is sampled; labelled nodes are always included.
    max_reasons : int
        Maximum number of nodes whose reasons are included, shown when they are selected: the nodes to label next, wrong
        predictions, and others. Fewer for large graphs; 0 for none, which does not load the class of a saved model.
    seed : int
        Random seed of the map; the same seed gives the same file.
    n_jobs : int
        Threads for the map; -1 uses all cores. The file does not depend on it.
    overwrite : bool
        Whether to replace an existing file.
    verbose : int
        Whether to show a progress bar.

    Returns
    -------
    ReportSummary

    Examples
    --------
    >>> import tempfile, planetoid as pl
    >>> model = pl.LabelPropagation().fit(y={"a": "x", "d": "y"}, graph=[("a", "b"), ("b", "c"), ("c", "d")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = pl.report.write_report(f"{folder}/report.html", model)
    >>> summary.n_nodes, summary.map_of
    (4, 'class probabilities')
    """
    target = Path(path)
    check_parameters(
        "write_report",
        {"max_points": max_points, "max_reasons": max_reasons, "seed": seed, "n_jobs": n_jobs, "verbose": verbose},
        {
            "max_points": Integer(1),
            "max_reasons": Integer(0),
            "seed": Integer(0),
            "n_jobs": N_JOBS,
            "verbose": VERBOSE,
        },
    )
    _check_target(target, overwrite)
    view = ModelView.of(model)
    if view.n_nodes == 0:
        raise DataError("the model has no nodes, so there is nothing to report")
    nodes = ReportNodes.of(view, record, truth, None if graph is None else Graph.of(graph), show)
    quality, sets = measure_quality(nodes, held_out), measure_sets(nodes)
    rows = map_rows(nodes, max_points, seed)
    mapped = map_vectors(view)
    coordinates = map_coordinates(mapped.vectors[rows], seed=seed, n_jobs=n_jobs, verbose=verbose)
    known = (nodes.labels >= 0) | (nodes.validation >= 0)
    ranking = label_next(
        nodes.probabilities, known, nodes.degrees, NEXT_LISTED, independent=nodes.label_sets is not None
    )
    reasons = _reasons(model, nodes, ranking, rows, max_reasons)
    shown_title = title or f"{view.class_name} report"
    page = _page(nodes, quality, sets, record, shown_title, ranking, rows, coordinates, mapped.kind, seed, reasons)
    with atomic_write(target) as temporary:
        temporary.write_bytes(page)
    return ReportSummary(
        path=target,
        n_bytes=len(page),
        n_nodes=view.n_nodes,
        n_points=len(rows),
        map_of=mapped.kind,
        n_labelled=nodes.n_labelled if nodes.has_record else None,
        mean_confidence=float(nodes.confidence.mean()),
        n_evaluated=quality.n if quality is not None else 0 if sets is None else sets.n,
        evaluated_on=quality.on if quality is not None else "" if sets is None else nodes.evaluated_on,
        accuracy=None if quality is None else quality.accuracy,
        macro_f1=quality.macro_f1 if quality is not None else None if sets is None else sets.macro_f1,
        calibration_error=None if quality is None else quality.calibration_error,
        micro_f1=None if sets is None else sets.micro_f1,
    )


def _check_target(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise DataError(
            "the path of the report is a folder", hint=f"name a file, such as {target / 'report.html'}", path=target
        )
    if target.exists() and not target.is_file():
        raise DataError("the path of the report is a device or a pipe", hint="name a file", path=target)
    if target.exists() and not overwrite:
        raise DataError("the file exists already", hint="pass overwrite=True to replace it", path=target)


def _reasons(
    model: GraphClassifier | SavedArrays,
    nodes: ReportNodes,
    ranking: Ranking,
    on_map: npt.NDArray[np.int64],
    limit: int,
) -> dict[str, Any] | None:
    """Return the reasons of some nodes, ``None`` if none are asked for."""
    if limit == 0:
        return None
    rows = explained_rows(nodes, ranking.rows[:NEXT_SHOWN], on_map, limit)
    explaining = cast("Explains", model if hasattr(model, "explain") else cast("SavedArrays", model).load())
    point_of = {row: point for point, row in enumerate(on_map.tolist())}
    return reasons_payload(explaining, nodes, rows, point_of)


def _page(
    nodes: ReportNodes,
    quality: Quality | None,
    sets: SetQuality | None,
    record: FitRecord | None,
    title: str,
    ranking: Ranking,
    rows: npt.NDArray[np.int64],
    coordinates: npt.NDArray[np.float64],
    map_of: str,
    seed: int,
    reasons: dict[str, Any] | None,
) -> bytes:
    several = nodes.label_sets is not None
    point_of = {row: point for point, row in enumerate(rows.tolist())}
    layout = f"t-SNE (openTSNE) of the {map_of}, seed {seed}, {len(rows):,} of {nodes.model.n_nodes:,} nodes"
    versions = record.versions if record is not None and record.versions else package_versions()
    parts = {
        "classes": sections.classes_section(nodes, quality),
        "quality": sections.set_quality_section(nodes, sets) if several else sections.quality_section(nodes, quality),
        "next": sections.next_section(nodes, ranking, NEXT_SHOWN, point_of),
        "training": sections.training_section(nodes.model),
        "data": sections.data_section(record),
        "reproduce": sections.reproduce_section(nodes.model, record, versions, layout),
    }
    names = {"map": "Map", "classes": "Classes", "quality": "Accuracy", "next": "Label next"}
    names |= {"training": "Training", "data": "Data", "reproduce": "Reproduce"}
    html = {
        "headline": sections.headline(nodes, quality, record, sets),
        "map_caption": _map_caption(nodes, len(rows), map_of),
        "links": "".join(f'<a href="#{key}">{name}</a>' for key, name in names.items() if parts.get(key, "map")),
        "sections": "\n".join(parts.values()),
        "search": "name or id" if nodes.shown.cells else "node id",
    }
    data = map_payload(nodes, rows, coordinates) | {"csv": as_csv(ranking, nodes), "reasons": reasons}
    return assemble(title, _subtitle(nodes), html, data, theme_css(nodes))


def _subtitle(nodes: ReportNodes) -> str:
    what = "labels" if nodes.label_sets is None else "labelled nodes"
    trained = f", trained on {nodes.n_labelled:,} {what}" if nodes.has_record else ""
    return f"Predicted classes of {nodes.model.n_nodes:,} nodes{trained}"


def _map_caption(nodes: ReportNodes, n_points: int, map_of: str) -> str:
    caption = "Nodes that are close together have similar embeddings."
    if map_of != "embedding":
        caption = (
            f"{nodes.model.class_name} has no embeddings, so the map shows class probabilities: "
            "nodes that are close together have similar predictions."
        )
    if n_points < nodes.model.n_nodes:
        caption += f" Shown is a sample of {n_points:,} of {nodes.model.n_nodes:,} nodes, with every labelled node."
    return caption
