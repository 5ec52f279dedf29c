"""What the paper concludes from its tables, as differences that can be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planetoid.experiments.cells import preset_score
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
    "Differences in accuracy, in points: the paper's, and ours ± its standard error. Each method with a fixed "
    "budget and with that of its settings that did better on the splits they were chosen on; inductive "
    "methods on unseen nodes."
)


@dataclass(frozen=True)
class Comparison:
    """How far one method is above another on a data set; ``paper`` is the paper's difference."""

    claim: str
    better: str
    worse: str
    dataset: str
    paper: float
    ours: float
    error: float


def comparisons_of(figures: Sequence[Figure]) -> list[Comparison]:
    """Return every difference that the figures of a section allow."""
    shown = _shown(figures)
    found = []
    for claim, better, worse in CLAIMS:
        for dataset in dict.fromkeys(figure.cell.dataset for figure in figures):
            a, b = shown.get((better, dataset)), shown.get((worse, dataset))
            if a is None or b is None or a.cell.paper is None or b.cell.paper is None:
                continue
            error = (_squared_error(a) + _squared_error(b)) ** 0.5
            found.append(
                Comparison(
                    claim, better, worse, dataset, a.cell.paper - b.cell.paper, a.spread.mean - b.spread.mean, error
                )
            )
    return found


def _shown(figures: Sequence[Figure]) -> dict[tuple[str, str], Figure]:
    """Return the figure that stands for a method on a data set: no choice here looks at a test label."""
    shown: dict[tuple[str, str], Figure] = {}
    for figure in figures:
        cell = figure.cell
        if cell.row[2] != "fixed" or cell.protocol.setting == "features":
            continue
        place = cell.method, cell.dataset
        if place not in shown or _score(figure) > _score(shown[place]):
            shown[place] = figure
    return shown


def _score(figure: Figure) -> float:
    return preset_score(figure.cell.row[1], figure.cell.dataset, figure.cell.method)


def _squared_error(figure: Figure) -> float:
    return (figure.spread.sd or 0.0) ** 2 / len(figure.results)


def conclusions_markdown(comparisons: Sequence[Comparison]) -> str:
    """Return the differences as a table, a line for each pair of methods."""
    datasets = list(dict.fromkeys(entry.dataset for entry in comparisons))
    heads = ["the paper's claim", "difference", *(head for name in datasets for head in (f"{name}: paper", "ours"))]
    lines = [markdown_line(heads), markdown_line(["---", "---", *["---:"] * (2 * len(datasets))])]
    pairs: dict[tuple[str, str, str], dict[str, Comparison]] = {}
    for entry in comparisons:
        pairs.setdefault((entry.claim, entry.better, entry.worse), {})[entry.dataset] = entry
    for (claim, better, worse), entries in pairs.items():
        cells = [text for name in datasets for text in _difference(entries.get(name))]
        lines.append(markdown_line([claim, f"{NAMES[better]} - {NAMES[worse]}", *cells]))
    return "\n".join([EXPLAINED, "", *lines])


def _difference(entry: Comparison | None) -> tuple[str, str]:
    if entry is None:
        return "", ""
    return f"{100 * entry.paper:+.1f}", f"{100 * entry.ours:+.1f} ± {100 * entry.error:.1f}"
