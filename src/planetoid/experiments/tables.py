"""The cells of the paper's Tables 3, 4 and 5."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from planetoid.evaluation import Protocol
from planetoid.experiments import paper
from planetoid.experiments.cells import Cell, RowLabels, preset_parameters
from planetoid.experiments.table4 import LISTS_PREFIX, settings_on_lists
from planetoid.registry import METHODS

__all__ = ["BEYOND", "KERNEL", "TEST_NODES", "Setting", "display_name", "quick_cell", "table3", "table4", "table5"]

# The paper's names; other methods are shown by their class.
PAPER_NAMES = {
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
PROPAGATION = ("mad", "lgc")  # beside LP: the paper's LP is Junto's, that is MAD
NOT_IN_THE_PAPER = ("lgc", "mad", "poisson", "ica", "ssgc")
STOPPING = ("semiemb", "planetoid-i", "planetoid-g", "planetoid-t")  # methods that can stop early
INDUCTIVE = ("feat", "manireg", "semiemb", "planetoid-i")  # in the paper's sense
ALWAYS: dict[str, dict[str, object]] = {"manireg": {"kind": "network"}}  # what the paper compares with
FAMILIES = ("printed", "paper", "tuned")
KERNEL = "kernel"  # ManiReg in a function space
BEYOND = "beyond the paper, public split"  # the last section of Table 3
TEST_NODES = {"transductive": "in the graph", "unseen": "unseen", "features": "features only"}
# Small budgets, for every parameter of that name, nested or not.
QUICK: dict[str, object] = {"steps": 30, "pretrain": 1}
QUICK_INDUCTIVE: dict[str, object] = {**QUICK, "pretrain": 0.1}


def display_name(method: str) -> str:
    """Return the name of a method in the tables.

    >>> display_name("lp"), display_name("planetoid-t")
    ('LP', 'Planetoid-T')
    """
    return PAPER_NAMES.get(method) or METHODS[method].__name__


class _Settings(NamedTuple):
    name: str
    parameters: dict[str, object]


def _settings(dataset: str, method: str) -> Iterator[_Settings]:
    """Yield the parameter settings of a method: as printed, the paper's, tuned ones; those that there are."""
    found = {family: preset_parameters(family, dataset, method) for family in FAMILIES}
    if not any(found.values()):
        yield _Settings("defaults", ALWAYS.get(method, {}))
    for family, parameters in found.items():
        if parameters is not None:
            yield _Settings(family, parameters)
    kernel = preset_parameters(KERNEL, dataset, method)
    if kernel is not None:
        yield _Settings(KERNEL, kernel)


def _accuracy_cells(table: str, section: str, dataset: str, method: str, protocol: Protocol) -> Iterator[Cell]:
    value = {"table3": paper.TABLE_3, "table5": paper.TABLE_5}[table].get(method, {}).get(dataset)
    unseen = method in INDUCTIVE and METHODS[method].uses_graph != "never"
    for settings in _settings(dataset, method):
        views: list[Setting] = ["unseen" if unseen else "transductive"]
        if method == "planetoid-i" and settings.name == "tuned":
            views = ["unseen", "features"]
        can_stop = method in STOPPING and table == "table3" and settings.name != "printed"
        for setting in views:
            for stops in (False, True) if can_stop else (False,):
                stopping = "validation" if stops else "fixed"
                yield Cell(
                    table=table,
                    section=section,
                    row=RowLabels(display_name(method), settings.name, stopping, TEST_NODES[setting]),
                    dataset=dataset,
                    method=method,
                    protocol=replace(protocol, setting=setting, validation=stops),
                    parameters=settings.parameters,
                    paper=value if setting != "features" else None,
                )


def table3() -> list[Cell]:
    """Return the cells of Table 3 on the public split and on random splits, and what is reached beyond the paper."""
    methods = (*paper.TABLE_3, *NOT_IN_THE_PAPER)
    of_paper = [
        cell
        for section, protocol in (("public split", Protocol("public")), ("random splits", Protocol("random")))
        for method in methods
        for dataset in ("citeseer", "cora", "pubmed")
        for cell in _accuracy_cells("table3", section, dataset, method, protocol)
    ]
    return of_paper + [cell for dataset in ("citeseer", "cora", "pubmed") for cell in _beyond(dataset)]


def _beyond(dataset: str) -> Iterator[Cell]:
    """Yield ``Planetoid`` in all settings, and a GCN for comparison, both with default parameters."""
    protocols = [
        ("planetoid", Protocol("public", validation=True)),
        ("planetoid", Protocol("public")),
        ("planetoid", Protocol("public", setting="features")),
        ("planetoid", Protocol("public", setting="unseen")),
        ("planetoid", Protocol("public", features=False)),
        ("gcn", Protocol("public", validation=True)),
        ("gcn", Protocol("public")),
    ]
    for method, protocol in protocols:
        test_nodes = TEST_NODES[protocol.setting] + ("" if protocol.features else ", no features")
        yield Cell(
            table="table3",
            section=BEYOND,
            row=RowLabels(
                display_name(method), "defaults", "validation" if protocol.validation else "fixed", test_nodes
            ),
            dataset=dataset,
            method=method,
            protocol=protocol,
        )


def table4(lists: str) -> list[Cell]:
    """Return the cells of Table 4 on ``"diel"`` or on synthetic lists at a scale such as ``"0.1"``."""
    methods = (*paper.TABLE_4, *PROPAGATION)
    return [
        Cell(
            table="table4",
            section="DIEL" if lists == "diel" else f"synthetic DIEL-like lists, scale {lists}",
            row=RowLabels(display_name(method), settings, stopping="fixed", test_nodes="in the graph"),
            dataset=f"{LISTS_PREFIX}{lists}",
            method=method,
            protocol=Protocol(),
            parameters=parameters,
            paper=paper.TABLE_4.get(method),
        )
        for method in methods
        for settings, parameters in settings_on_lists(method).items()
    ]


def table5() -> list[Cell]:
    """Return the cells of Table 5: NELL's public splits at three labelling rates."""
    return [
        cell
        for method in (*paper.TABLE_5, *PROPAGATION)
        for dataset in ("nell-0.1", "nell-0.01", "nell-0.001")
        for cell in _accuracy_cells("table5", "public split", dataset, method, Protocol("public"))
    ]


def quick_cell(cell: Cell) -> Cell:
    """Return the cell with budgets so small that its value only shows that the method runs."""
    budgets = QUICK_INDUCTIVE if cell.method == "planetoid-i" else QUICK
    names = METHODS[cell.method]().get_params(deep=True)
    small = {name: budgets[short] for name in names if (short := name.rpartition("__")[2]) in budgets}
    return replace(cell, parameters={**cell.parameters, **small})
