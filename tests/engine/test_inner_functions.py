"""Functions that only compiled code calls: linked into their callers, without machine code of their own."""

import subprocess
import sys

import numba
import numpy as np
import pytest
from numba import njit

from planetoid.engine.compiling import TESTED, compilers, disjoint, exact

own_compilers = pytest.mark.skipif(numba.version_info.short not in TESTED, reason="another version of numba")


def add(values, out):
    for k in range(len(out)):
        out[k] += 2 * values[k]


def compiled(decorator):
    """Return the code of ``add``, after a caller has used it."""
    inner = decorator(add)

    @njit
    def caller(values, out):
        inner(values, out)
        inner(values, out)

    out = np.ones(20, np.float32)
    caller(np.arange(20, dtype=np.float32), out)
    assert out.tolist() == (4 * np.arange(20) + 1).tolist()
    [code] = [overload.library for overload in inner.overloads.values()]
    return code


@own_compilers
def test_no_machine_code_of_its_own():
    from planetoid.engine.inner_functions import LinkedCode

    code = compiled(exact)
    assert isinstance(code, LinkedCode)
    [name] = [function.name for function in code.get_defined_functions() if "3add" in function.name]
    assert not code.codegen._engine.is_symbol_defined(name)


@own_compilers
def test_only_disjoint_arrays_are_promised_to_be_so():
    assert "noalias" in head_of_add(compiled(disjoint))
    assert "noalias" not in head_of_add(compiled(exact))


def head_of_add(code):
    [head] = [line for line in code.get_llvm_str().splitlines() if line.startswith("define") and "3add" in line]
    arguments = head[head.index("(") :].split(",")
    return ",".join(one for one in arguments if "retptr" not in one and "excinfo" not in one)


def test_code_for_an_argument_that_is_none_is_left_out():
    @exact
    def first(values):
        return -1.0 if values is None else values[0]

    @njit
    def caller(values):
        return first(values)

    assert caller(None) == -1.0
    assert caller(np.array([3.0])) == 3.0


def test_versions_that_were_not_tested_compile_as_usual():
    assert compilers((0, 60)) == ({}, {})
    assert all("pipeline_class" in options for options in compilers(TESTED[-1]))


@pytest.mark.soak
def test_kernels_work_without_compilers_of_our_own(tmp_path):
    program = """
import numba
numba.version_info = numba.version_info._replace(short=(0, 60))
from planetoid.engine import compiling
import planetoid as pl
assert "pipeline_class" not in compiling.INNER
data = pl.datasets.make_citation(300, seed=1)
print(pl.GraphEmbedding(dimension=16, pretrain=2, random_state=0).embed(data).shape)
"""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}
    found = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert found.stdout == "(300, 16)\n"
