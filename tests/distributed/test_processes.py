"""Real processes: started by the command or by torchrun, killed, and started again."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import planetoid as pl
from planetoid import distributed
from planetoid.distributed.launch import launch
from planetoid.errors import PlanetoidError

PLANETOID = [sys.executable, "-m", "planetoid"]
LIMIT = 300
N = 120


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    nodes = np.arange(N)
    edges = [f"{i},{(i + step) % N}" for step in (1, 2, 7) for i in nodes]
    (folder / "edges.csv").write_text("source,target\n" + "\n".join(edges) + "\n")
    (folder / "labels.csv").write_text("id,label\n" + "\n".join(f"{i},{'ab'[i // 60]}" for i in range(0, N, 10)) + "\n")
    rows = [f"{i},{1 + i % 7},{i // 60},{i * i % 11}" for i in nodes]
    (folder / "features.csv").write_text("id,u,v,w\n" + "\n".join(rows) + "\n")
    return folder


def paths(files, method):
    """Return the files that a method reads, by their roles."""
    roles = ["edges", "labels"] + ["features"] * (pl.METHODS[method].uses_features != "never")
    return {role: files / f"{role}.csv" for role in roles}


def arguments(files, method, *more):
    common = ["fit", "--method", method]
    for role, path in paths(files, method).items():
        common += [f"--{role}", path]
    return [str(one) for one in (*common, "--set", "dimension=48", *more)]


def reference(files, method, **parameters):
    """Return what one process gives, without starting any."""
    data = pl.read_dataset(**paths(files, method))
    with distributed.join():
        return pl.METHODS[method](dimension=48).set_params(**parameters).fit(data)


def assert_same(folder, model):
    saved = pl.load(folder)
    np.testing.assert_array_equal(saved.embedding_, model.embedding_)
    np.testing.assert_array_equal(saved.label_distributions_, model.label_distributions_)


def progress(folder):
    try:
        return json.loads((folder / "checkpoint.json").read_text())["training"]
    except (FileNotFoundError, ValueError):
        return None


def children(pid):
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def start(command):
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_one(command, checkpoint, ready, pause, rank):
    """Kill a process when the checkpoint is far enough; return code, messages and seconds, or None if all was done."""
    started = start(command)
    until = time.monotonic() + LIMIT
    while started.poll() is None and not ready(progress(checkpoint)):
        assert time.monotonic() < until
        time.sleep(0.01)
    time.sleep(pause)
    try:
        os.kill(children(started.pid)[rank], signal.SIGKILL)
    except (FileNotFoundError, IndexError, ProcessLookupError):  # it has ended by itself
        assert started.wait(LIMIT) == 0, started.stderr.read()
        return None
    killed = time.monotonic()
    messages = started.communicate(timeout=LIMIT)[1]
    return started.returncode, messages.strip().splitlines(), time.monotonic() - killed


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="children are found in /proc")


@needs_proc
@pytest.mark.parametrize(
    ("method", "parameters", "done"),
    [
        ("graphemb", {"pretrain": 10}, "pretrained"),
        pytest.param(
            "planetoid-i", {"training.pretrain": 40, "training.steps": 10}, "pretrained", marks=pytest.mark.soak
        ),
        pytest.param("planetoid", {"training.steps": 150}, "step", marks=pytest.mark.soak),
    ],
)
def test_a_killed_process_ends_the_others_and_the_same_command_goes_on(method, parameters, done, files, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    settings = [part for name, value in parameters.items() for part in ("--set", f"{name}={value}")]
    command = [
        *PLANETOID,
        *arguments(files, method, *settings, "--processes", "2", "--quiet"),
        *("--checkpoint", str(checkpoint), "--checkpoint-every", "0", "--out", str(tmp_path / "m")),
    ]
    code, messages, seconds = kill_one(command, checkpoint, lambda found: found is not None, 0.0, rank=1)
    assert code == 2
    assert seconds < 60
    assert messages == [
        "error: process 1 of 2 was ended by SIGKILL, and 1 other with it; "
        "with --checkpoint FOLDER the same command goes on where it was"
    ]
    assert progress(checkpoint)[done] > 0
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert ended.returncode == 0, ended.stderr
    changed = {name.replace(".", "__"): value for name, value in parameters.items()}
    assert_same(tmp_path / "m", reference(files, method, **changed))


@needs_proc
@pytest.mark.soak
def test_twenty_kills_at_random_moments(files, tmp_path):
    checkpoint, moments = tmp_path / "checkpoint", random.Random(0)
    command = [
        *PLANETOID,
        *arguments(files, "planetoid-g", "--set", "training.pretrain=400", "--set", "training.steps=400"),
        *("--checkpoint", str(checkpoint), "--checkpoint-every", "0", "--out", str(tmp_path / "m"), "--quiet"),
    ]
    kills = 0
    while kills < 20:
        before, size = progress(checkpoint), moments.choice((2, 3))
        outcome = kill_one(
            [*command, "--processes", str(size)],
            checkpoint,
            lambda found, before=before: found is not None and found != before,
            moments.random() * 0.5,
            moments.randrange(size),
        )
        if outcome is None:
            break
        kills += 1
        assert outcome[0] != 0
        assert outcome[2] < 60
    if kills == 20:
        assert subprocess.run([*command, "--processes", "2"], timeout=LIMIT, check=False).returncode == 0
    assert kills == 20  # else the training was too short for this machine
    model = reference(files, "planetoid-g", training__pretrain=400, training__steps=400)
    assert_same(tmp_path / "m", model)


def has_namespaces():
    if not all(map(shutil.which, ("unshare", "ip"))):
        return False
    return subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode == 0


needs_namespace = pytest.mark.skipif(
    not has_namespaces(), reason="torchrun listens on all addresses; there is no network namespace"
)


def under_torchrun(arguments, *options):
    """Return a command that runs planetoid in two processes of torchrun, away from the network."""
    run = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--rdzv-backend", "c10d"]
    run += ["--rdzv-endpoint", "127.0.0.1:0", *options, "-m", "planetoid", *arguments]
    return ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *run]


@needs_namespace
@pytest.mark.parametrize(
    "method",
    ["planetoid", *(pytest.param(method, marks=pytest.mark.soak) for method in ("planetoid-g", "planetoid-i"))],
)
def test_torchrun_gives_the_same_bits(method, files, tmp_path):
    own = arguments(files, method, "--set", "training.steps=10", "--out", tmp_path / "m", "--quiet")
    ended = subprocess.run(under_torchrun(own), capture_output=True, text=True, timeout=LIMIT, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count(f"{method}: 2 classes") == 1  # one process speaks
    assert_same(tmp_path / "m", reference(files, method, training__steps=10))


@needs_proc
@needs_namespace
@pytest.mark.soak
def test_torchrun_starts_a_killed_training_again(files, tmp_path):
    checkpoint = tmp_path / "checkpoint"
    own = arguments(files, "graphemb", "--set", "pretrain=100", "--out", tmp_path / "m", "--quiet")
    own += ["--checkpoint", str(checkpoint), "--checkpoint-every", "0"]
    started = start(under_torchrun(own, "--max-restarts", "2"))
    seen = None
    for victim in (1, 0):
        until = time.monotonic() + LIMIT
        while progress(checkpoint) in (None, seen):
            assert time.monotonic() < until
            assert started.poll() is None
            time.sleep(0.01)
        seen = progress(checkpoint)
        os.kill(children(started.pid)[victim], signal.SIGKILL)
    messages = started.communicate(timeout=LIMIT)[1]
    assert started.returncode == 0, messages
    assert_same(tmp_path / "m", reference(files, "graphemb", pretrain=100))


def test_the_first_to_fail_is_heard(capfd):
    code = """if True:
        import os, sys, time
        if os.environ["RANK"] == "1":
            sys.exit("my own reason")
        time.sleep(0.2)
        sys.exit(3)  # it has lost the other
    """
    assert launch([sys.executable, "-S", "-c", code], 2) == 1
    assert capfd.readouterr().err == "my own reason\n"


def test_no_process_outlives_the_first_to_be_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("planetoid.distributed.launch.SECONDS_TO_NOTICE", 0.1)
    code = f"""if True:
        import os, pathlib, signal, time
        rank = os.environ["RANK"]
        pathlib.Path({str(tmp_path)!r}, rank).write_text(str(os.getpid()))
        if rank == "1":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    """
    with pytest.raises(PlanetoidError, match="process 1 of 3 was ended by SIGKILL, and 2 others with it"):
        launch([sys.executable, "-S", "-c", code], 3)
    for rank in ("0", "2"):
        if (tmp_path / rank).exists():
            with pytest.raises(ProcessLookupError):
                os.kill(int((tmp_path / rank).read_text()), 0)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--method", "feat"], "several processes can fit planetoid, planetoid-t, planetoid-i, planetoid-g, lp, "),
        (["--edges", "-"], "several processes cannot all read standard input"),
        (["--method", "auto"], ", not auto; choose one of them with --method"),
    ],
)
def test_what_several_processes_cannot_do(files, more, message):
    from typer.testing import CliRunner

    from planetoid.cli.main import app

    files = ["--edges", files / "edges.csv", "--labels", files / "labels.csv"]
    result = CliRunner().invoke(app, ["fit", *map(str, files), "--method", "graphemb", "--processes", "2", *more])
    assert result.exit_code == 2
    assert message in result.stderr
