"""Separator, header and comments, told from the first lines."""

import pytest

from planetoid.errors import DataError, ParameterError
from planetoid.io.header import is_meant_as_number, is_number, looks_like_header
from planetoid.io.layout import sniff_layout, split_line


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


@pytest.mark.parametrize(
    ("text", "separator", "width"),
    [
        ("a,b\nc,d\n", ",", 2),
        ("a\tb\nc\td\n", "\t", 2),
        ("a;b;0,5\nc;d;0,7\n", ";", 3),
        ("a|b\nc|d\n", "|", 2),
        ("a b\nc  \t d\n", " ", 2),
        ("New York,Los Angeles\nRome,San Remo\n", ",", 2),
        ("a\tx, y\nb\tz, w\n", "\t", 2),
        ('"a,b";c\n"d";e\n', ";", 2),
        ("a,b\nc,d\ne\nf,g\n", ",", 2),  # a ragged line does not change the rest
        ("a, b\nc, d\n", ",", 2),
    ],
)
def test_separator(write, text, separator, width):
    layout = sniff_layout(write(text, "table.dat"), None, None)
    assert (layout.separator, layout.width) == (separator, width)


def test_suffix_decides_between_tab_and_comma(write):
    text = "a\tx,b\nc\ty,d\n"
    assert sniff_layout(write(text, "t.tsv"), None, None).separator == "\t"
    assert sniff_layout(write(text, "t.csv"), None, None).separator == ","
    assert sniff_layout(write(text, "t.csv"), None, "\t").separator == "\t"


@pytest.mark.parametrize(
    ("text", "skip", "first"),
    [
        ("# made today\n#n=3\na,b\nb,c\n", 2, ["a", "b"]),
        ("#source,target\na,b\nb,c\n", 1, ["a", "b"]),
        ("\n\n# x\n\na,b\nb,c\n", 4, ["a", "b"]),
        ("#python,#rust\n#rust,#c\n", 0, ["#python", "#rust"]),  # hashtags
        ("# tags\n#python,#rust\nme,#c\n", 1, ["#python", "#rust"]),
        ("a,b\n#c,d\nb,#c\n", 0, ["a", "b"]),
    ],
)
def test_comments_at_the_top(write, text, skip, first):
    layout = sniff_layout(write(text), None, None)
    assert (layout.skip, layout.sample[0]) == (skip, first)


def test_cells_are_stripped_and_quotes_understood():
    assert split_line(' a , "b, c" ,"say ""hi"""', ",") == ["a", "b, c", 'say "hi"']
    assert split_line("  a \t b  ", " ") == ["a", "b"]
    assert split_line("a;;b", ";") == ["a", "", "b"]
    assert len(split_line('"' + "x" * 200_000 + '",b', ",")) == 2  # beyond what csv allows for a cell


@pytest.mark.parametrize("separator", ["", ",,", "\n", '"', "é"])
def test_impossible_separators(write, separator):
    with pytest.raises(ParameterError, match="one character"):
        sniff_layout(write("a,b\n"), None, separator)


def test_numbers():
    assert all(map(is_number, ["1", "-1.5", "+2", ".5", "1.", "1e-3", " 7 "]))
    assert not any(map(is_number, ["", "nan", "inf", "1,5", "0x1", "1_000", "1e", "-", "."]))
    assert all(map(is_meant_as_number, ["1", "0,5", "nan", "-inf", "1 000", "1_000", "2e5"]))
    assert not any(map(is_meant_as_number, ["", "a", "p1", "cites", "1st"]))


def test_header_of_another_width_is_refused(write):
    path = write("a,b\nx,1,2\ny,3,4\n")
    with pytest.raises(DataError, match=r"table.csv, line 1: the header has 2 cells, but the lines below have 3"):
        sniff_layout(path, True, None)
