"""How a method does on data of many kinds: made graphs and random splits of the citation networks.

    python benchmarks/robustness.py [--draws 200] [--first 200] [--method planetoid] [--jobs 1] [--labels-at-random]
    python benchmarks/robustness.py --ranks [--splits 5]
    python benchmarks/robustness.py --communities [--splits 3]

A draw is a made graph (three of four draws) or a random split of Cora, Citeseer or Pubmed without the public test
nodes, with 1 to 50 labels per class. Made graphs differ in size, classes and their balance, degree and its tail,
homophily (down to edges at random), weights, sub-communities, and features: words, dense or binary columns, or noise.
With ``--labels-at-random`` as many labels are drawn from all nodes together, so that frequent classes have more of them
and rare ones few or none. Counted is how often the method is more than 3 points below the better of ``ssgc`` and
``lp``, and by how much it is below ``feat`` where edges are at random. ``--ranks`` compares all quick methods on the
citation networks and five kinds of made graphs. ``--communities`` replaces the edges of Cora and Citeseer by those of
dense groups of 15 or 30 nodes, of which a share has been put together by class. Results:
``benchmarks/results/robustness.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from scipy import sparse

import planetoid as pl

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "robustness.json"
ROOT = os.environ.get("PLANETOID_DATA") or str(HERE.parent.parent / "shared" / "data")
CITATION = ("cora", "citeseer", "pubmed")
LABELS = (1, 2, 3, 5, 10, 20, 50)
KINDS = {
    "words": {"features": "words", "homophily": 0.8, "degree": 4, "n_classes": 7, "strength": 1.5},
    "dense columns": {"features": "dense", "homophily": 0.7, "degree": 20, "n_classes": 10, "strength": 1.0},
    "noise instead of features": {"features": "noise", "homophily": 0.8, "degree": 8, "n_classes": 5},
    "edges at random": {"features": "dense", "homophily": 0.0, "degree": 8, "n_classes": 4, "strength": 2.0},
    "many classes, weights": {"features": "words", "homophily": 0.8, "degree": 8, "n_classes": 30, "weighted": True},
}
SHARES = (0.3, 0.5, 0.7, 0.9)  # of the nodes that are in a group of their class
IN_GROUPS = ("planetoid", "ssgc", "gcn", "lp", "feat")
RANKED = ("planetoid", "gcn", "ssgc", "planetoid-i", "planetoid-t", "ica", "lp", "lgc", "poisson", "graphemb", "feat")


def made(seed: int, **fixed) -> tuple[pl.Graph, object, np.ndarray, int, dict]:
    """Return a graph, features, classes, labels per class, and what it was made with."""
    rng = np.random.default_rng(seed)
    knobs = {
        "n": int(rng.integers(1000, 4000)),
        "n_classes": int(rng.choice([2, 3, 5, 7, 10, 20, 40])),
        "degree": float(rng.choice([2, 4, 8, 20, 40])),
        "homophily": float(rng.choice([0.0, 0.3, 0.6, 0.7, 0.8, 0.9])),
        "features": str(rng.choice(["words", "words", "dense", "noise", "binary"])),
        "strength": float(rng.uniform(0.5, 2)),
        "tail": float(rng.choice([0.0, 0.8, 1.2])),
        "balance": float(rng.choice([100.0, 5.0, 2.0])),
        "weighted": bool(rng.random() < 0.25),
        "parts": int(rng.choice([1, 1, 3])),
    } | fixed
    n, n_classes, parts = knobs["n"], knobs["n_classes"], knobs["parts"]
    prior = np.maximum(rng.dirichlet(np.full(n_classes, knobs["balance"])), 0.3 / n_classes)
    truth = rng.choice(n_classes, n, p=prior / prior.sum())
    community = truth * parts + rng.integers(0, parts, n)
    graph = _edges(rng, truth, community, knobs)
    X = _words(rng, community, knobs) if knobs["features"] in ("words", "noise") else _columns(rng, community, knobs)
    return graph, X, truth, int(rng.choice(LABELS)), knobs


def _edges(rng, truth, community, knobs) -> pl.Graph:
    n = len(truth)
    pull = np.minimum((1 - rng.random(n)) ** (-knobs["tail"] / 2), 50)
    m = int(n * knobs["degree"] / 2)
    source, target = rng.choice(n, (2, m), p=pull / pull.sum())
    same, near = rng.random(m) < knobs["homophily"], rng.random(m) < 0.8
    for groups, chosen in ((community, same & near), (truth, same & ~near)):
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            at = np.flatnonzero(chosen & (groups[source] == group))
            target[at] = rng.choice(members, len(at), p=pull[members] / pull[members].sum())
    weight = rng.gamma(1, 1, m) * np.where(same, 3.0, 1.0) + 0.05 if knobs["weighted"] else np.ones(m)
    kept = source != target
    matrix = sparse.coo_array((weight[kept], (source[kept], target[kept])), shape=(n, n))
    matrix = sparse.csr_array(matrix + matrix.T)
    if not knobs["weighted"]:
        matrix.data[:] = 1.0
    return pl.Graph.from_scipy(matrix)


def _words(rng, community, knobs):
    n, parts = len(community), knobs["parts"]
    n_words = int(rng.choice([300, 1000, 3000]))
    common = rng.dirichlet(np.full(n_words, 0.1))
    of_part = rng.dirichlet(np.full(n_words, 0.02), knobs["n_classes"] * parts)
    of_class = rng.dirichlet(np.full(n_words, 0.02), knobs["n_classes"])
    length, share = rng.poisson(rng.choice([5, 15, 40]), n), 0.12 * knobs["strength"]
    rows, columns = [], []
    for group in np.unique(community):
        members = np.flatnonzero(community == group)
        topic = 0.3 * of_class[group // parts] + 0.7 * of_part[group]
        chances = (1 - share) * common + share * topic
        rows.append(np.repeat(members, length[members]))
        columns.append(rng.choice(n_words, length[members].sum(), p=chances / chances.sum()))
    row = np.concatenate(rows)
    if knobs["features"] == "noise":
        row = rng.permutation(n)[row]
    X = sparse.csr_array((np.ones(len(row)), (row, np.concatenate(columns))), shape=(n, n_words), dtype=np.float32)
    X.data[:] = 1.0
    return X


def _columns(rng, community, knobs):
    n, parts = len(community), knobs["parts"]
    n_columns = int(rng.choice([30, 100, 300]))
    of_part = rng.normal(size=(knobs["n_classes"] * parts, n_columns)) * 0.6
    of_class = rng.normal(size=(knobs["n_classes"], n_columns)) * 0.6
    centre = of_part + of_class[np.arange(len(of_part)) // parts]
    X = centre[community] * knobs["strength"] * 0.35 * np.sqrt(30 / n_columns) + rng.normal(size=(n, n_columns))
    if knobs["features"] == "binary":
        return sparse.csr_array(X > 1.0, dtype=np.float32)
    return (X * rng.gamma(2, 1, n_columns) + rng.normal(size=n_columns)).astype(np.float32)


def split(truth, per_class: int, seed: int, allowed=None, n_test: int = 1000, *, at_random: bool = False):
    """Return labelled and test nodes."""
    order = np.random.default_rng(seed).permutation(np.arange(len(truth)) if allowed is None else allowed)
    train = np.concatenate([order[truth[order] == k][:per_class] for k in np.unique(truth[truth >= 0])])
    if at_random:
        other = int((truth[order] != truth[order[0]]).argmax())  # the first of a second class
        train = order[: max(len(train), other + 1)]
    return train, np.setdiff1d(order, train, assume_unique=True)[:n_test]


def drawn(number: int, at_random: bool):
    """Return the data of one draw, its labelled and test nodes, and a description."""
    if number % 4 != 3:
        graph, X, truth, per_class, knobs = made(number)
        return (
            graph,
            X,
            truth,
            *split(truth, per_class, number, at_random=at_random),
            {"labels per class": per_class} | knobs,
        )
    name = CITATION[number // 4 % 3]
    data = pl.datasets.load(name, root=ROOT)
    per_class = LABELS[number // 12 % len(LABELS)]
    allowed = np.setdiff1d(np.flatnonzero(data.y >= 0), data.split("public").test)
    parts = split(np.asarray(data.y), per_class, number, allowed, at_random=at_random)
    return data.graph, data.X, np.asarray(data.y), *parts, {"labels per class": per_class, "data": name}


def accuracies(methods, graph, X, truth, train, test, seed: int) -> dict[str, float]:
    """Return the test accuracy of each method, in per cent."""
    y = pl.mask_labels(truth, train)
    found = {}
    for name in methods:
        model = pl.METHODS[name]()
        if "random_state" in model.get_params():
            model.set_params(random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(
                X if model.uses_features != "never" else None,
                y,
                graph=graph if model.uses_graph != "never" else None,
            )
        found[name] = 100 * float((model.predict()[test] == truth[test]).mean())
    return found


def one_draw(task: tuple[int, str, bool]) -> dict:
    number, method, at_random = task
    graph, X, truth, train, test, about = drawn(number, at_random)
    return {"draw": number} | about | accuracies((method, "ssgc", "lp", "feat"), graph, X, truth, train, test, number)


def one_rank(task: tuple[str, int]) -> dict:
    name, seed = task
    if name in KINDS:
        graph, X, truth, _, _ = made(seed, n=2500, **KINDS[name])
        parts = split(truth, 20, seed)
    else:
        data = pl.datasets.load(name, root=ROOT)
        graph, X, truth = data.graph, data.X, np.asarray(data.y)
        allowed = np.setdiff1d(np.flatnonzero(truth >= 0), data.split("public").test)
        parts = split(truth, 20, seed, allowed)
    return {"data": name} | accuracies(RANKED, graph, X, truth, *parts, seed)


def groups(truth: np.ndarray, share: float, size: int, seed: int) -> pl.Graph:
    """Return a graph of groups of nodes; a share of the nodes is in a group of their class, the others in any."""
    rng = np.random.default_rng(seed)
    n = len(truth)
    place = np.where(rng.random(n) < share, truth + rng.random(n), (truth.max() + 1) * rng.random(n))
    group = np.argsort(np.argsort(place)) // size
    source = np.repeat(np.arange(n), size // 3)
    members = np.argsort(group, kind="stable")
    first, count = np.searchsorted(group[members], group[source]), np.bincount(group)[group[source]]
    target = members[first + (rng.random(len(source)) * count).astype(int)]
    matrix = sparse.coo_array((np.ones(len(source)), (source, target)), shape=(n, n))
    matrix = sparse.csr_array(((matrix + matrix.T) > 0).astype(np.float32))
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    return pl.Graph.from_scipy(matrix)


def one_community(task: tuple[str, float, int, int]) -> dict:
    name, share, size, seed = task
    data = pl.datasets.load(name, root=ROOT)
    truth = np.asarray(data.y)
    allowed = np.setdiff1d(np.flatnonzero(truth >= 0), data.split("public").test)
    graph = groups(truth, share, size, seed)
    about = {"data": name, "share": share, "size": size}
    return about | accuracies(IN_GROUPS, graph, data.X, truth, *split(truth, 20, seed, allowed), seed)


def collapse(found: list[dict], method: str) -> dict:
    below = np.array([row[method] - max(row["ssgc"], row["lp"]) for row in found])
    at_random = np.array([row[method] - row["feat"] for row in found if row.get("homophily") == 0.0])
    return {
        "draws": len(found),
        "more than 3 points below": int((below < -3).sum()),
        "mean difference": float(below.mean()),
        "accuracy": {name: float(np.mean([row[name] for row in found])) for name in (method, "ssgc", "lp", "feat")},
        "edges at random, against feat": float(at_random.mean()) if len(at_random) else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--first", type=int, default=200, help="number of the first draw; 0 to 199 chose defaults")
    parser.add_argument("--method", default="planetoid")
    parser.add_argument("--labels-at-random", action="store_true")
    parser.add_argument("--ranks", action="store_true")
    parser.add_argument("--communities", action="store_true")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    stored = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.ranks:
            tasks = [(name, seed) for name in (*CITATION, *KINDS) for seed in range(options.splits)]
            found = list(pool.map(one_rank, tasks))
            table = np.array([[row[method] for method in RANKED] for row in found])
            ranks = (-table).argsort(axis=1).argsort(axis=1) + 1
            by_data = {
                name: {
                    method: float(np.mean([row[method] for row in found if row["data"] == name])) for method in RANKED
                }
                for name in (*CITATION, *KINDS)
            }
            stored["ranks"] = {
                "mean rank": dict(zip(RANKED, ranks.mean(axis=0).tolist(), strict=True)),
                "accuracy": by_data,
                "splits": options.splits,
            }
            for method, rank in sorted(stored["ranks"]["mean rank"].items(), key=lambda entry: entry[1]):
                print(
                    f"{method:14s} mean rank {rank:5.2f}   " + "  ".join(f"{by_data[d][method]:5.1f}" for d in by_data)
                )
        elif options.communities:
            sizes, seeds = (15, 30), range(100, 100 + options.splits)
            tasks = [
                (n, share, size, seed) for n in CITATION[:2] for share in SHARES for size in sizes for seed in seeds
            ]
            found = list(pool.map(one_community, tasks))
            stored["communities"] = {
                f"{name}, {100 * share:.0f} %": {
                    method: float(np.mean([r[method] for r in found if (r["data"], r["share"]) == (name, share)]))
                    for method in IN_GROUPS
                }
                for name in CITATION[:2]
                for share in SHARES
            }
            print(json.dumps(stored["communities"], indent=1))
        else:
            found = list(
                pool.map(
                    one_draw,
                    [
                        (options.first + number, options.method, options.labels_at_random)
                        for number in range(options.draws)
                    ],
                )
            )
            name = "collapse, labels at random" if options.labels_at_random else "collapse"
            stored[name] = collapse(found, options.method) | {"first": options.first}
            worst = sorted(found, key=lambda row: row[options.method] - max(row["ssgc"], row["lp"]))[:15]
            for row in worst:
                print({key: round(value, 1) if isinstance(value, float) else value for key, value in row.items()})
            print(json.dumps(stored[name], indent=1))
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    RESULTS.write_text(json.dumps(before | stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
