"""Versions of the packages that a result depends on."""

from __future__ import annotations

import platform
from importlib import metadata

__all__ = ["package_versions"]

PACKAGES = ("planetoid", "numpy", "scipy", "scikit-learn", "numba", "torch", "safetensors")


def package_versions() -> dict[str, str]:
    """Return the versions of planetoid, Python and the libraries it computes with, and the kind of machine.

    Nothing is imported: the versions come from the metadata of the installed packages.

    >>> sorted(package_versions())
    ['machine', 'numba', 'numpy', 'planetoid', 'python', 'safetensors', 'scikit-learn', 'scipy', 'torch']
    """
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "unknown"
    return found
