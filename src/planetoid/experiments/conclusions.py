"""The paper's conclusions as differences between methods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from planetoid.experiments.render import CellResult, markdown_row
from planetoid.experiments.tables import KERNEL, display_name

__all__ = ["Comparison", "compare_methods", "conclusions_markdown"]


class Claim(NamedTuple):
    """A conclusion of the paper, and the two methods whose difference shows it."""

    text: str
    better: str
    worse: str


CLAIMS = (
    Claim("joint training beats embeddings learned without labels", "planetoid-g", "graphemb"),
    Claim("predicting contexts beats the graph Laplacian", "planetoid-i", "semiemb"),
    Claim("predicting contexts beats the graph Laplacian", "planetoid-i", "manireg"),
    Claim("where features are more informative than the graph ...", "feat", "graphemb"),
    Claim("... Planetoid-I gains on Planetoid-G", "planetoid-i", "planetoid-g"),
)
EXPLANATION = (
    "Differences in accuracy, in percentage points: the paper's, and ours ± its standard error. Both methods have a "
    "fixed budget and the same kind of settings (or the only kind that a method has); inductive methods predict unseen "
    "nodes."
)


@dataclass(frozen=True)
class Comparison:
    """The difference in accuracy between two methods on a dataset, in the paper and in our runs.

    Attributes
    ----------
    claim : str
    better, worse : str
        Methods; the difference is that of ``better`` minus ``worse``.
    settings : str
    dataset : str
    paper, ours : float
        Differences in accuracy.
    error : float or None
        Standard error of ``ours``; ``None`` where a method that is random was run once.
    """

    claim: str
    better: str
    worse: str
    settings: str
    dataset: str
    paper: float
    ours: float
    error: float | None


def compare_methods(entries: Sequence[CellResult]) -> list[Comparison]:
    """Return every difference that the cells of a section allow, for all settings."""
    shown = _by_settings(entries)
    kinds = {(method, settings) for (method, _), cells in shown.items() for settings in cells}
    comparisons = []
    for claim in CLAIMS:
        for dataset in dict.fromkeys(entry.cell.dataset for entry in entries):
            better, worse = shown.get((claim.better, dataset), {}), shown.get((claim.worse, dataset), {})
            if not better or not worse:
                continue
            for settings in dict.fromkeys((*better, *worse)):
                if any(
                    (method, settings) in kinds and settings not in cells
                    for method, cells in ((claim.better, better), (claim.worse, worse))
                ):
                    continue  # it has such settings, but they were not run on this dataset
                a, b = (cells.get(settings, next(iter(cells.values()))) for cells in (better, worse))
                if a.cell.paper is None or b.cell.paper is None:
                    continue
                comparisons.append(
                    Comparison(
                        claim=claim.text,
                        better=claim.better,
                        worse=claim.worse,
                        settings=settings,
                        dataset=dataset,
                        paper=a.cell.paper - b.cell.paper,
                        ours=a.spread.mean - b.spread.mean,
                        error=_error(a, b),
                    )
                )
    return comparisons


def _by_settings(entries: Sequence[CellResult]) -> dict[tuple[str, str], dict[str, CellResult]]:
    """Return the cells that the paper has, by method and dataset, then by settings."""
    shown: dict[tuple[str, str], dict[str, CellResult]] = {}
    for entry in entries:
        cell = entry.cell
        if cell.row.stopping == "fixed" and cell.protocol.setting != "features" and cell.row.settings != KERNEL:
            shown.setdefault((cell.method, cell.dataset), {})[cell.row.settings] = entry
    return shown


def _error(*entries: CellResult) -> float | None:
    """Return the standard error of the difference of two means; a method that is not random adds none."""
    if any(entry.spread.sd is None and len(entry.cell.tasks(2)) > 1 for entry in entries):
        return None
    return float(sum((entry.spread.sd or 0.0) ** 2 / len(entry.results) for entry in entries) ** 0.5)


class _TableRow(NamedTuple):
    claim: str
    better: str
    worse: str
    settings: str


def conclusions_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the differences as a Markdown table, one row per pair of methods and kind of settings."""
    datasets = list(dict.fromkeys(entry.dataset for entry in comparisons))
    labels = ["the paper's claim", "difference", "settings"]
    heads = [*labels, *(head for name in datasets for head in (f"{name}: paper", "ours"))]
    lines = [markdown_row(heads), markdown_row(["---"] * len(labels) + ["---:"] * (2 * len(datasets)))]
    rows: dict[_TableRow, dict[str, Comparison]] = {}
    for entry in comparisons:
        row = _TableRow(entry.claim, entry.better, entry.worse, entry.settings)
        rows.setdefault(row, {})[entry.dataset] = entry
    for row, entries in rows.items():
        cells = [text for name in datasets for text in _difference(entries.get(name))]
        names = f"{display_name(row.better)} - {display_name(row.worse)}"
        lines.append(markdown_row([row.claim, names, row.settings, *cells]))
    return "\n".join([EXPLANATION, "", *lines])


def _difference(entry: Comparison | None) -> tuple[str, str]:
    if entry is None:
        return "", ""
    paper, ours = (round(100 * share, 1) + 0.0 for share in (entry.paper, entry.ours))  # avoids "-0.0"
    return f"{paper:+.1f}", f"{ours:+.1f}" + ("" if entry.error is None else f" ± {100 * entry.error:.1f}")
