"""Tables as Markdown, as plain data, and for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from planetoid.evaluation import Result, Spread
from planetoid.experiments.cells import Cell, RowLabels
from planetoid.experiments.table4 import LISTS_PREFIX

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "CellResult",
    "as_markdown",
    "as_record",
    "as_rich",
    "by_section",
    "finished_cells",
    "format_seconds",
    "markdown_row",
]

HEADS = tuple(name.replace("_", " ") for name in RowLabels._fields)


@dataclass(frozen=True)
class CellResult:
    """A cell and the results of its runs.

    Attributes
    ----------
    cell : Cell
    spread : Spread
        Accuracy or recall over the runs.
    seconds : float
        Median fit time.
    results : list of Result
    """

    cell: Cell
    spread: Spread
    seconds: float
    results: list[Result]

    def text(self) -> str:
        """Return mean and standard deviation in per cent, and the fit time."""
        return f"{self.spread.percent()} ({format_seconds(self.seconds)})"

    def reaches_paper(self) -> bool | None:
        """Whether the mean is above the paper's value or within one standard deviation; ``None`` on other data."""
        if self.cell.paper is None or self.cell.on_synthetic_data:
            return None
        return self.spread.mean + (self.spread.sd or 0.0) >= self.cell.paper - 0.0005  # which has three digits


def finished_cells(
    cells: Sequence[Cell], results: Mapping[str, Result], runs: int, first_seed: int = 0
) -> list[CellResult]:
    """Return the cells whose runs are all in ``results``, which maps keys of tasks to results."""
    finished = []
    for cell in cells:
        keys = [task.key for task in cell.tasks(runs, first_seed)]
        if all(key in results for key in keys):
            of_cell = [results[key] for key in keys]
            metric = "recall" if cell.on_lists else "accuracy"
            spread = Spread.of(result.metrics[metric] for result in of_cell)
            seconds = float(np.median([result.fit_seconds for result in of_cell]))
            finished.append(CellResult(cell, spread, seconds, of_cell))
    return finished


def by_section(entries: Sequence[CellResult]) -> dict[str, list[CellResult]]:
    """Return the cells grouped by section of the table."""
    sections: dict[str, list[CellResult]] = {}
    for entry in entries:
        sections.setdefault(entry.cell.section, []).append(entry)
    return sections


class _Row(NamedTuple):
    labels: RowLabels
    cells: list[CellResult | None]  # one per data set


class _Grid(NamedTuple):
    datasets: list[str]
    rows: list[_Row]


def _grid(entries: Sequence[CellResult]) -> _Grid:
    datasets = list(dict.fromkeys(entry.cell.dataset for entry in entries))
    rows: dict[RowLabels, dict[str, CellResult]] = {}
    for entry in entries:
        rows.setdefault(entry.cell.row, {})[entry.cell.dataset] = entry
    return _Grid(datasets, [_Row(labels, [row.get(name) for name in datasets]) for labels, row in rows.items()])


def as_markdown(entries: Sequence[CellResult]) -> str:
    """Return a Markdown table with the paper's value, where it has any, and ours in each cell, in per cent."""
    grid = _grid(entries)
    names = [name.removeprefix(LISTS_PREFIX) for name in grid.datasets]
    with_paper = any(entry.cell.paper is not None for entry in entries)
    columns = [(f"{name}: paper", "ours (seconds)") if with_paper else (f"{name} (seconds)",) for name in names]
    values = [head for heads in columns for head in heads]
    lines = [markdown_row([*HEADS, *values]), markdown_row(["---"] * len(HEADS) + ["---:"] * len(values))]
    for row in grid.rows:
        pairs = [_paper_and_ours(entry) for entry in row.cells]
        cells = [text for pair in pairs for text in (pair if with_paper else (pair.ours,))]
        lines.append(markdown_row([*row.labels, *cells]))
    return "\n".join(lines)


class _PaperAndOurs(NamedTuple):
    paper: str
    ours: str


def _paper_and_ours(entry: CellResult | None) -> _PaperAndOurs:
    if entry is None:
        return _PaperAndOurs("", "")
    paper = "" if entry.cell.paper is None else f"{100 * entry.cell.paper:.1f}"
    falls_short = entry.reaches_paper() is False and entry.cell.method.startswith("planetoid")
    return _PaperAndOurs(paper, entry.text() + (" †" if falls_short else ""))


def markdown_row(cells: Sequence[str]) -> str:
    """Return one row of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def as_rich(entries: Sequence[CellResult], title: str) -> Table:
    """Return a table for the terminal."""
    from rich import box
    from rich.table import Table

    grid = _grid(entries)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left")
    for head in HEADS:
        table.add_column(head, no_wrap=True)
    for name in grid.datasets:
        table.add_column(f"{name.removeprefix(LISTS_PREFIX)}\npaper → ours (s)", justify="right", no_wrap=True)
    for row in grid.rows:
        pairs = [_paper_and_ours(entry) for entry in row.cells]
        table.add_row(*row.labels, *(f"{pair.paper} → {pair.ours}" if pair.paper else pair.ours for pair in pairs))
    return table


def as_record(entries: Sequence[CellResult]) -> list[dict[str, Any]]:
    """Return every cell as plain data, with parameters, seeds and single runs."""
    return [
        {
            "table": entry.cell.table,
            "section": entry.cell.section,
            **dict(zip(HEADS, entry.cell.row, strict=True)),
            "dataset": entry.cell.dataset,
            "short_name": entry.cell.method,
            "protocol": entry.results[0].protocol,
            "paper": entry.cell.paper,
            "mean": entry.spread.mean,
            "sd": entry.spread.sd,
            "seconds": entry.seconds,
            "reaches_paper": entry.reaches_paper(),
            "preset_parameters": dict(entry.cell.parameters),
            "parameters": entry.results[0].parameters,
            "seeds": [result.seed for result in entry.results],
            "runs": [result.metrics for result in entry.results],
            "warnings": sorted({text for result in entry.results for text in result.warnings}),
        }
        for entry in entries
    ]


def format_seconds(value: float) -> str:
    """Return a duration with a precision that fits its size.

    >>> format_seconds(0.034), format_seconds(2.34), format_seconds(123.4)
    ('0.03', '2.3', '123')
    """
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:.0f}"
