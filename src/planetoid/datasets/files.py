"""Find, verify and download the files of a dataset."""

from __future__ import annotations

import hashlib
import os
import tarfile
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files as resource_files
from pathlib import Path

from planetoid.errors import DataError, DatasetNotFoundError
from planetoid.utils.atomic import atomic_write
from planetoid.utils.hashing import sha256_of_file

__all__ = ["cache_folder", "candidate_folders", "find_files", "known_checksums", "verify"]

DATA_VARIABLE = "PLANETOID_DATA"
AUTHORS_PAGE = "https://github.com/kimiyoung/planetoid/tree/master/data"
AUTHORS_FILES = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/"
NELL_ARCHIVE = "http://www.cs.cmu.edu/~zhiliny/data/nell_data.tar.gz"
RETRIES = 2
LARGEST_MEMBER = 2**26  # bytes; all files of the archive are smaller


@cache
def known_checksums() -> Mapping[str, str]:
    """Return the SHA-256 of every file of the authors, by file name."""
    text = resource_files("planetoid.datasets").joinpath("files.sha256").read_text(encoding="ascii")
    return {name: digest for digest, name in (line.split() for line in text.splitlines())}


def cache_folder() -> Path:
    """Return the folder for downloads."""
    import pooch

    return Path(pooch.os_cache("planetoid"))


def candidate_folders(root: str | Path | None, subfolder: str) -> list[Path]:
    """Return the folders to search, in this order: ``root``, the environment variable, the cache.

    Each may hold the files itself or in ``subfolder``.
    """
    given = [root, os.environ.get(DATA_VARIABLE) or None, cache_folder()]
    return [folder for base in given if base is not None for folder in (Path(base), Path(base) / subfolder)]


def find_files(
    dataset: str, names: Iterable[str], *, root: str | Path | None, download: bool, archive: bool
) -> dict[str, Path]:
    """Return the verified path of each file; download missing files to the cache.

    Parameters
    ----------
    dataset : str
        Name, for messages.
    names : iterable of str
        The authors' file names.
    root : path or None
        Folder to search first.
    download : bool
        Whether the network may be used.
    archive : bool
        Whether the files are in the NELL archive.
    """
    names = list(names)
    folders = candidate_folders(root, "planetoid")
    for folder in folders:
        if all((folder / name).is_file() for name in names):
            for name in names:
                verify(folder / name)
            return {name: folder / name for name in names}
    if not download:
        raise _not_found(dataset, names, folders, "download=False")
    cached = cache_folder()
    try:
        missing = [name for name in names if not (cached / name).is_file()]
        _fetch_archive(missing, cached) if archive else _fetch_single(missing, cached)
    except OSError as error:  # requests' exceptions are OSErrors
        reason = f"download failed: {type(error).__name__}: {_short(error)}"
        raise _not_found(dataset, names, folders, reason) from None
    for name in names:
        verify(cached / name)
    return {name: cached / name for name in names}


def verify(path: Path) -> None:
    """Raise ``DataError`` if the checksum of a file is not that of the authors' file."""
    wanted = known_checksums()[path.name]
    found = sha256_of_file(path)
    if found != wanted:
        raise DataError(
            f"the file has the SHA-256 {found[:12]}..., but the authors' file has {wanted[:12]}...",
            path=path,
            hint="it is damaged or another file; delete or replace it",
        )


def _fetch_single(names: list[str], folder: Path) -> None:
    import pooch

    registry = {name: f"sha256:{known_checksums()[name]}" for name in names}
    fetcher = pooch.create(path=folder, base_url=AUTHORS_FILES, registry=registry, retry_if_failed=RETRIES)
    for name in names:
        try:
            fetcher.fetch(name, downloader=pooch.HTTPDownloader(progressbar=_Bar(name), chunk_size=2**16))
        except ValueError as error:
            if isinstance(error, OSError):
                raise
            raise DataError(f"{AUTHORS_FILES}{name} is not the authors' file: {_short(error)}") from None


def _fetch_archive(names: list[str], folder: Path) -> None:
    """Download the archive and extract some members, whose checksums are known."""
    import pooch

    archive = Path(NELL_ARCHIVE).name
    fetcher = pooch.create(path=folder, base_url="", registry={archive: None}, retry_if_failed=RETRIES)
    fetcher.urls = {archive: NELL_ARCHIVE}
    bar = pooch.HTTPDownloader(progressbar=_Bar(archive), chunk_size=2**16)
    path = Path(fetcher.fetch(archive, downloader=bar))
    try:
        _extract(path, names, folder)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise DataError(f"{NELL_ARCHIVE} is not a readable archive: {error}") from None
    finally:
        path.unlink(missing_ok=True)


def _extract(archive: Path, names: list[str], folder: Path) -> None:
    missing = set(names)
    with tarfile.open(archive) as members:
        for member in members:
            name = Path(member.name).name
            stream = members.extractfile(member) if member.isfile() and name in missing else None
            if stream is None or member.size > LARGEST_MEMBER:
                continue
            content = stream.read()
            if hashlib.sha256(content).hexdigest() != known_checksums()[name]:
                raise DataError(f"{name} in {NELL_ARCHIVE} is not the authors' file: its SHA-256 differs")
            with atomic_write(folder / name) as temporary:
                temporary.write_bytes(content)
            missing.discard(name)
    if missing:
        raise DataError(f"{NELL_ARCHIVE} does not contain {', '.join(sorted(missing))}")


class _Bar:
    """The progress bar that pooch expects, drawn by rich."""

    def __init__(self, name: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
        self._progress = Progress(*columns, console=Console(stderr=True))
        self._task = self._progress.add_task(name, total=None)
        self.total = 0

    def update(self, count: int) -> None:
        self._progress.start()
        self._progress.update(self._task, total=self.total or None, advance=count)

    def reset(self) -> None:
        self._progress.reset(self._task)

    def close(self) -> None:
        self._progress.stop()


def _not_found(dataset: str, names: list[str], folders: list[Path], reason: str) -> DatasetNotFoundError:
    archive = any(".nell." in name for name in names)
    source = NELL_ARCHIVE if archive else AUTHORS_PAGE
    return DatasetNotFoundError(
        f"{dataset} was not found ({reason}). Download {', '.join(names)} from {source} and put them into one folder: "
        f"one of {', '.join(str(folder) for folder in folders[::2])}, or another one given by root or {DATA_VARIABLE}."
    )


def _short(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else text[:197] + "..."
