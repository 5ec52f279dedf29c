"""A file is replaced as a whole or not at all."""

import stat

import pytest

from planetoid.errors import DataError
from planetoid.utils.atomic import atomic_write, sync_file


def test_the_file_appears_on_success_with_its_folder(tmp_path):
    with atomic_write(tmp_path / "new" / "a.txt") as temporary:
        assert temporary.parent == tmp_path / "new"
        assert temporary.suffix == ".txt"
        temporary.write_text("done")
        assert not (tmp_path / "new" / "a.txt").exists()
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["a.txt"]
    assert stat.S_IMODE((tmp_path / "new" / "a.txt").stat().st_mode) == 0o644


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
