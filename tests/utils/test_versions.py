"""Versions without importing the packages."""

import platform
import subprocess
import sys

import numpy as np

import planetoid as pl
from planetoid.utils import versions


def test_versions_are_those_of_the_modules():
    found = versions.package_versions()
    assert found["numpy"] == np.__version__
    assert found["planetoid"] == pl.__version__
    assert found["python"] == platform.python_version()


def test_a_missing_package_is_unknown(monkeypatch):
    monkeypatch.setattr(versions, "PACKAGES", ("numpy", "no-such-package"))
    assert versions.package_versions()["no-such-package"] == "unknown"


def test_nothing_is_imported():
    code = (
        "import sys; from planetoid.utils.versions import package_versions; package_versions();"
        "print([name for name in ('torch', 'numba', 'sklearn', 'scipy') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
