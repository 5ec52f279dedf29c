"""Where files are looked for, how they are checked and fetched."""

import hashlib
import io
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import planetoid as pl
from planetoid.datasets import files
from planetoid.datasets.authors import file_names
from planetoid.errors import DataError, DatasetNotFoundError, ParameterError


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """An empty cache, no environment variable, an address where nobody answers."""
    cache = tmp_path / "cache"
    monkeypatch.setattr(files, "cache_folder", lambda: cache)
    monkeypatch.delenv("PLANETOID_DATA", raising=False)
    monkeypatch.setattr(files, "AUTHORS_FILES", "http://127.0.0.1:9/")
    monkeypatch.setattr(files, "NELL_ARCHIVE", "http://127.0.0.1:9/nell_data.tar.gz")
    monkeypatch.setattr(files, "RETRIES", 0)
    return cache


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """Two small files, known by their checksums, in a folder that a local server offers."""
    folder = tmp_path / "server"
    folder.mkdir()
    contents = {"ind.made.x": b"first" * 1000, "ind.made.y": b"second"}
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    monkeypatch.setattr(files, "known_checksums", lambda: sums)
    handler = partial(QuietHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    address = f"http://127.0.0.1:{server.server_port}/"
    monkeypatch.setattr(files, "AUTHORS_FILES", address)
    monkeypatch.setattr(files, "NELL_ARCHIVE", address + "nell_data.tar.gz")
    yield folder
    server.shutdown()
    server.server_close()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def find(names=("ind.made.x", "ind.made.y"), root=None, download=True, archive=False):
    return files.find_files("made", names, root=root, download=download, archive=archive)


def test_offline_message_names_files_places_and_source(nowhere):
    with pytest.raises(DatasetNotFoundError) as caught:
        pl.datasets.load("cora")
    message = str(caught.value)
    for name in file_names("cora", "ind"):
        assert name in message
    assert "github.com/kimiyoung/planetoid" in message
    assert str(nowhere) in message
    assert "PLANETOID_DATA" in message
    assert "download failed" in message
    assert "\n" not in message


def test_download_can_be_forbidden(nowhere):
    with pytest.raises(DatasetNotFoundError, match=r"download=False.*trans\.nell\.0\.1\.graph.*nell_data\.tar\.gz"):
        pl.datasets.load("nell-0.1", view="trans", download=False)
    assert not nowhere.exists()


def test_order_root_then_variable_then_cache(tmp_path, monkeypatch, nowhere, made_up):
    root, variable = tmp_path / "root", tmp_path / "variable"
    for folder in (nowhere, variable / "planetoid", root):
        folder.mkdir(parents=True)
        for name in ("ind.made.x", "ind.made.y"):
            (folder / name).write_bytes((made_up / name).read_bytes())
        monkeypatch.setenv("PLANETOID_DATA", str(variable))
        assert find(root=root)["ind.made.x"].parent == folder


def test_half_a_folder_does_not_do(tmp_path, made_up):
    (tmp_path / "ind.made.x").write_bytes((made_up / "ind.made.x").read_bytes())
    with pytest.raises(DatasetNotFoundError):
        find(root=tmp_path, download=False)


def test_download_checks_and_keeps(nowhere, made_up):
    found = find()
    assert found["ind.made.x"].read_bytes() == b"first" * 1000
    (made_up / "ind.made.x").unlink()
    assert find() == found  # from the cache: the server no longer has it


def test_missing_on_the_server(made_up):
    (made_up / "ind.made.y").unlink()
    with pytest.raises(DatasetNotFoundError, match="404"):
        find()


def test_downloaded_file_with_another_checksum_is_refused(nowhere, made_up):
    (made_up / "ind.made.x").write_bytes(b"tampered")
    with pytest.raises(DataError, match=r"ind\.made\.x is not the authors' file"):
        find()
    assert not list(nowhere.glob("ind.*"))


def test_local_file_with_another_checksum_is_refused(tmp_path, made_up):
    for name in ("ind.made.x", "ind.made.y"):
        (tmp_path / name).write_bytes(b"tampered")
    with pytest.raises(
        DataError, match=r"ind\.made\.x: the file has the SHA-256 [0-9a-f]{12}\.\.\., but the authors' file has"
    ):
        find(root=tmp_path)


def test_real_names_with_other_content_never_reach_the_unpickler(tmp_path):
    for name in file_names("cora", "ind"):
        (tmp_path / name).write_bytes(b"cos\nsystem\n(S'touch it-ran'\ntR.")
    with pytest.raises(DataError, match="SHA-256"):
        pl.datasets.load("cora", root=tmp_path)


def archive_of(contents, path):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_members_of_the_archive_are_checked_and_kept(nowhere, made_up):
    contents = {"deep/ind.made.x": b"first" * 1000, "../ind.made.y": b"second", "other": b"ignored"}
    archive_of(contents, made_up / "nell_data.tar.gz")
    found = find(archive=True)
    assert found["ind.made.y"].read_bytes() == b"second"
    assert sorted(path.name for path in nowhere.iterdir()) == ["ind.made.x", "ind.made.y"]
    assert not (nowhere.parent / "ind.made.y").exists()


def test_member_with_another_checksum_is_refused(nowhere, made_up):
    archive_of({"ind.made.x": b"tampered", "ind.made.y": b"second"}, made_up / "nell_data.tar.gz")
    with pytest.raises(DataError, match=r"ind\.made\.x in .* is not the authors' file"):
        find(archive=True)
    assert not list(nowhere.glob("*.tar.gz"))


def test_archive_that_lacks_a_member(made_up):
    archive_of({"ind.made.x": b"first" * 1000}, made_up / "nell_data.tar.gz")
    with pytest.raises(DataError, match=r"does not contain ind\.made\.y"):
        find(archive=True)


def test_archive_that_is_none_or_cut_off(made_up):
    archive_of({"ind.made.x": np.random.default_rng(0).bytes(10**5)}, made_up / "nell_data.tar.gz")
    cut_off = (made_up / "nell_data.tar.gz").read_bytes()[:5000]
    for content in (b"<html>moved</html>", cut_off):
        (made_up / "nell_data.tar.gz").write_bytes(content)
        with pytest.raises(DataError, match="not a readable archive"):
            find(archive=True)


def test_every_file_of_the_authors_has_a_checksum(data_root):
    here = {path.name for path in (data_root / "planetoid").iterdir()}
    assert set(files.known_checksums()) == here
    for name in pl.datasets.names():
        stem = pl.datasets.info(name).stem
        for view in ("ind", "trans") if stem else ():
            assert set(file_names(stem, view)) <= here


def test_names_and_options_that_do_not_exist():
    with pytest.raises(ParameterError, match=r"no dataset 'corra'; the datasets are cora, citeseer"):
        pl.datasets.load("corra")
    with pytest.raises(ParameterError, match="got 'test'"):
        pl.datasets.load("cora", view="test")
    with pytest.raises(ParameterError, match="run does not apply to cora, got 3"):
        pl.datasets.load("cora", run=3)


def test_bundled_cora_needs_no_file(nowhere):
    data = pl.datasets.load("cora-bundled", download=False)
    assert data.n_nodes == 2_708
    assert data.graph.n_edges == 5_278
    assert data.graph.summary.entries == 5_429
    assert data.node_ids[:3].tolist() == [31336, 1061127, 1106406]  # LINQS' own order
    assert np.bincount(data.y).tolist() == [818, 180, 217, 426, 351, 418, 298]
    assert data.X.nnz == 49_216
    with pytest.raises(ParameterError, match=r"no public split; use split\('random'"):
        data.split("public")
