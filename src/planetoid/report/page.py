"""One HTML file of all parts, with its style, script and data inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from string import Template
from typing import Any

from planetoid import __version__
from planetoid.report.elements import text
from planetoid.report.packing import script_json

__all__ = ["assemble"]

SCRIPTS = ("data.js", "painter.js", "map.js", "panels.js", "hands.js", "page.js")


def assemble(title: str, subtitle: str, parts: Mapping[str, str], data: Any, theme: str) -> bytes:
    """Return the page as bytes.

    Nothing but its own style and script may run: their hashes stand in the
    page's content security policy, which allows no address at all.

    Parameters
    ----------
    title, subtitle : str
        Plain text.
    parts : dict of str to str
        HTML: ``headline``, ``map_told``, ``sections``, ``links``.
    data : plain data for the script
    theme : str
        CSS.
    """
    style = theme + "\n" + _static("report.css")
    script = '"use strict";\n(() => {\n' + "\n".join(_static(name) for name in SCRIPTS) + "})();\n"
    page = Template(_static("template.html")).substitute(
        parts,
        title=text(title),
        subtitle=text(subtitle),
        version=text(__version__),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=script_json(data),
    )
    return page.encode("utf-8", "xmlcharrefreplace")  # half a surrogate pair is no text, but may stand in an id


@cache
def _static(name: str) -> str:
    return (resources.files("planetoid.report") / "static" / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    digest = base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
