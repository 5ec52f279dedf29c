"""Pieces of HTML: every text that comes from outside goes through :func:`text`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["bar", "class_name", "definitions", "notes", "percent", "section", "table", "text"]


def text(value: Any) -> str:
    """Return a value as text that HTML shows as it is, in an element or in a quoted attribute.

    >>> text("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return escape(str(value), quote=True)


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent; a dash where there is none (NaN).

    >>> percent(0.8125), percent(float("nan"))
    ('81.2 %', '–')
    """
    return "–" if share != share else f"{100 * share:.{digits}f} %"


def section(name: str, title: str, inside: str, introduction: str = "") -> str:
    """Return a part of the page; ``inside`` and ``introduction`` are HTML."""
    told = f'<p class="intro">{introduction}</p>' if introduction else ""
    head = f'<h2 id="{name}-title">{title}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{head}{told}{inside}</section>'


def class_name(code: int, name: str) -> str:
    """Return a class with its colour."""
    return f'<span class="class c{code}"><span class="swatch"></span>{text(name)}</span>'


def bar(share: float, code: int | None = None) -> str:
    """Return a bar as long as a share of its place, in the colour of a class."""
    width = 100 * min(max(share, 0.0), 1.0)
    kind = "bar" if code is None else f"bar c{code}"
    return (
        f'<svg class="{kind}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{width:.1f}" height="8"/></svg>'
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, name: str = "", numeric: Iterable[int] = ()) -> str:
    """Return a table of HTML cells that scrolls within its place; the first cell of a row is its head."""
    right = set(numeric)
    kind = [' class="number"' if column in right else "" for column in range(len(heads))]
    head = "".join(f'<th scope="col"{kind[k]}>{cell}</th>' for k, cell in enumerate(heads))
    lines = []
    for row in rows:
        first, *others = row
        cells = "".join(f"<td{kind[k]}>{cell}</td>" for k, cell in enumerate(others, 1))
        lines.append(f'<tr><th scope="row"{kind[0]}>{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name or "table"}">'
        f"<table{f' id={chr(34)}{name}{chr(34)}' if name else ''}><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def definitions(pairs: Iterable[tuple[Any, Any]]) -> str:
    """Return names and what they stand for, both as plain text."""
    return "<dl>" + "".join(f"<div><dt>{text(k)}</dt><dd>{text(v)}</dd></div>" for k, v in pairs) + "</dl>"


def notes(lines: Iterable[str]) -> str:
    """Return remarks as a list, nothing if there is none."""
    items = "".join(f"<li>{text(line)}</li>" for line in lines)
    return f'<ul class="notes">{items}</ul>' if items else ""
