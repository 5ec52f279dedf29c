"""How methods do on data of kinds that are neither citation networks nor like them.

    python benchmarks/unusual.py [--splits 5] [--first 100] [--kinds heterophily-words,...] [--methods planetoid,...]

All data are generated; every kind has a reason why a method that expects a citation network might fail on it:

- ``heterophily-*``: most edges lead to another class, which depends on the own one (a ring of classes, pairs of
  classes), with words, dense columns, or features that say little by themselves;
- ``half-featureless``: half of the nodes have no features;
- ``counts``: the classes differ in the total of a row as much as in its direction;
- ``rare-*``: three classes of 5 % of the nodes and one of 85 %, with labels of each class or labels at random;
- ``xor``: two columns whose product tells the class; ``one-column``: one column of 30 tells it;
- ``moons``: two moons in a plane; the last three with a graph and without one.

Counted is the accuracy in per cent, macro F1 for rare classes, and the expected calibration error of each method; 20
labels per class unless ``--per-class`` says otherwise. Splits from number 100 on did not choose any default. Kinds that
are not asked for keep their results, of the same number of splits. Results: ``benchmarks/results/unusual.json``.
"""

from __future__ import annotations

import argparse
import json
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.metrics import f1_score

import planetoid as pl
from planetoid.evaluation.metrics import expected_calibration_error

RESULTS = Path(__file__).resolve().parent / "results" / "unusual.json"
COMPARED = ("planetoid", "gcn", "ssgc", "lp", "feat")
N_NODES = 2_000


class Made(NamedTuple):
    """Generated data."""

    graph: pl.Graph | None
    X: object
    truth: np.ndarray
    at_random: bool = False  # whether labels are a random sample of all nodes


def joined(rng, truth, odds, degree: float = 6.0) -> pl.Graph:
    """Return a graph whose edges lead from class a to class b with the probability odds[a, b]."""
    n, (n_classes, _) = len(truth), odds.shape
    members = [np.flatnonzero(truth == k) for k in range(n_classes)]
    source = rng.integers(0, n, int(n * degree / 2))
    chances = odds / odds.sum(axis=1, keepdims=True)
    of_target = (rng.random(len(source))[:, None] > chances[truth[source]].cumsum(axis=1)).sum(axis=1)
    target = np.array([rng.choice(members[k]) for k in np.minimum(of_target, n_classes - 1)])
    kept = source != target
    matrix = sparse.coo_array((np.ones(kept.sum()), (source[kept], target[kept])), shape=(n, n))
    matrix = sparse.csr_array(((matrix + matrix.T) > 0).astype(np.float32))
    return pl.Graph.from_scipy(matrix)


def ring(n_classes: int, share: float) -> np.ndarray:
    """Return the odds of edges to the next class; the rest leads anywhere."""
    return share * np.roll(np.eye(n_classes), 1, axis=1) + (1 - share) / n_classes


def homophilous(n_classes: int, share: float = 0.6) -> np.ndarray:
    return share * np.eye(n_classes) + (1 - share) / n_classes


def words(rng, truth, strength: float, n_words: int = 800, length: float = 20.0) -> sparse.csr_array:
    common = rng.dirichlet(np.full(n_words, 0.1))
    topics = rng.dirichlet(np.full(n_words, 0.02), int(truth.max()) + 1)
    rows, columns = [], []
    for k, topic in enumerate(topics):
        members = np.flatnonzero(truth == k)
        count = rng.poisson(length, len(members))
        chances = (1 - strength) * common + strength * topic
        rows.append(np.repeat(members, count))
        columns.append(rng.choice(n_words, count.sum(), p=chances / chances.sum()))
    row, column = np.concatenate(rows), np.concatenate(columns)
    X = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(len(truth), n_words), dtype=np.float32)
    X.data[:] = 1.0
    return X


def columns(rng, truth, strength: float, n_columns: int = 60) -> np.ndarray:
    centres = rng.normal(size=(int(truth.max()) + 1, n_columns))
    return (strength * centres[truth] + rng.normal(size=(len(truth), n_columns))).astype(np.float32)


def heterophily_words(rng) -> Made:
    truth = rng.integers(0, 5, N_NODES)
    return Made(joined(rng, truth, ring(5, 0.8)), words(rng, truth, 0.15), truth)


def heterophily_columns(rng) -> Made:
    truth = rng.integers(0, 5, N_NODES)
    return Made(joined(rng, truth, ring(5, 0.8), 10), columns(rng, truth, 0.15), truth)


def heterophily_pairs(rng) -> Made:
    truth = rng.integers(0, 4, N_NODES)
    odds = 0.9 * np.eye(4)[[1, 0, 3, 2]] + 0.1 / 4
    return Made(joined(rng, truth, odds, 8), columns(rng, truth, 0.2), truth)


def heterophily_weak(rng) -> Made:
    """Neighbours of the own class are rarest, nothing else: the weakest kind of heterophily."""
    truth = rng.integers(0, 5, N_NODES)
    return Made(joined(rng, truth, 1.05 - np.eye(5), 10), columns(rng, truth, 0.2), truth)


def half_featureless(rng) -> Made:
    truth = rng.integers(0, 5, N_NODES)
    X = words(rng, truth, 0.5).toarray()
    X[rng.random(N_NODES) < 0.5] = 0.0
    return Made(joined(rng, truth, homophilous(5, 0.4), 4), sparse.csr_array(X), truth)


