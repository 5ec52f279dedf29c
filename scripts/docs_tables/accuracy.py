"""How accurate the methods are."""

from __future__ import annotations

from statistics import mean, stdev
from typing import Any

from docs_tables.common import DATA_SETS, RESULTS, Tables, as_table, by_name, method_titles, read_json

MOST_WITHOUT_AN_ERROR = 3  # splits, of which a standard error would say nothing
UNUSUAL_METHODS = ("planetoid", "gcn", "ssgc", "lp", "feat")


def baselines() -> str:
    """Accuracy, seconds and memory of every method on the citation networks."""
    found = read_json(RESULTS / "baselines.json")["methods"]
    rows = [
        [title, *(_cell(found[name].get(key)) for key in DATA_SETS)] for name, title in method_titles(found).items()
    ]
    return as_table(["method", *DATA_SETS.values()], rows)


def _cell(entry: dict[str, Any] | None) -> str:
    from planetoid.experiments.render import format_seconds

    if entry is None:
        return ""
    spread = f" ± {entry['std']:.1f}" if entry["seeds"] > 1 else ""
    return f"{entry['accuracy']:.1f}{spread} ({format_seconds(entry['seconds'])} s, {entry['peak_gb']:.2f} GB)"


def few_labels() -> str:
    """Accuracy with one, three and five labels per class."""
    found = read_json(RESULTS / "few_labels.json")
    counts = [str(count) for count in found["labels"]]
    heads = ["method", *(f"{title}: {count}" for title in DATA_SETS.values() for count in counts)]
    rows = [
        [title, *(_mean_and_error(found["methods"][name], key, count) for key in DATA_SETS for count in counts)]
        for name, title in method_titles(found["methods"]).items()
    ]
    left_out = "; ".join(f"`{name}` {why}" for name, why in found["left_out"].items())
    return f"{as_table(heads, rows)}\n({found['splits']} splits. Left out: {left_out}.)\n"


def _mean_and_error(entry: dict[str, Any], dataset: str, count: str) -> str:
    cell = (entry.get(dataset) or {}).get(count)
    return "" if cell is None else f"{cell['mean']:.1f} ± {cell['error']:.1f}"


def label_more() -> str:
    """Accuracy as labels are added, by how the nodes are chosen."""
    found = read_json(RESULTS / "label_more.json")
    rows = [
        [row["method"], row["choice"], *(f"{m:.1f} ± {e:.1f}" for m, e in zip(row["mean"], row["error"], strict=True))]
        for row in found["rows"]
    ]
    table = as_table(["method", "chosen", *(f"{count} labels" for count in found["labels"])], rows)
    return f"{table}\n({found['splits']} splits.)\n"


def multilabel() -> str:
    """Micro and macro F1 of several labels per node, by the share of labelled nodes."""
    found = read_json(RESULTS / "multilabel.json")
    rates = [f"{rate:g}" for rate in found["rates"]]
    rows = [
        [name.replace("; ", ", "), str(row["splits"])]
        + [
            f"{row[rate][score]['mean']:.1f} ± {row[rate][score]['std']:.1f}"
            for score in ("micro_f1", "macro_f1")
            for rate in rates
        ]
        for name, row in found["methods"].items()
    ]
    shares = [f"{float(rate):.0%}" for rate in rates]
    titles = [f"{score} F1, {one}" for score in ("micro", "macro") for one in shares]
    return f"{as_table(['method', 'splits', *titles], rows)}\n({found['data']}; {found['protocol']}.)\n"


def above_deepwalk() -> str:
    """By how many points of micro F1 methods are above DeepWalk's classifier on gensim's vectors, split by split."""
    found = read_json(RESULTS / "multilabel.json")
    rates = [f"{rate:g}" for rate in found["rates"]]
    rows = []
    for peer, theirs in found["methods"].items():
        if not peer.endswith("DeepWalk's classifier"):
            continue
        walks = peer.removeprefix("gensim, ").partition(";")[0]
        for name, row in found["methods"].items():
            if name.startswith("gensim") or ("walks" in name and walks not in name):
                continue
            n = min(row["splits"], theirs["splits"])
            if n > MOST_WITHOUT_AN_ERROR and "runs" in row[rates[0]]["micro_f1"]:
                pairs = [[entry[rate]["micro_f1"]["runs"][:n] for entry in (row, theirs)] for rate in rates]
                rows.append([name.partition(",")[0], walks, str(n), *(_difference(*pair) for pair in pairs)])
    return as_table(["method", "gensim's vectors", "splits", *(f"{float(rate):.0%}" for rate in rates)], rows)


