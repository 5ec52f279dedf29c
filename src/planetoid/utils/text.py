"""Text for people."""

from __future__ import annotations

__all__ = ["pluralize"]


def pluralize(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number and its noun.

    >>> pluralize(1, "label"), pluralize(2000, "label"), pluralize(0, "class", "classes")
    ('1 label', '2,000 labels', '0 classes')
    """
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"
