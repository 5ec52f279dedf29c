"""Whether the first line of a text table is its header."""

import pytest

from planetoid.io.header import is_number, looks_like_header, looks_numeric


def rows(text: str) -> list[list[str]]:
    return [line.split(",") for line in text.split()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # usual names
        ("source,target a,b", True),
        ("Src,DST,weight a,b,1", True),
        ("id,label a,x", True),
        ("label,node_id x,a", True),
        ("computer,node mouse,cat", None),  # words
        ("node,x,y a,1,2", True),
        ("fromNodeId,toNodeId 1,2", True),
        # ... unless they come again below: then they are ids
        ("u,v v,w", False),
        ("from,to to,nowhere", False),
        ("id,x id,y", False),
        # words above numbers
        ("a,b 1,2 3,4", True),
        ("paper,score p,0.5", True),
        ("paper,score p, q,nan r,1", True),  # gaps are mistakes, not words
        ("paper,when p,nan q,", None),
        ("x,y,z a,b,0.5", True),
        ("name,a,b a,1,2 b,3,4", True),  # a and b are names of columns and of rows
        # words above cells with digits
        ("citing,cited p1,p2 p2,p3", True),
        ("citing,cited p1,p2", None),  # one line proves nothing
        # numbers in the first line
        ("1,2 3,4", False),
        ("a,1 2,3", False),
        ("a,b,0.5 c,d,1", False),
        ("p1,0.5,1 p2,1,2", False),
        # pandas: an empty corner, or columns 0, 1, 2, ...
        (",0,1 a,5,6", True),
        (",source,target 0,a,b", True),
        ("paper,0,1,2,3 a,5,6,7,8", True),
        ("a,0,1 b,1,0", False),  # could be two features
        ("a,0,1,2,3 b,0,1,2,3", False),  # could be equal rows
        # words above words
        ("alice,bob carol,dave", None),
        ("alice,bob bob,carol", False),
        ("x1,x2 a,b", None),
        ("alice,bob", None),
    ],
)
def test_header(text, expected):
    first, *body = rows(text)
    assert looks_like_header(first, body) is expected


def test_numbers():
    assert all(map(is_number, ["1", "-1.5", "+2", ".5", "1.", "1e-3", " 7 "]))
    assert not any(map(is_number, ["", "nan", "inf", "1,5", "0x1", "1_000", "1e", "-", "."]))
    assert all(map(looks_numeric, ["1", "0,5", "nan", "-inf", "1 000", "1_000", "2e5"]))
    assert not any(map(looks_numeric, ["", "a", "p1", "cites", "1st"]))
