"""An append-only file loses nothing but a line that was being written."""

import os
import signal

import pytest

from planetoid.errors import DataError
from planetoid.utils.line_log import LineLog
from planetoid.utils.sealed import seal


def log_at(path, **options):
    return LineLog(path, "planetoid tests", version=1, **options)


def contents(log):
    return [entry.content for entry in log.read()]


@pytest.fixture
def path(tmp_path):
    with log_at(tmp_path / "below" / "log").writing() as entries:
        assert entries == []
    log = log_at(tmp_path / "below" / "log")
    with log.writing():
        log.append({"a": 1})
        log.append({"b": [2, "ü\n"]})
    return log.path


def test_what_is_appended_comes_back(path):
    log = log_at(path)
    assert contents(log) == [{"a": 1}, {"b": [2, "ü\n"]}]
    with log.writing() as entries:
        assert [entry.number for entry in entries] == [2, 3]
        log.append({"c": 3})
    assert contents(log)[2:] == [{"c": 3}]
    assert [file.name for file in path.parent.iterdir()] == ["log"]


def test_no_file_has_no_entries(tmp_path):
    assert log_at(tmp_path / "log").read() == []
    assert list(tmp_path.iterdir()) == []


def test_any_cut_loses_no_whole_line_and_no_reader_writes(path):
    content = path.read_bytes()
    first = len(seal({"format": "planetoid tests", "version": 1, "identity": ""}))
    for length in range(first, len(content)):
        path.write_bytes(content[:length])
        whole = content[:length].count(b"\n") - 1
        assert contents(log_at(path)) == [{"a": 1}, {"b": [2, "ü\n"]}][:whole]
        assert path.read_bytes() == content[:length]
        log = log_at(path)
        with log.writing():
            log.append({"next": 1})
        assert contents(log_at(path)) == [*[{"a": 1}, {"b": [2, "ü\n"]}][:whole], {"next": 1}]


def test_no_single_bit_changes_an_entry(path):
    """A damaged line is an error, unless it looks as if it had been cut off; then it is left out."""
    content = path.read_bytes()
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(changed))
        try:
            found = contents(log_at(path))
        except DataError:
            continue
        assert found == [{"a": 1}]
        assert content.rindex(b'{"b"') <= bit // 8


def test_zeros_at_the_end_are_no_line(path):
    """What some file systems leave after a power failure."""
    path.write_bytes(path.read_bytes() + b"\0" * 100)
    assert len(log_at(path).read()) == 2
    with log_at(path).writing() as entries:
        assert len(entries) == 2
    assert b"\0" not in path.read_bytes()


def test_an_empty_file_is_taken(tmp_path):
    (tmp_path / "log").touch()
    log = log_at(tmp_path / "log")
    assert log.read() == []
    with log.writing():
        log.append({"a": 1})
    assert contents(log) == [{"a": 1}]


@pytest.mark.parametrize("content", [b"mine", b"mine\n", b'{"format": "other"}\n', seal({"format": "other"}), b"\n"])
def test_files_of_others_stay_as_they_are(tmp_path, content):
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(DataError, match="this is not a file of planetoid tests; name another"):
        log_at(tmp_path / "log").read()
    with (
        pytest.raises(DataError, match="this is not a file of planetoid tests; name another"),
        log_at(tmp_path / "log").writing(),
    ):
        pass
    assert (tmp_path / "log").read_bytes() == content


def test_another_identity_or_version(path):
    with pytest.raises(DataError, match=r"the file belongs to other data; name another file, or remove this one"):
        log_at(path, identity="x", of_what="other data").read()
    with pytest.raises(DataError, match="written by another version"):
        LineLog(path, "planetoid tests", version=2).read()


def test_one_writer_at_a_time(path):
    with log_at(path).writing():
        with pytest.raises(DataError, match="another process is writing to the file"), log_at(path).writing():
            pass
        assert len(log_at(path).read()) == 2  # readers are welcome
    with log_at(path).writing():
        pass


def test_a_killed_writer_leaves_no_lock(path):
    child = os.fork()
    if child == 0:
        with log_at(path).writing():
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with log_at(path).writing():
        pass


def test_a_full_disk_leaves_the_file_as_it_was(path, monkeypatch):
    before, write = path.read_bytes(), os.write

    def full(handle, data):
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return write(handle, data[: len(data) // 2])

    log = log_at(path)
    monkeypatch.setattr(os, "write", full)
    with log.writing():
        with pytest.raises(DataError, match="log: cannot write the file: No space left on device"):
            log.append({"c": 3})
        assert path.read_bytes() == before
        monkeypatch.undo()
        log.append({"c": 4})
    assert contents(log)[2:] == [{"c": 4}]
