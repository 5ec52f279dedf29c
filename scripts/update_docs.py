"""Write measured figures and lists of methods into the documents: ``python scripts/update_docs.py [--check]``.

A table between ``<!-- measured: NAME -->`` and ``<!-- end -->`` is made from a file of
results that a benchmark wrote, one after ``<!-- generated: NAME -->`` from the registry of
methods; the modules of ``docs_tables`` have a function for each. The imports of all methods for
type checkers, in ``planetoid/__init__.py``, are written too. With ``--check`` nothing is written,
and the exit code is 1 if a file is out of date. A table without its results is left unchanged.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from docs_tables import accuracy, methods, paper, performance, reliability, trust
from docs_tables.common import ROOT, Tables

PACKAGE = ROOT / "src" / "planetoid" / "__init__.py"
MARKED = re.compile(r"(<!-- (?:measured|generated): ([\w-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)

TABLES: Tables = {}
for group in (accuracy, methods, paper, performance, reliability, trust):
    TABLES |= group.TABLES


def updated(text: str) -> str:
    """Return a document with every table generated from the results."""

    def regenerate(match: re.Match[str]) -> str:
        try:
            return f"{match[1]}{TABLES[match[2]]()}{match[3]}"
        except FileNotFoundError:
            return match[0]

    return MARKED.sub(regenerate, text)


def documents() -> list[Path]:
    """Return README.md and the pages of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def main(arguments: Sequence[str]) -> int:
    stale = 0
    for path in [PACKAGE, *documents()]:
        text = path.read_text(encoding="utf-8")
        new = methods.typed_classes(text) if path == PACKAGE else updated(text)
        if new != text:
            stale += 1
            print(f"{path.relative_to(ROOT)}: {'out of date' if '--check' in arguments else 'updated'}")
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
