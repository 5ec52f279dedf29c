"""Plots of results: accuracies with their spread, and maps of embeddings.

They draw into axes made by the caller and do not touch matplotlib's global state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.evaluation.results import Result, summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CLASS_COLOURS", "accuracy_chart", "embedding_map"]

INK, FAINT, RULE = "#1f2933", "#7b8794", "#e4e7eb"
# Okabe and Ito's palette, distinguishable for most people with colour blindness, and two more.
CLASS_COLOURS = (
    "#0072b2",
    "#e69f00",
    "#009e73",
    "#d55e00",
    "#cc79a7",
    "#56b4e9",
    "#b8a600",
    "#5b4b8a",
    "#8c6d46",
    "#4d4d4d",
)


def accuracy_chart(axes: Axes, results: Sequence[Result], names: Mapping[str, str], colours: Mapping[str, str]) -> None:
    """Draw one row per method, best on top: every run, the mean and one standard deviation either way.

    Parameters
    ----------
    axes : matplotlib Axes
    results : sequence of Result
        Results on one dataset under one protocol.
    names, colours : dict
        Display name and colour of each method.
    """
    from matplotlib.ticker import MaxNLocator

    rows = sorted(summarize(results), key=lambda row: row.metrics["accuracy"].mean)
    for height, row in enumerate(rows):
        spread, colour = row.metrics["accuracy"], colours[row.method]
        runs = [100 * result.metrics["accuracy"] for result in results if result.method == row.method]
        axes.axhline(height, color=RULE, linewidth=1, zorder=0)
        # runs go below the line, where the bar does not hide them
        axes.scatter(runs, [height - 0.2] * len(runs), s=20, color=colour, alpha=0.45, linewidths=0, zorder=2)
        if spread.sd is not None:
            low, high = 100 * (spread.mean - spread.sd), 100 * (spread.mean + spread.sd)
            axes.plot([low, high], [height, height], color=colour, linewidth=3.5, solid_capstyle="round", zorder=3)
        axes.scatter([100 * spread.mean], [height], s=95, color=colour, edgecolors="white", linewidths=1.5, zorder=4)
        beside = axes.get_yaxis_transform()  # x in axes coordinates, y in rows
        axes.text(1.02, height, spread.percent(), transform=beside, va="center", fontsize=10.5, color=INK)
    values = [100 * result.metrics["accuracy"] for result in results]
    axes.set_xlim(np.floor(min(values)) - 2, np.ceil(max(values)) + 2)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), [names[row.method] for row in rows], fontsize=10.5, color=INK)
    axes.tick_params(axis="both", length=0, pad=8)
    axes.tick_params(axis="x", labelcolor=FAINT, labelsize=9)
    axes.set_xlabel(
        "test accuracy in %; small dots: single splits, bar: one standard deviation",
        color=FAINT,
        fontsize=9,
        labelpad=6,
    )
    axes.grid(axis="x", color=RULE, linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)


def embedding_map(
    axes: Axes,
    points: npt.NDArray[np.floating[Any]],
    codes: npt.NDArray[np.integer[Any]],
    class_names: Sequence[str],
    labelled: npt.NDArray[np.bool_] | None = None,
) -> None:
    """Draw a map of nodes, coloured by class.

    Parameters
    ----------
    axes : matplotlib Axes
    points : array of shape (n, 2)
    codes : array of shape (n,)
        Index of each point's class.
    class_names : sequence of str
    labelled : bool array of shape (n,), optional
        Points to mark with a ring.
    """
    rings = np.zeros(len(points), dtype=bool) if labelled is None else labelled
    order = np.random.default_rng(0).permutation(len(points))  # so that no class covers the others
    palette = np.array([CLASS_COLOURS[code % len(CLASS_COLOURS)] for code in range(len(class_names))])
    for mark, size, edge, width in ((False, 18, "white", 0.3), (True, 34, INK, 1.1)):
        some = order[rings[order] == mark]
        colours = palette[codes[some]].tolist()
        axes.scatter(points[some, 0], points[some, 1], s=size, c=colours, edgecolors=edge, linewidths=width)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.03)
    for side in axes.spines.values():
        side.set_color(RULE)
