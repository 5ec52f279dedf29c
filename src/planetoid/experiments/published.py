"""What later methods reach according to their papers, beside the last section of Table 3."""

from __future__ import annotations

from planetoid.experiments.paper import LATER
from planetoid.experiments.render import markdown_row

__all__ = ["published_markdown"]

DATASETS = ("citeseer", "cora", "pubmed")


def published_markdown() -> str:
    """Return the published accuracies of later methods as a Markdown table, in per cent.

    >>> "GRAND+" in published_markdown()
    True
    """
    lines = [
        markdown_row(["published", *DATASETS, "test nodes", "measured on"]),
        markdown_row(["---", *["---:"] * len(DATASETS), "---", "---"]),
    ]
    for method in LATER:
        values = [f"{100 * float(getattr(method, name)):.1f}" for name in DATASETS]
        lines.append(markdown_row([method.name, *values, method.test_nodes, method.protocol]))
    return "\n".join(["Later methods, as their authors report them:", "", *lines])
