"""JSON: lines, lists, nodes and links, mixed types, and errors that name the line."""

import json

import pytest

from planetoid.errors import DataError
from planetoid.io import read_edges, read_features, read_labels


@pytest.fixture
def write(tmp_path):
    def file(text, name="f.jsonl"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return file


def test_lines_and_lists(write):
    rows = [{"id": "a", "x": 1, "y": 2.5}, {"id": "b", "x": 3, "y": 4}]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    for text, name in (
        (lines, "f.jsonl"),
        (lines, "f"),
        (json.dumps(rows), "f.json"),
        (json.dumps(rows, indent=2), "g"),
    ):
        assert read_features(write(text, name)).X.tolist() == [[1, 2.5], [3, 4]]


def test_fields_that_are_missing_or_of_several_types(write):
    path = write('{"id": 1, "label": "x"}\n\n{"id": "b", "label": 2}\n{"id": "c"}\n')
    assert read_labels(path) == {"1": "x", "b": "2"}


def test_one_object_with_nodes_and_links(write):
    text = json.dumps({"nodes": [{"id": "a", "label": "x"}], "links": [{"source": "a", "target": "b"}]})
    assert read_edges(write(text))[0].to_numpy().tolist() == ["a", "b"]
    assert read_labels(write(text)) == {"a": "x"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"id": "a", "x": 1}\n{"id": "b", "x": \n', "line 2: the line is not valid JSON"),
        ('{"id": "a", "x": 1}\n[1, 2]\n', 'line 2: the line is not a JSON object; write {"id": ..., ...}'),
        ("[1, 2]", "the file is JSON, but not a list of objects; write one object per line"),
        ('[{"id": 1},\n', "the file is not valid JSON"),
        (json.dumps({"people": [{"id": 1}], "cats": [{"id": 2}]}), "one JSON object with the lists 'people', 'cats'"),
    ],
)
def test_what_is_wrong_is_said(write, text, message):
    with pytest.raises(DataError) as caught:
        read_features(write(text))
    assert message in str(caught.value)


@pytest.mark.parametrize("name", [b"sour\x9cce", b"a\x9c"])
def test_a_name_that_is_not_utf_8(name, tmp_path):
    path = tmp_path / "e.jsonl"
    row = b'{"' + name + b'": "a", "target": "b"}' if name.startswith(b"s") else b'{"source": {"' + name + b'": 1}}'
    path.write_bytes(b'{"source": "x", "target": "y"}\n' + row + b"\n")
    with pytest.raises(DataError, match=r"e.jsonl, line 2: byte 0x9c at position \d+ is not UTF-8"):
        read_edges(path)
