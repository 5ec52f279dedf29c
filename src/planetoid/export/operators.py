"""``Operators``: the scores of a method, written down as operators of an ONNX graph.

A method describes how it scores a row by calling the functions of this class in order: rows are scaled, multiplied by
weights, activated. The rows come in one of two forms. ``dense`` rows have a column for each feature. ``tokens`` are for
wide, sparse rows: the column numbers of the nonzero entries, and their values, padded by values of zero to a common
length; the first product then looks up as many rows of its weights as there are tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.errors import DataError

if TYPE_CHECKING:
    from onnx import NodeProto, TensorProto

__all__ = ["Operators", "Value"]

SMALLEST_NORM = 10 * float(np.finfo(np.float32).eps)  # a dense row that is shorter is not scaled

SINGLE: np.dtype[np.generic] = np.dtype(np.float32)

Array = npt.NDArray[np.generic]


class Value(NamedTuple):
    """A tensor of the graph, with a row for each input row; ``tokens`` names the column numbers of sparse rows."""

    name: str
    dtype: np.dtype[np.generic]
    tokens: str | None = None


class Operators:
    """Operators of an ONNX graph, and the constants that they use.

    Parameters
    ----------
    tokens : bool
        Whether rows come as tokens.
    """

    def __init__(self, *, tokens: bool = False) -> None:
        self.tokens = tokens
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.n_bytes = 0

    # ---- what a method describes its scores by --------------------------------

    def rows(
        self,
        norm: str | None,
        mean: npt.NDArray[np.float32] | None = None,
        deviation: Array | None = None,
        *,
        with_ones: bool = False,
    ) -> Value:
        """Return the input rows scaled to a norm: before, with means, columns standardised and perhaps one of ones."""
        if self.tokens:
            if mean is not None:
                raise DataError(
                    "the model was fitted on dense features, whose columns it centres, so that new rows are not sparse",
                    hint="export it for dense rows, not for tokens",
                )
            return self.to_norm(Value("values", SINGLE, "tokens"), norm)
        name = "features"
        if mean is not None:
            assert deviation is not None
            centred = self.add("Div", self.add("Sub", name, self.constant(mean)), self.constant(deviation))
            if with_ones:
                centred = self.add("Pad", centred, self.constant(np.array([0, 0, 0, 1])), self.constant(np.float32(1)))
            largest = self.add("ReduceMax", self.add("Abs", name), axes=[1], keepdims=1)
            described = self.add("Greater", largest, self.constant(np.float32(0)))
            name = self.add("Where", described, centred, self.constant(np.float32(0)))
        return self.to_norm(Value(name, SINGLE), norm)

    def to_norm(self, value: Value, norm: str | None) -> Value:
        """Scale rows to a norm."""
        return value if norm is None else value._replace(name=self._scaled(value.name, norm))

    def with_length(self, rows: Value, scaled: Value, standard: Array, n_columns: int, factor: float) -> Value:
        """Return scaled rows with one more column, the logarithm of a row's length before they were scaled.

        ``standard`` has mean and deviation of that logarithm. All are multiplied by ``factor``; rows of zeros remain.
        """
        mean, deviation = (float(number) for number in standard)
        length = self.add("Sqrt", self._sum(self.add("Mul", rows.name, rows.name)))
        logs = self.add("Log", self.add("Add", length, self._number(1, rows)))
        column = self.add("Div", self.add("Sub", logs, self._number(mean, rows)), self._number(deviation, rows))
        known = self.add("Greater", length, self._number(0, rows))
        column = self.add("Where", known, column, self._number(0, rows))
        name = self.add("Concat", scaled.name, column, axis=1)
        tokens = scaled.tokens
        if tokens is not None:  # the column after all others
            number = self.add("Mul", self.add("ReduceMax", tokens, axes=[1], keepdims=1), self.constant(np.int64(0)))
            tokens = self.add("Concat", tokens, self.add("Add", number, self.constant(np.int64(n_columns))), axis=1)
        return self.scaled(Value(name, scaled.dtype, tokens), factor)

    def with_waves(self, rows: Value, directions: Array, phases: Array, mean: Array, factor: float) -> Value:
        """Return rows beside ``sqrt(2 / waves) cos(rows @ directions + phases) - mean``, all times ``factor``.

        Rows of zeros remain so.
        """
        argument = self.linear(rows, directions, phases)
        height = float(np.sqrt(2 / len(phases)))
        waves = self.add(
            "Sub", self.scaled(Value(self.add("Cos", argument.name), argument.dtype), height).name, self.constant(mean)
        )
        largest = self.add("ReduceMax", self.add("Abs", rows.name), axes=[1], keepdims=1)
        known = self.add("Greater", largest, self._number(0, rows))
        waves = self.add("Where", known, waves, self._number(0, rows))
        return self.scaled(Value(self.add("Concat", rows.name, waves, axis=1), rows.dtype), factor)

    def cast(self, value: Value, dtype: npt.DTypeLike) -> Value:
        """Convert to another precision."""
        from onnx.helper import np_dtype_to_tensor_dtype

        wanted = np.dtype(dtype)
        if wanted == value.dtype:
            return value
        return Value(self.add("Cast", value.name, to=np_dtype_to_tensor_dtype(wanted)), wanted, value.tokens)

    def linear(self, value: Value, weight: Array, bias: Array | None = None) -> Value:
        """Return ``value @ weight + bias``, in the precision of the weights."""
        value = self.cast(value, weight.dtype)
        if value.tokens is None:
            product = self.add("MatMul", value.name, self.constant(weight))
        else:
            looked_up = self.add("Gather", self.constant(weight), value.tokens, axis=0)  # (row, token, unit)
            values = self.add("Unsqueeze", value.name, self.constant(np.array([1])))  # (row, 1, token)
            product = self.add("Squeeze", self.add("MatMul", values, looked_up), self.constant(np.array([1])))
        if bias is not None:
            product = self.add("Add", product, self.constant(bias.astype(weight.dtype, copy=False)))
        return Value(product, weight.dtype)

    def activation(self, value: Value, name: str) -> Value:
        """Apply ``"relu"``, ``"tanh"``, ``"sigmoid"``, ``"softmax"`` over units, or ``"linear"``: nothing."""
        if name == "linear":
            return value
        if name == "softmax":
            return Value(self.add("Softmax", value.name, axis=1), value.dtype)
        return Value(self.add({"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid"}[name], value.name), value.dtype)

    def unit_length(self, value: Value, shortest: float) -> Value:
        """Divide each row by its Euclidean norm, or by ``shortest`` if that is larger."""
        norm = self.add("Sqrt", self._sum(self.add("Mul", value.name, value.name)))
        longest = self.add("Max", norm, self._number(shortest, value))
        return Value(self.add("Div", value.name, longest), value.dtype)

    def squared_distances(self, value: Value, points: npt.NDArray[np.float64]) -> Value:
        """Return the squared Euclidean distance of each row to each of ``points``."""
        value = self.cast(value, points.dtype)
        own = self._sum(self.add("Mul", value.name, value.name))
        product = self.linear(value, -2.0 * points.T, (points**2).sum(axis=1))
        total = self.add("Add", product.name, own)
        return Value(self.add("Max", total, self._number(0, product)), product.dtype)

    def scaled(self, value: Value, factor: float) -> Value:
        """Return ``factor * value``."""
        return value._replace(name=self.add("Mul", value.name, self._number(factor, value)))

    def shifted(self, value: Value, by: float) -> Value:
        """Return ``value + by``."""
        return Value(self.add("Add", value.name, self._number(by, value)), value.dtype)

    def clipped(self, value: Value, low: float, high: float) -> Value:
        """Return values between two numbers."""
        return Value(self.add("Clip", value.name, self._number(low, value), self._number(high, value)), value.dtype)

    def exponential(self, value: Value) -> Value:
        """Return ``exp(value)``."""
        return Value(self.add("Exp", value.name), value.dtype)

    def log_sigmoid(self, value: Value) -> Value:
        """Return the logarithm of the logistic function, ``min(value, 0) - log(1 + exp(-|value|))``."""
        rest = self.add("Exp", self.add("Neg", self.add("Abs", value.name)))
        rest = self.add("Log", self.add("Add", rest, self._number(1, value)))
        return value._replace(name=self.add("Sub", self.add("Min", value.name, self._number(0, value)), rest))

    def both_signs(self, value: Value) -> Value:
        """Return two columns, ``-value`` and ``value``, of one column."""
        return Value(self.add("Concat", self.add("Neg", value.name), value.name, axis=1), value.dtype)

    def sum(self, one: Value, other: Value) -> Value:
        """Return the sum of two values of the same precision."""
        return Value(self.add("Add", one.name, other.name), one.dtype)

    # ---- what they are made of --------------------------------------------------

    def add(self, operator: str, *inputs: str, output: str | None = None, **attributes: int | list[int]) -> str:
        """Add an operator, and return the name of its output."""
        from onnx.helper import make_node

        name = output or f"value_{len(self.nodes)}"
        self.nodes.append(make_node(operator, list(inputs), [name], **attributes))  # type: ignore[arg-type]
        return name

    def constant(self, array: npt.ArrayLike) -> str:
        """Add a constant, and return its name."""
        from onnx.numpy_helper import from_array

        values = np.asarray(array)
        name = f"constant_{len(self.constants)}"
        self.constants.append(from_array(np.array(values, order="C"), name))
        self.n_bytes += values.nbytes
        return name

    def _number(self, number: float, like: Value) -> str:
        return self.constant(np.asarray(number, like.dtype))

    def _scaled(self, name: str, norm: str | None) -> str:
        if norm is None:
            return name
        if norm == "l1":
            length = self._sum(self.add("Abs", name))
        else:
            length = self.add("Sqrt", self._sum(self.add("Mul", name, name)))
        shortest = np.float32(0 if self.tokens else SMALLEST_NORM)  # of sparse rows, only zeros are not scaled
        usable = self.add("Greater" if self.tokens else "GreaterOrEqual", length, self.constant(shortest))
        return self.add("Div", name, self.add("Where", usable, length, self.constant(np.float32(1))))

    def _sum(self, name: str) -> str:
        return self.add("ReduceSum", name, self.constant(np.array([1])), keepdims=1)
