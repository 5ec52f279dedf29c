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


@pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX's")
@pytest.mark.parametrize("unbuffered", ["", "1"])  # the error is at the end of the process, or at the first write
@pytest.mark.parametrize(("usable", "code"), [(True, 0), (False, 2)])
def test_a_pipe_without_a_reader_does_not_change_the_exit_code(files, unbuffered, usable, code):
    reader, writer = os.pipe()
    os.close(reader)
    files = files if usable else ["check", "--edges", "none.csv", "--labels", "none.csv"]
    command = [sys.executable, "-c", RUN, *files]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=environment)
    assert (ended.returncode, ended.stderr) == (code, b"")
    ended = subprocess.run([*command, "--bad-option"], stdout=writer, stderr=writer, env=environment)
    os.close(writer)
    assert ended.returncode == 2


@pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX's")
def test_predict_stops_if_nobody_reads_its_output(files, tmp_path):
    model = str(tmp_path / "m")
    assert run(["fit", *files[1:], "--method", "lp", "--out", model]).returncode == 0
    count = """
import sys
from planetoid.cli import predict, prediction_files

class Counting(prediction_files.PredictionTable):
    def rows(self, *block):
        print("block", file=sys.stderr)
        return super().rows(*block)

predict.BLOCK_ROWS, prediction_files.PredictionTable = 1, Counting
"""
    for has_reader, blocks in ((True, 3), (False, 1)):
        reader, writer = os.pipe()
        if not has_reader:
            os.close(reader)
        ended = subprocess.run(
            [sys.executable, "-u", "-c", count + RUN, "predict", model], stdout=writer, stderr=subprocess.PIPE
        )
        assert (ended.returncode, ended.stderr) == (0, b"block\n" * blocks)
        os.close(writer)
        if has_reader:
            os.close(reader)
