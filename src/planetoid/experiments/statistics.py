"""Table 2: what is in the data sets, counted, with the paper's counts beside them."""

from __future__ import annotations

from typing import Any

from planetoid.datasets import load
from planetoid.experiments.paper import TABLE_2

__all__ = ["count_all", "statistics_markdown"]

WHY = {
    "citeseer": "the paper counts {repeated:,} repeated edges and {loops:,} loops too; 15 nodes have neither features "
    "nor a label",
    "cora": "the paper counts {repeated:,} repeated edges (papers that cite each other) too",
    "pubmed": "the paper counts {repeated:,} repeated edges and {loops:,} loops too",
    "nell": "the paper counts {repeated:,} repetitions of an edge (an entity in a relation more than once) too; of its "
    "{classes:,} classes {occur:,} occur among the labels that are given",
    "diel": "not to be had here: its files are plain text, see the page on data sets",
}
FILES = {"nell": "nell-0.1"}


def count_all(*, diel: bool = False) -> list[dict[str, Any]]:
    """Count every data set whose files are here; ``diel`` says whether those of DIEL are."""
    rows = []
    for name, (classes, nodes, edges) in TABLE_2.items():
        row: dict[str, Any] = {"dataset": name, "paper": {"classes": classes, "nodes": nodes, "edges": edges}}
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
            counts["repeated"] = edges - counts["edges"] - counts["loops"]
            row["counted"] = counts
            row["difference"] = WHY[name].format(**counts) if name != "diel" else ""
        else:
            row["difference"] = WHY[name]
        rows.append(row)
    return rows


def statistics_markdown(rows: list[dict[str, Any]]) -> str:
    """Return table 2 as Markdown."""
    lines = [
        "| data set | classes: paper | counted | nodes: paper | counted | edges: paper | distinct, counted | why |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    for row in rows:
        told, counted = row["paper"], row.get("counted", {})
        cells = [row["dataset"]]
        for name in ("classes", "nodes", "edges"):
            cells += [f"{told[name]:,}", f"{counted[name]:,}" if counted else ""]
        lines.append(f"| {' | '.join(cells)} | {row['difference']} |")
    return "\n".join(lines)
