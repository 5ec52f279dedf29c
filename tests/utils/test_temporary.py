"""What a killed process leaves behind is removed, what is in use is not."""

import errno
import os
import signal

import pytest

from planetoid.utils.temporary import remove_abandoned, temporary_file, temporary_folder


def killed_while_writing(target, make):
    child = os.fork()
    if child == 0:
        with make(target) as path:
            (path / "inner" if path.is_dir() else path).write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def new_file(target):
    return temporary_file(target, 0o666)


@pytest.mark.parametrize("make", [new_file, temporary_folder])
def test_of_killed_processes(tmp_path, make):
    target = tmp_path / "a.csv"
    killed_while_writing(target, make)
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".planetoid-")
    remove_abandoned(tmp_path / "b.csv")  # another target
    with make(target) as used:
        remove_abandoned(target)
        assert list(tmp_path.iterdir()) == [used]
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_taken_for_abandoned_is_made_again(tmp_path, monkeypatch):
    """Another process may look between the creation of a folder and its lock."""
    target, opened, removed = tmp_path / "m", os.open, []

    def removed_before(path, *arguments):
        if not removed:
            removed.append(path)
            with monkeypatch.context() as patch:
                patch.setattr(os, "open", opened)
                remove_abandoned(target)
        return opened(path, *arguments)

    monkeypatch.setattr(os, "open", removed_before)
    with temporary_folder(target) as path:
        assert path.is_dir()
        assert removed != [path]
    with pytest.raises(FileNotFoundError), temporary_folder(tmp_path / "nowhere" / "m"):
        pass


@pytest.mark.parametrize("make", [new_file, temporary_folder])
def test_a_folder_in_which_nothing_can_be_created(tmp_path, monkeypatch, make):
    """In /proc the error is that of a folder that does not exist, also for the superuser."""

    def missing(path, *arguments):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)

    monkeypatch.setattr(os, "open", missing)
    monkeypatch.setattr(os, "mkdir", missing)
    with pytest.raises(PermissionError, match="no file can be created in"), make(tmp_path / "a.csv"):
        pass


def test_names_fit_wherever_the_target_fits(tmp_path):
    for name in ("x" * 255, "ü" * 127, "x." + "y" * 253):
        with temporary_file(tmp_path / name, 0o666) as path:
            assert path.exists()


def test_the_mode_follows_the_umask(tmp_path):
    before = os.umask(0o077)
    try:
        with temporary_file(tmp_path / "a", 0o666) as path:
            assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_without_locks_nothing_is_taken_for_abandoned(tmp_path, monkeypatch):
    """Some network file systems have none."""
    import fcntl

    def no_locks(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with new_file(tmp_path / "a.csv") as path:
        remove_abandoned(tmp_path / "a.csv")
        assert path.exists()
