"""A synthetic citation graph as a user's own files, and a way to run commands on them."""

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import planetoid as pl
from planetoid.cli import main

# Settings of a Planetoid model that is fitted in a moment.
QUICK = ("--set", "dimension=16", "--set", "training.steps=20", "--set", "training.pretrain=2")


@dataclass(frozen=True)
class Files:
    """Paths, and the data that they were made from."""

    folder: Path
    data: object
    names: np.ndarray
    train: np.ndarray

    def __getattr__(self, name):
        """Return the path of a file by its stem: ``files.edges``."""
        if name.startswith("_"):
            raise AttributeError(name)
        (path,) = self.folder.glob(f"{name}.*")
        return path

    def all(self):
        """The options that name edges, features and labels."""
        return ("--edges", self.edges, "--features", self.features, "--labels", self.labels)

    def graph(self):
        return ("--edges", self.edges, "--labels", self.labels)

    def words(self):
        return ("--features", self.features, "--labels", self.labels)


def feature_frame(data, names):
    frame = pd.DataFrame(data.X.toarray(), columns=[f"w{k}" for k in range(data.n_features)])
    frame.insert(0, "id", names)
    return frame


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """``edges.csv`` (string ids), ``features.parquet``, ``labels.csv``, ``validation.csv``."""
    folder = tmp_path_factory.mktemp("own files")
    data = pl.datasets.make_citation(240, 3, 60, seed=1, informative=0.6)
    names = np.array([f"paper_{k}" for k in range(data.n_nodes)])
    source, target = data.graph.to_scipy().nonzero()
    once = source < target
    pd.DataFrame({"source": names[source[once]], "target": names[target[once]]}).to_csv(
        folder / "edges.csv", index=False
    )
    feature_frame(data, names).to_parquet(folder / "features.parquet", index=False)
    split = data.split("random", per_class=12, n_val=40, n_test=100, seed=0)
    classes = np.array(["art", "biology", "chess"])
    for name, rows in (("labels", split.train), ("validation", split.val), ("truth", split.test)):
        pd.DataFrame({"id": names[rows], "label": classes[data.y[rows]]}).to_csv(folder / f"{name}.csv", index=False)
    return Files(folder, data, names, split.train)


@pytest.fixture
def invoke():
    """Run a command in this process; an unexpected error is raised."""

    def run(*arguments):
        return CliRunner().invoke(main.app, list(map(str, arguments)), catch_exceptions=False)

    return run


@pytest.fixture
def done(invoke):
    """Run a command that has to succeed."""

    def run(*arguments):
        result = invoke(*arguments)
        assert result.exit_code == 0, result.stderr
        return result

    return run


@pytest.fixture
def refused(invoke):
    """Run a command that has to end with an error of one line; return the line."""

    def run(*arguments):
        result = invoke(*arguments)
        assert result.exit_code == 2, result.stdout
        assert result.stdout == ""
        line = result.stderr.splitlines()[-1]
        assert line.startswith("error: ")
        assert "Traceback" not in result.stderr
        return line.removeprefix("error: ")

    return run


@pytest.fixture(scope="session")
def models(files):
    """Fitted models, each made once: ``models("feat")`` is a folder."""
    made = {}

    def fit(method):
        if method not in made:
            made[method] = files.folder / f"model-{method}"
            more = QUICK if method.startswith("planetoid") else ()
            command = ["fit", *files.all(), "--method", method, "--out", made[method], *more, "--quiet"]
            result = CliRunner().invoke(main.app, list(map(str, command)), catch_exceptions=False)
            assert result.exit_code == 0, result.stderr
        return made[method]

    return fit


@contextlib.contextmanager
def started(command):
    """A process in a group of its own that reacts to Ctrl-C, even if this one does not; it ends with the test."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
