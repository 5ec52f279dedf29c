"""Which cells make up the paper's tables 3, 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from planetoid.evaluation import Protocol
from planetoid.experiments import paper
from planetoid.experiments.cells import Cell, preset_parameters
from planetoid.registry import METHODS

__all__ = ["quick_cell", "table3", "table4", "table5"]

NAMES = {
    "feat": "Feat",
    "manireg": "ManiReg",
    "semiemb": "SemiEmb",
    "planetoid-i": "Planetoid-I",
    "tsvm": "TSVM",
    "lp": "LP",
    "graphemb": "GraphEmb",
    "planetoid-g": "Planetoid-G",
    "planetoid-t": "Planetoid-T",
    "lgc": "LGC",
    "mad": "MAD",
    "ica": "ICA",
    "poisson": "Poisson",
    "ssgc": "SSGC",
    "diel": "DIEL",
}
Setting = Literal["transductive", "features", "unseen"]
NOT_IN_THE_PAPER = ("lgc", "mad", "poisson", "ica", "ssgc")
STOPPING = ("semiemb", "planetoid-i", "planetoid-g", "planetoid-t")  # methods that can stop on validation labels
TEST_NODES = {"transductive": "in the graph", "unseen": "unseen", "features": "features only"}
# What a graph of hundreds of thousands of nodes asks for; nothing was tuned on the lists.
ON_LISTS: dict[str, dict[str, Any]] = {
    "manireg": {"kind": "network"},
    "planetoid-i": {"dimension": 64, "pretrain": 0.1, "N2": 500},
    "graphemb": {"dimension": 64, "passes": 5},
    "planetoid-g": {"dimension": 64, "pretrain": 5},
    "planetoid-t": {"dimension": 64, "pretrain": 5},
}
QUICK = {"steps": 30, "pretrain": 1, "passes": 2}


def _settings(dataset: str, method: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each set of parameters that a method is shown with: the paper's, and ours where it departs."""
    at_paper, ours = (preset_parameters(family, dataset, method) for family in ("paper", "tuned"))
    if at_paper is None and ours is None:
        yield "defaults", {}
    if at_paper is not None:
        yield "paper", at_paper
    if ours is not None:
        yield "tuned", ours


def _accuracy_cells(table: str, section: str, dataset: str, method: str, protocol: Protocol) -> Iterator[Cell]:
    figure = {"table3": paper.TABLE_3, "table5": paper.TABLE_5}[table].get(method, {}).get(dataset)
    inductive = method in ("feat", "manireg", "semiemb", "planetoid-i")
    views: list[Setting] = ["unseen" if inductive and METHODS[method].uses_graph != "never" else "transductive"]
    for settings, parameters in _settings(dataset, method):
        if method == "planetoid-i" and settings != "paper":
            views = ["unseen", "features"]
        for setting in views:
            for stops in (False, True) if method in STOPPING and table == "table3" else (False,):
                yield Cell(
                    table,
                    section,
                    (NAMES[method], settings, "validation" if stops else "fixed", TEST_NODES[setting]),
                    dataset,
                    method,
                    replace(protocol, setting=setting, validation=stops),
                    parameters,
                    figure if setting != "features" else None,
                )


def table3() -> list[Cell]:
    """Return the cells of table 3, on the public split and on random ones."""
    methods = (*paper.TABLE_3, *NOT_IN_THE_PAPER)
    return [
        cell
        for section, protocol in (("public split", Protocol("public")), ("random splits", Protocol("random")))
        for method in methods
        for dataset in ("citeseer", "cora", "pubmed")
        for cell in _accuracy_cells("table3", section, dataset, method, protocol)
    ]


def table4(lists: str) -> list[Cell]:
    """Return the cells of table 4 on ``"diel"`` or on made lists of a scale such as ``"0.1"``."""
    section = "DIEL" if lists == "diel" else f"made in the likeness of DIEL, at {lists} of its size"
    return [
        Cell(
            "table4",
            section,
            (NAMES[method], "for a large graph" if method in ON_LISTS else "defaults", "fixed", "in the graph"),
            f"lists:{lists}",
            method,
            Protocol(),
            ON_LISTS.get(method, {}),
            figure,
        )
        for method, figure in paper.TABLE_4.items()
    ]


def table5() -> list[Cell]:
    """Return the cells of table 5: NELL's public splits at three labelling rates."""
    return [
        cell
        for method in paper.TABLE_5
        for dataset in ("nell-0.1", "nell-0.01", "nell-0.001")
        for cell in _accuracy_cells("table5", "public split", dataset, method, Protocol("public"))
    ]


def quick_cell(cell: Cell) -> Cell:
    """Return the cell with budgets so small that its figure says only that it runs."""
    known = METHODS[cell.method]._get_param_names()
    small: dict[str, float] = {name: value for name, value in QUICK.items() if name in known}
    if cell.method == "planetoid-i":
        small["pretrain"] = 0.1
    return replace(cell, parameters={**cell.parameters, **small})