def counts(rng) -> Made:
    truth = rng.integers(0, 4, N_NODES)
    n_words = 200
    topics = rng.dirichlet(np.full(n_words, 0.5), 2)
    chances = 0.5 * topics[truth % 2] + 0.5 / n_words
    total = np.where(truth < 2, 10, 30)
    X = rng.poisson(chances * total[:, None]).astype(np.float32)
    return Made(joined(rng, truth, homophilous(4, 0.5), 4), sparse.csr_array(X), truth)


def counts_dense(rng) -> Made:
    made = counts(rng)
    return made._replace(X=made.X.toarray()[:, :60])


def _rare(rng) -> np.ndarray:
    return rng.choice(4, N_NODES, p=[0.85, 0.05, 0.05, 0.05])


def rare_equal(rng) -> Made:
    truth = _rare(rng)
    return Made(joined(rng, truth, homophilous(4), 5), words(rng, truth, 0.25), truth)


def rare_random(rng) -> Made:
    return rare_equal(rng)._replace(at_random=True)


def xor(rng) -> Made:
    X = rng.normal(size=(N_NODES, 2)).astype(np.float32)
    truth = (X[:, 0] * X[:, 1] > 0).astype(int)
    return Made(joined(rng, truth, homophilous(2, 0.5), 5), X, truth)


def xor_alone(rng) -> Made:
    return xor(rng)._replace(graph=None)


def one_column(rng) -> Made:
    truth = rng.integers(0, 3, N_NODES)
    X = rng.normal(size=(N_NODES, 30)).astype(np.float32)
    X[:, 7] += 3 * truth
    return Made(joined(rng, truth, homophilous(3, 0.3), 4), X, truth)


def one_column_alone(rng) -> Made:
    return one_column(rng)._replace(graph=None)


def moons(rng) -> Made:
    X, truth = make_moons(N_NODES, noise=0.15, random_state=int(rng.integers(2**31)))
    return Made(joined(rng, truth, homophilous(2, 0.3), 4), X.astype(np.float32), truth)


def moons_alone(rng) -> Made:
    return moons(rng)._replace(graph=None)


def heterophily_no_features(rng) -> Made:
    """Edges lead to the next class of a ring, and there are no features: neighbours of neighbours are alike."""
    truth = rng.integers(0, 5, N_NODES)
    return Made(joined(rng, truth, ring(5, 0.9), 12), None, truth)


KINDS = {
    name.__name__.replace("_", "-"): name
    for name in (
        heterophily_words, heterophily_columns, heterophily_pairs, heterophily_weak, heterophily_no_features,
        half_featureless, counts, counts_dense, rare_equal, rare_random, xor, xor_alone, one_column, one_column_alone,
        moons, moons_alone,
    )
}  # fmt: skip


def labels(made: Made, per_class: int, rng) -> tuple[np.ndarray, np.ndarray]:
    """Return labelled and test nodes."""
    order, truth = rng.permutation(len(made.truth)), made.truth
    train = np.concatenate([order[truth[order] == k][:per_class] for k in np.unique(truth)])
    if made.at_random:
        train = order[: len(train)]
    return train, np.setdiff1d(order, train)


def one(task: tuple[str, int, int, tuple[str, ...]]) -> dict:
    kind, number, per_class, methods = task
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([number, sorted(KINDS).index(kind)])
    made = KINDS[kind](rng)
    train, test = labels(made, per_class, rng)
    y, truth = pl.mask_labels(made.truth, train), made.truth[test]
    found: dict = {"kind": kind, "split": number}
    for name in methods:
        model = pl.METHODS[name]()
        X = made.X if model.uses_features != "never" else None
        graph = made.graph if model.uses_graph != "never" else None
        if (model.uses_features == "required" and X is None) or (model.uses_graph == "required" and graph is None):
            continue
        if "random_state" in model.get_params():
            model.set_params(random_state=number)
        model.fit(X, y, graph=graph)
        predicted = model.predict()[test]
        found[name] = {
            "accuracy": 100 * float((predicted == truth).mean()),
            "macro_f1": 100 * float(f1_score(truth, predicted, average="macro")),
            "calibration_error": float(expected_calibration_error(truth, model.predict_proba()[test], model.classes_)),
        }
        if name == "planetoid":
            found["view"] = model.view_
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--per-class", type=int, default=20)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--methods", default=",".join(COMPARED))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--dry", action="store_true", help="print, but do not store")
    options = parser.parse_args()
    kinds, methods = options.kinds.split(","), tuple(options.methods.split(","))
    numbers = range(options.first, options.first + options.splits)
    tasks = [(kind, number, options.per_class, methods) for kind in kinds for number in numbers]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = list(pool.map(one, tasks))
    table: dict = {}
    for kind in kinds:
        rows = [row for row in found if row["kind"] == kind]
        table[kind] = {
            name: {key: float(np.mean([row[name][key] for row in rows])) for key in rows[0][name]}
            for name in methods
            if name in rows[0]
        }
        shown = [f"{name} {row['accuracy']:5.1f}" for name, row in table[kind].items()]
        extra = ""
        if "planetoid" in table[kind]:
            own = table[kind]["planetoid"]
            views = ",".join(sorted({row["view"] for row in rows}))
            extra = f"  | F1 {own['macro_f1']:5.1f}  ECE {own['calibration_error']:5.3f}  {views}"
        print(f"{kind:24s} " + "  ".join(shown) + extra, flush=True)
    if options.dry:
        return
    stored = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    key = f"{options.per_class} labels per class"
    before = stored.get(key, {})
    if before.get("splits") == options.splits:
        table = {kind: table.get(kind) or before["kinds"].get(kind) for kind in KINDS}
    stored[key] = {"splits": options.splits, "kinds": {kind: found for kind, found in table.items() if found}}
    RESULTS.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
