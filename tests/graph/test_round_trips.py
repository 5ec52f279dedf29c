"""From a Graph to another form and back, for graphs that hypothesis generates."""

import csv
import gzip
import io
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from torch_geometric.data import Data

from planetoid import Graph

POLICY = {"self_loops": "keep"}

# Text that a table carries: no blanks around it, which are stripped, and one line.
words = st.text(
    st.characters(exclude_categories=("Cc", "Cs", "Zs", "Zl", "Zp")) | st.sampled_from(', ;|\t"'),
    min_size=1,
    max_size=6,
).filter(lambda text: text == text.strip() and "\t" not in text)
integers = st.integers(-(2**40), 2**40)
KINDS = {
    "range": st.integers(1, 8).map(lambda n: list(range(n))),
    "int": st.lists(integers, min_size=1, max_size=8, unique=True),
    "str": st.lists(words, min_size=1, max_size=8, unique=True),
    "tuple": st.lists(st.tuples(integers, words), min_size=1, max_size=8, unique=True),
}
few = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def graphs(draw, kinds=tuple(KINDS)):
    nodes = draw(KINDS[draw(st.sampled_from(kinds))])
    end = st.integers(0, len(nodes) - 1)
    edges = draw(st.lists(st.tuples(end, end), max_size=20))
    weights = None
    if edges and draw(st.booleans()):
        # Quarters are exact in float32; a first weight of 2 keeps it from being all ones, which scipy calls unweighted.
        weights = [2.0, *(draw(st.integers(1, 40)) / 4 for _ in edges[1:])]
    return Graph.from_edges(
        [nodes[s] for s, _ in edges],
        [nodes[t] for _, t in edges],
        weights,
        nodes=nodes,
        directed=draw(st.booleans()),
        duplicates="max",
        **POLICY,
    )


def edge_columns(graph: Graph) -> dict[str, list]:
    """Each edge once: in the direction of the smaller row if the graph has none."""
    matrix = graph.to_scipy().tocoo()
    once = slice(None) if graph.directed else matrix.row <= matrix.col
    names = graph.node_ids.tolist()
    columns = {"source": [names[k] for k in matrix.row[once]], "target": [names[k] for k in matrix.col[once]]}
    return columns if graph.weights is None else columns | {"weight": matrix.data[once].tolist()}


def in_natural_order(nodes) -> list:
    """Sort by value, but strings that all end in a number by the word and the number."""
    parts = {node: re.fullmatch(r"([^0-9]*)([0-9]{1,18})", node) for node in nodes if isinstance(node, str)}
    if not parts or not all(parts.values()):
        return sorted(nodes)
    return sorted(nodes, key=lambda node: (parts[node][1], int(parts[node][2]), node))


def policy(graph: Graph) -> dict[str, object]:
    return {"directed": graph.directed, **POLICY}


@few
@given(graphs())
def test_scipy(graph):
    again = Graph.from_scipy(graph.to_scipy(), nodes=graph.node_ids, **policy(graph))
    assert again == graph
    assert again.ids == graph.ids


@few
@given(graphs())
def test_networkx(graph):
    again = Graph.from_networkx(graph.to_networkx(), **POLICY)
    assert again == graph
    assert again.ids == graph.ids
    assert graph.to_networkx().number_of_edges() == graph.n_edges


@few
@given(graphs())
def test_edges_and_pandas(graph):
    columns = edge_columns(graph)
    assert Graph.from_edges(*columns.values(), nodes=graph.node_ids, **policy(graph)) == graph
    if graph.n_edges:
        frame = pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()})
        assert Graph.from_pandas(frame, nodes=graph.node_ids, **policy(graph)) == graph


@few
@given(graphs(kinds=("range",)))
def test_pyg(graph):
    matrix = graph.to_scipy().tocoo()
    data = Data(edge_index=torch.from_numpy(np.stack([matrix.row, matrix.col])), num_nodes=graph.n_nodes)
    if graph.weights is not None:
        data.edge_weight = torch.tensor(matrix.data)
    assert Graph.from_pyg(data, **policy(graph)) == graph


@pytest.mark.parametrize(("name", "separator"), [("edges.csv", ","), ("edges.tsv.gz", "\t"), ("edges.txt", "|")])
@few
@given(graph=graphs(kinds=("range", "int", "str")).filter(lambda graph: graph.n_edges > 0))
def test_text(graph, name, separator, tmp_path):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    columns = edge_columns(graph)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    content = text.getvalue().encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(content, 1) if name.endswith(".gz") else content)
    again = Graph.from_file(path, header=True, separator=separator, nodes=graph.node_ids, **policy(graph))
    assert again == graph
    # Without nodes, those that occur are in natural order, as integers if all of them are written so.
    alone = Graph.from_file(path, header=True, separator=separator, **policy(graph))
    touched = set(columns["source"]) | set(columns["target"])
    assert set(map(str, alone.node_ids)) == set(map(str, touched))
    if graph.ids.kind != "str" or alone.ids.kind == "str":
        assert alone == graph.subgraph(alone.node_ids.tolist())
        assert alone.node_ids.tolist() == in_natural_order(touched)


@few
@given(graph=graphs(kinds=("range", "int", "str")).filter(lambda graph: graph.n_edges > 0), rows=st.integers(1, 5))
def test_parquet(graph, rows, tmp_path):
    path = tmp_path / "edges.parquet"
    parquet.write_table(pa.table(edge_columns(graph)), path, row_group_size=rows)
    assert Graph.from_file(path, nodes=graph.node_ids, **policy(graph)) == graph
    alone = Graph.of(path, **policy(graph))
    assert alone == graph.subgraph(alone.node_ids.tolist())  # a string stays a string
    assert alone.node_ids.tolist() == in_natural_order(alone.node_ids.tolist())