def _difference(ours: list[float], theirs: list[float]) -> str:
    """Return the mean difference of pairs and its standard error."""
    differences = [one - other for one, other in zip(ours, theirs, strict=True)]
    return f"{round(mean(differences), 1) + 0.0:+.1f} ± {_error(differences):.1f}"


def demo() -> str:
    """The results of ``planetoid demo`` (``benchmarks/results/demo.json``), best first."""
    from planetoid.evaluation import Spread, what_it_uses
    from planetoid.registry import METHODS

    found = sorted(read_json(RESULTS / "demo.json")["summary"], key=lambda row: -row["metrics"]["accuracy"]["mean"])
    rows = [
        [
            f"`{METHODS[row['method']].__name__}`",
            what_it_uses(row["method"]),
            Spread(**row["metrics"]["accuracy"]).percent(),
        ]
        for row in found
    ]
    return as_table(["method", "learns from", "accuracy"], rows)


def beyond() -> str:
    """Planetoid on the public splits in several settings."""
    found = read_json(RESULTS / "beyond.json")["public"]
    settings = [key for key in next(iter(found.values())) if key != "seconds"]

    def cell(of_data: dict, setting: str) -> str:
        return "{:.1f} ± {:.1f}".format(*of_data[setting]) if setting in of_data else ""

    rows = [[setting, *(cell(of_data, setting) for of_data in found.values())] for setting in settings]
    return as_table(["", *(DATA_SETS.get(name, name.replace("nell-", "NELL ")) for name in found)], rows)


def ablation() -> str:
    """What each part of Planetoid is worth: accuracies of the whole, and paired differences from it."""
    return _parts("ablation")


def spectrum() -> str:
    """What eigenvectors add to Planetoid without features."""
    return _parts("spectrum")


def _parts(name: str) -> str:
    (whole, accuracies), *others = read_json(RESULTS / "beyond.json")[name].items()
    rows = [[whole, *(f"{mean(values):.1f} ± {_error(values):.1f}" for values in accuracies.values())]]
    rows += [[part, *(_difference(values, accuracies[head]) for head, values in row.items())] for part, row in others]
    return as_table(["", *(DATA_SETS.get(head, head) for head in accuracies)], rows)


def _error(values: list[float]) -> float:
    return float(stdev(values) / len(values) ** 0.5)


def robustness() -> str:
    """Mean ranks and accuracies of methods over data of several kinds."""
    found = read_json(RESULTS / "robustness.json")["ranks"]
    kinds = list(found["accuracy"])
    ranks = sorted(found["mean rank"].items(), key=lambda entry: entry[1])
    rows = [
        [f"`{name}`", f"{rank:.1f}", *(f"{found['accuracy'][kind][name]:.1f}" for kind in kinds)]
        for name, rank in ranks
    ]
    return as_table(["method", "mean rank", *(DATA_SETS.get(kind, kind) for kind in kinds)], rows)


def communities() -> str:
    """Accuracy of methods on graphs of communities that are partly the classes."""
    found = read_json(RESULTS / "robustness.json")["communities"]
    methods = list(next(iter(found.values())))
    rows = [[f"`{method}`", *(f"{values[method]:.1f}" for values in found.values())] for method in methods]
    return as_table(["", *(name[0].upper() + name[1:] for name in found)], rows)


