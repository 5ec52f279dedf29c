"""A file is replaced as a whole or not at all."""

import errno
import os
import signal
import stat
from pathlib import Path

import pytest

from planetoid.errors import DataError
from planetoid.utils import atomic
from planetoid.utils.atomic import atomic_folder, atomic_write, recover_folder
from planetoid.utils.syncing import sync_file


def test_the_file_appears_on_success_with_its_folder(tmp_path):
    with atomic_write(tmp_path / "new" / "a.txt") as temporary:
        assert temporary.parent == tmp_path / "new"
        assert temporary.suffix == ".txt"
        temporary.write_text("done")
        assert not (tmp_path / "new" / "a.txt").exists()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_the_mode_follows_the_umask_or_the_file_that_is_replaced(tmp_path, umask, mode):
    before = os.umask(umask)
    try:
        for wanted in (mode, 0o640, 0o400):
            with atomic_write(tmp_path / "a.txt") as temporary:
                temporary.write_text("done")
                assert temporary.stat().st_mode & 0o077 & ~wanted == 0  # never open to more people meanwhile
                assert temporary.stat().st_mode & 0o600 == 0o600  # also where the file is read-only
            assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == wanted
            (tmp_path / "a.txt").chmod(0o640 if wanted == mode else 0o400)
    finally:
        os.umask(before)


def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "a.txt").symlink_to(tmp_path / "real" / "b.txt")
    for text in ("first", "second"):
        with atomic_write(tmp_path / "a.txt") as temporary:
            temporary.write_text(text)
        assert (tmp_path / "a.txt").is_symlink()
        assert (tmp_path / "real" / "b.txt").read_text() == text
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["b.txt"]


def test_what_is_no_file_is_left_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path, reason in {
        tmp_path / "pipe": "not a regular file",
        Path(os.devnull): "not a regular file",
        tmp_path: "Is a directory",
        tmp_path / "loop": "Too many levels of symbolic links",
    }.items():
        with pytest.raises(DataError, match=f"cannot write the file: {reason}"), atomic_write(path):
            pass
    assert (tmp_path / "pipe").is_fifo()
    assert not Path(os.devnull).is_file()


def names(calls):
    return [name for name, _ in calls]


@pytest.fixture
def calls(monkeypatch):
    """The calls that sync and rename, in their order, with the path of a synced file."""
    made = []
    sync, replace, rename = os.fsync, os.replace, os.rename
    monkeypatch.delenv("PLANETOID_NO_SYNC", raising=False)

    def record(name, function):
        def call(*arguments):
            made.append((name, os.readlink(f"/proc/self/fd/{arguments[0]}") if name == "fsync" else arguments))
            return function(*arguments)

        return call

    for name, function in (("fsync", sync), ("replace", replace), ("rename", rename)):
        monkeypatch.setattr(os, name, record(name, function))
    return made


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_files_and_folders_are_synced_around_a_rename(tmp_path, calls, monkeypatch):
    with atomic_write(tmp_path / "new" / "a.txt") as temporary:
        temporary.write_text("done")
    assert names(calls) == ["fsync", "fsync", "replace", "fsync"]
    assert calls[0][1] == str(tmp_path)  # the name of the new folder
    assert calls[1][1] == str(temporary)
    assert calls[3][1] == str(tmp_path / "new")
    calls.clear()
    with atomic_folder(tmp_path / "folder") as folder:
        (folder / "a.txt").write_text("done")
    assert names(calls) == ["fsync", "fsync", "rename", "fsync"]
    assert [call[1] for call in calls[:2]] == [str(folder / "a.txt"), str(folder)]
    assert calls[3][1] == str(tmp_path)
    calls.clear()
    monkeypatch.setenv("PLANETOID_NO_SYNC", "1")
    with atomic_write(tmp_path / "b.txt"):
        pass
    assert names(calls) == ["replace"]


# ---- folders ---------------------------------------------------------------------


def write(path, text):
    with atomic_folder(path) as folder:
        (folder / "a.txt").write_text(text)
        assert not (path / "a.txt").exists() or (path / "a.txt").read_text() != text


