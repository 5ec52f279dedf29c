"""Cells with line breaks: one record each, and every record keeps its line number."""

import io

import pytest

from planetoid.errors import DataError
from planetoid.io import read_features, read_labels
from planetoid.io.lines import line_blocks
from planetoid.io.quoted_lines import JoinedLines


def test_line_breaks_inside_of_quotes_are_blanks():
    text = b'id,note\r\na,"one\r\ntwo ""three""\r\n"\r\nb,four\r\n'
    joined = JoinedLines(io.BytesIO(text)).read()
    assert joined == b'id,note\r\na,"one two ""three"" "\n\n\nb,four\r\n'
    assert joined.count(b"\n") == text.count(b"\n")


def test_records_keep_their_line_numbers(tmp_path):
    path = tmp_path / "l.csv"
    path.write_text('id,label,note\na,x,"one\ntwo"\nb,y,"three\n\nfour"\na,z,five\n')
    with pytest.raises(DataError, match="line 7, node 'a': conflicting labels: 'z' here, 'x' in line 2"):
        read_labels(path)
    path.write_text(path.read_text().replace("a,z", "c,z"))
    assert read_labels(path) == {"a": "x", "b": "y", "c": "z"}


def test_a_quote_that_is_never_closed_is_still_an_error(tmp_path):
    path = tmp_path / "f.csv"
    path.write_text('id,x\n"a,1\n' + "b,2\n" * 2000)
    with pytest.raises(DataError, match="line 2: a quote is not closed"):
        read_features(path)


@pytest.mark.parametrize("size", [1, 7, 20, 1000])
@pytest.mark.parametrize("skip", [0, 1, 2])
def test_blocks_of_any_size_hold_the_same_joined_lines(tmp_path, size, skip):
    text = b'"a\nheader",note\na,one\nb,"two\nthree ""four"""\nc,"five"\nd,"\n\n"\ne,six'
    path = tmp_path / "f.csv"
    path.write_bytes(text)
    expected = JoinedLines(io.BytesIO(text)).read().split(b"\n")[skip:]
    assert b"".join(line_blocks(path, skip, size, joined=True)).rstrip(b"\n").split(b"\n") == expected
