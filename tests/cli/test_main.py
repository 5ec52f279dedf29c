"""How the command line starts and how errors end."""

import os
import signal
import subprocess
import sys
import time

import pytest
import typer
from tests.cli.conftest import started
from typer.testing import CliRunner

from planetoid import __version__
from planetoid.cli import main
from planetoid.errors import DataError

HEAVY = ("torch", "numba", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib")


@pytest.fixture
def invoke():
    def run(*arguments):
        return CliRunner().invoke(main.app, arguments)

    return run


@pytest.fixture
def failing(monkeypatch):
    """Let ``planetoid demo`` do something else."""

    def replace(command):
        app = typer.Typer(cls=main.Commands, pretty_exceptions_enable=False)
        app.callback()(main.planetoid)
        app.command("demo")(command)
        monkeypatch.setattr(main, "app", app)

    return replace


def in_process(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "arguments", [("--help",), ("demo", "--help"), ("datasets", "--help"), ("fit", "--help"), ("--version",)]
)
def test_help_loads_nothing_heavy(arguments):
    code = (
        "import sys\n"
        "from planetoid.cli.main import run\n"
        "try:\n"
        "    run()\n"
        "finally:\n"
        f"    print(sorted(set({HEAVY!r}) & set(sys.modules)), file=sys.stderr)\n"
    )
    done = in_process(code, *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "[]"
    assert done.stdout.strip()


def test_help_names_the_commands(invoke):
    done = invoke("--help")
    assert done.exit_code == 0
    for command in ("check", "fit", "predict", "embed", "evaluate", "compare", "demo", "datasets"):
        assert command in done.stdout


@pytest.mark.parametrize("command", [(), ("check",), ("fit",), ("reproduce",), ("datasets",), ("datasets", "get")])
def test_flags_have_no_type_in_the_help(invoke, command):
    text = invoke(*command, "--help").stdout
    assert "--help" in text
    assert "bool" not in text.lower()
    assert command != ("fit",) or "<int" in text.lower()  # others still have theirs


def test_version(invoke):
    assert invoke("--version").stdout == f"planetoid {__version__}\n"


def test_an_error_is_one_line_on_stderr(invoke):
    done = invoke("datasets", "info", "corra")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: there is no dataset 'corra'; the datasets are cora, citeseer")
    assert done.stderr.count("\n") == 1


def test_an_unknown_option_ends_with_two_as_well(invoke):
    assert invoke("demo", "--sideways").exit_code == 2
    assert invoke("demo", "--seeds", "0").exit_code == 2


def test_debug_shows_where(invoke):
    done = invoke("--debug", "datasets", "info", "corra")
    assert done.exit_code == 2
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("error: there is no dataset")


def test_debug_may_stand_anywhere(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["planetoid", "datasets", "info", "corra", "--debug"])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    assert "Traceback" in capsys.readouterr().err


def test_a_message_over_several_lines_becomes_one(failing, monkeypatch, capsys):
    def broken():
        raise DataError("first\n  second")

    failing(broken)
    monkeypatch.setattr(sys, "argv", ["planetoid", "demo"])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "error: first second\n"


def test_the_disk_is_full(failing, monkeypatch, capsys):
    def full():
        raise OSError(28, "No space left on device", "results.json")

    failing(full)
    monkeypatch.setattr(sys, "argv", ["planetoid", "demo"])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "error: results.json: No space left on device\n"


def test_an_unexpected_error_keeps_its_traceback(failing):
    def wrong():
        raise ZeroDivisionError("a bug")

    failing(wrong)
    done = CliRunner().invoke(main.app, ["demo"])
    assert isinstance(done.exception, ZeroDivisionError)


def test_a_warning_is_one_line(failing, capsys):
    def warns():
        import warnings

        from planetoid.errors import PlanetoidWarning

        warnings.simplefilter("always")
        warnings.warn("3 rows were dropped", PlanetoidWarning, stacklevel=1)

    failing(warns)
    main.app(["demo"], standalone_mode=False)
    assert capsys.readouterr().err == "warning: 3 rows were dropped\n"


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_ctrl_c_ends_cleanly(tmp_path, jobs):
    """As a terminal does it: the signal goes to the whole group of processes."""
    code = "from planetoid.cli.main import run\nrun()"
    command = [sys.executable, "-c", code, "demo", "--seeds", "500", "--jobs", jobs, "--out", str(tmp_path / "demo")]
    with started(command) as process:
        assert process.stderr.readline().startswith("Cora")  # so the work has begun
        time.sleep(3)  # into the fits, where there are several processes
        os.killpg(process.pid, signal.SIGINT)
        output, messages = process.communicate(timeout=120)
    assert process.returncode == 130
    assert output == ""
    assert messages.splitlines() == ["interrupted"]
    assert list((tmp_path / "demo").iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize(("sent", "code", "message"), [("SIGINT", 130, "interrupted"), ("SIGTERM", 143, "terminated")])
def test_a_signal_that_arrives_while_an_object_is_deleted_is_not_lost(sent, code, message):
    """Python ignores exceptions in ``__del__``, also those of signal handlers."""
    script = f"""
import os, signal, sys, time
from planetoid.cli import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell turns off for commands in the background

class Deleted:
    def __del__(self):
        os.kill(os.getpid(), signal.{sent})
        time.sleep(0.1)

def busy() -> None:
    Deleted()
    time.sleep(60)

main.app.command("busy")(busy)
sys.argv = ["planetoid", "busy"]
main.run()
"""
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50)
    assert (ended.returncode, ended.stderr.splitlines()) == (code, [message])
