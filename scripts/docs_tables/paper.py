"""The paper's tables as they are reproduced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from docs_tables.common import DATA_SETS, ROOT, Tables, as_table, by_name, read_json

REPRODUCED = ROOT / "docs" / "results"
NELL = {"nell-0.1": "NELL 0.1", "nell-0.01": "NELL 0.01", "nell-0.001": "NELL 0.001"}
SPLITS = ("public split", "random splits")
AS_PRINTED, AS_PAPER, BUT = "as printed", "everything: paper/*", "paper/*, but not: "  # rows of printed_factors.py
TIMED, DEFAULTS = "half a minute", "defaults"  # settings of Table 4
LIST_DIFFERENCES = (
    (("DIEL", DEFAULTS), ("Planetoid-I", TIMED)),
    (("Planetoid-I", TIMED), ("SemiEmb", TIMED)),
    (("Planetoid-I", TIMED), ("Feat", DEFAULTS)),
    (("Planetoid-I", TIMED), ("Planetoid-T", TIMED)),
    (("Planetoid-T", TIMED), ("Feat", DEFAULTS)),
    (("Planetoid-G", TIMED), ("GraphEmb", TIMED)),
    (("Planetoid-I", "printed"), ("Planetoid-T", "printed")),
    (("Planetoid-I", "printed"), ("Feat", DEFAULTS)),
    (("Planetoid-G", "printed"), ("GraphEmb", "printed")),
)
TITLES = {
    "planetoid-i": "Planetoid-I",
    "planetoid-g": "Planetoid-G",
    "planetoid-t": "Planetoid-T",
    "graphemb": "GraphEmb",
    "semiemb": "SemiEmb",
    "manireg": "ManiReg",
    "feat": "Feat",
}


def table3() -> str:
    """The paper's Table 3 in short: public split, fixed budget, test nodes as in the paper."""
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for cell in read_json(REPRODUCED / "table3.json")["cells"]:
        if cell["section"] == "public split" and cell["stopping"] == "fixed" and cell["paper"] is not None:
            cells.setdefault((cell["method"], cell["settings"]), {})[cell["dataset"]] = cell
    heads = ["method", "settings", *(f"{name}: paper | ours" for name in DATA_SETS.values())]
    rows = [[*key, *(_paper_and_ours(found.get(name)) for name in DATA_SETS)] for key, found in cells.items()]
    return as_table(" | ".join(heads).split(" | "), rows)


