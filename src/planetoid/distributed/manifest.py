"""``Manifest``: which parts of a folder of predictions are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from planetoid.errors import DataError, Fix
from planetoid.utils.atomic import atomic_write
from planetoid.utils.hashing import sha256_of_file
from planetoid.utils.sealed import seal, unseal

__all__ = ["MANIFEST", "Manifest", "Part"]

MANIFEST = "manifest.json"
FORMAT, FORMAT_VERSION = "planetoid predictions", 1


class Part(NamedTuple):
    """One file of predictions, as it was written."""

    rows: int
    sha256: str


class Manifest:
    """The parts of one prediction, and which of them are complete.

    A part is written atomically by whoever computes it, and is listed here when it is; so what is listed is complete,
    and what is not listed is computed again. The same prediction goes on in the same folder.

    Parameters
    ----------
    folder : Path
    description : mapping
        What is predicted: model, rows and columns. A folder of another prediction is rejected.
    names : list of str
        The files, in order.
    overwrite : bool
        Whether a folder of another prediction is replaced.
    """

    def __init__(
        self, folder: Path, description: Mapping[str, Any], names: Sequence[str], *, overwrite: bool = False
    ) -> None:
        self.folder, self.description, self.names = folder, dict(description), list(names)
        self.parts: dict[str, Part] = {}
        folder.mkdir(parents=True, exist_ok=True)
        found = self._read()
        if found is None and any(folder.iterdir()) and not overwrite:
            raise DataError("the folder has files that are no predictions", path=folder, hint="choose a new one")
        if found is not None and found["description"] == self.description and found["names"] == self.names:
            parts = {name: Part(**part) for name, part in found["parts"].items()}
            self.parts = {name: part for name, part in parts.items() if self._is_intact(name, part)}
        elif found is not None and not overwrite:
            raise DataError(
                "the folder has the predictions of another model or of other rows",
                path=folder,
                fix=Fix("overwrite", True, "to replace them"),
            )
        self._write()

    def missing(self) -> list[str]:
        """Return the parts that are not complete."""
        return [name for name in self.names if name not in self.parts]

    @property
    def complete(self) -> bool:
        """Whether all parts are complete."""
        return not self.missing()

    @property
    def n_rows(self) -> int:
        """Rows of all complete parts."""
        return sum(part.rows for part in self.parts.values())

    def add(self, name: str, rows: int) -> None:
        """List a part that has been written."""
        self.parts[name] = Part(rows, sha256_of_file(self.folder / name))
        self._write()

    def _is_intact(self, name: str, part: Part) -> bool:
        file = self.folder / name
        return file.is_file() and sha256_of_file(file) == part.sha256

    def _read(self) -> dict[str, Any] | None:
        file = self.folder / MANIFEST
        try:
            document = unseal(file.read_bytes())
            if (document["format"], document["format_version"]) != (FORMAT, FORMAT_VERSION):
                raise ValueError("it is of another version")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"the manifest is damaged ({error})", path=file, hint="choose a new folder") from None
        return document

    def _write(self) -> None:
        document = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "description": self.description,
            "complete": self.complete,
            "rows": self.n_rows,
            "names": self.names,
            "parts": {name: self.parts[name]._asdict() for name in self.names if name in self.parts},
        }
        with atomic_write(self.folder / MANIFEST) as temporary:
            temporary.write_bytes(seal(document, indent=1))
