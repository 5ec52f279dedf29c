"""What a case is: an input as it is found in the wild, and what planetoid is to do with it.

A case makes files in a folder and returns the arguments of ``read_dataset``. Its clean twin says which accuracy it is
to reach: ``"nodes"`` (edges and a node table), ``"graph"`` (edges and labels), ``"vectors"`` (edges, columns of numbers
and labels) or ``"list"`` (edges and a node table with a column of vectors). A case with a ``sentence`` is refused, or
warned of, with this sentence first; its function is then called again with ``cured=True`` and does what the sentence
says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CASES = {}


@dataclass(frozen=True)
class Case:
    """One input; see the module."""

    make: Callable[..., dict]
    twin: str
    sentence: str | None = None

    def arguments(self, folder: Path, *, cured: bool = False) -> dict:
        return self.make(folder) if self.sentence is None else self.make(folder, cured)


def case(twin="nodes", sentence=None):
    """Add a function to the cases, under its name."""

    def add(make):
        CASES[make.__name__] = Case(make, twin, sentence)
        return make

    return add