def _paper_and_ours(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return " | "
    spread = "" if cell["sd"] is None else f" ± {100 * cell['sd']:.1f}"
    return f"{100 * cell['paper']:.1f} | {100 * cell['mean']:.1f}{spread}"


def printed() -> str:
    """The paper's system as printed: its value and ours, on the public splits of Tables 3 and 5."""
    cells: dict[str, dict[str, Any]] = {}
    for name in ("table3", "table5"):
        for cell in read_json(REPRODUCED / f"{name}.json")["cells"]:
            if cell["section"] == "public split" and cell["settings"] == "printed":
                cells.setdefault(cell["method"], {})[cell["dataset"]] = cell
    data_sets = _measured({name for found in cells.values() for name in found})
    rows = [
        [method, *(_paper_to_ours(found.get(name)) for name in data_sets)]
        for method, found in sorted(cells.items(), key=lambda entry: entry[0] == "GraphEmb")
    ]
    return as_table(["paper → ours", *data_sets.values()], rows)


def _paper_to_ours(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    return _paper_and_ours(cell).replace(" | ", " → ") + ("" if cell["reaches_paper"] else " †")


def printed_factors() -> str:
    """The system as printed with one difference to the presets ``paper/*`` at a time."""
    return _factors("changed", AS_PRINTED, lambda factor: None if factor.startswith(BUT) else factor)


def paper_factors() -> str:
    """The presets ``paper/*`` with one difference to the system as printed at a time."""

    def title(factor: str) -> str | None:
        if factor == AS_PAPER:
            return "paper/*"
        return factor.removeprefix(BUT) if factor.startswith(BUT) else None

    return _factors("without", AS_PAPER, title)


def _factors(head: str, base: str, title: Callable[[str], str | None]) -> str:
    """Return accuracies of the rows that have a title, and their differences from one of them."""
    models = read_json(ROOT / "benchmarks" / "results" / "printed_factors.json")["models"]
    factors = {factor: title(factor) for found in models.values() for factor in found}
    rows = [
        [shown, *(_gain(found, factor, base) for found in models.values())]
        for factor, shown in factors.items()
        if shown is not None
    ]
    titles = [f"{TITLES[method]}, {(DATA_SETS | NELL)[name]}" for name, method in (model.split() for model in models)]
    return as_table([head, *titles], rows)


def _gain(found: dict[str, list[float]], factor: str, base: str) -> str:
    """Return the mean accuracy, and its difference from that of another row ± the standard error over the splits."""
    if factor not in found:
        return ""
    ours = np.array(found[factor])
    if factor == base:
        return f"{ours.mean():.1f}"
    gain = ours - np.array(found[base])
    error = gain.std(ddof=1) / len(gain) ** 0.5
    return f"{ours.mean():.1f} ({round(gain.mean(), 1) + 0.0:+.1f} ± {error:.1f})"


def claims() -> str:
    """Differences behind the paper's claims about methods, on public and on random splits."""
    found = read_json(REPRODUCED / "table3.json")["conclusions"]
    entries = {section: found[section] for section in SPLITS}
    rows = _both_splits(
        entries, lambda one: (f"{TITLES[one['better']]} - {TITLES[one['worse']]}", one["settings"]), "ours"
    )
    shown = [row for row in rows if not row[0].startswith("Feat")]
    return as_table(["difference", "settings", *DATA_SETS.values()], shown)


def joint() -> str:
    """What joint training and label contexts add, on public and on random splits."""
    entries = read_json(REPRODUCED / "ablation.json")["differences"]
    data_sets = _measured({one["dataset"] for found in entries.values() for one in found})
    rows = _both_splits(entries, lambda one: (one["text"], TITLES[one["method"]]), "mean", data_sets)
    return as_table(["what", "method", *data_sets.values()], rows)


def _measured(found: set[str]) -> dict[str, str]:
    """Return the titles of the data sets that were found, in the usual order."""
    return {name: title for name, title in (DATA_SETS | NELL).items() if name in found}


def _both_splits(
    entries: dict[str, list[dict[str, Any]]],
    labels: Callable[[dict[str, Any]], tuple[str, str]],
    value: str,
    data_sets: dict[str, str] = DATA_SETS,
) -> list[list[str]]:
    """Return a row of differences per pair of labels, "public, random"; bold where both are clear and agree."""
    rows: dict[tuple[str, str], dict[str, dict[str, dict[str, Any]]]] = {}
    for section, differences in entries.items():
        for one in differences:
            rows.setdefault(labels(one), {}).setdefault(one["dataset"], {})[section] = one
    return [[*row, *(_two(found.get(name, {}), value) for name in data_sets)] for row, found in rows.items()]


def _two(found: dict[str, dict[str, Any]], value: str) -> str:
    if set(found) != set(SPLITS):
        return ""
    both = [found[section] for section in SPLITS]
    text = ", ".join(f"{round(100 * one[value], 1) + 0.0:+.1f} ± {100 * one['error']:.1f}" for one in both)
    clear = all(abs(one[value]) > _quantile(one) * one["error"] for one in both) and both[0][value] * both[1][value] > 0
    return f"**{text}**" if clear else text


def _quantile(difference: dict[str, Any]) -> float:
    """Return how many standard errors a 95 % interval has on either side; unpaired differences are of 10 runs each."""
    from scipy.stats import t

    return float(t.ppf(0.975, difference["runs"] - 1)) if "runs" in difference else 2.0


def lists() -> str:
    """Differences in recall between methods of Table 4, paired over runs, each on lists of its own."""
    recall = {
        (cell["method"], cell["settings"]): 100 * np.array([run["recall"] for run in cell["runs"]])
        for cell in read_json(REPRODUCED / "table4.json")["cells"]
    }
    rows = []
    for one, other in LIST_DIFFERENCES:
        found = recall[one] - recall[other]
        error = found.std(ddof=1) / np.sqrt(len(found))
        rows.append(
            [
                f"{one[0]} - {other[0]}",
                one[1] if one[1] != "defaults" else other[1],
                f"{round(found.mean(), 1) + 0.0:+.1f} ± {error:.1f}",
                f"{int((found > 0).sum())} of {len(found)}",
            ]
        )
    return as_table(["difference", "settings", "points ± standard error", "ahead in"], rows)


def reproduced() -> str:
    """Links to the tables written by ``planetoid reproduce``."""
    pages = sorted(REPRODUCED.glob("*.md"))
    if not pages:
        raise FileNotFoundError(REPRODUCED)
    titles = [page.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for page in pages]
    return "".join(f"- [{title}](results/{page.name})\n" for title, page in zip(titles, pages, strict=True))


TABLES: Tables = by_name(table3, printed, printed_factors, paper_factors, claims, joint, lists, reproduced)
