"""Arrays and tensors in safetensors files; errors of the file system are told apart from damaged files."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError
from planetoid.utils.hashing import sha256_of_stream
from planetoid.utils.temporary import temporary_folder

if TYPE_CHECKING:
    import torch

__all__ = ["TensorFile", "are_arrays", "write_tensors"]

_SYSTEM_ERROR = re.compile(r"\bcode: (\d+)")  # in the text of a SafetensorError


def write_tensors(path: Path, tensors: Mapping[str, npt.NDArray[Any] | torch.Tensor]) -> None:
    """Write NumPy arrays (without importing torch) or tensors; syncing the file is left to the caller.

    Raises
    ------
    OSError
        Also where safetensors has an error of its own, as for a full disk.
    """
    from safetensors import SafetensorError

    with temporary_folder(path) as folder:  # safetensors has temporary files of its own, which a kill leaves behind
        file = folder / path.name
        file.touch()
        mode = stat.S_IMODE(file.stat().st_mode)  # by the umask
        try:
            _save(file, tensors)
        except SafetensorError as error:
            found = _SYSTEM_ERROR.search(str(error))
            if found is None:
                raise OSError(str(error)) from None
            raise OSError(int(found[1]), os.strerror(int(found[1]))) from None
        file.chmod(mode)
        os.replace(file, path)


def _save(file: Path, tensors: Mapping[str, npt.NDArray[Any] | torch.Tensor]) -> None:
    if are_arrays(tensors):
        from safetensors.numpy import save_file as save_arrays

        save_arrays({name: np.ascontiguousarray(value) for name, value in tensors.items()}, file)
    else:
        from safetensors.torch import save_file

        save_file(_separate(tensors), file)


class TensorFile:
    """An open file of arrays that has the expected checksum; it can be read even if its path is replaced.

    Parameters
    ----------
    path : Path
    sha256 : str
        The checksum that it has to have.
    as_torch : bool
        Whether to return tensors of torch instead of NumPy arrays.
    """

    def __init__(self, path: Path, sha256: object, *, as_torch: bool = False) -> None:
        from safetensors import SafetensorError, safe_open

        self.path = path
        try:
            with path.open("rb") as file:
                if sha256_of_stream(file) != sha256:
                    raise DataError("the file is damaged: its checksum differs", path=path)
                self._tensors: Any = safe_open(path, framework="pt" if as_torch else "numpy")
                if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
                    raise DataError("the file was replaced while it was read", path=path)
        except FileNotFoundError:
            raise DataError(f"{path.name} is missing", path=path.parent) from None
        except OSError as error:
            raise DataError(f"cannot read the file: {error.strerror or error}", path=path) from None
        except (SafetensorError, ValueError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"the file is damaged ({error})", path=path) from None

    def read(self, prefix: str = "", wanted: Callable[[str], bool] = lambda name: True) -> dict[str, Any]:
        """Return the arrays whose names start with ``prefix``, and are wanted."""
        from safetensors import SafetensorError

        try:
            names = [name for name in self._tensors.keys() if name.startswith(prefix) and wanted(name)]  # noqa: SIM118
            return {name: self._tensors.get_tensor(name) for name in names}
        except (SafetensorError, KeyError, ValueError, TypeError) as error:
            raise DataError(f"the file is damaged ({error})", path=self.path) from None


def are_arrays(tensors: Mapping[str, object]) -> bool:
    """Tell whether all values are NumPy arrays, which are read and written without torch."""
    return all(isinstance(value, np.ndarray) for value in tensors.values())


def _separate(tensors: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """Return tensors on the CPU that share no memory, as safetensors requires."""
    seen: set[int] = set()
    separate = {}
    for name, value in tensors.items():
        plain = value.detach().contiguous().cpu()
        if plain.data_ptr() in seen:  # weights that a user's encoder has tied together
            plain = plain.clone()
        seen.add(plain.data_ptr())
        separate[name] = plain
    return separate
