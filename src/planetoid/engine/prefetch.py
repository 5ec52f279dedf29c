"""Ask for rows of a table before they are needed, for no hardware guesses where a random walk goes next."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.base import BaseContext
from numba.core.typing import Context, Signature
from numba.extending import intrinsic

from planetoid.engine.arrays import Table
from planetoid.engine.compiling import exact

__all__ = ["NEAR", "prefetch"]

NEAR = 1 << 21  # floats of a table that the caches hold; asking ahead for its rows only costs time
FLOATS_IN_A_LINE = 16


@intrinsic
def _prefetch_line(
    typing_context: Context,  # noqa: ARG001 (numba's protocol)
    table: types.Array,
    row: types.Integer,  # noqa: ARG001
    column: types.Integer,  # noqa: ARG001
) -> tuple[Signature, object]:
    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, values: list[ir.Value]) -> ir.Value:
        array = context.make_array(signature.args[0])(context, builder, values[0])
        pointer = cgutils.get_item_pointer(context, builder, signature.args[0], array, list(values[1:]))
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag]), "llvm.prefetch.p0"
        )
        reading, close, data = flag(0), flag(3), flag(1)
        # "convergent" keeps the loop over lines from being unrolled wherever it is inlined.
        builder.call(function, [builder.bitcast(pointer, byte), reading, close, data], attrs=("convergent",))
        return context.get_dummy_value()

    return types.void(table, types.int64, types.int64), generate


@exact
def prefetch(table: Table, row: np.int32) -> None:
    """Start to load a row; no result depends on it."""
    for column in range(0, table.shape[1], FLOATS_IN_A_LINE):
        _prefetch_line(table, row, column)
