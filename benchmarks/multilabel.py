"""Several labels per node by the protocol of DeepWalk, against one-vs-rest regression on gensim's embeddings.

    python benchmarks/multilabel.py [--nodes 1000] [--splits 2] [--only "GraphEmbedding;gensim"] [--missing]

Data: ``datasets.make_multilabel`` (overlapping groups, 39 labels, no features). Protocol: 10, 50 and 90 % of the nodes,
drawn at random, are labelled; all others are tested; the number of labels of each test node is known. All methods see
the same splits. gensim's word2vec runs in ``.venv-bench`` (see ``benchmarks/requirements.txt``), on walks of the same
number, length and window; the walks differ, as those of two seeds do. Its vectors get two classifiers: that of DeepWalk
(scikit-learn's logistic regression, C = 1, on the vectors as they are) and that of ``GraphEmbedding`` (rows of length
1, C = 30). Embeddings do not depend on labels, so they are learned once. Results are merged into
``benchmarks/results/multilabel.json`` after each method; ``scripts/update_docs.py`` writes the table.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import planetoid as pl
from planetoid.data.dataset import Dataset
from planetoid.data.scaling import scale_rows
from planetoid.evaluation.metrics import multi_label_f1
from planetoid.multi_label import indicator
from planetoid.training.logistic_regression import fit_logistic

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "multilabel.json"
PEER_PYTHON = HERE.parent / ".venv-bench" / "bin" / "python"
RATES = (0.1, 0.5, 0.9)
N_CLASSES, MEAN_DEGREE, WITHIN, DATA_SEED = 39, 40.0, 0.3, 7
WALKS = {  # walks per node, nodes per walk, window: those of Planetoid, and those of DeepWalk
    "20 walks, window 2": (20, 40, 2),
    "80 walks, window 10": (80, 40, 10),
}
DIMENSION, NEGATIVES = 128, 5


class Learned(pl.GraphEmbedding):
    """``GraphEmbedding`` whose embedding is learned once for all splits."""

    def _embed(self, data: Dataset) -> np.ndarray:
        if not hasattr(self, "kept"):
            self.kept = super()._embed(data)
        return self.kept


@cache
def gensim_vectors(data: Dataset, walks: str) -> np.ndarray:
    """Return gensim's embedding, learned once."""
    count, length, window = WALKS[walks]
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/graph.npz", indptr=data.graph.indptr, indices=data.graph.indices)
        job = {
            "graph": f"{folder}/graph.npz", "n_walks": count * data.n_nodes, "q": length, "window": window,
            "negatives": NEGATIVES, "dimension": DIMENSION, "seed": 0, "embedding": f"{folder}/vectors.npy",
        }  # fmt: skip
        subprocess.run([PEER_PYTHON, HERE / "peers.py", "gensim", json.dumps(job)], check=True, capture_output=True)
        return np.load(f"{folder}/vectors.npy")


def deepwalk_scores(vectors: np.ndarray, data: Dataset, train: np.ndarray) -> np.ndarray:
    """Return the scores of DeepWalk's classifier for all nodes."""
    classifier = OneVsRestClassifier(LogisticRegression(C=1.0, max_iter=1000))
    return classifier.fit(vectors[train], data.Y[train].astype(int)).predict_proba(vectors)


def our_scores(vectors: np.ndarray, data: Dataset, train: np.ndarray) -> np.ndarray:
    """Return the scores of the classifier of ``GraphEmbedding``."""
    rows = scale_rows(vectors, "l2")
    return fit_logistic(rows[train], data.Y[train], C=30.0).logits(rows)


def fitted_scores(model: pl.GraphEmbedding, data: Dataset, train: np.ndarray) -> np.ndarray:
    """Return the probabilities of one of planetoid's methods."""
    return model.fit(None, pl.mask_labels(data.Y, train), graph=data.graph).predict_proba()


