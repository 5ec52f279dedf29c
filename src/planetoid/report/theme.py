"""The page's colours, light and dark, as CSS variables shared by styles, charts and the map."""

from __future__ import annotations

import numpy as np

from planetoid.evaluation.charts import CLASS_COLOURS
from planetoid.report.colours import class_colours
from planetoid.report.nodes import ReportNodes

__all__ = ["theme_css"]

LIGHT = {
    "page": "#f5f6f8",
    "panel": "#ffffff",
    "ink": "#18212b",
    "soft": "#52606d",
    "faint": "#7b8794",
    "line": "#e1e5ea",
    "accent": "#1c64b4",
    "accent-rgb": "28 100 180",
    "on-accent": "#ffffff",
    "second": "#c2410c",
    "wash": "#eef3f9",
    "map": "#fcfcfd",
    "warn": "#7a5000",
    "warn-wash": "#fff5dc",
    "unknown": "#c3cad2",
    "right": "#8fb4d3",
    "wrong": "#d1480b",
    "shadow": "0 1px 2px rgb(15 23 42 / .05), 0 4px 16px rgb(15 23 42 / .05)",
}
DARK = {
    "page": "#0d1218",
    "panel": "#151c25",
    "ink": "#e8edf3",
    "soft": "#a9b5c2",
    "faint": "#8492a1",
    "line": "#2a3441",
    "accent": "#7db7f0",
    "accent-rgb": "125 183 240",
    "on-accent": "#0b1420",
    "second": "#fb923c",
    "wash": "#1e2834",
    "map": "#10161d",
    "warn": "#f0c772",
    "warn-wash": "#2a2415",
    "unknown": "#3a444f",
    "right": "#4f8cc0",
    "wrong": "#ff8a4c",
    "shadow": "none",
}


def theme_css(nodes: ReportNodes) -> str:
    """Return the variables of both themes; the reader's choice overrides the system's preference."""
    order = _palette_order(nodes)
    light, dark = (
        ";".join(
            [f"color-scheme:{name}"]
            + [f"--{key}:{value}" for key, value in theme.items()]
            + [f"--c{code}:{colours[index]}" for code, index in enumerate(order)]
        )
        for name, theme, colours in (
            ("light", LIGHT, class_colours(len(order))),
            ("dark", DARK, class_colours(len(order), dark=True)),
        )
    )
    return (
        f":root{{{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=dark]{{{dark}}}\n"
        + "".join(f".c{code}{{--class:var(--c{code})}}" for code in range(len(order)))
    )


def _palette_order(nodes: ReportNodes) -> list[int]:
    """Return the palette index of each class; the largest of many classes get the most distinct colours."""
    count = len(nodes.class_names)
    index = np.arange(count)
    if count > len(CLASS_COLOURS):
        sizes = np.bincount(nodes.predicted, minlength=count)
        index[np.argsort(-sizes, kind="stable")] = np.arange(count)
    return [int(one) for one in index]
