"""Pictures of results: accuracies with their spread, and maps of embeddings.

They draw into axes that the caller made, so that they can stand side by side.
No global state of matplotlib is touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.evaluation.results import Result, summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CLASS_COLOURS", "accuracy_chart", "embedding_map", "flat_map"]

INK, FAINT, RULE = "#1f2933", "#7b8794", "#e4e7eb"
# Okabe and Ito's colours, told apart by most people who are colour-blind, and two more.
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
    """Draw one row a method, best on top: every run, their mean, and one standard deviation either way.

    Parameters
    ----------
    axes : matplotlib Axes
    results : sequence of Result
        Of one data set and protocol.
    names, colours : dict
        What each method is called and its colour.
    """
    from matplotlib.ticker import MaxNLocator

    rows = sorted(summarize(results), key=lambda row: row.metrics["accuracy"].mean)
    for height, row in enumerate(rows):
        spread, colour = row.metrics["accuracy"], colours[row.method]
        runs = [100 * result.metrics["accuracy"] for result in results if result.method == row.method]
        axes.axhline(height, color=RULE, linewidth=1, zorder=0)
        # a run below the line, so that the bar does not hide it
        axes.scatter(runs, [height - 0.2] * len(runs), s=20, color=colour, alpha=0.45, linewidths=0, zorder=2)
        if spread.sd is not None:
            low, high = 100 * (spread.mean - spread.sd), 100 * (spread.mean + spread.sd)
            axes.plot([low, high], [height, height], color=colour, linewidth=3.5, solid_capstyle="round", zorder=3)
        axes.scatter([100 * spread.mean], [height], s=95, color=colour, edgecolors="white", linewidths=1.5, zorder=4)
        beside = axes.get_yaxis_transform()  # x in shares of the axes, y in rows
        axes.text(1.02, height, spread.percent(), transform=beside, va="center", fontsize=10.5, color=INK)
    values = [100 * result.metrics["accuracy"] for result in results]
    axes.set_xlim(np.floor(min(values)) - 2, np.ceil(max(values)) + 2)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10], integer=True))
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), [names[row.method] for row in rows], fontsize=10.5, color=INK)
    axes.tick_params(axis="both", length=0, pad=8)
    axes.tick_params(axis="x", labelcolor=FAINT, labelsize=9)
    axes.set_xlabel(
        "test accuracy in per cent; small: single splits, bar: one standard deviation",
        color=FAINT,
        fontsize=9,
        labelpad=6,
    )
    axes.grid(axis="x", color=RULE, linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    for side in axes.spines.values():
        side.set_visible(False)


def flat_map(embedding: npt.NDArray[Any], *, seed: int = 0) -> npt.NDArray[Any]:
    """Return a two-dimensional map of embeddings by t-SNE, of their directions (cosine), not their lengths.

    Takes a few seconds for 1,000 rows.
    """
    from sklearn.manifold import TSNE
    from sklearn.preprocessing import normalize

    perplexity = min(30.0, max(1.0, (len(embedding) - 1) / 3))
    layout = TSNE(perplexity=perplexity, init="pca", max_iter=500, random_state=seed)
    return np.asarray(layout.fit_transform(normalize(embedding)))


def embedding_map(
    axes: Axes, points: npt.NDArray[Any], codes: npt.NDArray[Any], class_names: Sequence[str], labelled: Any = None
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
        Points to mark with a dark ring.
    """
    rings = np.zeros(len(points), dtype=bool) if labelled is None else np.asarray(labelled)
    order = np.random.default_rng(0).permutation(len(points))  # so that no class lies on top of all others
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
