"""Faults that are survived, and mutants that tests notice."""

from __future__ import annotations

import json
import re
from typing import Any

from docs_tables.common import RESULTS, ROOT, Tables, as_table, by_name, read_json


def reliability() -> str:
    """Faults, power failures, flipped bits and concurrent use that were survived, and what it costs."""
    cost = read_json(RESULTS / "reliability_cost.json")
    rows = [
        *_survived(),
        *_fuzzed(),
        ["checksums and syncs, of a fit of Cora", f"{cost['cost']:.1%}", f"of {cost['fit_seconds']:.1f} s"],
        ["a checkpoint every second, of a fit of Cora", f"{cost['checkpoint_cost']:.1%}", "with all that it writes"],
    ]
    return as_table(["measured", "number", "result"], rows)


def _survived() -> list[list[str]]:
    """Rows for the parts that have been measured."""
    path = RESULTS / "reliability.json"
    found = read_json(path) if path.exists() else {}
    rows = []
    faults = [entry for name, entry in found.items() if name.startswith("faults: ")]
    if faults:
        wrong = f"{sum(len(entry['findings']) for entry in faults)} with something lost"
        for name, words in (
            ("kills", f"kills at a file operation, {len(faults)} writers"),
            ("failures", "failing and short calls"),
            ("power_failures", "states after a power failure"),
        ):
            rows.append([words, f"{sum(entry[name] for entry in faults):,}", wrong])
            wrong = "included above"
    for kind in ("model", "checkpoint"):
        if entry := found.get(f"flips of a {kind}"):
            rows.append([f"flipped bits of a {kind}", f"{entry['tried']:,}", f"{entry['accepted']} accepted"])
    if together := found.get("concurrent use"):
        words = f"reads during {together['writes']:,} replacements in {together['seconds']:.0f} s"
        rows.append([words, f"{together['reads']:,}", "all whole"])
    return rows


def _fuzzed() -> list[list[str]]:
    path = RESULTS / "fuzz.json"
    if not path.exists():
        return []
    targets = read_json(path)["targets"].values()
    inputs, findings = (sum(one[name] for one in targets) for name in ("inputs", "findings"))
    return [[f"fuzzed inputs, {len(targets)} targets", f"{inputs:,}", f"{findings} findings"]]


def mutants() -> str:
    """Mutants of the core by package, and those that no test notices (``make mutants``)."""
    found: list[dict[str, Any]] = json.loads((RESULTS / "mutants.json").read_text(encoding="utf-8"))
    packages = dict.fromkeys(entry["file"].partition("/")[0] for entry in found)
    groups = {f"`{name}`": [one for one in found if one["file"].partition("/")[0] == name] for name in packages}
    groups["all"] = found
    rows = []
    for title, entries in groups.items():
        killed = sum(entry["killed"] for entry in entries)
        rows.append([title, str(len(entries)), str(killed), f"{killed / len(entries):.1%}"])
    survivors = [entry for entry in found if not entry["killed"]]
    lines = "".join(f"- `{one['file']}`: {one['change']}. {one['reason']}\n" for one in survivors)
    notes = f"\nNo test notices these:\n\n{lines}" if survivors else ""
    declared = len(
        re.findall(r"^    \[", (ROOT / "scripts" / "mutants.toml").read_text(encoding="utf-8"), re.MULTILINE)
    )
    if declared > len(found):
        others = declared - len(found)
        notes += (
            f"\n{others} of {declared} mutants are of code that changed since, and were not run yet (`--missing`).\n"
        )
    return as_table(["package", "mutants", "killed", "share"], rows) + notes


TABLES: Tables = by_name(reliability, mutants)
