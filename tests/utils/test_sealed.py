"""JSON with its checksum: no change is accepted."""

import json

import pytest

from planetoid.utils.sealed import seal, unseal

DOCUMENT = {"name": 'Ü, "sha256": "', "values": [1, 2.5, None], "sha": {"sha256": "0"}}


@pytest.mark.parametrize("indent", [None, 1])
def test_it_is_json_and_comes_back(indent):
    content = seal(DOCUMENT, indent=indent)
    assert unseal(content) == DOCUMENT
    assert list(json.loads(content)) == [*DOCUMENT, "sha256"]
    assert (content.count(b"\n") == 1) is (indent is None)


@pytest.mark.parametrize("indent", [None, 1])
def test_every_single_bit_counts(indent):
    content = seal(DOCUMENT, indent=indent)
    for bit in range(8 * len(content)):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="checksum"):
            unseal(bytes(changed))


@pytest.mark.parametrize("indent", [None, 1])
def test_every_byte_counts(indent):
    content = seal(DOCUMENT, indent=indent)
    for length in range(len(content)):
        with pytest.raises(ValueError, match="checksum"):
            unseal(content[:length])
    for more in (b"x", b"\n", b"\0"):
        with pytest.raises(ValueError, match="checksum"):
            unseal(content + more)
