"""Whole commands: what must not matter to the predictions of ``planetoid fit`` and ``planetoid predict``."""

import csv
import io
import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from planetoid.cli.main import app

few = settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
N_NODES = 30
METHODS = ["lp", "ssgc", "feat"]


def tables(seed: int = 0):
    """Return edges, features and labels as lists of rows, without a header."""
    generator = np.random.default_rng(seed)
    kind = np.arange(N_NODES) % 3
    pairs = {(int(min(a, b)), int(max(a, b))) for a, b in generator.integers(0, N_NODES, (90, 2)) if a != b}
    edges = [[f"n{a}", f"n{b}"] for a, b in sorted(pairs)]
    X = (generator.normal(size=(N_NODES, 4)) + np.eye(3, 4)[kind]).round(3)
    features = [[f"n{k}", *map(str, row)] for k, row in enumerate(X)]
    labels = [[f"n{k}", "abc"[kind[k]]] for k in range(12)]
    return {"edges": edges, "features": features, "labels": labels}


HEADERS = {"edges": ["source", "target"], "features": ["id", "w", "x", "y", "z"], "labels": ["id", "label"]}


def predictions(folder, method, content):
    """Fit and predict; return {id: (label, confidence)}."""
    paths = []
    for name, rows in content.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([HEADERS[name], *rows])
        paths += [f"--{name}", str(folder / f"{name}.csv")] if not (method == "lp" and name == "features") else []
    model = str(folder / "model")
    fitted = CliRunner().invoke(app, ["fit", *paths, "--method", method, "--out", model, "--force", "--quiet"])
    assert fitted.exit_code == 0, fitted.output
    found = CliRunner().invoke(app, ["predict", model, "--quiet"])
    assert found.exit_code == 0, found.output
    rows = list(csv.reader(io.StringIO(found.stdout)))[1:]
    return {row[0]: (row[1], row[2]) for row in rows}


@cache
def of_the_tables(method):
    """Return the predictions for the tables as they are."""
    with tempfile.TemporaryDirectory() as folder:
        return predictions(Path(folder), method, tables())


@pytest.mark.parametrize("method", METHODS)
@few
@given(seed=st.integers(0, 2**16))
def test_the_order_of_rows_does_not_matter(method, seed, tmp_path):
    content = tables()
    before = of_the_tables(method)
    generator = random.Random(seed)
    shuffled = {name: generator.sample(rows, len(rows)) for name, rows in content.items()}
    assert predictions(tmp_path, method, shuffled) == before


@pytest.mark.parametrize("method", METHODS)
@few
@given(prefix=st.text(st.characters(categories=["L"]), min_size=1, max_size=5))
def test_names_of_nodes_do_not_matter(method, prefix, tmp_path):
    content = tables()
    before = of_the_tables(method)
    ends = {"edges": 2, "features": 1, "labels": 1}
    renamed = {
        name: [[prefix + cell for cell in row[: ends[name]]] + row[ends[name] :] for row in rows]
        for name, rows in content.items()
    }
    after = predictions(tmp_path, method, renamed)
    assert {node.removeprefix(prefix): found for node, found in after.items()} == before


@pytest.mark.parametrize("method", ["lp", "ssgc"])
@few
@given(seed=st.integers(0, 2**16))
def test_duplicate_and_reversed_edges_do_not_matter(method, seed, tmp_path):
    """Without weights a repeated edge is one edge, and an edge counts both ways."""
    content = tables()
    before = of_the_tables(method)
    generator = random.Random(seed)
    repeated = [generator.choice([edge, edge[::-1]]) for edge in generator.choices(content["edges"], k=30)]
    changed = content | {"edges": content["edges"] + repeated}
    assert predictions(tmp_path, method, changed) == before


@pytest.mark.parametrize("method", METHODS)
def test_columns_and_spelling_do_not_matter(method, tmp_path):
    """Features in another order of columns, and numbers with more digits."""
    content = tables()
    before = of_the_tables(method)
    order = [3, 1, 4, 2]
    HEADERS["features"] = ["id", *("?wxyz"[k] for k in order)]
    try:
        moved = content | {
            "features": [[row[0], *(f"{float(row[k]):.6f}" for k in order)] for row in content["features"]]
        }
        assert predictions(tmp_path, method, moved) == before
    finally:
        HEADERS["features"] = ["id", "w", "x", "y", "z"]
