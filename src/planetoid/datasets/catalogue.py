"""The datasets that can be loaded by name."""

from __future__ import annotations

from dataclasses import dataclass

from planetoid.errors import ParameterError

__all__ = ["DatasetInfo", "info", "names"]


@dataclass(frozen=True)
class DatasetInfo:
    """What is known about a dataset before it is loaded.

    Attributes
    ----------
    name : str
    kind : {"authors", "bundled", "diel"}
        Format of its files.
    stem : str
        The middle of its file names.
    description, origin : str
    class_names : tuple of str or None
        ``None`` if the files do not name the classes.
    paper_edges, paper_nodes, paper_classes : int
        Counts in the paper's Table 2.
    """

    name: str
    kind: str
    stem: str
    description: str
    origin: str
    paper_nodes: int
    paper_edges: int
    paper_classes: int
    class_names: tuple[str, ...] | None = None


_AUTHORS = "files of the Planetoid authors (Yang, Cohen, Salakhutdinov, ICML 2016)"
_LINQS = "LINQS (Sen et al., 2008)"
# The files only number the classes. Cora's names follow from the bundled copy, whose class sizes are the same.
_CORA_CLASSES = (
    "Theory",
    "Reinforcement_Learning",
    "Genetic_Algorithms",
    "Neural_Networks",
    "Probabilistic_Methods",
    "Case_Based",
    "Rule_Learning",
)
_NELL = "entities and relations of the NELL knowledge base, and words of the entities that have a text"

_CATALOGUE = {
    entry.name: entry
    for entry in (
        DatasetInfo(
            "cora",
            "authors",
            "cora",
            "machine-learning papers, their citations and words",
            f"{_LINQS}; {_AUTHORS}",
            2_708,
            5_429,
            7,
            _CORA_CLASSES,
        ),
        DatasetInfo(
            "citeseer",
            "authors",
            "citeseer",
            "computer-science papers, their citations and words",
            f"{_LINQS}; {_AUTHORS}",
            3_327,
            4_732,
            6,
        ),
        DatasetInfo(
            "pubmed",
            "authors",
            "pubmed",
            "papers on diabetes, their citations and TF-IDF of words",
            f"{_LINQS}; {_AUTHORS}",
            19_717,
            44_338,
            3,
        ),
        *(
            DatasetInfo(f"nell-{rate}", "authors", f"nell.{rate}", _NELL, _AUTHORS, 65_755, 266_144, 210)
            for rate in ("0.1", "0.01", "0.001")
        ),
        DatasetInfo(
            "diel",
            "diel",
            "",
            "coordinate lists in medical text and their items",
            "Bing et al., EMNLP 2015",
            4_373_008,
            4_464_261,
            4,
            ("disease", "drug", "ingredient", "symptom"),
        ),
        DatasetInfo(
            "cora-bundled",
            "bundled",
            "",
            "machine-learning papers, their citations and words",
            f"{_LINQS}, from the PyPI package graphdatascience 2.2 (Apache-2.0)",
            2_708,
            5_429,
            7,
        ),
    )
}


def names() -> list[str]:
    """Return the names that :func:`~planetoid.datasets.load` knows.

    >>> "cora-bundled" in names()
    True
    """
    return list(_CATALOGUE)


def info(name: str) -> DatasetInfo:
    """Return what is known about a dataset without loading it.

    >>> info("pubmed").paper_edges
    44338
    """
    if name not in _CATALOGUE:
        raise ParameterError(f"there is no dataset {name!r}; the datasets are {', '.join(_CATALOGUE)}")
    return _CATALOGUE[name]
