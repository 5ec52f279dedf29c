"""The package as a whole: what importing loads, its layers, its wheel, and the code in its documents."""

import re
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import planetoid as pl
from planetoid.errors import PlanetoidWarning
from planetoid.evaluation import what_it_uses

ROOT = Path(__file__).parents[1]
HEAVY = ("torch", "numba", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "typer", "rich")
DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
# What a document takes as given; README and docs also find edges.csv, words.txt and labels.csv.
GIVEN = {
    "docs/construct.md": {
        "heads": ["rome", "paris", "rome"],
        "relations": ["capital_of", "capital_of", "generalizations"],
        "tails": ["italy", "france", "city"],
        "X": np.random.default_rng(0).random((30, 4)),
        "list_column": [1, 1, 2],
        "item_column": ["fever", "cough", "cough"],
    },
}


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


def test_wheel_has_the_data_and_nothing_else(tmp_path):
    pytest.importorskip("hatchling", reason="the test extra is not installed")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = tmp_path.glob("*.whl")
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


def python_blocks(document):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def own_files(tmp_path, monkeypatch):
    """The bundled Cora as a user's own files, in the current folder."""
    monkeypatch.chdir(tmp_path)
    data = pl.datasets.load("cora-bundled")
    source, target = data.graph.to_scipy().nonzero()
    once = source < target
    names = [f"paper_{node}" for node in data.node_ids]
    edges = [f"{names[i]},{names[j]}" for i, j in zip(source[once], target[once], strict=True)]
    Path("edges.csv").write_text("\n".join(["source,target", *edges]) + "\n")
    words = [" ".join([names[row], *(f"w{k}" for k in data.X[[row]].indices)]) for row in range(data.n_nodes)]
    Path("words.txt").write_text("\n".join(words) + "\n")
    train = data.split("random").train
    labels = [f"{names[row]},{data.class_names[data.y[row]]}" for row in train]
    Path("labels.csv").write_text("\n".join(["id,label", *labels]) + "\n")


@pytest.mark.parametrize("document", [document for document in DOCUMENTS if python_blocks(document)])
@pytest.mark.usefixtures("own_files")
def test_code_in_documents_runs(document, request, monkeypatch):
    blocks = python_blocks(document)
    if any('load("cora")' in block for block in blocks):
        monkeypatch.setenv("PLANETOID_DATA", str(request.getfixturevalue("data_root")))
    namespace = dict(GIVEN.get(document, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanetoidWarning)  # Cora has papers that nothing is known of
        for number, block in enumerate(blocks, 1):
            exec(compile(block, f"{document}, block {number}", "exec"), namespace)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_between_documents_lead_somewhere(document):
    here = (ROOT / document).parent
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / document).read_text()):
        if not target.startswith(("http://", "https://")):
            assert (here / target).exists(), target


def test_the_index_names_every_document():
    index = (ROOT / "docs/index.md").read_text()
    for document in DOCUMENTS[1:]:
        assert document == "docs/index.md" or f"({Path(document).name})" in index


def test_the_readme_tells_what_every_method_learns_from():
    listed = (ROOT / "README.md").read_text().split("## What is in it")[1].split("##")[0]
    for method, cls in pl.METHODS.items():
        (row,) = (line for line in listed.splitlines() if f"`{cls.__name__}`" in line)
        _, _, uses, new_nodes, _ = (cell.strip() for cell in row.split("|"))
        assert uses == what_it_uses(method)
        assert bool(new_nodes) == cls.inductive
