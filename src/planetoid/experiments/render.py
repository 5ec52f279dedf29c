"""Tables as Markdown, as plain data, and for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from planetoid.evaluation import Result, Spread
from planetoid.experiments.cells import Cell

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Figure", "as_markdown", "as_record", "as_rich", "figures_of", "markdown_line", "sections_of"]

HEADS = ("method", "settings", "stopping", "test nodes")


@dataclass(frozen=True)
class Figure:
    """A cell and what its runs gave."""

    cell: Cell
    spread: Spread
    seconds: float
    results: list[Result]

    def text(self) -> str:
        """Return the figure in per cent, its deviation and the median time of a fit."""
        return f"{self.spread.percent()} ({_seconds(self.seconds)})"

    def reaches_paper(self) -> bool | None:
        """Whether it is above the paper's figure, or within one standard deviation of it; ``None`` on other data."""
        if self.cell.paper is None or self.cell.on_made_data:
            return None
        return self.spread.mean + (self.spread.sd or 0.0) >= self.cell.paper - 0.0005  # which has three digits


def figures_of(cells: Sequence[Cell], results: dict[str, Result], runs: int) -> list[Figure]:
    """Return the figures of all cells whose runs are all there."""
    found = []
    for cell in cells:
        keys = [task.key for task in cell.tasks(runs)]
        if all(key in results for key in keys):
            of_cell = [results[key] for key in keys]
            metric = "recall" if "recall" in of_cell[0].metrics else "accuracy"
            spread = Spread.of(result.metrics[metric] for result in of_cell)
            found.append(Figure(cell, spread, float(np.median([r.fit_seconds for r in of_cell])), of_cell))
    return found


def sections_of(figures: Sequence[Figure]) -> dict[str, list[Figure]]:
    """Return the figures by the section they stand in."""
    sections: dict[str, list[Figure]] = {}
    for figure in figures:
        sections.setdefault(figure.cell.section, []).append(figure)
    return sections


def _grid(figures: Sequence[Figure]) -> tuple[list[str], list[tuple[tuple[str, ...], list[Figure | None]]]]:
    """Return the data sets, and for each row of the table its heads and a figure for each data set."""
    datasets = list(dict.fromkeys(figure.cell.dataset for figure in figures))
    rows: dict[tuple[str, ...], dict[str, Figure]] = {}
    for figure in figures:
        rows.setdefault(figure.cell.row, {})[figure.cell.dataset] = figure
    return datasets, [(heads, [found.get(name) for name in datasets]) for heads, found in rows.items()]


def as_markdown(figures: Sequence[Figure]) -> str:
    """Return one Markdown table: the paper's figure and ours in each cell, in per cent."""
    datasets, rows = _grid(figures)
    names = [name.removeprefix("lists:") for name in datasets]
    heads = [*HEADS, *(head for name in names for head in (f"{name}: paper", "ours (seconds)"))]
    lines = [markdown_line(heads), markdown_line(["---"] * len(HEADS) + ["---:"] * (2 * len(names)))]
    for labels, row in rows:
        cells = [text for figure in row for text in _paper_and_ours(figure)]
        lines.append(markdown_line([*labels, *cells]))
    return "\n".join(lines)


def _paper_and_ours(figure: Figure | None) -> tuple[str, str]:
    if figure is None:
        return "", ""
    printed = "" if figure.cell.paper is None else f"{100 * figure.cell.paper:.1f}"
    short = figure.reaches_paper() is False and figure.cell.method.startswith("planetoid")
    return printed, figure.text() + (" †" if short else "")


def markdown_line(cells: Sequence[str]) -> str:
    """Return one line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def as_rich(figures: Sequence[Figure], title: str) -> Table:
    """Return one table for the terminal."""
    from rich import box
    from rich.table import Table

    datasets, rows = _grid(figures)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for head in HEADS:
        table.add_column(head, no_wrap=True)
    for name in datasets:
        table.add_column(f"{name.removeprefix('lists:')}\npaper → ours (s)", justify="right", no_wrap=True)
    for labels, row in rows:
        cells = []
        for figure in row:
            printed, ours = _paper_and_ours(figure)
            cells.append(f"{printed} → {ours}" if printed else ours)
        table.add_row(*labels, *cells)
    return table


def as_record(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    """Return every cell as plain data, with parameters, seeds and single runs."""
    return [
        {
            "table": figure.cell.table,
            "section": figure.cell.section,
            **dict(zip(HEADS, figure.cell.row, strict=True)),
            "dataset": figure.cell.dataset,
            "short_name": figure.cell.method,
            "protocol": figure.results[0].protocol,
            "paper": figure.cell.paper,
            "mean": figure.spread.mean,
            "sd": figure.spread.sd,
            "seconds": figure.seconds,
            "reaches_paper": figure.reaches_paper(),
            "preset_parameters": dict(figure.cell.parameters),
            "parameters": figure.results[0].parameters,
            "seeds": [result.seed for result in figure.results],
            "runs": [result.metrics for result in figure.results],
            "warnings": sorted({text for result in figure.results for text in result.warnings}),
        }
        for figure in figures
    ]


def _seconds(value: float) -> str:
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"
