"""JSON that carries its own checksum: a single changed bit is noticed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["seal", "unseal"]

_KEY = b'"sha256": "'


def seal(document: Mapping[str, Any], *, indent: int | None = None) -> bytes:
    r"""Return a document as a line of JSON, or as several with ``indent``; the last member is a SHA-256 of the others.

    >>> content = seal({"a": 1})
    >>> content.startswith(b'{"a": 1, "sha256": "'), content.endswith(b'"}\n')
    (True, True)
    >>> unseal(content)
    {'a': 1}
    >>> unseal(content.replace(b"1", b"2", 1))
    Traceback (most recent call last):
    ValueError: its checksum differs
    """
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    body, end = (text[:-1], "}") if indent is None else (text[:-2], "\n}")
    separator = ", " if indent is None else ",\n" + " " * indent
    content = body.encode("utf-8")
    digest = hashlib.sha256(content).hexdigest()
    return content + separator.encode() + _KEY + f'{digest}"{end}\n'.encode()


def unseal(content: bytes) -> dict[str, Any]:
    """Return the document that was sealed, or raise ``ValueError``."""
    at = content.rfind(_KEY)
    if at < 0:
        raise ValueError("it has no checksum")
    body = content[:at].rstrip(b" \n")
    digest = hashlib.sha256(body[:-1]).hexdigest().encode()
    if not body.endswith(b",") or content[at + len(_KEY) :] not in (digest + b'"}\n', digest + b'"\n}\n'):
        raise ValueError("its checksum differs")
    found: dict[str, Any] = json.loads(content)
    del found["sha256"]
    return found
