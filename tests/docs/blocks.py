"""Code blocks of the documents: what they are, and whether what came out is what the document shows.

A block is fenced by three backticks and says its language. ``python`` and ``sh`` blocks
are run, unless a comment above says ``<!-- not run: REASON -->``; the lines of an ``sh``
block have to succeed unless a comment says ``<!-- ends with 2 -->``. A ``text`` block
right below a block that is run is what it prints. There, ``…`` stands for anything,
white space does not matter, and numbers may be off by a tenth, or by 0.05 if that is
more: seeds give the same result on one machine, and nearly the same on others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

LANGUAGES = ("python", "sh", "text")
FENCED = re.compile(r"((?:^<!-- [^\n]* -->\n)?)^```([^\n]*)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?")
TOLERANCE, AT_LEAST = 0.1, 0.05


@dataclass(frozen=True)
class Block:
    """A block of a document, and what it is to print."""

    place: str
    language: str
    code: str
    not_run: str | None = None
    exit_code: int = 0
    output: str | None = None

    def lines(self) -> list[str]:
        """The commands of an ``sh`` block, without comments and with broken lines joined."""
        joined = self.code.replace("\\\n", " ")
        return [line for line in map(str.strip, joined.splitlines()) if line and not line.startswith("#")]


def blocks_of(path: Path, name: str) -> list[Block]:
    """Return the blocks of a document in order; output is part of the block that prints it."""
    text = path.read_text(encoding="utf-8")
    found: list[Block] = []
    end = 0
    for match in FENCED.finditer(text):
        comment, language, code = match.groups()
        line = text.count("\n", 0, match.start(2)) + 1
        follows = found and text[end : match.start()].strip() == ""
        end = match.end()
        if language == "text" and follows and found[-1].language != "text":
            found[-1] = replace(found[-1], output=code)
            continue
        reason = re.search(r"not run: (.+?) -->", comment)
        code_of_exit = re.search(r"ends with (\d+) -->", comment)
        found.append(
            Block(
                f"{name}, line {line}",
                language,
                code,
                not_run=None if reason is None else reason[1],
                exit_code=0 if code_of_exit is None else int(code_of_exit[1]),
            )
        )
    return found


def difference(shown: str, printed: str) -> str | None:
    """Return what a document shows and the code did not print, ``None`` if they agree."""
    texts, numbers = [], []
    for part in re.split(r"(…)", _flat(shown)):
        if part == "…":
            texts.append(".*?")
            continue
        for word in re.split(f"({NUMBER.pattern})", part):
            if NUMBER.fullmatch(word):
                numbers.append(_value(word))
                texts.append(f"({NUMBER.pattern})")
            else:
                texts.append(re.escape(word).replace(r"\ ", r"\s*"))
    match = re.fullmatch("".join(texts), _flat(printed), flags=re.DOTALL)
    if match is None:
        return f"shown:\n{shown}\nprinted:\n{printed}"
    for printed, got in zip(numbers, match.groups(), strict=True):
        if abs(printed - _value(got)) > max(TOLERANCE * printed, AT_LEAST) + 1e-9:
            return f"shown {printed}, printed {got}, in:\n{printed}"
    return None


def _flat(text: str) -> str:
    """Return a text on one line, with the rules of its tables cut short."""
    return " ".join(re.sub("─+", "─", text).split())


def _value(text: str) -> float:
    return float(text.rstrip(",").replace(",", ""))
