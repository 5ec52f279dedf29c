"""The package as a whole: what importing loads, its layers and its wheel."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import planetoid as pl
from planetoid.datasets.diel import ARCHIVE
from planetoid.datasets.files import NELL_ARCHIVE, known_checksums

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "numba", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "typer", "rich")


def test_import_loads_nothing_heavy():
    code = f"import sys, planetoid\nprint(sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_loading_data_needs_neither_torch_nor_numba():
    load = "import sys, planetoid as pl\npl.datasets.load('cora-bundled')\n"
    code = load + "print(sorted({'torch', 'numba'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_every_public_name_is_there():
    assert set(dir(pl)) == set(pl.__all__)
    for name in pl.__all__:
        assert getattr(pl, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'PlanetoidX'"):
        _ = pl.PlanetoidX


def test_type_checkers_see_every_public_name():
    text = (ROOT / "src/planetoid/__init__.py").read_text()
    declared = set(re.findall(r"^    from \S+ import \w+ as (\w+)$", text, flags=re.MULTILINE))
    assert declared == set(pl.__all__) - {"METHODS", "__version__"}


def test_layers_are_kept():
    """A module imports only from what stands below it: the contract is in pyproject.toml."""
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_folder_stands_in_a_layer():
    layers = (ROOT / "pyproject.toml").read_text().split("[[tool.importlinter.contracts]]")[1]
    named = set(re.findall(r"planetoid\.(\w+)", layers))
    parts = {path.stem for path in (ROOT / "src/planetoid").iterdir() if not path.name.startswith(("_", "py."))}
    assert named == parts


def build_wheel(folder: Path, root: Path = ROOT) -> Path:
    pytest.importorskip("hatchling", reason="the test extra is not installed")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(build, cwd=root, env=environment, capture_output=True, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_two_builds_of_the_same_files_are_the_same_bytes(tmp_path):
    """In another folder, with other times and permissions, as on another machine."""
    other = tmp_path / "elsewhere"
    shutil.copytree(
        ROOT / "src", other / "src", ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy
    )
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, other / name)
    assert build_wheel(tmp_path / "1").read_bytes() == build_wheel(tmp_path / "2", other).read_bytes()


def test_every_download_is_encrypted_or_has_a_known_checksum():
    """The one archive without https is unpacked member by member, each with its SHA-256; DIEL is not downloaded."""
    text = "".join(path.read_text() for path in (ROOT / "src/planetoid").rglob("*.py"))
    plain = set(re.findall(r'"(http://[^"]+)"', text)) - {"http://www.w3.org/2000/svg"}
    assert plain == {NELL_ARCHIVE, ARCHIVE}
    assert [name for name in known_checksums() if ".nell." in name]


def test_wheel_has_the_data_and_nothing_else(tmp_path):
    wheel = build_wheel(tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        info = next(name for name in names if name.endswith("/METADATA")).split("/")[0]
        assert f"Version: {pl.__version__}\n" in archive.read(f"{info}/METADATA").decode()
        assert "planetoid = planetoid.cli.main:run" in archive.read(f"{info}/entry_points.txt").decode()
    bundled = {f"planetoid/datasets/bundled/{name}" for name in ("cora.npz", "ORIGIN.md", "LICENSE-APACHE-2.0.txt")}
    assert names >= bundled | {"planetoid/py.typed", "planetoid/datasets/files.sha256", f"{info}/licenses/LICENSE"}
    assert all(name.startswith(("planetoid/", f"{info}/")) for name in names)
    sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src/planetoid").rglob("*.py")}
    assert {name for name in names if name.endswith(".py")} == sources
    assert wheel.stat().st_size < 2**20
