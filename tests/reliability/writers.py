"""Everything that writes files: how it is started, and what its folder may look like afterwards.

``prepare`` makes the state before, ``run`` the work, and ``observe`` returns how far a folder is: 0 for the state
before, then one more for every promise that ``run`` makes. Whatever is neither old nor new is an error.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pandas as pd
from tests.experiments.conftest import make_cell
from tests.reliability.sum_loss import Sum

import planetoid as pl
from planetoid.cli import main
from planetoid.cli.measurement import measure
from planetoid.evaluation import Protocol
from planetoid.evaluation.tuning import tune
from planetoid.experiments import reproduce
from planetoid.experiments.store import RunStore
from planetoid.persistence import SavedModel, read_record
from planetoid.training.callbacks import Callback
from planetoid.training.checkpoint import Checkpoint
from planetoid.training.trainer import Schedule, Trainer
from planetoid.utils import atomic
from planetoid.utils.line_log import LineLog

N_NODES, N_CLASSES = 40, 3


class Data:
    """Files of a small graph with two sets of labels, and models fitted to each."""

    def __init__(self, folder):
        self.folder = Path(folder)
        nodes = np.arange(N_NODES)
        edges = pd.DataFrame({"source": nodes, "target": (nodes + 3) % N_NODES})
        edges.to_csv(self.folder / "edges.csv", index=False)
        for name, shift in (("old", 0), ("new", 1)):
            labels = pd.DataFrame({"id": nodes[:12], "label": [f"c{(k + shift) % N_CLASSES}" for k in range(12)]})
            labels.to_csv(self.folder / f"{name}.csv", index=False)
            command("fit", *self.fit_options(name, self.folder / f"lp-{name}"))
            graphemb = ("--method", "graphemb", "--set", "dimension=4", "--set", "pretrain=1", "--seed", shift)
            command("fit", *self.fit_options(name, self.folder / f"graphemb-{name}"), *graphemb)

    def fit_options(self, labels, out):
        return (
            *("--edges", self.folder / "edges.csv", "--labels", self.folder / f"{labels}.csv"),
            *("--method", "lp", "--out", out),
        )


def command(*arguments):
    """Run a command; return its exit code."""
    try:
        main.app([*map(str, arguments), "--quiet"], prog_name="planetoid")
    except SystemExit as ended:
        return ended.code or 0
    return 0


class Writer:
    """One command or function that writes to a folder."""

    name = ""

    def __init__(self, data):
        self.data = data
        self.contents = []  # by rank

    def prepare(self, folder):
        """Make the state before."""

    def run(self, folder, promise):
        raise NotImplementedError

    def content(self, folder):
        """Return what a reader finds."""
        raise NotImplementedError

    def observe(self, folder):
        """Return the rank of what a reader finds."""
        found = self.content(folder)
        assert found in self.contents, f"neither old nor new: {found}"
        return self.contents.index(found)

    def learn(self, before, after):
        """Take the contents of the folders before and after a run without faults as the only ones that may be."""
        self.contents = [self.content(before), self.content(after)]
        assert self.contents[0] != self.contents[1]


class Fit(Writer):
    name = "fit"

    def run(self, folder, promise):
        code = command("fit", *self.data.fit_options("new", folder / "model"), "--force")
        if code == 0:
            promise()
        return code

    def content(self, folder):
        path = folder / "model"
        try:
            saved, record = SavedModel(path), read_record(path)
        except pl.PlanetoidError as error:
            if "the folder does not exist" in str(error):
                return None
            raise
        assert record is not None
        pl.load(path)
        return digest(saved.probabilities, record.y), saved.classes.tolist()


class FitForce(Fit):
    name = "fit --force"

    def prepare(self, folder):
        command("fit", *self.data.fit_options("old", folder / "model"))


class FitTwoRenames(FitForce):
    name = "fit --force where folders cannot be exchanged"

    def run(self, folder, promise):
        atomic.exchange = lambda *_: False  # in this fork only
        return super().run(folder, promise)


class Output(Writer):
    """A command that writes one file."""

    def __init__(self, data, name, file, method="lp", *more):
        super().__init__(data)
        self.name, self.file, self.method, self.more = f"{name} {Path(file).suffix}", file, method, more

    def _write(self, labels, out):
        model = self.data.folder / f"{self.method}-{labels}"
        return command(self.name.split()[0], model, "--out", out, "--force", *self.more)

    def prepare(self, folder):
        self._write("old", folder / self.file)

    def run(self, folder, promise):
        code = self._write("new", folder / self.file)
        if code == 0:
            promise()
        return code

    def content(self, folder):
        return hashlib.sha256((folder / self.file).read_bytes()).hexdigest()


class Log(Writer):
    """A file that lines are appended to, one promise each."""

    def keys(self, folder):
        raise NotImplementedError

    def content(self, folder):
        return self.keys(folder)

    def learn(self, before, after):
        first, last = self.content(before), self.content(after)
        assert last[: len(first)] == first
        self.contents = [last[:n] for n in range(len(first), len(last) + 1)]


class Tune(Log):
    name = "tune --journal"
    n_trials = 9

    def __init__(self, data):
        super().__init__(data)
        self.graph = pl.datasets.make_citation(80, 3, 20, seed=0)
        self.found = None

    def _tune(self, folder, trials, on_trial=None):
        protocol = Protocol(per_class=4, n_val=0, n_test=30)
        journal = folder / "trials.log"
        options = {"protocol": protocol, "seeds": [5], "journal": journal, "on_trial": on_trial}
        return tune("lgc", self.graph, trials=trials, **options)

    def prepare(self, folder):
        self._tune(folder, 2)

    def run(self, folder, promise):
        try:
            found = self._tune(folder, self.n_trials, lambda _: promise())
        except pl.PlanetoidError as error:
            print(f"error: {error}")
            return 2
        self.found = self.found or found
        assert found == self.found  # the same result, whatever had happened before
        return 0

    def keys(self, folder):
        if not (folder / "trials.log").exists():
            return []
        lines = (folder / "trials.log").read_bytes().splitlines()
        identity = json.loads(lines[0])["identity"]
        log = LineLog(folder / "trials.log", "planetoid journal", version=1, identity=identity)
        return [str(entry.content) for entry in log.read()]


class TuneFirst(Tune):
    name = "tune with a new --journal"

    def prepare(self, folder):
        pass


class Compare(Log):
    name = "compare --journal"

    def __init__(self, data):
        super().__init__(data)
        self.graph = pl.datasets.make_citation(80, 3, 20, seed=0)

    def _measure(self, folder, splits, promise=lambda: None):
        known = len(self.keys(folder))

        def finished(outcome):
            if outcome.seed >= known:
                promise()

        protocol = Protocol(per_class=4, n_val=0, n_test=30)
        measure(["lp"], self.graph, protocol, range(splits), {}, 1, finished, folder / "runs.log")

    def prepare(self, folder):
        self._measure(folder, 2)

    def run(self, folder, promise):
        try:
            self._measure(folder, 8, promise)
        except pl.PlanetoidError as error:
            print(f"error: {error}")
            return 2
        return 0

    def keys(self, folder):
        if not (folder / "runs.log").exists():
            return []
        lines = (folder / "runs.log").read_bytes().splitlines()
        log = LineLog(folder / "runs.log", "planetoid outcomes", version=1, identity=json.loads(lines[0])["identity"])
        return [(entry.content["seed"], entry.content["predicted"]) for entry in log.read()]


class Reproduce(Log):
    name = "reproduce"

    def prepare(self, folder):
        RunStore(folder / "runs.jsonl").run(make_cell().tasks(1), 1, lambda *_: None)

    def run(self, folder, promise):
        try:
            store = RunStore(folder / "runs.jsonl")
            store.run(store.missing(make_cell().tasks(6)), 1, lambda *_: promise())
            reproduce._write(folder / "table.md", "table\n" * 2000)
        except pl.PlanetoidError as error:
            print(f"error: {error}")
            return 2
        return 0

    def keys(self, folder):
        table = folder / "table.md"
        assert not table.exists() or table.read_text() == "table\n" * 2000
        return list(RunStore(folder / "runs.jsonl").results)


class Training(Writer):
    name = "checkpoint"
    steps = (3, 7)  # before, and after the run

    def _train(self, folder, until, promise=lambda: None):
        class Promising(Checkpoint):
            def write(self, trainer):
                super().write(trainer)
                promise()

        class Stop(Callback):
            def on_train_begin(self, trainer):
                trainer.schedule = Schedule(until, per_iteration=(1.0,), evaluate_every=1)

        loss = Sum()
        callbacks = [Stop(), *([] if folder is None else [Promising(folder / "run", every=0)])]
        Trainer([loss], Schedule(until, per_iteration=(1.0,)), callbacks, fingerprint=lambda: "").run()
        return digest(loss.value)

    def prepare(self, folder):
        self._train(folder, self.steps[0])

    def run(self, folder, promise):
        try:
            self._train(folder, self.steps[1], promise)
        except pl.PlanetoidError as error:
            print(f"error: {error}")
            return 2
        return 0

    def content(self, folder):
        if not (folder / "run" / "checkpoint.json").exists():
            return 0
        training = json.loads((folder / "run" / "checkpoint.json").read_bytes())["training"]
        assert self._train(folder, self.steps[1]) == self._train(None, self.steps[1])  # the same bits
        return 0 if training is None else training["step"]

    def learn(self, before, after):
        first = self.content(before)
        self.contents = list(range(first, self.content(after) + 1))


class FirstTraining(Training):
    name = "checkpoint in a new folder"

    def prepare(self, folder):
        pass


def all_writers(data):
    return [
        Fit(data),
        FitForce(data),
        FitTwoRenames(data),
        Output(data, "predict", "p.csv"),
        Output(data, "predict", "p.tsv", "graphemb", "--all-probabilities"),
        Output(data, "predict", "p.parquet"),
        Output(data, "embed", "e.npz", "graphemb"),
        Output(data, "embed", "e.parquet", "graphemb"),
        Output(data, "embed", "e.w2v", "graphemb"),
        Output(data, "report", "r.html"),
        TuneFirst(data),
        Tune(data),
        Compare(data),
        Reproduce(data),
        FirstTraining(data),
        Training(data),
    ]


def digest(*arrays):
    return hashlib.sha256(b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)).hexdigest()
