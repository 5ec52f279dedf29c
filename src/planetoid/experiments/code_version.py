"""``code_version``: which code computed a run, so that changed code does not show old figures."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from planetoid.registry import METHODS

__all__ = ["code_version", "imported_modules"]

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT.name
EVERY_RUN = ("planetoid.datasets", "planetoid.evaluation.protocols")


@cache
def code_version(method: str, *modules: str) -> str:
    """Return a hash of the code that a run of a method executes.

    It covers the module of the method, loading, evaluation and further ``modules``, and every module of this package
    that they import. It does not change with comments, docstrings and formatting, nor with the code of other methods.
    """
    digest = hashlib.sha256()
    for name in imported_modules(f"{PACKAGE}.{METHODS.info(method).module}", *EVERY_RUN, *modules):
        digest.update(name.encode())
        digest.update(_module(name)[0])
    return digest.hexdigest()[:20]


def imported_modules(*names: str) -> list[str]:
    """Return these modules and all modules of the package that they import, directly or not, sorted."""
    found: set[str] = set()
    remaining = [name for name in names if _path(name) is not None]
    while remaining:
        name = remaining.pop()
        if name not in found:
            found.add(name)
            remaining.extend(_module(name)[1])
    return sorted(found)


@cache
def _module(name: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a hash of a module's statements, and the modules of the package that it imports."""
    path = _path(name)
    assert path is not None
    tree = ast.parse(path.read_bytes())
    imports = tuple(dict.fromkeys(other for other in _imports(tree) if _path(other) is not None))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return hashlib.sha256(ast.dump(tree).encode()).digest(), imports


def _imports(tree: ast.Module) -> Iterator[str]:
    """Yield the names that are imported anywhere, some of which are modules and some members of modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _path(module: str) -> Path | None:
    """Return the file of a module below the package, ``None`` for any other name."""
    package, *parts = module.split(".")
    if package != PACKAGE or not parts:
        return None  # the package itself imports every method, for type checkers
    path = ROOT.joinpath(*parts)
    found = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in found if file.is_file()), None)
