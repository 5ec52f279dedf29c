"""Pipes are read once and can be opened again."""

import io
import os
import threading

import pytest

from planetoid.errors import DataError
from planetoid.io import read_labels
from planetoid.io.spooling import STDIN, local_file


def piped(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


def test_standard_input_is_read_once(monkeypatch):
    piped(monkeypatch, "id,label\na,x\n")
    assert local_file(STDIN) == local_file(STDIN)
    assert read_labels("-") == {"a": "x"}
    assert read_labels("-") == {"a": "x"}
    piped(monkeypatch, '{"id": "b", "label": "y"}\n')
    assert read_labels("-") == {"b": "y"}
    piped(monkeypatch, "")
    with pytest.raises(DataError, match="standard input: the file is empty"):
        read_labels("-")


def test_a_terminal_has_nothing_to_read(monkeypatch):
    piped(monkeypatch, "")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    with pytest.raises(DataError, match="nothing is piped into standard input"):
        read_labels("-")


def test_a_pipe_is_read_once(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("id,label\na,x\nb,y\n",))
    writer.start()
    assert read_labels(path) == {"a": "x", "b": "y"}
    writer.join()
    assert read_labels(path) == {"a": "x", "b": "y"}


def test_files_stay_where_they_are(tmp_path):
    (tmp_path / "f.csv").write_text("a,b\n")
    assert local_file(tmp_path / "f.csv") == tmp_path / "f.csv"


def test_a_pipe_without_lines_is_not_copied_for_ever(monkeypatch, tmp_path):
    monkeypatch.setenv("PLANETOID_MAX_LINE_BYTES", "1000")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(bytes(1001)))
    writer.start()
    with pytest.raises(DataError, match="a line of 1,001 bytes or more is over the limit of 1,000"):
        read_labels(path)
    writer.join()
