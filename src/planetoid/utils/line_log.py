"""``LineLog``: a file that entries are appended to, one line each, and that is never rewritten."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

from planetoid.errors import DataError
from planetoid.utils.atomic import atomic_write, resolved
from planetoid.utils.locks import try_lock
from planetoid.utils.sealed import seal, unseal
from planetoid.utils.syncing import make_folder, sync_file, sync_folder, syncing
from planetoid.utils.temporary import remove_abandoned, temporary_file

__all__ = ["Entry", "LineLog"]


class Entry(NamedTuple):
    """A line of the file."""

    number: int
    content: dict[str, Any]


class _Content(NamedTuple):
    entries: list[Entry]
    n_bytes: int  # up to the end of the last whole line


class LineLog:
    """Entries as lines of JSON, each with a checksum, after a first line that says what the file is.

    An entry is on disk when :meth:`append` returns. If a process or the machine dies while it writes, at most the last
    line is cut off; it is ignored by readers and removed by the next writer. Any other line that does not fit its
    checksum is an error.

    Parameters
    ----------
    path : path
    kind : str
        What the file is, for instance ``"planetoid runs"``.
    version : int
        Of the entries.
    identity : str
        What the entries belong to; the file of another identity is rejected.
    of_what : str
        The identity in words, for the message.
    """

    def __init__(self, path: str | Path, kind: str, *, version: int, identity: str = "", of_what: str = "") -> None:
        self.path = Path(path)
        self.header = {"format": kind, "version": version, "identity": identity}
        self._of_what = of_what
        self._handle: int | None = None

    def read(self) -> list[Entry]:
        """Return the entries, none if there is no file; nothing is written."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise DataError(f"cannot read the file: {error.strerror or error}", path=self.path) from None
        return self._parse(content).entries if content else []

    @contextmanager
    def writing(self) -> Iterator[list[Entry]]:
        """Lock the file, create it if there is none, and yield its entries; a second process is rejected."""
        try:
            self._handle = self._open()
        except OSError as error:
            raise DataError(f"cannot write the file: {error.strerror or error}", path=self.path) from None
        try:
            content = _read_all(self._handle)
            found = self._parse(content)
            if found.n_bytes < len(content):
                os.ftruncate(self._handle, found.n_bytes)  # the rest is half a line
            yield found.entries
        finally:
            os.close(self._handle)
            self._handle = None

    def append(self, content: dict[str, Any]) -> None:
        """Write an entry and force it to disk; if that fails, the file is what it was."""
        assert self._handle is not None  # within writing()
        before = os.lseek(self._handle, 0, os.SEEK_END)
        line = seal(content)
        try:
            while line:
                line = line[os.write(self._handle, line) :]
            if syncing():
                os.fsync(self._handle)
        except BaseException as error:
            with suppress(OSError):
                os.ftruncate(self._handle, before)
            if isinstance(error, OSError):
                raise DataError(f"cannot write the file: {error.strerror or error}", path=self.path) from None
            raise

    def _open(self) -> int:
        """Return a locked handle of the file, which has its first line."""
        remove_abandoned(resolved(self.path))
        while True:
            if not self.path.exists():
                self._create()
            handle = os.open(self.path, os.O_RDWR)
            if not try_lock(handle):
                os.close(handle)
                raise DataError(
                    "another process is writing to the file", path=self.path, hint="wait for it, or name another file"
                )
            if os.path.samestat(os.fstat(handle), os.stat(self.path)):
                if os.fstat(handle).st_size:
                    return handle
                with atomic_write(self.path) as temporary:  # an empty file becomes ours as a whole
                    temporary.write_bytes(seal(self.header))
            os.close(handle)

    def _create(self) -> None:
        """Create the file with its first line; one that another process has created meanwhile stays."""
        target = resolved(self.path)
        make_folder(target.parent)
        with temporary_file(target, 0o666) as temporary:
            temporary.write_bytes(seal(self.header))
            sync_file(temporary)
            try:
                os.link(temporary, target)
            except FileExistsError:
                return
            except OSError:  # a file system without links
                os.rename(temporary, target)
        sync_folder(target.parent)

    def _parse(self, content: bytes) -> _Content:
        first, *lines = BytesIO(content).readlines()
        self._check_header(first)
        entries: list[Entry] = []
        n_bytes = len(first)
        for number, line in enumerate(lines, 2):
            try:
                entries.append(Entry(number, unseal(line)))
            except ValueError as error:
                if number == len(lines) + 1 and (not line.endswith(b"\n") or b"\0" in line):
                    break  # cut off; after a power failure, what has not been written may be zeros
                raise DataError(f"the line is damaged: {error}", path=self.path, line=number) from None
            n_bytes += len(line)
        return _Content(entries, n_bytes)

    def _check_header(self, line: bytes) -> None:
        kind = self.header["format"]
        try:
            found = unseal(line)
        except ValueError as error:
            ours = f'"format": "{kind}"'.encode() in line
            reason = f"the first line is damaged: {error}" if ours else f"this is not a file of {kind}"
            raise DataError(reason, path=self.path, hint="name another file") from None
        if found.get("format") != kind:
            raise DataError(f"this is not a file of {kind}", path=self.path, hint="name another file")
        if found.get("version") != self.header["version"]:
            raise DataError("the file was written by another version of planetoid", path=self.path)
        if found.get("identity") != self.header["identity"]:
            raise DataError(
                f"the file belongs to {self._of_what}", path=self.path, hint="name another file, or remove this one"
            )


def _read_all(handle: int) -> bytes:
    with os.fdopen(os.dup(handle), "rb") as file:
        file.seek(0)
        return file.read()
