"""HTML elements; every text that is not a literal goes through :func:`text`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["bar", "class_name", "definitions", "notes", "percent", "section", "table", "text"]


def text(value: object) -> str:
    """Return a value as escaped text, for elements and quoted attributes.

    >>> text("<b> & 'c'")
    '&lt;b&gt; &amp; &#x27;c&#x27;'
    """
    return escape(str(value), quote=True)


def percent(share: float, digits: int = 1) -> str:
    """Return a share in per cent, a dash for NaN.

    >>> percent(0.8125), percent(float("nan"))
    ('81.2 %', '–')
    """
    return "–" if share != share else f"{100 * share:.{digits}f} %"


def section(name: str, title: str, content: str, introduction: str = "") -> str:
    """Return a section of the page; ``content`` and ``introduction`` are HTML."""
    intro = f'<p class="intro">{introduction}</p>' if introduction else ""
    head = f'<h2 id="{name}-title">{title}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{head}{intro}{content}</section>'


def class_name(code: int, name: str) -> str:
    """Return a class with its colour."""
    return f'<span class="class c{code}"><span class="swatch"></span>{text(name)}</span>'


def bar(share: float, code: int | None = None) -> str:
    """Return a horizontal bar that shows a share, in the colour of a class."""
    width = 100 * min(max(share, 0.0), 1.0)
    kind = "bar" if code is None else f"bar c{code}"
    return (
        f'<svg class="{kind}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect width="{width:.1f}" height="8"/></svg>'
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, name: str, numeric: Iterable[int] = ()) -> str:
    """Return a scrollable table of HTML cells; the first cell of a row is its header, ``numeric`` are columns."""
    right = set(numeric)
    kind = [' class="number"' if column in right else "" for column in range(len(heads))]
    head = "".join(f'<th scope="col"{kind[k]}>{cell}</th>' for k, cell in enumerate(heads))
    lines = []
    for row in rows:
        first, *others = row
        cells = "".join(f"<td{kind[k]}>{cell}</td>" for k, cell in enumerate(others, 1))
        lines.append(f'<tr><th scope="row"{kind[0]}>{first}</th>{cells}</tr>')
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name.replace("-", " ")}">'
        f'<table id="{name}"><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def definitions(pairs: Iterable[tuple[object, object]]) -> str:
    """Return a list of names and values."""
    return "<dl>" + "".join(f"<div><dt>{text(k)}</dt><dd>{text(v)}</dd></div>" for k, v in pairs) + "</dl>"


def notes(lines: Iterable[str]) -> str:
    """Return remarks as a list, an empty string if there are none."""
    items = "".join(f"<li>{text(line)}</li>" for line in lines)
    return f'<ul class="notes">{items}</ul>' if items else ""
