"""The corpus of the fuzzer, and a fixed sample of damaged copies of it: an error of our own, or none."""

import random
from pathlib import Path

import pytest
from tests.fuzz.targets import TARGETS, run

CORPUS = Path(__file__).parent / "corpus"
COPIES = {"mat": 2}  # damaged ones of each input, six of other kinds: a MATLAB file is read by a process of its own


@pytest.mark.parametrize("target", TARGETS)
def test_corpus(target):
    inputs = sorted((CORPUS / target).iterdir())
    assert inputs, "every target has an input"
    for path in inputs:
        content = path.read_bytes()
        run(target, content)
        generator = random.Random(path.name)
        for _ in range(COPIES.get(target, 6)):
            run(target, damaged(content, generator))


def damaged(content: bytes, generator: random.Random) -> bytes:
    """Return a copy with a few bytes changed, inserted, removed or repeated."""
    changed = bytearray(content)
    for _ in range(generator.randint(1, 4)):
        first = generator.randrange(len(changed) + 1)
        length = generator.randint(0, 8)
        new = generator.choice(
            [generator.randbytes(length), bytes(changed[first : first + 64]) * 2, b"", b"-1", b"9" * 30]
        )
        changed[first : first + length] = new
    return bytes(changed)
