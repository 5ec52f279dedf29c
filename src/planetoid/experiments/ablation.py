"""The ablation: what joint training and label contexts add to a two-stage model with the same classifier.

Each of Planetoid-T, -I and -G is fitted in three forms, and GraphEmb beside them. The parameters of every form come
from a search of its own, with the same splits, starts and number of trials (``scripts/preset_searches.py``); on NELL it
was run at one labelling rate, for all three. A form that no search was run for has default parameters, and its row
says so. All forms have the same seeds and splits, so
that differences are taken run by run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from planetoid.evaluation import Protocol
from planetoid.experiments.cells import Cell, RowLabels, preset_parameters
from planetoid.experiments.render import CellResult, markdown_row
from planetoid.experiments.tables import TEST_NODES, Setting, display_name
from planetoid.search_space import Plain

__all__ = ["VARIANTS", "Difference", "ablation", "differences_markdown", "paired_differences"]

MODELS = ("planetoid-g", "planetoid-t", "planetoid-i")
VARIANTS: dict[str, Mapping[str, Plain]] = {
    "two-stage": {"contexts__r2": 1.0, "training__T2": 0.0, "training__embedding_learning_rate": 0.0},
    "joint-walks": {"contexts__r2": 1.0},
    "joint-labels": {},
}
TITLES = {
    "two-stage": "two stages",
    "joint-walks": "joint, no label contexts",
    "joint-labels": "joint, label contexts",
}
# Shares of NELL's known labels that give as many labels as the public splits.
NELL_RATES = {"nell-0.1": 0.55, "nell-0.01": 0.14, "nell-0.001": 0.001}
SEARCHED_ON = {"nell-0.1": "nell-0.01", "nell-0.001": "nell-0.01"}  # whose parameters a data set has, of every form
DATASETS = ("citeseer", "cora", "pubmed", *NELL_RATES)
EXPLANATION = (
    "Differences in accuracy, in percentage points, ± their standard errors: of the same runs (seeds, and splits where "
    "they are random), so that what a split is worth does not count. Bold: the 95 % interval (Student's t) excludes 0."
)


def ablation(datasets: Sequence[str] = DATASETS) -> list[Cell]:
    """Return the cells: GraphEmb and three forms of each model, on the public split and on random ones."""
    return [
        cell
        for section in ("public split", "random splits")
        for method in ("graphemb", *MODELS)
        for variant in (("two-stage",) if method == "graphemb" else tuple(VARIANTS))
        for dataset in datasets
        if method != "planetoid-t" or dataset not in NELL_RATES  # as in the paper, whose T used no features there
        for cell in [_cell(section, dataset, method, variant)]
    ]


def _cell(section: str, dataset: str, method: str, variant: str) -> Cell:
    protocol = Protocol("public")
    if section == "random splits":
        rate = NELL_RATES.get(dataset)
        protocol = Protocol("random") if rate is None else Protocol("rate", rate=rate, n_val=0)
    searched = preset_parameters(variant, SEARCHED_ON.get(dataset, dataset), method)
    fixed = {} if method == "graphemb" else VARIANTS[variant]
    test_nodes: Setting = "unseen" if method == "planetoid-i" else "transductive"
    return Cell(
        table="ablation",
        section=section,
        row=RowLabels(
            display_name(method),
            f"{TITLES[variant]}{'' if searched else ' (defaults)'}",
            stopping="fixed",
            test_nodes=TEST_NODES[test_nodes],
        ),
        dataset=dataset,
        method=method,
        protocol=replace(protocol, setting=test_nodes),
        parameters={**(searched or {}), **fixed},
    )


class _Pair(NamedTuple):
    """Two forms whose difference is shown."""

    text: str
    better: tuple[str, str]  # method and variant
    worse: tuple[str, str]


def _pairs() -> Iterator[_Pair]:
    yield _Pair("another classifier", ("planetoid-g", "two-stage"), ("graphemb", "two-stage"))
    for method in MODELS:
        yield _Pair("joint training", (method, "joint-walks"), (method, "two-stage"))
        yield _Pair("label contexts", (method, "joint-labels"), (method, "joint-walks"))
        yield _Pair("both", (method, "joint-labels"), (method, "two-stage"))


@dataclass(frozen=True)
class Difference:
    """What one form is better than another by.

    Attributes
    ----------
    text : str
        What the first has and the second has not.
    method : str
        Of the first.
    dataset : str
    mean, error : float
        Mean of the paired differences in accuracy, and its standard error.
    runs : int
    """

    text: str
    method: str
    dataset: str
    mean: float
    error: float
    runs: int

    @property
    def clear(self) -> bool:
        """Whether the 95 % interval of the mean, by Student's t, excludes 0."""
        from scipy.stats import t

        return abs(self.mean) > float(t.ppf(0.975, self.runs - 1)) * self.error


def paired_differences(entries: Sequence[CellResult]) -> list[Difference]:
    """Return the differences that the cells of one section allow; runs are paired by their seeds."""
    accuracy = {
        (entry.cell.method, _variant(entry.cell), entry.cell.dataset): {
            result.seed: result.metrics["accuracy"] for result in entry.results
        }
        for entry in entries
    }
    found = []
    for pair in _pairs():
        for dataset in dict.fromkeys(entry.cell.dataset for entry in entries):
            first, second = (accuracy.get((*one, dataset), {}) for one in (pair.better, pair.worse))
            seeds = sorted(first.keys() & second.keys())
            if len(seeds) < 2:
                continue
            values = np.array([first[seed] - second[seed] for seed in seeds])
            error = float(values.std(ddof=1) / len(seeds) ** 0.5)
            found.append(Difference(pair.text, pair.better[0], dataset, float(values.mean()), error, len(seeds)))
    return found


def _variant(cell: Cell) -> str:
    title = cell.row.settings.removesuffix(" (defaults)")
    return next(variant for variant, words in TITLES.items() if words == title)


def differences_markdown(found: Sequence[Difference]) -> str:
    """Return the differences as a Markdown table; those whose 95 % interval excludes 0 are in bold."""
    datasets = list(dict.fromkeys(one.dataset for one in found))
    lines = [markdown_row(["what", "method", *datasets]), markdown_row(["---", "---", *["---:"] * len(datasets)])]
    rows: dict[tuple[str, str], dict[str, Difference]] = {}
    for one in found:
        rows.setdefault((one.text, display_name(one.method)), {})[one.dataset] = one
    lines += [markdown_row([*row, *(_cell_text(cells.get(name)) for name in datasets)]) for row, cells in rows.items()]
    return "\n".join([EXPLANATION, "", *lines])


def _cell_text(one: Difference | None) -> str:
    if one is None:
        return ""
    mean = round(100 * one.mean, 1) + 0.0  # avoids "-0.0"
    text = f"{mean:+.1f} ± {100 * one.error:.1f}"
    return f"**{text}**" if one.clear else text
