"""What the tables share: where results are, titles of methods and data, and Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
DATA_SETS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed"}

Tables = dict[str, Callable[[], str]]  # by the names that the documents mark them with


def by_name(*tables: Callable[[], str]) -> Tables:
    """Return tables by the names of their functions."""
    return {table.__name__: table for table in tables}


def read_json(path: Path) -> dict[str, Any]:
    """Return the content of a file of results."""
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def as_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def method_titles(found: Iterable[str]) -> dict[str, str]:
    """Titles of measured methods, in the order of the registry, then of variants such as ``lp, plain harmonic``."""
    from planetoid.registry import CLASSES

    classes = {info.name: f"`{cls}`" for cls, info in CLASSES.items()}
    methods = {name: title for name, title in classes.items() if name in found}
    variants = [name.partition(", ") for name in found if name not in classes]
    return methods | {f"{method}, {variant}": f"{classes[method]}, {variant}" for method, _, variant in variants}
