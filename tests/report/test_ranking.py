"""The nodes to label next, computed by hand."""

import csv
import io

import numpy as np
import pytest

import planetoid as pl
from planetoid.io import read_labels
from planetoid.report.model_view import ModelView
from planetoid.report.nodes import ReportNodes
from planetoid.report.ranking import Ranking, as_csv, label_next, uncertainty

# entropy over log 2: 0, 0.8113, 1, 1, 0.8113
TABLE = np.array([[1.0, 0.0], [0.75, 0.25], [0.5, 0.5], [0.5, 0.5], [0.25, 0.75]])
OPEN = np.zeros(5, dtype=bool)


def test_uncertainty_is_normalized_entropy():
    assert uncertainty(TABLE) == pytest.approx([0, 0.8112781, 1, 1, 0.8112781])
    assert uncertainty(np.full((1, 8), 1 / 8)) == pytest.approx([1])
    assert uncertainty([[0.5, 0.5, 0.0, 0.0]]) == pytest.approx([0.5])


def test_without_a_graph_the_ranking_is_by_uncertainty_and_stable():
    rows, scores = label_next(TABLE, OPEN, None, 10)
    assert rows.tolist() == [2, 3, 1, 4, 0]
    assert scores == pytest.approx([1, 1, 0.8112781, 0.8112781, 0])


def test_central_nodes_rank_higher():
    # log(1 + degree) / log 16: node 1 has 1, node 2 has 0.25, node 3 has 0.5, node 4 none
    rows, scores = label_next(TABLE, OPEN, np.array([15, 15, 1, 3, 0]), 3)
    assert rows.tolist() == [1, 3, 2]
    assert scores == pytest.approx([0.8112781, 0.5, 0.25])


def test_known_nodes_are_excluded_and_do_not_set_the_scale():
    known = np.array([False, True, False, False, False])
    rows, scores = label_next(TABLE, known, np.array([0, 1000, 1, 3, 0]), 2)
    assert rows.tolist() == [3, 2]
    assert scores == pytest.approx([1.0, 0.5])


def test_no_candidates_and_no_edges():
    assert label_next(TABLE, ~OPEN, None, 5)[0].tolist() == []
    assert label_next(TABLE, OPEN, np.zeros(5, dtype=np.int64), 1)[0].tolist() == [2]


def report_nodes(edges=None):
    """Five nodes with the probabilities of TABLE."""
    ids = ["a,b", 'c "d"', "e\nf", "g", "h"]
    graph = pl.Graph.from_edges([], [], nodes=ids)
    view = ModelView("Method", np.array(["x", "y"]), graph.ids, TABLE, None, None, {})
    return ReportNodes.of(view, graph=None if edges is None else pl.Graph.of([(ids[i], ids[j]) for i, j in edges]))


def test_the_csv_can_be_filled_in_and_used_as_labels(tmp_path):
    nodes = report_nodes([(1, 0), (1, 3), (3, 4), (1, 2)])  # degrees 1, 3, 1, 2, 1
    ranking = label_next(TABLE, OPEN, nodes.degrees, 3)
    lines = list(csv.DictReader(io.StringIO(as_csv(ranking, nodes), newline="")))
    assert [line["id"] for line in lines] == ['c "d"', "g", "e\nf"]
    assert lines[0] == {
        "id": 'c "d"',
        "label": "",
        "predicted": "x",
        "probability": "0.7500",
        "runner_up": "y",
        "runner_up_probability": "0.2500",
        "degree": "3",
        "score": "0.8113",
    }
    plain = as_csv(Ranking(np.array([3, 4]), np.ones(2)), report_nodes()).replace("g,,", "g,y,")
    (tmp_path / "next.csv").write_text(plain, newline="")
    assert read_labels(tmp_path / "next.csv") == {"g": "y"}
