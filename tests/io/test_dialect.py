"""The dialect of a text table: separator, header and comments, detected from the first lines."""

import pytest

from planetoid.errors import ParameterError
from planetoid.io.dialect import detect_dialect, split_line


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
    dialect = detect_dialect(write(text, "table.dat"), None, None)
    assert (dialect.separator, dialect.width) == (separator, width)


def test_suffix_decides_between_tab_and_comma(write):
    text = "a\tx,b\nc\ty,d\n"
    assert detect_dialect(write(text, "t.tsv"), None, None).separator == "\t"
    assert detect_dialect(write(text, "t.csv"), None, None).separator == ","
    assert detect_dialect(write(text, "t.csv"), None, "\t").separator == "\t"


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
    dialect = detect_dialect(write(text), None, None)
    assert (dialect.skip, dialect.sample[0]) == (skip, first)


def test_cells_are_stripped_and_quotes_understood():
    assert split_line(' a , "b, c" ,"say ""hi"""', ",") == ["a", "b, c", 'say "hi"']
    assert split_line("  a \t b  ", " ") == ["a", "b"]
    assert split_line("a;;b", ";") == ["a", "", "b"]
    assert len(split_line('"' + "x" * 200_000 + '",b', ",")) == 2  # beyond what csv allows for a cell


@pytest.mark.parametrize("separator", ["", ",,", "\n", '"', "é"])
def test_invalid_separators(write, separator):
    with pytest.raises(ParameterError, match=r"^separator must be one character"):
        detect_dialect(write("a,b\n"), None, separator)


def test_a_header_of_another_width_is_an_error(write, text_after_path):
    path = write("a,b\nx,1,2\ny,3,4\n")
    assert text_after_path(detect_dialect, path, True) == (
        ", line 1: the header has 2 cells, but the lines below have 3; every line needs the same number of cells; "
        "delete the line if it is a title"
    )


@pytest.mark.parametrize(
    ("text", "separator", "skip", "names"),
    [
        ("sep=;\nid;label\n1;x,y\n2;z,w\n", ";", 2, ("id", "label")),
        ("SEP=|\nid|label\n1|x,y\n2|z,w\n", "|", 2, ("id", "label")),
        ("sep=\t\nid\tlabel\n1\tx,y\n2\tz,w\n", "\t", 2, ("id", "label")),
        ('"sep=:"\nid:label\n1:x,y\n2:z,w\n', ":", 2, ("id", "label")),
        ("\n# made today\nsep=;\n\n1;x\n2;y\n", ";", 4, None),
        ("sep=;\nid,label\n1,x\n2,y\n", ",", 2, ("id", "label")),  # not what the lines below have
    ],
)
def test_a_first_line_that_names_the_separator(write, text, separator, skip, names):
    dialect = detect_dialect(write(text))
    assert (dialect.separator, dialect.skip, dialect.names, dialect.width) == (separator, skip, names, 2)


def test_a_given_separator_is_stronger_than_a_declared_one(write):
    assert detect_dialect(write("sep=;\na;x,y\nb;z,w\n"), None, ",").separator == ","


def test_a_line_that_names_the_separator_and_nothing_else(write, text_after_path):
    assert text_after_path(detect_dialect, write("sep=;\n")) == ": the file has no records, only the line 'sep=;'"
