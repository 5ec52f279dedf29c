"""Docstrings for the site; mkdocs.yml loads this as an extension of griffe.

Roles of Sphinx become plain code. Parameters that share one entry of a docstring,
as in ``r1, r2, q``, each get the default and the type of their own.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:class|func|meth|data|mod|attr):`~?([^`]+)`")


class OwnDocstrings(griffe.Extension):
    """Rewrites docstrings once a package is loaded."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        _rewrite(pkg)


def _rewrite(owner: griffe.Object) -> None:
    for member in owner.members.values():
        if isinstance(member, griffe.Alias):
            continue
        if member.docstring is not None:
            member.docstring.value = ROLE.sub(r"`\1`", member.docstring.value)
            if isinstance(member, (griffe.Class, griffe.Function)):
                _set_defaults(member)
        _rewrite(member)


def _set_defaults(documented: griffe.Class | griffe.Function) -> None:
    assert documented.docstring is not None
    known = {parameter.name: parameter for parameter in documented.parameters}
    types = [id(parameter.annotation) for parameter in known.values()]
    for section in documented.docstring.parsed:
        if not isinstance(section, griffe.DocstringSectionParameters):
            continue
        for told in section.value:
            if told.name in known:
                told.value = known[told.name].default
                if id(told.annotation) in types:  # taken from the signature, of whichever name came first
                    told.annotation = known[told.name].annotation
