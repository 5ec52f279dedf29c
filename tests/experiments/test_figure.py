"""The picture of the paper's figure."""

from __future__ import annotations

import numpy as np

import planetoid as pl
from planetoid.experiments.figure import draw_spaces


def test_the_same_spaces_give_the_same_files(tmp_path):
    data = pl.datasets.make_citation(60, 3, 20, seed=0)
    layout = np.random.default_rng(0).normal(size=(60, 2))
    spaces = {
        name: {"name": name, "places": layout, "silhouette": 0.2, "silhouette_map": 0.1} for name in ("one", "another")
    }
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        draw_spaces(tmp_path / folder, spaces, data)
    for file in ("figure.png", "figure.svg"):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()
    assert b"silhouette 0.200" in (tmp_path / "first" / "figure.svg").read_bytes()
