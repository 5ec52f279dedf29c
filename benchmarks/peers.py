"""Runs one peer of the engine on a graph and prints its times as JSON; lives in ``.venv-bench``.

.venv-bench/bin/python benchmarks/peers.py gensim|pecanpy|fastnode2vec '{"graph": "g.npz", ...}'
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np


def walks_on(graph, n_walks: int, length: int, seed: int) -> np.ndarray:
    """Uniform random walks; a node without neighbours is repeated."""
    indptr, indices = graph["indptr"], graph["indices"]
    rng = np.random.default_rng(seed)
    walks = np.empty((n_walks, length), np.int64)
    walks[:, 0] = np.arange(n_walks) % (len(indptr) - 1)
    for j in range(1, length):
        at = walks[:, j - 1]
        degree = indptr[at + 1] - indptr[at]
        place = indptr[at] + (rng.random(n_walks) * degree).astype(np.int64)
        walks[:, j] = np.where(degree > 0, indices[np.minimum(place, len(indices) - 1)], at)
    return walks


def gensim(graph, job) -> dict:
    """Train on walks that are there already: the time is that of the updates alone."""
    from gensim.models import Word2Vec

    n = len(graph["indptr"]) - 1
    walks = [[str(node) for node in walk] for walk in walks_on(graph, job["n_walks"], job["q"], job["seed"]).tolist()]
    model = Word2Vec(
        vector_size=job["dimension"], window=job["window"], negative=job["negatives"], sg=1, min_count=0, sample=0,
        workers=1, seed=job["seed"] + 1, shrink_windows=False, ns_exponent=0.0,
    )  # fmt: skip
    model.build_vocab([[str(node) for node in range(n)], *walks])
    started = time.perf_counter()
    model.train(walks, total_examples=len(walks), epochs=1)
    seconds = time.perf_counter() - started
    if job.get("embedding"):
        np.save(job["embedding"], np.stack([model.wv[str(node)] for node in range(n)]).astype(np.float32))
    return {"seconds": seconds}


def pecanpy(graph, job) -> dict:
    """Walks and training, as its command line does them."""
    from gensim.models import Word2Vec
    from pecanpy import pecanpy
    from scipy.sparse import csr_matrix

    n = len(graph["indptr"]) - 1
    adjacency = csr_matrix((np.ones(len(graph["indices"]), np.float32), graph["indices"], graph["indptr"]), (n, n))
    source = pecanpy.SparseOTF(p=1, q=1, workers=1, verbose=False)
    source.set_node_ids([str(node) for node in range(n)])
    source.indptr, source.indices = adjacency.indptr.astype(np.uint32), adjacency.indices.astype(np.uint32)
    source.data = adjacency.data
    source.simulate_walks(1, 2)  # compile
    started = time.perf_counter()
    walks = source.simulate_walks(job["passes"], job["q"] - 1)
    Word2Vec(
        walks, vector_size=job["dimension"], window=job["window"], negative=job["negatives"], sg=1, min_count=0,
        sample=0, workers=1, seed=1, shrink_windows=False, ns_exponent=0.0, epochs=1,
    )  # fmt: skip
    return {"seconds": time.perf_counter() - started}


def fastnode2vec(graph, job) -> dict:
    from fastnode2vec import Graph, Node2Vec

    indptr, indices = graph["indptr"], graph["indices"]
    source = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    edges = [(i, j) for i, j in zip(source.tolist(), indices.tolist(), strict=True) if i < j]
    peer = Graph(edges, directed=False, weighted=False)
    model = Node2Vec(
        peer, dim=job["dimension"], walk_length=job["q"], window=job["window"], negative=job["negatives"], p=1.0, q=1.0,
        workers=1, seed=1, shrink_windows=False, ns_exponent=0.0, sample=0,
    )  # fmt: skip
    peer.generate_random_walk(2, 1.0, 1.0, edges[0][0])  # compile
    started = time.perf_counter()
    model.train(epochs=job["passes"], verbose=False)
    return {"seconds": time.perf_counter() - started}


if __name__ == "__main__":
    task = json.loads(sys.argv[2])
    with np.load(task["graph"]) as arrays:
        loaded = dict(arrays)
    print(json.dumps(globals()[sys.argv[1]](loaded, task)))
