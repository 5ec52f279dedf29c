"""Docstrings for the site; mkdocs.yml loads this as an extension of griffe.

Sphinx roles become plain code. Parameters that share an entry of a docstring, such as
``r1, r2, q``, each get their own default and type.
"""

from __future__ import annotations

import re

import griffe

ROLE = re.compile(r":(?:class|func|meth|data|mod|attr):`~?([^`]+)`")


class OwnDocstrings(griffe.Extension):
    """Rewrites docstrings after a package is loaded."""

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
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
        for entry in section.value:
            if entry.name in known:
                entry.value = known[entry.name].default
                if id(entry.annotation) in types:  # griffe took it from the signature, for the first name only
                    entry.annotation = known[entry.name].annotation
