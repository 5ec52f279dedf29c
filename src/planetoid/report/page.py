"""The HTML file: all parts of the page with their style, script and data inside."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from string import Template

from planetoid import __version__
from planetoid.report.elements import text
from planetoid.report.packing import script_json

__all__ = ["assemble"]

SCRIPTS = ("data.js", "painter.js", "map.js", "shown.js", "panels.js", "interaction.js", "page.js")


def assemble(title: str, subtitle: str, parts: Mapping[str, str], data: Mapping[str, object], theme: str) -> bytes:
    """Return the page as bytes.

    Its content security policy allows its own style and script by their hashes, and no network address.

    Parameters
    ----------
    title, subtitle : str
        Plain text.
    parts : dict of str to str
        HTML: ``headline``, ``map_caption``, ``sections``, ``links``, ``search``.
    data : dict
        Plain data for the script.
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
        style_hash=_policy_hash(style),
        script=script,
        script_hash=_policy_hash(script),
        data=script_json(data),
    )
    return page.encode("utf-8", "xmlcharrefreplace")  # an id may contain a lone surrogate


@cache
def _static(name: str) -> str:
    return (resources.files("planetoid.report") / "static" / name).read_text(encoding="utf-8")


def _policy_hash(content: str) -> str:
    digest = base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"
