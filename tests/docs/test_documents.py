"""README and the pages of the site: code that runs, links that lead somewhere, figures that were measured."""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.docs.blocks import LANGUAGES, blocks_of, difference

import planetoid as pl
from planetoid.cli import main
from planetoid.cli.method_choice import LARGE
from planetoid.errors import PlanetoidWarning
from planetoid.evaluation import what_it_uses

ROOT = Path(__file__).parents[2]
PAGES = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = ["README.md", *PAGES]
# What a page takes as given.
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
IN_PROCESSES = ("evaluate", "compare", "tune")  # which are to take one here


@pytest.fixture
def own_files(files, tmp_path, monkeypatch):
    """A user's files in the current folder: a small citation graph."""
    for name in ("edges.csv", "features.parquet", "labels.csv", "validation.csv"):
        shutil.copy(files.folder / name, tmp_path)
    pd.read_parquet(files.features).head(3).to_parquet(tmp_path / "new.parquet")
    (tmp_path / "ids.txt").write_text("paper_1\npaper_2\n")
    monkeypatch.chdir(tmp_path)


def to_run(document):
    return [block for block in blocks_of(ROOT / document, document) if block.not_run is None]


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if any(b.language != "text" for b in to_run(name))])
@pytest.mark.usefixtures("own_files")
def test_code_in_documents_runs(document, request, monkeypatch):
    blocks = to_run(document)
    if any('load("cora")' in block.code for block in blocks):
        monkeypatch.setenv("PLANETOID_DATA", str(request.getfixturevalue("data_root")))
    namespace = dict(GIVEN.get(document, {}))
    for block in blocks:
        if block.language == "python":
            printed = run_python(block, namespace)
        elif block.language == "sh":
            printed = run_commands(block)
        else:
            continue
        if block.output is not None:
            assert not (printed := difference(block.output, printed)), f"{block.place}: {printed}"


def run_python(block, namespace):
    with printed_to() as printed, warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanetoidWarning)
        exec(compile(block.code, block.place, "exec"), namespace)
    return printed.getvalue()


def run_commands(block):
    """Run the commands in this process, and return what a terminal would show: results and messages in their order."""
    with printed_to() as printed:
        for line in block.lines():
            program, *arguments = shlex.split(line, comments=True)
            assert program == "planetoid", f"{block.place}: {line}"
            more = ("--jobs", "1") if arguments[0] in IN_PROCESSES else ()
            with pytest.raises(SystemExit) as ended:
                main.app([*arguments, *more], prog_name="planetoid")
            assert (ended.value.code or 0) == block.exit_code, f"{block.place}: {line}\n{printed.getvalue()}"
    return printed.getvalue()


@contextlib.contextmanager
def printed_to():
    """Catch what is printed; warnings of ours are no errors here, since Cora has papers that nothing is known of."""
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        warnings.simplefilter("always", PlanetoidWarning)
        yield printed


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_says_its_language(document):
    for block in blocks_of(ROOT / document, document):
        assert block.language in LANGUAGES, block.place


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_between_documents_lead_somewhere(document):
    here = (ROOT / document).parent
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / document).read_text()):
        if not target.startswith(("http://", "https://")):
            assert (here / target).exists(), target


def test_the_site_has_every_page():
    listed = set(re.findall(r"\S+\.md", (ROOT / "mkdocs.yml").read_text()))
    assert {f"docs/{name}" for name in listed} == {page for page in PAGES if not page.startswith("docs/results/")}


