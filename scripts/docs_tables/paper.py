"""The paper's tables as they are reproduced."""

from __future__ import annotations

from typing import Any

from docs_tables.common import DATA_SETS, ROOT, Tables, as_table, by_name, read_json

REPRODUCED = ROOT / "docs" / "results"


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


def reproduced() -> str:
    """Links to the tables written by ``planetoid reproduce``."""
    pages = sorted(REPRODUCED.glob("*.md"))
    if not pages:
        raise FileNotFoundError(REPRODUCED)
    titles = [page.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for page in pages]
    return "".join(f"- [{title}](results/{page.name})\n" for title, page in zip(titles, pages, strict=True))


TABLES: Tables = by_name(table3, reproduced)
