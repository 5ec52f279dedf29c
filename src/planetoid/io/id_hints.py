"""Why ids of two files do not match: lost zeros, other case, blanks, decimals."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["why_ids_differ"]

MOST = 0.5  # share of the ids without a partner that a reason must explain
LOOKED_AT = 10_000


class _Reason(NamedTuple):
    """What may have happened to ids, and how to undo it for a comparison."""

    message: str
    hint: str
    normalized: Callable[[pa.Array], pa.Array]


REASONS = (
    _Reason(
        "ids lost their leading zeros",
        "write both columns as text with the same zeros (in pandas, read them with dtype=str)",
        lambda ids: pc.replace_substring_regex(ids, r"^0+([0-9])", r"\1"),
    ),
    _Reason(
        "ids differ in a decimal point",
        "write both columns as integers",
        lambda ids: pc.replace_substring_regex(ids, r"^([0-9]+)\.0+$", r"\1"),
    ),
    _Reason(
        "ids differ in upper and lower case or in blanks only",
        "write them in the same way in both files",
        lambda ids: pc.utf8_lower(pc.replace_substring_regex(pc.utf8_trim_whitespace(ids), r"\s+", " ")),
    ),
)


def why_ids_differ(unmatched: pa.Array | pa.ChunkedArray, known: pa.Array) -> tuple[str, str] | None:
    """Return what is wrong with ids that match none of the known ones, and what to do; ``None`` if that is unknown.

    >>> why_ids_differ(pa.array(["7"]), pa.array(["007", "012"]))[0]
    "ids lost their leading zeros: '7' here, '007' there"
    """
    some, others = (_as_text(ids) for ids in (unmatched[:LOOKED_AT], known))
    for reason in REASONS:
        found = pc.index_in(reason.normalized(some), value_set=reason.normalized(others))
        matched = np.flatnonzero(np.asarray(pc.is_valid(found)))
        if len(matched) >= MOST * len(some) and len(matched):
            here, there = some[int(matched[0])].as_py(), others[found[int(matched[0])].as_py()].as_py()
            return f"{reason.message}: {here!r} here, {there!r} there", reason.hint
    return None


def _as_text(ids: pa.Array | pa.ChunkedArray) -> pa.Array:
    text = ids.cast(pa.large_string())
    return text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
