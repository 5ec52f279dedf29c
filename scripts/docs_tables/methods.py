"""Lists of the methods, from the registry."""

from __future__ import annotations

import inspect
import re

from docs_tables.common import Tables, as_table, by_name

TYPED_CLASSES = re.compile(r"(if TYPE_CHECKING:  # the classes of the registry[^\n]*\n)(?:    [^\n]*\n)+")
OF_ATTACHED_NODES = "    options:\n      inherited_members: [predict_proba, predict, predict_set]\n"


def methods() -> str:
    """Every method: what it learns from, whether it labels new nodes, and the first line of its docstring."""
    from planetoid.evaluation import what_it_uses
    from planetoid.registry import METHODS

    rows = [
        [f"`{cls.__name__}`", f"`{name}`", what_it_uses(name), "yes" if cls.inductive else "", _summary(cls)]
        for name, cls in METHODS.items()
    ]
    return as_table(["class", "`--method`", "learns from", "labels new nodes", "summary"], rows)


def _summary(cls: type) -> str:
    return (inspect.getdoc(cls) or "").splitlines()[0].replace("|", "\\|")


def method_reference() -> str:
    """The API reference of every method, which mkdocstrings renders."""
    from planetoid.models.attached import AttachingClassifier
    from planetoid.registry import CLASSES, METHODS

    attaching = {cls.__name__ for cls in METHODS.values() if issubclass(cls, AttachingClassifier)}
    return "\n" + "".join(
        f"::: planetoid.{info.module}.{name}\n{OF_ATTACHED_NODES if name in attaching else ''}\n"
        for name, info in CLASSES.items()
    )


def typed_classes(text: str) -> str:
    """Return the source of the package with the import of every method for type checkers."""
    from planetoid.registry import CLASSES

    lines = sorted(f"    from planetoid.{info.module} import {name} as {name}\n" for name, info in CLASSES.items())
    return TYPED_CLASSES.sub(lambda match: match[1] + "".join(lines), text)


TABLES: Tables = by_name(methods, method_reference)
