"""``load``: a dataset by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from planetoid.data.dataset import Dataset
from planetoid.datasets.authors import file_names, read_view
from planetoid.datasets.catalogue import info
from planetoid.datasets.cora import read_bundled_cora
from planetoid.datasets.diel import find_diel, read_diel
from planetoid.datasets.files import find_files
from planetoid.errors import ParameterError

__all__ = ["load"]


def load(
    name: str,
    *,
    root: str | Path | None = None,
    view: Literal["ind", "trans"] = "ind",
    repeats: Literal["merge", "count"] | None = None,
    run: int = 0,
    download: bool = True,
) -> Dataset:
    """Load a dataset by name; see :func:`~planetoid.datasets.names`.

    Its files are searched in ``root``, in the folder of the environment variable
    ``PLANETOID_DATA`` and in the user's cache, and else downloaded to the cache.
    A file whose checksum differs from that of the authors' file is an error.

    Parameters
    ----------
    name : str
    root : path, optional
        A folder that has the files, or has them in ``planetoid/`` (``diel/`` for
        DIEL).
    view : {"ind", "trans"}
        For the authors' data: the order of their inductive files, with all
        features and labels, or of their transductive ones, with features and
        labels of the labelled and test nodes only.
    repeats : {"merge", "count"}, optional
        For the authors' data, whose files list many edges more than once:
        merge them into an unweighted edge, or use the number of repetitions as
        its weight, as the authors' random walks do. By default they are counted
        for NELL, where each is a triple, and merged elsewhere.
    run : int
        For DIEL: which of its ten runs, 0 to 9.
    download : bool
        Whether the network may be used.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetNotFoundError
        The files were not found; the message names them and where to put them.
    DataError
        A file is damaged or not the authors'.

    Examples
    --------
    >>> import planetoid as pl
    >>> data = pl.datasets.load("cora-bundled")
    >>> data.class_names[data.y[0]]
    'Neural_Networks'
    """
    known = info(name)
    for option, value, allowed, kind in (
        ("view", view, ("ind", "trans"), "authors"),
        ("repeats", repeats, (None, "merge", "count"), "authors"),
        ("run", run, tuple(range(10)), "diel"),
    ):
        if value not in allowed:
            raise ParameterError(
                f"{option} must be one of {', '.join(map(repr, allowed))}, got {value!r}", parameter=option
            )
        if value != allowed[0] and known.kind != kind:
            raise ParameterError(f"{option} does not apply to {name}, got {value!r}", parameter=option)
    if known.kind == "bundled":
        return read_bundled_cora(known.name, known.description, known.origin)
    if known.kind == "diel":
        return read_diel(find_diel(root, run), run, description=known.description, origin=known.origin)
    nell = known.stem.startswith("nell")
    paths = find_files(name, file_names(known.stem, view), root=root, download=download, archive=nell)
    return read_view(
        name,
        known.stem,
        view,
        paths,
        class_names=known.class_names,
        description=known.description,
        origin=known.origin,
        repeats=repeats or ("count" if nell else "merge"),
    )
