"""What can fail inside a library during a fit, in a sentence: memory that is not there, systems without a solution."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from planetoid.errors import PlanetoidError

__all__ = ["explain_failures"]

# How numpy, scipy and torch put it.
TOO_LARGE = (
    *("maximum allowed dimension", "array is too big", "too large to convert", "overflow", "negative dimension"),
    *("can't allocate memory", "not enough memory", "out of memory"),
)
SINGULAR = (
    "singular",
    "not positive definite",
    "array must not contain infs or nans",
    "contains nan",
    "contains infinity",
)


@contextmanager
def explain_failures(owner: str) -> Iterator[None]:
    """Raise ``PlanetoidError`` where memory cannot be allocated or a linear system be solved; other errors pass.

    >>> import numpy as np
    >>> with explain_failures("PlanetoidT"):
    ...     np.ones(2**50)
    Traceback (most recent call last):
        ...
    planetoid.errors.PlanetoidError: PlanetoidT needs more memory than there is: unable to allocate 8.00 PiB; choose
    a smaller width, dimension or batch size
    """
    try:
        yield
    except PlanetoidError:
        raise
    except (MemoryError, ArithmeticError, ValueError, RuntimeError) as error:
        text = str(error).lower()
        if isinstance(error, MemoryError) or any(words in text for words in TOO_LARGE):
            raise PlanetoidError(
                f"{owner} needs more memory than there is: {_amount(str(error))}",
                hint="choose a smaller width, dimension or batch size",
            ) from error
        if any(words in text for words in SINGULAR):
            raise PlanetoidError(
                f"{owner} did not converge: numbers became too large or too small ({str(error).splitlines()[0]})",
                hint="choose less extreme parameters, or scale the features",
            ) from error
        raise


def _amount(text: str) -> str:
    """Return what numpy or torch say about the size."""
    numpy = re.search(r"Unable to allocate ([\d.]+ \w+)", text)
    torch = re.search(r"tried to allocate (\d+) bytes", text)
    if numpy:
        return f"unable to allocate {numpy[1].replace('. ', ' ')}"
    return f"unable to allocate {int(torch[1]) / 2**30:,.1f} GiB" if torch else "an array is too large"
