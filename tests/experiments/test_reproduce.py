"""A part of the paper as files, from finished runs and new ones."""

import json

import pytest
from tests.experiments.conftest import make_cell

from planetoid.errors import ParameterError
from planetoid.experiments import reproduce


def test_a_part_that_is_shown_again_keeps_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(reproduce, "table3", lambda: [make_cell()])

    def produce():
        text, cells = reproduce.reproduce_part("table3", runs=2, jobs=1, out=tmp_path)
        return text, len(cells), json.loads((tmp_path / "table3.json").read_text(encoding="utf-8"))["seconds"]

    first, again = produce(), produce()
    assert again[:2] == first[:2]
    assert again[2] > first[2]
    for other in ("{}", json.dumps({"quick": True, "seconds": 1e6})):  # not ours, and not of the same runs
        (tmp_path / "table3.json").write_text(other, encoding="utf-8")
        text, count, seconds = produce()
        assert (text, count) == first[:2]
        assert seconds < 1e6


def test_an_unknown_part_is_an_error_with_the_known_ones(tmp_path):
    with pytest.raises(ParameterError, match=r"unknown part 'table9'; choose from table2, .*, all"):
        reproduce.reproduce_part("table9", runs=1, jobs=1, out=tmp_path)
