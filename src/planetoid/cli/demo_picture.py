"""The picture of ``planetoid demo``: accuracies, and maps of two embeddings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from planetoid.cli.console import counted
from planetoid.evaluation import what_it_uses
from planetoid.evaluation.charts import CLASS_COLOURS, FAINT, INK, accuracy_chart, embedding_map
from planetoid.registry import METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from planetoid.datasets import Dataset
    from planetoid.evaluation import Result

__all__ = ["draw"]

USE_COLOURS = {"features": "#94a3b8", "graph": "#4263eb", "features + graph": "#c2255c"}
SIDE = 0.25  # inches of white at the left edge
NAMES = 2.1  # inches for the names of methods
FIGURES = 1.0  # inches for the accuracies in figures


def draw(path: Path, data: Dataset, results: Sequence[Result], maps: Mapping[str, Any]) -> None:
    """Write the picture as PNG: a panel of accuracies, then one for each map, given as rows and their places."""
    from matplotlib.figure import Figure

    methods = list(dict.fromkeys(result.method for result in results))
    uses = {method: what_it_uses(method) for method in methods}
    chart_width, map_width, height = 6.6, 4.4, 5.6
    width = chart_width + map_width * len(maps)
    figure = Figure(figsize=(width, height), facecolor="white")
    bottom, tall = 0.17, 0.64
    chart = figure.add_axes((NAMES / width, bottom, (chart_width - NAMES - FIGURES) / width, tall))
    names = {method: METHODS[method].__name__ for method in methods}
    accuracy_chart(chart, results, names, {method: USE_COLOURS[uses[method]] for method in methods})
    _heading(figure, SIDE / width, "Which field is a paper from?", _subtitle(results))
    _key(figure, SIDE / width, {use: colour for use, colour in USE_COLOURS.items() if use in uses.values()}, columns=3)
    for place, (method, (rows, points)) in enumerate(maps.items()):
        start = (chart_width + place * map_width) / width
        axes = figure.add_axes((start, bottom, (map_width - SIDE) / width, tall))
        labelled = np.arange(len(rows)) < results[0].n_train
        embedding_map(axes, points, data.y[rows], data.class_names, labelled)
        _heading(figure, start, f"Papers as {names[method]} sees them", "ringed: the papers whose label is known")
    if maps:
        fields = [name.replace("_", " ") for name in data.class_names]
        colours = dict(zip(fields, CLASS_COLOURS, strict=False))
        _key(figure, chart_width / width, colours, columns=2 * len(maps))
    figure.savefig(path, format="png", dpi=160)


def _subtitle(results: Sequence[Result]) -> str:
    first, n_splits = results[0], len({result.seed for result in results})
    return f"Cora, {first.n_train} labels, {first.n_test:,} test papers, {counted(n_splits, 'random split')}"


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
