"""What the paper concludes from its tables, as differences that can be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planetoid.experiments.render import Figure, markdown_line
from planetoid.experiments.tables import NAMES

__all__ = ["Comparison", "comparisons_of", "conclusions_markdown"]

# what the paper says, and which method is taken from which to see it
CLAIMS = (
    ("joint training beats embeddings made without labels", "planetoid-g", "graphemb"),
    ("predicting contexts beats the graph Laplacian", "planetoid-i", "semiemb"),
    ("predicting contexts beats the graph Laplacian", "planetoid-i", "manireg"),
    ("where features say more than the graph ...", "feat", "graphemb"),
    ("... Planetoid-I gains on Planetoid-G", "planetoid-i", "planetoid-g"),
)
EXPLAINED = (
    "Differences in accuracy, in points: the paper's, and ours ± its standard error. Both methods with a fixed "
    "budget and with the same kind of settings, a method that has one kind with that; inductive methods on "
    "unseen nodes."
)


@dataclass(frozen=True)
class Comparison:
    """How far one method is above another on a data set; ``paper`` is the paper's difference."""

    claim: str
    better: str
    worse: str
    settings: str
    dataset: str
    paper: float
    ours: float
    error: float


def comparisons_of(figures: Sequence[Figure]) -> list[Comparison]:
    """Return every difference that the figures of a section allow, for all settings: none is chosen."""
    shown = _by_settings(figures)
    found = []
    for claim, better, worse in CLAIMS:
        for dataset in dict.fromkeys(figure.cell.dataset for figure in figures):
            ours, theirs = shown.get((better, dataset), {}), shown.get((worse, dataset), {})
            if not ours or not theirs:
                continue
            for settings in dict.fromkeys((*ours, *theirs)):
                a, b = (some.get(settings, next(iter(some.values()))) for some in (ours, theirs))
                if a.cell.paper is None or b.cell.paper is None:
                    continue
                by_paper, by_us = a.cell.paper - b.cell.paper, a.spread.mean - b.spread.mean
                error = (_squared_error(a) + _squared_error(b)) ** 0.5
                found.append(Comparison(claim, better, worse, settings, dataset, by_paper, by_us, error))
    return found


def _by_settings(figures: Sequence[Figure]) -> dict[tuple[str, str], dict[str, Figure]]:
    """Return the figures of each method on each data set by their settings, as the paper measured them."""
    shown: dict[tuple[str, str], dict[str, Figure]] = {}
    for figure in figures:
        cell = figure.cell
        if cell.row[2] == "fixed" and cell.protocol.setting != "features":
            shown.setdefault((cell.method, cell.dataset), {})[cell.row[1]] = figure
    return shown


def _squared_error(figure: Figure) -> float:
    return (figure.spread.sd or 0.0) ** 2 / len(figure.results)


def conclusions_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the differences as a table, a line for each pair of methods and kind of settings."""
    datasets = list(dict.fromkeys(entry.dataset for entry in comparisons))
    labels = ["the paper's claim", "difference", "settings"]
    heads = [*labels, *(head for name in datasets for head in (f"{name}: paper", "ours"))]
    lines = [markdown_line(heads), markdown_line(["---"] * len(labels) + ["---:"] * (2 * len(datasets)))]
    pairs: dict[tuple[str, str, str, str], dict[str, Comparison]] = {}
    for entry in comparisons:
        pairs.setdefault((entry.claim, entry.better, entry.worse, entry.settings), {})[entry.dataset] = entry
    for (claim, better, worse, settings), entries in pairs.items():
        cells = [text for name in datasets for text in _difference(entries.get(name))]
        lines.append(markdown_line([claim, f"{NAMES[better]} - {NAMES[worse]}", settings, *cells]))
    return "\n".join([EXPLAINED, "", *lines])


def _difference(entry: Comparison | None) -> tuple[str, str]:
    if entry is None:
        return "", ""
    paper, ours = (round(100 * share, 1) + 0.0 for share in (entry.paper, entry.ours))  # no minus before a zero
    return f"{paper:+.1f}", f"{ours:+.1f} ± {100 * entry.error:.1f}"
