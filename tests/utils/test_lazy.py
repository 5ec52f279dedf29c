"""Names that are imported when they are first used."""

import subprocess
import sys

import pytest

from planetoid.utils.lazy import lazy_names


def test_attributes_and_modules():
    load, names = lazy_names("pack", {"dumps": "json", "decoder": "json.decoder"}, ("version",))
    import json

    assert load("dumps") is json.dumps
    assert load("decoder") is json.decoder
    assert names() == ["decoder", "dumps", "version"]
    with pytest.raises(AttributeError, match="module 'pack' has no attribute 'loads'"):
        load("loads")


@pytest.mark.parametrize("module", ["planetoid", "planetoid.io", "planetoid.engine", "planetoid.engine.contexts"])
def test_packages_with_lazy_names_load_nothing_heavy(module):
    heavy = ("numba", "scipy", "torch", "sklearn", "pandas", "pyarrow")
    code = f"import sys, {module}\nprint(sorted(set({heavy!r}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
