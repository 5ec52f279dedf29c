"""Kills a training again and again: run as a module by ``test_checkpoint.py``.

All imports are made once; each training is a fork of this process, so that a
kill and a new start cost nothing but the training itself.
"""

import json
import os
import pickle
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np
from tests.models.conftest import Small

import planetoid as pl
from planetoid.engine.sampler import ContextSampler
from planetoid.models import inductive_network  # noqa: F401  # torch, before the forks
from planetoid.training import context_loss, supervised_loss, trainer  # noqa: F401

SETTINGS = {
    "PlanetoidT": {"training__pretrain": 30, "training__steps": 40},
    "PlanetoidI": {"training__pretrain": 20, "training__steps": 30, "training__N2": 20},
}
COMMON = {"dimension": 8, "training__T2": 0.5, "training__N1": 5, "training__evaluate_every": 2}
OUTCOME = ("label_distributions_", "embedding_", "context_", "history_")


def train(name, data, folder, n_jobs):
    callbacks = [pl.EarlyStopping(patience=12)]
    if folder is not None:
        callbacks.append(pl.Checkpoint(folder, every=0))
    threads = {"n_jobs": n_jobs} if name == "PlanetoidT" else {}
    model = getattr(pl, name)(callbacks=callbacks, **threads).set_params(**COMMON, **SETTINGS[name])
    model.fit(data.X, data.y, graph=data.graph, validation=data.validation)
    outcome = {key: getattr(model, key) for key in OUTCOME if hasattr(model, key)}
    if name == "PlanetoidI":
        outcome |= {key: value.numpy() for key, value in model.network_.state_dict().items()}
    return outcome


def in_a_fork(work):
    """Start ``work()`` in a process of its own; its result goes to a file when done."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def phase(folder):
    """Return the progress in the last checkpoint."""
    nothing = {"pretrained": 0, "step": 0}
    try:
        return json.loads(Path(folder, "checkpoint.json").read_text())["training"] or nothing
    except FileNotFoundError:
        return nothing


def wait(child, seconds):
    """Wait that long, then kill the child; return whether it ended by itself."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, f"a training failed with status {status}"
            return True
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def warm_up(data):
    """Compile the kernels here, where every fork finds them; torch must not have run before a fork."""
    pl.GraphEmbedding(dimension=8, pretrain=1).fit(None, data.y, graph=data.graph)
    ContextSampler(data.graph, pl.Contexts(r2=0.9, self_pairs=True), data.y).draw_walks(4)


def main(name, n_kills, where):
    data, generator = Small(), random.Random(5)
    result = Path(where, "result")

    def work(folder, n_jobs):
        result.write_bytes(pickle.dumps(train(name, data, folder, n_jobs)))

    warm_up(data)
    assert wait(in_a_fork(lambda: work(None, 1)), 300)
    whole = pickle.loads(result.read_bytes())
    started = time.monotonic()
    assert wait(in_a_fork(lambda: work(f"{where}/whole", 1)), 300)
    longest = (time.monotonic() - started) / 3
    kills, moments, trainings, differing = 0, [], 0, set()

    def enough():
        """So many kills, and some of them in each phase."""
        in_both = {step > 0 for _, step in moments} == {False, True}
        return kills >= n_kills and (in_both or kills >= 10 * n_kills)

    while not enough():
        folder, trainings, attempt = f"{where}/{trainings}", trainings + 1, 0
        reached, patience = None, longest
        while True:
            attempt += 1
            seconds = 300 if enough() else generator.uniform(0, patience)
            if wait(in_a_fork(lambda folder=folder, n_jobs=1 + attempt % 2: work(folder, n_jobs)), seconds):
                break
            kills += 1
            now = phase(folder)
            moments.append((now["pretrained"], now["step"]))
            patience = (
                patience * 1.3 if moments[-1] == reached else longest
            )  # a busy machine needs more to make progress
            reached = moments[-1]
        found = pickle.loads(result.read_bytes())
        differing |= {key for key in whole if not np.array_equal(found[key], whole[key])} | (set(whole) ^ set(found))
    print(json.dumps({"kills": kills, "moments": moments, "trainings": trainings, "differing": sorted(differing)}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