def candidates(data: Dataset) -> dict:
    """Return what is measured: a function of the training rows by name, made when it is needed."""

    def gensim(walks: str, scores):
        def make():
            vectors = gensim_vectors(data, walks)
            return lambda train, seed: scores(vectors, data, train)

        return make

    def embedding(walks: str, negatives: str):
        def make():
            count, length, window = WALKS[walks]
            contexts = pl.Contexts(r1=1 / (1 + NEGATIVES), r2=1.0, q=length, d=window + 1)
            model = Learned(
                dimension=DIMENSION, contexts=contexts, pretrain=count, negatives=negatives, calibrate=False
            )
            return lambda train, seed: fitted_scores(model, data, train)

        return make

    def planetoid_g():
        count, length, window = WALKS["20 walks, window 2"]
        return lambda train, seed: fitted_scores(
            pl.PlanetoidG(
                dimension=DIMENSION,
                contexts=pl.Contexts(q=length, d=window + 1),
                network=pl.Network(k=0, l=0, dropout=0.0, auxiliary_losses=False),
                training=pl.Training(pretrain=count, steps=200, learning_rate=0.05, embedding_learning_rate=0.1),
                random_state=seed,
            ),
            data,
            train,
        )

    found = {
        "Planetoid": lambda: lambda train, seed: fitted_scores(pl.Planetoid(random_state=seed), data, train),
        "PlanetoidG, 20 walks, window 2": planetoid_g,
        "LabelPropagation": lambda: lambda train, seed: fitted_scores(pl.LabelPropagation(), data, train),
    }
    for walks in WALKS:
        found[f"GraphEmbedding, {walks}"] = embedding(walks, "own")
        found[f"gensim, {walks}; DeepWalk's classifier"] = gensim(walks, deepwalk_scores)
        found[f"gensim, {walks}; classifier of GraphEmbedding"] = gensim(walks, our_scores)
    return found


def measure(make, data: Dataset, n_splits: int) -> dict:
    """Return mean and standard deviation of micro and macro F1 in per cent, by the share of labelled nodes."""
    started = time.perf_counter()
    score = make()
    entry: dict = {"learning_seconds": round(time.perf_counter() - started, 1)}
    for rate in RATES:
        values = []
        for seed in range(n_splits):
            split = data.split("rate", rate=rate, seed=seed)
            truth = data.Y[split.test]
            scores = score(split.train, seed)[split.test]
            values.append(multi_label_f1(truth, indicator(scores, 0.0, np.diff(truth.indptr))))
        mean, deviation = 100 * np.mean(values, axis=0), 100 * np.std(values, axis=0, ddof=1)
        runs = np.round(100 * np.transpose(values), 2).tolist()
        entry[f"{rate:g}"] = {
            name: {"mean": round(float(mean[k]), 2), "std": round(float(deviation[k]), 2), "runs": runs[k]}
            for k, name in enumerate(("micro_f1", "macro_f1"))
        }
    entry["splits"] = n_splits
    return entry | {"seconds": round(time.perf_counter() - started, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--only", default="", help="part of the name, or several, separated by ;")
    parser.add_argument("--missing", action="store_true", help="continue: only what has no result yet")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    data = pl.datasets.make_multilabel(options.nodes, N_CLASSES, mean_degree=MEAN_DEGREE, within=WITHIN, seed=DATA_SEED)
    report = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"methods": {}}
    report |= {
        "data": f"{data.n_nodes:,} nodes, {data.graph.n_edges:,} edges, {N_CLASSES} labels, "
        f"{data.Y.nnz / data.n_nodes:.2f} per node",
        "protocol": "random share of labelled nodes, number of labels of each test node known; mean and standard "
        "deviation over the first of the same splits",
        "rates": list(RATES),
    }
    for name, make in candidates(data).items():
        if not any(part in name for part in options.only.split(";")) or (options.missing and name in report["methods"]):
            continue
        report["methods"][name] = measure(make, data, options.splits)
        print(name, report["methods"][name], flush=True)
        RESULTS.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
