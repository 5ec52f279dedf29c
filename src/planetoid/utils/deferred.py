"""Modules that other packages import and a program may never use: loaded on first use, if at all."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

__all__ = ["defer_module"]


class DeferredModule(ModuleType):
    """Stands for a module until one of its attributes is used."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("__") and name != "__path__":  # the import system asks for these; a submodule needs the last
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
            loaded = importlib.import_module(self.__name__)
            self.__dict__.update({key: value for key, value in vars(loaded).items() if key not in self.__dict__})
        return getattr(sys.modules[self.__name__], name)


def defer_module(name: str) -> None:
    """Let a later ``import`` of a module cost nothing until an attribute of the module is used.

    For a program, which decides about its own process; a library must not. Does nothing if the module is imported
    already or not installed. (``importlib.util.LazyLoader`` loads a module as soon as another package has an
    ``import`` statement for it.)
    """
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None:
        return
    module = DeferredModule(name, "Loaded on first use.")
    module.__spec__ = spec
    sys.modules[name] = module
