"""How many bytes the messages of an Arrow stream decompress to, which is known without decompressing them.

The header of a record batch is a FlatBuffers table that lists where each buffer begins; a compressed buffer begins with
its size in bytes, uncompressed, as a 64-bit integer. pyarrow does not show either, so the header is read here. The
layout is that of ``Message.fbs`` in the specification of the Arrow columnar format.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import pyarrow as pa

__all__ = ["decompressed_bytes"]

HEADER = 2  # field of a message
DATA = 1  # field of a dictionary batch
BUFFERS, COMPRESSION = 2, 3  # fields of a record batch
NOT_COMPRESSED = -1  # in the place of a size


class _Table(NamedTuple):
    """A FlatBuffers table."""

    content: memoryview
    start: int

    def position(self, field: int) -> int | None:
        """Return where a field is, or None if the table does not have it."""
        (to_fields,) = struct.unpack_from("<i", self.content, self.start)
        fields = self.start - to_fields
        (n_bytes,) = struct.unpack_from("<H", self.content, fields)
        slot = 4 + 2 * field
        if slot + 2 > n_bytes:
            return None
        (offset,) = struct.unpack_from("<H", self.content, fields + slot)
        return self.start + offset if offset else None

    def table(self, field: int) -> _Table | None:
        """Return the table that a field refers to."""
        position = self.position(field)
        return None if position is None else _Table(self.content, _target(self.content, position))

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """Return a vector of pairs of 64-bit integers."""
        position = self.position(field)
        if position is None:
            return []
        start = _target(self.content, position)
        (length,) = struct.unpack_from("<I", self.content, start)
        values = struct.unpack_from(f"<{2 * length}q", self.content, start + 4)
        return list(zip(values[::2], values[1::2], strict=True))


def _target(content: memoryview, position: int) -> int:
    (offset,) = struct.unpack_from("<I", content, position)
    return position + int(offset)


def decompressed_bytes(messages: pa.ipc.MessageReader) -> int:
    """Return the size of all buffers of all messages, once they are decompressed.

    >>> sink = pa.BufferOutputStream()
    >>> table = pa.table({"a": pa.array([0] * 1000, pa.int64())})
    >>> options = pa.ipc.IpcWriteOptions(compression="zstd")
    >>> with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
    ...     writer.write_table(table)
    >>> stream = sink.getvalue()
    >>> stream.size < 1000, decompressed_bytes(pa.ipc.MessageReader.open_stream(stream))
    (True, 8000)
    """
    return sum(_of_message(message) for message in messages)


def _of_message(message: pa.ipc.Message) -> int:
    content = memoryview(message.metadata)
    header = _Table(content, _target(content, 0)).table(HEADER)
    if message.type == "dictionary" and header is not None:
        header = header.table(DATA)
    elif message.type != "record batch":
        return 0
    if header is None or message.body is None:
        return 0
    buffers = header.pairs(BUFFERS)
    if header.position(COMPRESSION) is None:
        return sum(length for _, length in buffers)
    body = memoryview(message.body)
    total = 0
    for offset, length in buffers:
        if length:
            (size,) = struct.unpack_from("<q", body, offset)
            total += length if size == NOT_COMPRESSED else size
    return total
