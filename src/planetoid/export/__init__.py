"""Models for other programs: an inductive model as an ONNX file."""

from planetoid.export.onnx_file import to_onnx
from planetoid.export.tokens import token_rows

__all__ = ["to_onnx", "token_rows"]
