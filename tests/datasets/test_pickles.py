"""A pickle is a program; these are hostile or broken ones."""

import io
import os
import pickle
import subprocess
import tracemalloc
from collections import defaultdict

import numpy as np
import pytest
from scipy import sparse

from planetoid.datasets.pickles import read_pickle
from planetoid.errors import DataError


class Runs:
    """Unpickling this calls a function with arguments of the attacker's choice."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x], lambda x: {0: [x]}, lambda x: (x, np.arange(3))])
def test_hostile_pickle_is_refused_and_never_runs(tmp_path, protocol, wrap):
    trace = tmp_path / "it-ran"
    path = tmp_path / "ind.cora.graph"
    path.write_bytes(pickle.dumps(wrap(Runs(os.system, f"touch {trace}")), protocol=protocol))
    with pytest.raises(DataError, match=r"ind\.cora\.graph: the pickle refers to (posix|nt)\.system"):
        read_pickle(path)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (eval, ("1 + 1",)),
        (exec, ("pass",)),
        (getattr, (1, "real")),
        (__import__, ("os",)),
        (subprocess.Popen, ("true",)),
        (open, ("/dev/null",)),
        (np.load, ("x.npy",)),
        (np.fromfile, ("x",)),
        (sparse.load_npz, ("x.npz",)),
        (pickle.loads, (b"I1\n.",)),
    ],
)
def test_nothing_but_the_allow_list(tmp_path, function, arguments):
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(Runs(function, *arguments), protocol=2))
    with pytest.raises(DataError, match="the pickle refers to"):
        read_pickle(path)


def test_dotted_names_do_not_reach_inside_of_allowed_modules(tmp_path):
    path = tmp_path / "file"
    # protocol 4 resolves "a.b.c" by attributes: collections.defaultdict.__init__.__globals__ must not be reachable
    path.write_bytes(b"\x80\x04\x8c\x0bcollections\x8c\x1ddefaultdict.__init_subclass__\x93.")
    with pytest.raises(DataError, match="the pickle refers to"):
        read_pickle(path)


def test_allowed_callables_do_no_more_than_hold_arrays(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\x80\x02ccollections\ndefaultdict\nc__builtin__\nlist\n\x85R.")
    assert read_pickle(path) == {}
    for arguments in (b"cnumpy\nndarray\n\x85", b")"):  # a defaultdict of something else
        path.write_bytes(b"\x80\x02ccollections\ndefaultdict\n" + arguments + b"R.")
        with pytest.raises(DataError, match="defaultdict"):
            read_pickle(path)


def test_object_arrays_are_not_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(pickle.dumps(np.array([{}, []], dtype=object), protocol=4))
    with pytest.raises(DataError, match="not a readable pickle"):
        read_pickle(path)


def test_persistent_ids_are_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"Panything\n.")
    with pytest.raises(DataError):
        read_pickle(path)


@pytest.mark.parametrize("dtype", ["<i4", ">i8", "<f4", ">f8", "|u1", "|b1"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back(tmp_path, dtype, order):
    array = np.asarray(np.arange(12).reshape(3, 4) % 2, dtype=dtype, order=order)
    path = tmp_path / "file"
    path.write_bytes(python2_array(array))
    found = read_pickle(path)
    assert found.dtype == np.dtype(dtype)
    assert (found == array).all()


@pytest.mark.parametrize("keep", [0, 1, 40, 200])
def test_truncated_files_are_named(tmp_path, keep):
    path = tmp_path / "ind.cora.y"
    path.write_bytes(python2_array(np.eye(20, dtype=np.int32))[:keep])
    with pytest.raises(DataError, match=r"ind\.cora\.y"):
        read_pickle(path)


def test_a_memo_of_two_billion_entries_takes_no_memory(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"\x80\x02K\x07r\xff\xff\xff\x7f.")
    tracemalloc.start()
    try:
        assert read_pickle(path) == 7
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_bytes_that_do_not_fill_the_shape(tmp_path):
    path = tmp_path / "file"
    whole = python2_array(np.zeros((2, 3), dtype=np.int32))
    path.write_bytes(whole.replace(b"K\x02K\x03\x86", b"K\x02K\x04\x86"))
    with pytest.raises(DataError, match="not a readable pickle"):
        read_pickle(path)


@pytest.mark.filterwarnings("ignore:Please import:DeprecationWarning")
def test_real_files_hold_what_numpy_would_read(data_root):
    path = data_root / "planetoid" / "ind.cora.x"
    with path.open("rb") as stream:
        reference = pickle.load(stream, encoding="latin1")  # the file is known to be the authors'
    found = read_pickle(path)
    assert (found != reference).nnz == 0
    graph = read_pickle(data_root / "planetoid" / "ind.cora.graph")
    with (data_root / "planetoid" / "ind.cora.graph").open("rb") as stream:
        assert graph == dict(defaultdict(list, pickle.load(stream, encoding="latin1")))


def python2_array(array: np.ndarray) -> bytes:
    """Write an array the way numpy did under Python 2, protocol 2."""
    out = io.BytesIO()
    text = lambda value: b"U" + bytes([len(value)]) + value.encode()  # noqa: E731
    number = lambda value: b"K" + bytes([value])  # noqa: E731
    dtype = array.dtype
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    data = array.tobytes(order="F" if fortran else "C")
    out.write(b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n")
    out.write(number(0) + b"\x85" + text("b") + b"\x87R(")
    out.write(number(1) + number(array.shape[0]) + number(array.shape[1]) + b"\x86")
    byte_order = dtype.str[0]
    out.write(b"cnumpy\ndtype\n" + text(dtype.str[1:]) + number(0) + number(1) + b"\x87R(")
    out.write(number(3) + text(byte_order) + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff" + number(0) + b"tb")
    out.write((b"\x88" if fortran else b"\x89") + b"T" + len(data).to_bytes(4, "little") + data + b"tb.")
    return out.getvalue()
