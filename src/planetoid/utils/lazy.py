"""Names of a package that are imported when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping

__all__ = ["lazy_names"]


def lazy_names(
    package: str, where: Mapping[str, str], defined: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__`` for names that live in other modules.

    ``where`` maps each name to its module; a name that is the last part of its module's path is that module itself.
    ``defined`` are the public names that the package defines eagerly::

        __getattr__, __dir__ = lazy_names(__name__, {"Graph": "planetoid.graph", "presets": "planetoid.presets"})
    """
    public = sorted({*where, *defined})

    def load(name: str) -> object:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(where[name])
        return module if where[name].rpartition(".")[2] == name else getattr(module, name)

    return load, lambda: public
