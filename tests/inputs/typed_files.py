"""Files with types: Parquet, Arrow, JSON, databases, arrays, and formats that are not read."""

import importlib.util
import json
import pickle
import sqlite3

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.io
from pyarrow import feather, parquet
from scipy import sparse
from tests.inputs.cases import case
from tests.inputs.people import PEOPLE
from tests.inputs.text_files import NODES, csv, edges


def table():
    return pa.Table.from_pandas(PEOPLE.nodes, preserve_index=False)


@case()
def parquet_with_types(folder):
    frame = PEOPLE.nodes.assign(
        joined=pd.to_datetime(PEOPLE.nodes.joined),
        member=PEOPLE.nodes.member == "yes",
        city=PEOPLE.nodes.city.astype("category"),
    )
    frame.to_parquet(folder / "n.parquet")
    return {"edges": edges(folder), "nodes": folder / "n.parquet", **NODES}


@case()
def parquet_with_ids_as_index(folder):
    PEOPLE.nodes.set_index("id").to_parquet(folder / "n.parquet")
    return {"edges": edges(folder), "nodes": folder / "n.parquet", **NODES}


@case()
def spark_folder(folder):
    parts = folder / "people"
    parts.mkdir(exist_ok=True)
    (parts / "_SUCCESS").write_text("")
    (parts / ".part-0.crc").write_bytes(b"crc")
    for number, start in enumerate(range(0, len(PEOPLE.nodes), 60)):
        parquet.write_table(table().slice(start, 60), parts / f"part-{number}.parquet")
    return {"edges": edges(folder), "nodes": parts, **NODES}


@case(sentence="ids must be integers or strings, not double; convert the column to integers or strings")
def ids_as_floats(folder, cured):
    frame = PEOPLE.nodes.assign(id=np.arange(len(PEOPLE.ids), dtype="int64" if cured else "float64"))
    frame.to_parquet(folder / "n.parquet", index=False)
    links = pd.DataFrame(PEOPLE.rows, columns=["source", "target"])
    return {"edges": csv(folder, links, "e.csv"), "nodes": folder / "n.parquet", **NODES}


@case()
def feather_files(folder):
    feather.write_feather(table(), folder / "n.feather")
    feather.write_feather(pa.Table.from_pandas(PEOPLE.edges), folder / "e.arrow")
    return {"edges": folder / "e.arrow", "nodes": folder / "n.feather", **NODES}


@case()
def arrow_stream_with_the_wrong_suffix(folder):
    with pa.OSFile(str(folder / "n.arrows"), "wb") as file, pa.ipc.new_stream(file, table().schema) as stream:
        stream.write_table(table())
    feather.write_feather(pa.Table.from_pandas(PEOPLE.edges), folder / "e.csv")
    return {"edges": folder / "e.csv", "nodes": folder / "n.arrows", **NODES}


@case()
def json_lines(folder):
    PEOPLE.nodes.to_json(folder / "n.jsonl", orient="records", lines=True)
    PEOPLE.edges.to_json(folder / "e.jsonl.gz", orient="records", lines=True)
    return {"edges": folder / "e.jsonl.gz", "nodes": folder / "n.jsonl", **NODES}


@case()
def json_lists_without_a_suffix(folder):
    PEOPLE.nodes.to_json(folder / "nodes", orient="records", indent=1)
    PEOPLE.edges.to_json(folder / "edges", orient="records")
    return {"edges": folder / "edges", "nodes": folder / "nodes", **NODES}


@case()
def json_objects_inside_of_objects(folder):
    lines = []
    for row in PEOPLE.nodes.to_dict("records"):
        plain = {name: None if pd.isna(value) else value for name, value in row.items()}
        person = {name: plain.pop(name) for name in ("age", "city")}
        lines.append(json.dumps({**plain, "person": person}))
    (folder / "n.jsonl").write_text("\n".join(lines) + "\n")
    return {"edges": edges(folder), "nodes": folder / "n.jsonl", **NODES}


@case()
def networkx_as_json(folder):
    graph = nx.Graph()
    for row in PEOPLE.nodes.to_dict("records"):
        graph.add_node(row.pop("id"), **{name: None if pd.isna(value) else value for name, value in row.items()})
    graph.add_edges_from(PEOPLE.edges.to_numpy().tolist())
    path = folder / "graph.json"
    path.write_text(json.dumps(nx.node_link_data(graph, edges="links")))
    return {"edges": path, "nodes": path, "id_column": "id", **NODES}


def graph_of_people():
    return nx.Graph(PEOPLE.edges.to_numpy().tolist())


@case(
    "graph",
    sentence="the file is a Python pickle, which is never loaded because it may run any code; load it where you",
)
def networkx_as_pickle(folder, cured):
    path = folder / "graph.gpickle"
    path.write_bytes(pickle.dumps(graph_of_people()))
    if cured:  # what the sentence says
        graph = pickle.loads(path.read_bytes())
        path = folder / "edges.csv"
        nx.to_pandas_edgelist(graph).to_csv(path, index=False)
    return {"edges": path, "labels": csv(folder, PEOPLE.labels, "l.csv")}


