"""Charts as SVG that takes its colours from the page, so that they are right on light and on dark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from planetoid.report.quality import Bin

__all__ = ["Line", "line_chart", "reliability_chart", "ticks"]

WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 14, 34
MOST_POINTS = 300  # of a line; more are averaged


@dataclass(frozen=True)
class Line:
    """A named curve."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


def line_chart(title: str, lines: Sequence[Line], x_label: str, *, best: bool = False) -> str:
    """Return a chart of curves over one axis; ``best`` marks and tells the highest point of the first."""
    curves = [_thinned(line) for line in lines]
    xs, ys = [x for line in curves for x in line.x], [y for line in curves for y in line.y]
    x_ticks, y_ticks = ticks(min(xs), max(xs), 5), ticks(min(ys), max(ys), 4)
    x_low, x_high = min(*xs, x_ticks[0]), max(*xs, x_ticks[-1])
    y_low, y_high = min(*ys, y_ticks[0]), max(*ys, y_ticks[-1])

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - x_low) / ((x_high - x_low) or 1)
        up = (y - y_low) / ((y_high - y_low) or 1)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [_grid_line(*at(x_low, y), *at(x_high, y), _short(y)) for y in y_ticks]
    parts += [_text(at(x, y_low)[0], HEIGHT - BOTTOM + 15, _short(x), "tick middle") for x in x_ticks]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 3, x_label, "tick middle"))
    for number, line in enumerate(curves):
        path = " ".join("{:.1f},{:.1f}".format(*at(x, y)) for x, y in zip(line.x, line.y, strict=True))
        parts.append(f'<polyline class="curve curve{number}" points="{path}"/>')
    told = ""
    if best:
        top = int(np.argmax(lines[0].y))
        x, y = lines[0].x[top], lines[0].y[top]
        parts.append('<circle class="best" cx="{:.1f}" cy="{:.1f}" r="4"/>'.format(*at(x, y)))
        told = f"best {_short(y)} at {x_label} {_short(x)}"
    return _figure(title, "".join(parts), WIDTH, HEIGHT, [line.name for line in lines] if len(lines) > 1 else [], told)


def reliability_chart(bins: Sequence[Bin], title: str) -> str:
    """Return how often predictions of a confidence are right, and how many there are of each, below."""
    size, below = 300, 46
    left, top = 40, 10
    inner = size - left - 10
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + share * inner, top + (1 - share) * inner
        parts.append(_grid_line(left, y, left + inner, y, f"{100 * share:.0f}"))
        parts.append(_text(x, top + inner + below + 24, f"{100 * share:.0f}", "tick middle"))
    parts.append(f'<line class="ideal" x1="{left}" y1="{top + inner}" x2="{left + inner}" y2="{top}"/>')
    most = max(one.count for one in bins)
    points = [(left + one.confidence * inner, top + (1 - one.accuracy) * inner) for one in bins]
    parts.append('<polyline class="curve curve0" points="{}"/>'.format(" ".join(f"{x:.1f},{y:.1f}" for x, y in points)))
    for one, (x, y) in zip(bins, points, strict=True):
        told = f"{one.count:,} nodes: {100 * one.confidence:.0f} % sure, {100 * one.accuracy:.0f} % right"
        radius = 2.5 + 5 * math.sqrt(one.count / most)
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{told}</title></circle>')
        tall = below * one.count / most
        base = top + inner + 10 + below
        parts.append(
            f'<rect class="count" x="{x - 6:.1f}" y="{base - tall:.1f}" width="12" height="{tall:.1f}">'
            f"<title>{told}</title></rect>"
        )
    parts.append(
        _text(left + inner / 2, top + inner + below + 40, "confidence in %; bars: number of nodes", "tick middle")
    )
    return _figure(title, "".join(parts), size, top + inner + below + 46, narrow=True)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return round numbers that cover a range, about so many.

    >>> ticks(0, 400, 5)
    [0.0, 100.0, 200.0, 300.0, 400.0]
    >>> ticks(0.62, 0.81, 4)
    [0.6, 0.65, 0.7, 0.75, 0.8, 0.85]
    """
    span = (high - low) or abs(high) or 1.0
    rough = span / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.95)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]


def _thinned(line: Line) -> Line:
    pieces = min(len(line.x), MOST_POINTS)
    if pieces == len(line.x):
        return line
    x, y = (np.array_split(np.asarray(values, dtype=np.float64), pieces) for values in (line.x, line.y))
    return Line(line.name, [float(part.mean()) for part in x], [float(part.mean()) for part in y])


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _text(x: float, y: float, text: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'


def _grid_line(x1: float, y1: float, x2: float, y2: float, label: str) -> str:
    line = f'<line class="grid" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
    return line + _text(x1 - 6, y1 + 3.5, label, "tick end")


def _figure(
    title: str, inside: str, width: float, height: float, key: Sequence[str] = (), told: str = "", narrow: bool = False
) -> str:
    named = "".join(f'<span class="key curve{number}">{escape(name)}</span>' for number, name in enumerate(key))
    named += f"<small>{escape(told)}</small>" if told else ""
    return (
        f'<figure class="chart{" narrow" if narrow else ""}"><figcaption>{escape(title)}{named}</figcaption>'
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{escape(title)}">{inside}</svg></figure>'
    )
