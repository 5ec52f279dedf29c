"""Which nodes are on the map, and where."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.report import layout
from planetoid.report.layout import map_coordinates, map_rows, map_vectors
from planetoid.report.model_view import ModelView
from planetoid.report.nodes import ReportNodes


def test_a_sample_includes_every_labelled_node(cited):
    model, record, _ = cited
    nodes = ReportNodes.of(ModelView.of(model), record)
    labelled = set(np.flatnonzero(nodes.labels >= 0).tolist())
    rows = map_rows(nodes, len(labelled) + 20, seed=0)
    assert len(rows) == len(set(rows.tolist())) == len(labelled) + 20
    assert labelled <= set(rows.tolist())
    assert set(map_rows(nodes, 1, seed=0).tolist()) == labelled
    assert sorted(map_rows(nodes, 300, seed=0).tolist()) == list(range(300))
    assert map_rows(nodes, 300, seed=0).tolist() != map_rows(nodes, 300, seed=1).tolist()


def test_the_map_is_reduced_deterministic_and_in_landscape_format(monkeypatch):
    monkeypatch.setattr(layout, "MAX_DIMENSION", 4)
    monkeypatch.setattr(layout, "EARLY_EXAGGERATION", 50)
    monkeypatch.setattr(layout, "ITERATIONS", 50)
    noise = np.random.default_rng(0).normal(0, 0.1, (80, 8))
    vectors = np.repeat(3 * np.eye(2, 8), 40, axis=0) + noise
    coordinates = map_coordinates(vectors, seed=1)
    assert np.array_equal(coordinates, map_coordinates(vectors, seed=1))
    x, y = coordinates.T
    assert x.std() >= y.std()
    assert abs(x[:40].mean() - x[40:].mean()) > 3 * x[:40].std()  # the two clusters are side by side


def test_a_model_without_embedding_is_mapped_by_its_probabilities(cited):
    mapped = map_vectors(ModelView.of(cited[0]))
    assert mapped.kind == "embedding"
    has_neighbours = cited[0].embedding_.any(axis=1)  # isolated nodes keep a zero embedding
    assert np.linalg.norm(mapped.vectors, axis=1) == pytest.approx(has_neighbours.astype(float))
    plain = pl.LabelPropagation().fit(y={0: "x", 2: "y"}, graph=[(0, 1), (1, 2)])
    mapped = map_vectors(ModelView.of(plain))
    assert mapped.kind == "class probabilities"
    assert (mapped.vectors**2).sum(axis=1) == pytest.approx(np.ones(3))
