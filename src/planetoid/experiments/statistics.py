"""Table 2: sizes of the data sets, counted, with the paper's beside them."""

from __future__ import annotations

from typing import Any

from planetoid.datasets import load
from planetoid.experiments.paper import TABLE_2

__all__ = ["count_all", "statistics_markdown"]

DIFFERENCES = {
    "citeseer": "the paper also counts {repeated:,} duplicate edges and {loops:,} self-loops; 15 nodes have neither "
    "features nor a label",
    "cora": "the paper also counts {repeated:,} duplicate edges (papers that cite each other)",
    "pubmed": "the paper also counts {repeated:,} duplicate edges and {loops:,} self-loops",
    "nell": "the paper also counts {repeated:,} duplicate edges (an entity that occurs in a relation more than once); "
    "of its {classes:,} classes, {occur:,} occur among the given labels",
    "diel": "",
}
DIEL_MISSING = "not available here: its files are plain text, see the page on data sets"
FILES = {"nell": "nell-0.1"}


def count_all(*, diel: bool = False) -> list[dict[str, Any]]:
    """Return the sizes of every data set as plain data; ``diel`` says whether the files of DIEL are available."""
    rows = []
    for name, size in TABLE_2.items():
        row: dict[str, Any] = {"dataset": name, "paper": size._asdict()}
        if name != "diel" or diel:
            data = load(FILES.get(name, name))
            summary = data.graph.summary
            counts = {
                "classes": data.n_classes,
                "occur": len({int(code) for code in data.y if code >= 0}),
                "nodes": data.n_nodes,
                "edges": data.graph.n_edges,
                "entries": summary.entries,
                "loops": summary.self_loops // 2,  # listed from both ends, like every edge
            }
            counts["repeated"] = size.edges - counts["edges"] - counts["loops"]
            row["counted"] = counts
            row["difference"] = DIFFERENCES[name].format(**counts)
        else:
            row["difference"] = DIEL_MISSING
        rows.append(row)
    return rows


def statistics_markdown(rows: list[dict[str, Any]]) -> str:
    """Return Table 2 as Markdown."""
    lines = [
        "| data set | classes: paper | counted | nodes: paper | counted | edges: paper | distinct, counted "
        "| difference |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        paper, counted = row["paper"], row.get("counted", {})
        cells = [row["dataset"]]
        for name in ("classes", "nodes", "edges"):
            cells += [f"{paper[name]:,}", f"{counted[name]:,}" if counted else ""]
        lines.append(f"| {' | '.join(cells)} | {row['difference']} |")
    return "\n".join(lines)