@case("graph", sentence="the file is an XML file, perhaps GraphML or GEXF; read it with networkx and save its edges")
def graphml(folder, cured):
    path = folder / "graph.graphml"
    nx.write_graphml(graph_of_people(), path)
    if cured:
        graph = nx.read_graphml(path)
        path = folder / "edges.csv"
        nx.to_pandas_edgelist(graph).to_csv(path, index=False)
    return {"edges": path, "labels": csv(folder, PEOPLE.labels, "l.csv")}


@case(sentence="the file is an HDF5 file; convert it to Parquet or CSV")
def hdf5(folder, cured):
    path = folder / "n.h5"
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(64))
    return {"edges": edges(folder), "nodes": csv(folder, PEOPLE.nodes, "n.csv") if cured else path, **NODES}


def database(folder):
    path = folder / "people.sqlite"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    PEOPLE.nodes.to_sql("people", connection, index=False)
    PEOPLE.edges.to_sql("follows", connection, index=False)
    connection.commit()
    return path, connection


@case(sentence="the database has tables follows, people; pass query=... to choose one by its name or with SQL")
def sqlite_with_two_tables(folder, cured):
    path, connection = database(folder)
    connection.close()
    query = {"edges": "SELECT target, source FROM follows", "nodes": "people"}
    return {"edges": path, "nodes": path, **NODES, **({"query": query} if cured else {})}


@case()
def database_connection(folder):
    _, connection = database(folder)
    query = {"edges": "follows", "nodes": "SELECT * FROM people ORDER BY city"}
    return {"edges": connection, "nodes": connection, "query": query, **NODES}


@case(sentence="reading a DuckDB database requires the package duckdb; install it with pip install duckdb, or export")
def duckdb_without_its_package(folder, cured):
    path = folder / "people.duckdb"
    path.write_bytes(bytes(8) + b"DUCK" + bytes(64))
    if cured or importlib.util.find_spec("duckdb") is not None:
        path = folder / "people.parquet"
        parquet.write_table(table(), path)
    return {"edges": edges(folder), "nodes": path, **NODES}


@case()
def frames_in_memory(folder):
    return {"edges": PEOPLE.edges, "nodes": PEOPLE.nodes.set_index("id"), **NODES}


class Capsule:
    """A table of a library that is known only by Arrow's PyCapsule interface, as Polars offers it."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self._data.__arrow_c_stream__(requested_schema)


@case()
def tables_of_any_library(folder):
    return {"edges": Capsule(pa.Table.from_pandas(PEOPLE.edges)), "nodes": Capsule(table()), **NODES}


# ---- vectors ---------------------------------------------------------------------------


def vector_frame(vectors):
    return PEOPLE.nodes[["id", "role"]].assign(vector=list(vectors))


@case("list")
def embeddings_in_a_list_column(folder):
    vector_frame(PEOPLE.vectors).to_parquet(folder / "n.parquet", index=False)
    return {"edges": edges(folder), "nodes": folder / "n.parquet", **NODES}


@case("list")
def embeddings_as_text(folder):
    printed = [np.array2string(vector, max_line_width=40) for vector in PEOPLE.vectors.astype(np.float64)]
    nodes = csv(folder, vector_frame([text.replace("\n", "") for text in printed]), "n.csv")
    return {"edges": edges(folder), "nodes": nodes, **NODES}


@case("vectors")
def embeddings_as_embed_writes_them(folder):
    np.savez(folder / "embedding.npz", ids=np.array(PEOPLE.ids), embedding=PEOPLE.vectors)
    labels = csv(folder, PEOPLE.labels, "l.csv")
    return {"edges": edges(folder), "features": folder / "embedding.npz", "labels": labels}


@case("vectors")
def arrays_of_numpy(folder):
    np.save(folder / "x.npy", PEOPLE.vectors)
    np.save(folder / "edge_index.npy", PEOPLE.rows.T)
    np.save(folder / "y.npy", pd.Categorical(PEOPLE.nodes.role).codes)
    return {"edges": folder / "edge_index.npy", "features": folder / "x.npy", "labels": folder / "y.npy"}


def adjacency():
    source, target = PEOPLE.rows.T
    return sparse.csr_array((np.ones(len(source)), (source, target)), shape=(len(PEOPLE.ids),) * 2)


@case("vectors")
def matlab_file(folder):
    codes = pd.Categorical(PEOPLE.nodes.role).codes[:, None].astype(float)
    path = folder / "people.mat"
    scipy.io.savemat(path, {"network": adjacency().tocsc(), "attrb": PEOPLE.vectors, "group": codes})
    return {"edges": path, "features": path, "labels": path}


@case(
    "vectors", sentence="the file contains Python objects, which are never loaded; save arrays of numbers or of strings"
)
def arrays_of_objects(folder, cured):
    sparse.save_npz(folder / "a.npz", adjacency())
    np.save(folder / "x.npy", PEOPLE.vectors)
    codes = pd.Categorical(PEOPLE.nodes.role).codes
    np.save(folder / "y.npy", codes if cured else codes.astype(object), allow_pickle=True)
    return {"edges": folder / "a.npz", "features": folder / "x.npy", "labels": folder / "y.npy"}
