"""Explanations as text and as HTML."""

from __future__ import annotations

import html
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from planetoid.explanation.result import Explanation, Reason, ReasonGroup

__all__ = ["as_html", "as_text"]

TITLES = {"labels": "labelled nodes", "neighbours": "neighbours", "features": "features"}
WIDTH = 100  # of lines


def as_text(explanation: Explanation) -> str:
    """Return an explanation as lines of text."""
    lines = [_headline(explanation), *_wrapped(f"score {explanation.score:.4g}: {explanation.quantity}", "")]
    if explanation.note:
        lines += _wrapped(explanation.note, "")
    for group in explanation.groups:
        lines += ["", *_wrapped(f"{TITLES[group.kind]}: {group.meaning}", "")]
        names = [_name(explanation, group, reason) for reason in group.reasons]
        width = min(max(map(len, names), default=0), 60)
        for name, reason in zip(names, group.reasons, strict=True):
            lines.append(f"  {reason.contribution:+10.4g}  {name:<{width}}  {reason.label_text}".rstrip())
        lines.append(f"  {_summary(group)}")
    return "\n".join(lines)


def as_html(explanation: Explanation) -> str:
    """Return an explanation as HTML, for notebooks; all text is escaped."""
    parts = [f"<p><strong>{html.escape(_headline(explanation))}</strong><br>"]
    parts.append(f"score {explanation.score:.4g}: {html.escape(explanation.quantity)}</p>")
    if explanation.note:
        parts.append(f"<p>{html.escape(explanation.note)}</p>")
    for group in explanation.groups:
        rows = "".join(
            f"<tr><td>{html.escape(_name(explanation, group, reason))}</td>"
            f"<td>{html.escape(reason.label_text)}</td>"
            f'<td style="text-align:right">{reason.contribution:+.4g}</td></tr>'
            for reason in group.reasons
        )
        caption = f"<caption>{html.escape(f'{TITLES[group.kind]}: {group.meaning}')}</caption>"
        parts.append(f"<table>{caption}<tbody>{rows}</tbody></table><p>{html.escape(_summary(group))}</p>")
    return "".join(parts)


def _headline(explanation: Explanation) -> str:
    node = "new row" if explanation.node is None else f"node {explanation.node}"
    rather = ""
    if explanation.runner_up_probability is not None:
        rather = f" rather than {explanation.runner_up} ({explanation.runner_up_probability:.1%})"
    return f"{node}: {explanation.label} ({explanation.probability:.1%}){rather}, by {explanation.method}"


def _name(explanation: Explanation, group: ReasonGroup, reason: Reason) -> str:
    if group.kind == "features":
        return f"column {reason.name}" if isinstance(reason.name, int) else str(reason.name)
    return f"{reason.name} (itself)" if reason.name == explanation.node else str(reason.name)


def _summary(group: ReasonGroup) -> str:
    if group.n_reasons == 0:
        return "none"
    shown = len(group.reasons)
    of = "" if shown == group.n_reasons else f", {shown:,} of {group.n_reasons:,} shown"
    if group.base is None:
        return f"sum {group.total:.4g}{of}"
    rest = "" if group.base == 0 else f"; the rest of the score, {group.base:.4g}, has other sources"
    return f"sum {group.total:.4g}{of}{rest}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
