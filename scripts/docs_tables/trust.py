"""Calibration, prediction sets and explanations."""

from __future__ import annotations

import statistics
from typing import Any

from docs_tables.common import DATA_SETS, RESULTS, Tables, as_table, by_name, method_titles, read_json


def calibration() -> str:
    """Calibration error before and after calibrating, and what it costs."""
    found = read_json(RESULTS / "calibration.json")
    rows = []
    for name, title in method_titles(found).items():
        runs = [found[name][key] for key in DATA_SETS if key in found[name]]
        source = next(iter(runs[0]["calibrated"].values()))["calibration"]["source"]
        shares = [run["calibration"]["share"] for part in runs for run in part["calibrated"].values()]
        cells = [_errors(found[name].get(key)) for key in DATA_SETS]
        rows.append([title, *cells, source, f"{100 * statistics.median(shares):.0f} %"])
    return as_table(["method", *DATA_SETS.values(), "calibrated by", "share of the fit"], rows)


def calibration_few_labels() -> str:
    """Calibration error with few labels per class."""
    found = read_json(RESULTS / "calibration_few_labels.json")
    counts = list(dict.fromkeys(count for of_data in found.values() for entry in of_data.values() for count in entry))
    rows = [
        [
            f"{title}, {DATA_SETS[data]}",
            *(f"{entry[count]['raw']['error']:.2f} → {entry[count]['calibrated']['error']:.2f}" for count in counts),
        ]
        for name, title in method_titles(found).items()
        for data, entry in found[name].items()
    ]
    return as_table(["labels per class", *counts], rows)


def _errors(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return ""
    after = [run["error"] for run in entry["calibrated"].values()]
    before = next(iter(entry["raw"].values()))["error"]
    seeds = f" ({len(after)})" if len(after) > 1 else ""
    return f"{before:.2f} → {statistics.mean(after):.3f}{seeds}"


def prediction_sets() -> str:
    """Coverage and size of prediction sets beside split-conformal ones."""
    titles = {**DATA_SETS, "nell": "NELL"}
    found = read_json(RESULTS / "prediction_sets.json")
    rows = [
        [
            f"{title}, {titles[data]}",
            str(entry["splits"]),
            *(
                f"{entry[f'{kind} coverage']:.3f} / {entry[f'{kind} size']:.2f}"
                for kind in ("ours", "plain", "adaptive")
            ),
            f"{entry['ours size'] / entry['plain size']:.2f}x",
        ]
        for name, title in method_titles(found).items()
        for data, entry in found[name].items()
    ]
    return as_table(["coverage / size", "splits", "`predict_set`", "plain", "adaptive", "size, of plain"], rows)


def explanations() -> str:
    """By how much scores fall without the strongest reasons, and without some at random."""
    found = read_json(RESULTS / "explanations.json")
    rows = []
    for name, title in method_titles(found).items():
        for kind, entry in found[name].items():
            if kind in ("seconds", "own"):
                continue
            ratio = entry["ratio"]
            rows.append(
                [
                    title,
                    f"{_removed(name, kind)} ({entry['nodes']} nodes)",
                    f"{entry['top']:.3g}",
                    f"{entry['random']:.3g}",
                    "> 100x" if ratio > 100 else f"{ratio:.3g}x",
                    f"{100 * entry['larger']:.0f} % of nodes",
                    f"{1000 * found[name]['seconds']:.0f} ms",
                ]
            )
    heads = ["method", "removed", "strongest", "at random", "ratio", "larger for", "time"]
    return as_table(heads, rows)


def own_edges() -> str:
    """By how much scores fall without the strongest of a node's own edges, and without others of them."""
    found = read_json(RESULTS / "explanations.json")
    rows = [
        [
            f"{title} ({entry['nodes']} nodes)",
            f"{entry['top']:.3g}",
            f"{entry['random']:.3g}",
            f"{100 * entry['larger']:.0f} % of nodes",
        ]
        for name, title in method_titles(found).items()
        if (entry := found[name].get("own")) is not None
    ]
    return as_table(["method", "strongest edges", "other edges of the node", "larger for"], rows)


def _removed(method: str, kind: str) -> str:
    if kind == "neighbours":
        return "features of neighbours" if method in ("planetoid", "ssgc", "gcn") else "edges to neighbours"
    return kind


TABLES: Tables = by_name(calibration, calibration_few_labels, prediction_sets, explanations, own_edges)