def unusual() -> str:
    """Accuracy of methods on generated data of kinds that are unlike citation networks."""
    found = read_json(RESULTS / "unusual.json")
    rows = []
    for labels, table in found.items():
        for kind, methods in table["kinds"].items():
            shown = [f"{methods[name]['accuracy']:.1f}" if name in methods else "" for name in UNUSUAL_METHODS]
            error = f"{methods['planetoid']['calibration_error']:.3f}"
            rows.append([kind.replace("-", " "), labels.split()[0], *shown, error])
    heads = ["data", "labels per class", *(f"`{name}`" for name in UNUSUAL_METHODS), "calibration error of `planetoid`"]
    return as_table(heads, rows)


def collapse() -> str:
    """How often Planetoid is far below the better of two simple methods."""
    kinds = {"equal numbers of labels": "collapse", "labels at random": "collapse, labels at random"}
    found = {kind: read_json(RESULTS / "robustness.json")[name] for kind, name in kinds.items()}
    one = next(iter(found.values()))
    rows = [
        [f"`{name}`, mean accuracy", *(f"{kind['accuracy'][name]:.1f}" for kind in found.values())]
        for name in one["accuracy"]
    ]
    below = (f"{kind['more than 3 points below']} of {kind['draws']}" for kind in found.values())
    rows.append(["more than 3 points below the better of `ssgc` and `lp`", *below])
    at_random = (f"{kind['edges at random, against feat']:+.1f} points" for kind in found.values())
    rows.append(["edges at random, against `feat`", *at_random])
    return as_table(["", *found], rows)


def real_graphs() -> str:
    """Accuracy of methods on real graphs other than the paper's."""
    found = read_json(RESULTS / "real_graphs.json")
    rows = []
    for name in next(iter(found.values()))["methods"]:
        values = [data["methods"][name]["accuracy"] for data in found.values() if name in data["methods"]]
        means = [sum(value) / len(value) for value in values]
        rows.append([f"`{name}`", *(f"{mean:.1f}" for mean in means), f"{sum(means) / len(means):.1f}"])
    facts = [
        [fact, *(_fact(data[fact]) for data in found.values()), ""]
        for fact in ("nodes", "edges", "features", "classes", "edge homophily")
    ]
    return as_table(["", *(name.split(",")[0] for name in found), "mean"], [*rows, *facts])


def _fact(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def planetoid_cost() -> str:
    """Time and memory of Planetoid."""
    found = read_json(RESULTS / "planetoid.json")
    rows = [
        [
            f"`fit` on {DATA_SETS[name]}, beside 200 epochs of a two-layer GCN",
            f"{one['Planetoid_s']:.1f} s beside {one['GCN_s']:.1f} s: {one['ratio']:.2f}x",
        ]
        for name, one in found["time"].items()
    ]
    slopes, sizes, student = found["growth"]["slopes"], found["growth"]["sizes"], found["student"]
    to = f"10,000 to {sizes[-1]['nodes']:,} nodes"
    rows += [
        [f"exponent of the time of training steps, {to}", f"{slopes['train']:.2f}"],
        [f"exponent of the time of predicting all nodes, {to}", f"{slopes['predict']:.2f}"],
        [f"peak memory, {sizes[-1]['nodes']:,} nodes", f"{sizes[-1]['peak_gb']:.1f} GB"],
        [
            "new rows by their features alone, beside a pass of a GCN over the graph (Pubmed, 100 rows at once)",
            f"{student['rows_per_s']['student']:,.0f} rows/s: {student['ratio']:.1f}x",
        ],
        ["the same beside a GCN on nothing but their two hops", f"{student['ratio_two_hops']:.1f}x"],
        [
            "NELL, rate 0.1: peak memory and time",
            f"{found['nell']['peak_gb']:.1f} GB, {found['nell']['seconds']:.0f} s",
        ],
    ]
    if "lists" in found:
        lists = found["lists"]
        rows.append(
            [
                f"lists of {lists['nodes']:,} nodes: peak memory and time",
                f"{lists['peak_gb']:.1f} GB, {lists['seconds']:.0f} s",
            ]
        )
    return as_table(["", ""], rows)


TABLES: Tables = by_name(
    baselines,
    few_labels,
    label_more,
    multilabel,
    above_deepwalk,
    demo,
    beyond,
    ablation,
    robustness,
    communities,
    spectrum,
    unusual,
    collapse,
    real_graphs,
    planetoid_cost,
)
