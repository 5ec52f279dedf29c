"""Charts as SVG; colours come from the page's style, so that they fit light and dark themes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from planetoid.evaluation.metrics import CalibrationBin
from planetoid.report.elements import text

__all__ = ["Curve", "line_chart", "reliability_chart", "ticks"]

WIDTH, HEIGHT = 360, 210
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 14, 34
MAX_POINTS = 300  # per curve; longer ones are averaged


@dataclass(frozen=True)
class Curve:
    """A named curve."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


class _Point(NamedTuple):
    x: float
    y: float


def line_chart(title: str, curves: Sequence[Curve], x_label: str, *, mark_best: bool = False) -> str:
    """Return a chart of curves over a common axis; ``mark_best`` marks the maximum of the first."""
    shown = [_averaged(curve) for curve in curves]
    xs, ys = [x for curve in shown for x in curve.x], [y for curve in shown for y in curve.y]
    x_ticks, y_ticks = ticks(min(xs), max(xs), 5), ticks(min(ys), max(ys), 4)
    x_low, x_high = min(*xs, x_ticks[0]), max(*xs, x_ticks[-1])
    y_low, y_high = min(*ys, y_ticks[0]), max(*ys, y_ticks[-1])

    def position(x: float, y: float) -> _Point:
        right = (x - x_low) / ((x_high - x_low) or 1)
        up = (y - y_low) / ((y_high - y_low) or 1)
        return _Point(LEFT + right * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM))

    parts = [_grid_line(position(x_low, y), position(x_high, y), _number(y)) for y in y_ticks]
    parts += [_label(position(x, y_low).x, HEIGHT - BOTTOM + 15, _number(x), "tick middle") for x in x_ticks]
    parts.append(_label((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 3, x_label, "tick middle"))
    parts += [
        _polyline([position(x, y) for x, y in zip(curve.x, curve.y, strict=True)], number)
        for number, curve in enumerate(shown)
    ]
    caption = ""
    if mark_best:
        best = int(np.argmax(curves[0].y))
        x, y = curves[0].x[best], curves[0].y[best]
        at = position(x, y)
        parts.append(f'<circle class="best" cx="{at.x:.1f}" cy="{at.y:.1f}" r="4"/>')
        caption = f"best {_number(y)} at {x_label} {_number(x)}"
    names = [curve.name for curve in curves] if len(curves) > 1 else []
    return _figure(title, "".join(parts), WIDTH, HEIGHT, names, caption)


def reliability_chart(bins: Sequence[CalibrationBin], title: str) -> str:
    """Return a reliability diagram: accuracy by confidence, with the number of predictions per bin below."""
    size, histogram = 300, 46
    left, top = 40, 10
    side = size - left - 10
    base = top + side + 10 + histogram
    parts = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x, y = left + share * side, top + (1 - share) * side
        parts.append(_grid_line(_Point(left, y), _Point(left + side, y), f"{100 * share:.0f}"))
        parts.append(_label(x, top + side + histogram + 24, f"{100 * share:.0f}", "tick middle"))
    parts.append(f'<line class="ideal" x1="{left}" y1="{top + side}" x2="{left + side}" y2="{top}"/>')
    largest = max(one.count for one in bins)
    points = [_Point(left + one.confidence * side, top + (1 - one.accuracy) * side) for one in bins]
    parts.append(_polyline(points, 0))
    for one, point in zip(bins, points, strict=True):
        tooltip = f"{one.count:,} nodes: confidence {100 * one.confidence:.0f} %, accuracy {100 * one.accuracy:.0f} %"
        radius = 2.5 + 5 * math.sqrt(one.count / largest)
        height = histogram * one.count / largest
        parts.append(
            f'<circle class="dot" cx="{point.x:.1f}" cy="{point.y:.1f}" r="{radius:.1f}">'
            f"<title>{tooltip}</title></circle>"
            f'<rect class="count" x="{point.x - 6:.1f}" y="{base - height:.1f}" width="12" height="{height:.1f}">'
            f"<title>{tooltip}</title></rect>"
        )
    label = "confidence in %; bars: number of nodes"
    parts.append(_label(left + side / 2, top + side + histogram + 40, label, "tick middle"))
    return _figure(title, "".join(parts), size, top + side + histogram + 46, narrow=True)


def ticks(low: float, high: float, about: int) -> list[float]:
    """Return about so many round numbers that cover a range.

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


def _averaged(curve: Curve) -> Curve:
    pieces = min(len(curve.x), MAX_POINTS)
    if pieces == len(curve.x):
        return curve
    x, y = (np.array_split(np.asarray(values, dtype=np.float64), pieces) for values in (curve.x, curve.y))
    return Curve(curve.name, [float(part.mean()) for part in x], [float(part.mean()) for part in y])


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _label(x: float, y: float, content: str, style: str) -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}">{text(content)}</text>'


def _grid_line(start: _Point, end: _Point, label: str) -> str:
    line = f'<line class="grid" x1="{start.x:.1f}" y1="{start.y:.1f}" x2="{end.x:.1f}" y2="{end.y:.1f}"/>'
    return line + _label(start.x - 6, start.y + 3.5, label, "tick end")


def _polyline(points: Sequence[_Point], number: int) -> str:
    path = " ".join(f"{point.x:.1f},{point.y:.1f}" for point in points)
    return f'<polyline class="curve curve{number}" points="{path}"/>'


def _figure(
    title: str,
    content: str,
    width: float,
    height: float,
    names: Sequence[str] = (),
    caption: str = "",
    *,
    narrow: bool = False,
) -> str:
    legend = "".join(f'<span class="key curve{number}">{text(name)}</span>' for number, name in enumerate(names))
    legend += f"<small>{text(caption)}</small>" if caption else ""
    return (
        f'<figure class="chart{" narrow" if narrow else ""}"><figcaption>{text(title)}{legend}</figcaption>'
        f'<svg viewBox="0 0 {width:.0f} {height:.0f}" role="img" aria-label="{text(title)}">{content}</svg></figure>'
    )
