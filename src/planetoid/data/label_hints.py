"""What looks wrong about labels as people write them: variants of one class, and words for no class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from planetoid.errors import Fix, PlanetoidWarning
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["label_hints"]

NO_CLASS = {"na", "n/a", "nan", "null", "none", "unknown", "unlabelled", "unlabeled", "missing", "?", "-", "tbd"}


def label_hints(counts: Mapping[str, int], path: Path | None) -> Iterator[PlanetoidWarning]:
    """Return warnings about the names of classes, given how many nodes each has.

    >>> [hint.message for hint in label_hints({"Art": 5, "art ": 1}, None)]
    ["the classes 'Art' (5) and 'art ' (1) differ in case or blanks only"]
    """
    variants: dict[str, list[str]] = {}
    for name in counts:
        variants.setdefault(" ".join(name.split()).casefold(), []).append(name)
    for names in variants.values():
        if len(names) > 1:
            listed = " and ".join(f"{name!r} ({counts[name]:,})" for name in names)
            yield PlanetoidWarning(
                f"the classes {listed} differ in case or blanks only", path=path, hint="write them in the same way"
            )
    for name, count in counts.items():
        if name.strip().casefold() in NO_CLASS:
            yield PlanetoidWarning(
                f"{name!r} is read as a class, of {pluralize(count, 'node')}",
                path=path,
                fix=Fix("unlabelled", [name], "if it means that the label is unknown"),
            )
