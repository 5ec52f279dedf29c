"""The picture of the paper's figure."""

import numpy as np

import planetoid as pl
from planetoid.experiments.figure import EmbeddingSpace, draw_spaces, figure_markdown


def make_spaces():
    coordinates = np.random.default_rng(0).normal(size=(60, 2))
    return {name: EmbeddingSpace(name, {"d": 3}, coordinates, 0.2, 0.1, 0.75) for name in ("one", "another")}


def test_the_same_spaces_give_the_same_files(tmp_path):
    data = pl.datasets.make_citation(60, 3, 20, seed=0)
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        draw_spaces(tmp_path / folder, make_spaces(), data)
    for file in ("figure.png", "figure.svg"):
        assert (tmp_path / "first" / file).read_bytes() == (tmp_path / "second" / file).read_bytes()
    assert b"silhouette 0.200" in (tmp_path / "first" / "figure.svg").read_bytes()


def test_scores_as_markdown_and_plain_data():
    spaces = make_spaces()
    assert figure_markdown(spaces).splitlines()[-1] == "| another | 0.200 | 0.100 | 75.0 |"
    assert spaces["one"].as_record() == {
        "parameters": {"d": 3},
        "silhouette": 0.2,
        "silhouette_map": 0.1,
        "accuracy": 0.75,
    }
