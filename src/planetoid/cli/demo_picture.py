"""The figure of ``planetoid demo``: accuracies, and maps of two embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.evaluation import what_it_uses
from planetoid.evaluation.charts import CLASS_COLOURS, FAINT, INK, accuracy_chart, embedding_map
from planetoid.registry import METHODS
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from planetoid.data.dataset import Dataset
    from planetoid.evaluation import Result

__all__ = ["FlatMap", "draw"]

USE_COLOURS = {"features": "#94a3b8", "graph": "#4263eb", "features + graph": "#c2255c"}
MARGIN = 0.25  # inches at the left edge
NAMES_WIDTH = 2.1  # inches for the names of methods
VALUES_WIDTH = 1.0  # inches for the accuracies


class FlatMap(NamedTuple):
    """Rows of nodes and their points in the plane."""

    rows: npt.NDArray[np.int64]
    points: npt.NDArray[np.floating[Any]]


def draw(path: Path, data: Dataset, results: Sequence[Result], maps: Mapping[str, FlatMap]) -> None:
    """Write the figure as PNG: a panel of accuracies, then one per map."""
    from matplotlib.figure import Figure

    methods = list(dict.fromkeys(result.method for result in results))
    uses = {method: what_it_uses(method) for method in methods}
    chart_width, map_width, height = 6.6, 4.4, 5.6
    width = chart_width + map_width * len(maps)
    figure = Figure(figsize=(width, height), facecolor="white")
    bottom, tall = 0.17, 0.64
    chart = figure.add_axes((NAMES_WIDTH / width, bottom, (chart_width - NAMES_WIDTH - VALUES_WIDTH) / width, tall))
    names = {method: METHODS.class_name(method) for method in methods}
    accuracy_chart(chart, results, names, {method: USE_COLOURS[uses[method]] for method in methods})
    _heading(figure, MARGIN / width, "To which field does a paper belong?", _subtitle(results))
    _key(
        figure, MARGIN / width, {use: colour for use, colour in USE_COLOURS.items() if use in uses.values()}, columns=3
    )
    for panel, (method, (rows, points)) in enumerate(maps.items()):
        start = (chart_width + panel * map_width) / width
        axes = figure.add_axes((start, bottom, (map_width - MARGIN) / width, tall))
        labelled = np.arange(len(rows)) < results[0].n_train
        embedding_map(axes, points, data.y[rows], data.class_names, labelled)
        _heading(figure, start, f"Embedding of {names[method]}", "ringed: labelled papers")
    if maps:
        fields = [name.replace("_", " ") for name in data.class_names]
        colours = dict(zip(fields, CLASS_COLOURS, strict=False))
        _key(figure, chart_width / width, colours, columns=2 * len(maps))
    figure.savefig(path, format="png", dpi=160)


def _subtitle(results: Sequence[Result]) -> str:
    first, n_splits = results[0], len({result.seed for result in results})
    return f"Cora, {first.n_train} labels, {first.n_test:,} test papers, {pluralize(n_splits, 'random split')}"


def _heading(figure: Figure, x: float, title: str, subtitle: str) -> None:
    figure.text(x, 0.925, title, fontsize=13.5, fontweight="bold", color=INK, va="center")
    figure.text(x, 0.865, subtitle, fontsize=9.5, color=FAINT, va="center")


def _key(figure: Figure, x: float, entries: Mapping[str, str], columns: int) -> None:
    from matplotlib.lines import Line2D

    style: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 7, "markeredgewidth": 0}
    marks = [Line2D([], [], color=colour, **style) for colour in entries.values()]
    figure.legend(
        marks,
        list(entries),
        loc="lower left",
        bbox_to_anchor=(x, 0.01),
        ncols=columns,
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        handletextpad=0.1,
        columnspacing=1.2,
        borderpad=0.0,
        borderaxespad=0.0,
    )
