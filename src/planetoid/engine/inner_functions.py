"""How numba compiles the functions that only other compiled functions call.

numba would optimise such a function, generate machine code for it that nothing calls, and optimise its code again
within every caller. Here its callers take over the code as numba has written it down, so that all of it is optimised
once, as a part of an entry. So the first use compiles in less time, and the kernels are no slower.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager

__all__ = ["DisjointCompiler", "InnerCompiler"]

# What is left out of numba's passes is for closures, with blocks, array expressions and constants, which kernels have
# none of, and for printing the types that were inferred.
PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.DeadBranchPrune,  # code for an argument that is None
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.IRLegalization,
    typed_passes.NativeLowering,
    typed_passes.NoPythonBackend,
)


class LinkedCode(JITCodeLibrary):
    """The code of an inner function, neither optimised nor turned into machine code."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class InnerCompiler(CompilerBase):
    """numba's compiler for inner functions."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        target = self.state.targetctx  # a copy, for this function
        self.state.library = LinkedCode(target.codegen(), "inner")
        target.get_executable = _without_machine_code

    def define_pipelines(self) -> list[Any]:
        """Return the passes that kernels need."""
        passes = PassManager("inner function")
        for one in PASSES:
            passes.add_pass(one, one.__name__)
        passes.finalize()
        return [passes]


class DisjointCompiler(InnerCompiler):
    """The same, with a promise to LLVM: what a function writes to by one argument, it does not read by another."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.state.flags.noalias = True


def _without_machine_code(library: Any, description: Any, environment: Any) -> Any:
    """Return what numba registers as a compiled function; nothing can call it."""
    library._ensure_finalized()
    return _dynfunc.make_function(description.lookup_module(), description.qualname, "", 0, environment, (library,))