def test_the_site_is_built_without_a_warning(tmp_path):
    pytest.importorskip("mkdocs", reason="the docs extra is not installed")
    pytest.importorskip("mkdocstrings", reason="the docs extra is not installed")
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(build, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert {"index.html", "methods.html", "cli.html"} <= {page.name for page in pages}
    for page in pages:
        fetched = re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(https?:[^"]+)', page.read_text())
        assert not fetched, f"{page.name} needs a network"
    methods = (tmp_path / "site/api/methods.html").read_text()
    for cls in pl.METHODS.values():
        assert f'id="{cls.__module__}.{cls.__name__}"' in methods


@pytest.fixture
def update_docs(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    return runpy.run_path(str(ROOT / "scripts/update_docs.py"))


def test_measured_tables_are_what_the_results_say(update_docs):
    for document in DOCUMENTS:
        text = (ROOT / document).read_text()
        assert update_docs["updated"](text) == text, f"{document}: run python scripts/update_docs.py"


def test_every_marked_table_is_known(update_docs):
    mark = re.compile(r"<!-- (?:measured|generated): (\S+) -->")
    marked = [name for page in DOCUMENTS for name in mark.findall((ROOT / page).read_text())]
    assert sorted(marked) == sorted(update_docs["TABLES"])


def test_the_imports_for_type_checkers_are_those_of_the_registry(update_docs):
    text = (ROOT / "src/planetoid/__init__.py").read_text()
    assert update_docs["methods"].typed_classes(text) == text


def test_the_readme_lists_what_every_method_learns_from():
    listed = (ROOT / "README.md").read_text().split("## What is in it")[1].split("##")[0]
    for method, cls in pl.METHODS.items():
        (row,) = (line for line in listed.splitlines() if f"`{cls.__name__}`" in line)
        _, _, name, uses, new_nodes, _ = (cell.strip() for cell in row.split("|", maxsplit=5))
        assert name == f"`{method}`"
        assert uses == what_it_uses(method)
        assert bool(new_nodes) == cls.inductive


@pytest.mark.parametrize("document", ["README.md", "docs/index.md"])
def test_every_page_can_be_found_from_the_first_one(document):
    text, here = (ROOT / document).read_text(), (ROOT / document).parent
    for page in PAGES:
        if not page.startswith(("docs/api/", "docs/results/")) and page != "docs/index.md":
            assert f"]({(ROOT / page).relative_to(here).as_posix()})" in text, page


def test_the_maths_of_every_baseline_is_described():
    table = (ROOT / "docs/models.md").read_text().split("## Baselines")[1]
    for cls in pl.METHODS.values():
        if ".baselines." in cls.__module__:
            assert f"\n| `{cls.__name__}` | " in table, cls.__name__


def test_the_architecture_names_modules_that_exist():
    text = (ROOT / "docs/architecture.md").read_text()
    for path in re.findall(r"`([a-z_0-9/]+/[a-z_0-9]*(?:\.(?:py|js))?)`", text):
        assert any((folder / path).exists() for folder in (ROOT, ROOT / "src/planetoid")), path
    commands = text.split("## The command line")[1].split("\n## ")[0]
    for module in (ROOT / "src/planetoid/cli").glob("[a-z]*.py"):
        assert f"`{module.stem}`" in commands or f"`cli/{module.name}`" in commands, module.name


def test_the_command_reference_has_every_command():
    commands = [command.name for command in main.app.registered_commands]
    commands += [group.name for group in main.app.registered_groups]
    text = (ROOT / "docs/cli.md").read_text()
    for command in commands:
        assert f"\n## {command}\n" in text
        assert f"\nplanetoid {command} " in text


@pytest.mark.parametrize("document", ["docs/cli.md", "docs/choosing.md"])
def test_the_rules_of_auto_are_documented(document):
    text = (ROOT / document).read_text()
    assert "above two million nodes" in text
    assert LARGE == 2_000_000
    for method in ("planetoid", "lp"):
        assert f"`{method}`" in text


class TestOutput:
    """Of the comparison itself: a test that always agrees would be of no use."""

    def test_numbers_may_be_off_by_a_tenth(self):
        assert difference("75.0 % of 1,000", "75.9 % of 1,000") is None
        assert difference("75.0 % of 1,000", "83.0 % of 1,000")
        assert difference("0.5 s", "1.5e-1 s")

    def test_words_have_to_agree_and_white_space_does_not(self):
        assert difference("a  b\nc 1", "a b c 1\n") is None
        assert difference("a b", "a c")
        assert difference("a", "a b")

    def test_an_ellipsis_stands_for_anything(self):
        assert difference("fitted in … s, 3 nodes", "fitted in 17.2 s, 3 nodes") is None
        assert difference("fitted in … s, 3 nodes", "fitted in 17.2 s, 4 nodes")
