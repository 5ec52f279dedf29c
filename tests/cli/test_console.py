"""What commands print, to streams of any encoding, open or closed."""

import os
import subprocess
import sys

import pytest

RUN = "from planetoid.cli.main import run; run()"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\né1,b\nb,c\nc,é1\n", encoding="utf-8")
    (tmp_path / "labels.csv").write_text("id,label\né1,rouge\nb,naïve\n", encoding="utf-8")
    return ["check", "--edges", str(tmp_path / "edges.csv"), "--labels", str(tmp_path / "labels.csv")]


def run(arguments, closed=(), **environment):
    """Run a command in a process whose streams have another encoding, or are closed."""
    close = "import os; " + "".join(f"os.close({number}); " for number in closed)
    command = f"{close}os.execv({sys.executable!r}, [{sys.executable!r}, '-c', {RUN!r}, *{arguments!r}])"
    return subprocess.run([sys.executable, "-c", command], env={**os.environ, **environment}, capture_output=True)


def test_results_are_utf8_in_any_locale(files):
    ascii_only = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    found = run(files, **ascii_only)
    assert found.returncode == 0, found.stderr
    assert "naïve" in found.stdout.decode("utf-8")
    assert found.stdout == run(files, PYTHONIOENCODING="utf-8").stdout


def test_a_closed_stdout_is_an_error(files):
    found = run(files, closed=[1])
    assert found.returncode == 2
    assert found.stderr == b"error: results go to stdout, which is closed; redirect it to a file or to /dev/null\n"


def test_messages_for_a_closed_stderr_do_not_go_to_stdout(tmp_path):
    found = run(["check", "--edges", str(tmp_path / "none.csv"), "--labels", "none"], closed=[2])
    assert found.returncode == 2
    assert b"error:" not in found.stdout
