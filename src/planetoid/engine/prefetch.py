"""Ask for rows of a table before they are needed, for no hardware guesses where a random walk goes next."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from planetoid.engine.compiling import exact

__all__ = ["prefetch"]

FLOATS_IN_A_LINE = 16


@intrinsic
def _prefetch_line(typing_context: Any, table: Any, row: Any, column: Any) -> Any:  # noqa: ARG001 (numba asks for it)
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], array, list(arguments[1:]))
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag]), "llvm.prefetch.p0"
        )
        reading, close, data = (ir.Constant(flag, value) for value in (0, 3, 1))
        # "convergent" keeps the loop over lines from being unrolled at every place it is inlined to.
        builder.call(function, [builder.bitcast(pointer, byte), reading, close, data], attrs=("convergent",))
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64), generate


@exact
def prefetch(table: Any, row: Any) -> None:
    """Start to load a row; the result of nothing depends on it."""
    for column in range(0, table.shape[1], FLOATS_IN_A_LINE):
        _prefetch_line(table, row, column)
