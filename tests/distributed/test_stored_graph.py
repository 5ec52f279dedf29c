"""A graph in files that are mapped into memory."""

import numpy as np
import pytest

import planetoid as pl
from planetoid.distributed import open_graph, store_graph
from planetoid.errors import DataError


@pytest.mark.parametrize(
    "edges",
    [
        (["a", "b", "c"], ["b", "c", "d"], [1.0, 2.0, 0.5]),
        ([10, 20, 30], [20, 30, 7]),
        ([0, 1, 2], [1, 2, 3]),
    ],
    ids=["strings and weights", "integers", "rows"],
)
@pytest.mark.parametrize("directed", [False, True])
def test_round_trip(edges, directed, tmp_path):
    graph = pl.Graph.from_edges(*edges, directed=directed)
    store_graph(graph, tmp_path / "g")
    found = open_graph(tmp_path / "g")
    assert found == graph
    assert found.summary == graph.summary
    assert found.ids.kind == graph.ids.kind
    assert isinstance(found.indices.base, np.memmap) or isinstance(found.indices.base.base, np.memmap)


def test_a_model_fits_a_mapped_graph_with_the_same_result(tmp_path):
    nodes = np.arange(40)
    graph = pl.Graph.from_edges(np.tile(nodes, 2), np.concatenate([(nodes + 1) % 40, (nodes + 2) % 40]))
    store_graph(graph, tmp_path / "g")
    models = [
        pl.GraphEmbedding(dimension=16, pretrain=3).fit(None, {0: "a", 20: "b"}, graph=one)
        for one in (graph, open_graph(tmp_path / "g"))
    ]
    np.testing.assert_array_equal(models[0].embedding_, models[1].embedding_)


def test_what_is_no_graph_or_a_damaged_one(tmp_path):
    with pytest.raises(DataError, match=r"holds no graph: graph.json is missing"):
        open_graph(tmp_path)
    store_graph(pl.Graph.from_edges([0, 1], [1, 2]), tmp_path / "g")
    with pytest.raises(DataError, match="the folder exists"):
        store_graph(pl.Graph.from_edges([0, 1], [1, 2]), tmp_path / "g")
    np.save(tmp_path / "g" / "indices.npy", np.zeros(1, np.int32))
    with pytest.raises(DataError, match="the graph is damaged"):
        open_graph(tmp_path / "g")
    with pytest.raises(DataError, match="must be integers or strings"):
        store_graph(pl.Graph.from_edges([(0, 1)], [(1, 2)]), tmp_path / "h")