def contents(folder):
    return {path.name: (path / "a.txt").read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_is_replaced_as_a_whole(tmp_path, monkeypatch, exchanges):
    if not exchanges:
        monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    for text in ("first", "second", "third"):
        write(tmp_path / "m", text)
        assert contents(tmp_path) == {"m": text}


def test_a_folder_that_another_process_fills_meanwhile(tmp_path, monkeypatch):
    """Whether the target is empty is not asked first: the answer might be an old one."""
    (tmp_path / "m").mkdir()
    keep_mode = atomic._keep_mode

    def filled(new, old):
        keep_mode(new, old)
        if old == tmp_path / "m":
            (old / "a.txt").write_text("of another process")

    monkeypatch.setattr(atomic, "_keep_mode", filled)
    write(tmp_path / "m", "new")
    assert contents(tmp_path) == {"m": "new"}


def test_a_failure_leaves_the_old_folder(tmp_path, monkeypatch):
    write(tmp_path / "m", "old")

    def fail():
        with atomic_folder(tmp_path / "m") as folder:
            (folder / "a.txt").write_text("half")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    assert contents(tmp_path) == {"m": "old"}
    monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    rename, seen = os.rename, []

    def second_fails(source, target):
        seen.append(target)
        if len(seen) == 3:  # onto the old one, of the old one, of the new one
            raise OSError(5, "Input/output error")
        rename(source, target)

    monkeypatch.setattr(os, "rename", second_fails)
    with pytest.raises(OSError, match="Input/output error"):
        write(tmp_path / "m", "new")
    assert contents(tmp_path) == {"m": "old"}


def killed_between_the_renames(path):
    """Replace a folder in a process that ends when the old one has been moved aside."""
    child = os.fork()
    if child == 0:
        rename = os.rename

        def once(source, target):
            rename(source, target)
            if Path(source) == path:
                os.kill(os.getpid(), signal.SIGKILL)

        atomic.exchange, os.rename = lambda *_: False, once
        write(path, "new")
    os.waitpid(child, 0)


def test_a_folder_that_was_moved_aside_is_brought_back(tmp_path):
    write(tmp_path / "m", "old")
    killed_between_the_renames(tmp_path / "m")
    assert not (tmp_path / "m").exists()
    recover_folder(tmp_path / "m")
    assert (tmp_path / "m" / "a.txt").read_text() == "old"
    write(tmp_path / "m", "new")
    assert contents(tmp_path) == {"m": "new"}


def test_a_living_process_is_waited_for(tmp_path, monkeypatch):
    """Between its two renames a reader waits, and takes nothing away from it."""
    write(tmp_path / "m", "old")
    rename, found = os.rename, []

    def slow(source, target):
        rename(source, target)
        if Path(source) == tmp_path / "m":
            recover_folder(tmp_path / "m", wait=lambda _: found.append((tmp_path / "m").exists()))

    monkeypatch.setattr(atomic, "LONGEST_EXCHANGE", 0.05)
    monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    monkeypatch.setattr(os, "rename", slow)
    write(tmp_path / "m", "new")
    assert found
    assert not any(found)
    assert contents(tmp_path) == {"m": "new"}


def fail_after_writing(path, error):
    with atomic_write(path) as temporary:
        temporary.write_text("half")
        raise error


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt()])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(type(error)):
        fail_after_writing(tmp_path / "a.txt", error)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_errors_of_the_file_system_name_the_file(tmp_path):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "a.txt"
    with (
        pytest.raises(DataError, match=r"cannot write the file: (Not a directory|File exists)") as caught,
        atomic_write(target),
    ):
        pass
    assert caught.value.path == target
    with pytest.raises(DataError, match="No space left on device"):
        fail_after_writing(tmp_path / "a.txt", OSError(28, "No space left on device"))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_sync_needs_a_file(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    sync_file(tmp_path / "a.txt")
    with pytest.raises(FileNotFoundError):
        sync_file(tmp_path / "b.txt")


def test_a_folder_is_brought_back_without_locks_too(tmp_path, monkeypatch):
    import fcntl

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    write(tmp_path / "m", "old")
    killed_between_the_renames(tmp_path / "m")
    monkeypatch.setattr(fcntl, "flock", no_locks)
    monkeypatch.setattr(atomic, "LONGEST_EXCHANGE", 0.02)
    recover_folder(tmp_path / "m")
    assert (tmp_path / "m" / "a.txt").read_text() == "old"
