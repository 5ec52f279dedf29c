"""Write measured figures and lists of methods into the documents: ``python scripts/update_docs.py [--check]``.

A table between ``<!-- measured: NAME -->`` and ``<!-- end -->`` is made from a file of
results that a benchmark wrote, one after ``<!-- generated: NAME -->`` from the registry of
methods; ``TABLES`` has the functions. The imports of all methods for type checkers, in
``planetoid/__init__.py``, are written too. With ``--check`` nothing is written, and the exit
code is 1 if a file is out of date. A table without its results is left unchanged.
"""

from __future__ import annotations

import inspect
import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
REPRODUCED = ROOT / "docs" / "results"
PACKAGE = ROOT / "src" / "planetoid" / "__init__.py"
MARKED = re.compile(r"(<!-- (?:measured|generated): ([\w-]+) -->\n).*?(<!-- end -->)", flags=re.DOTALL)
TYPED_CLASSES = re.compile(r"(if TYPE_CHECKING:  # the classes of the registry[^\n]*\n)(?:    [^\n]*\n)+")

DATA_SETS = {"cora": "Cora", "citeseer": "Citeseer", "pubmed": "Pubmed"}
ENGINE_PARTS = ("speed", "quality", "threads", "end", "growth", "memory", "cold")


def baselines() -> str:
    """Accuracy, seconds and memory of every method on the citation networks."""
    found = _read(RESULTS / "baselines.json")["methods"]
    rows = [
        [title, *(_cell(found[name].get(key)) for key in DATA_SETS)] for name, title in _method_titles(found).items()
    ]
    return _table(["method", *DATA_SETS.values()], rows)


def _method_titles(found: Iterable[str]) -> dict[str, str]:
    """Titles of measured methods, in the order of the registry, then of variants such as ``lp, plain harmonic``."""
    from planetoid.registry import CLASSES

    classes = {info.name: f"`{cls}`" for cls, info in CLASSES.items()}
    methods = {name: title for name, title in classes.items() if name in found}
    variants = [name.partition(", ") for name in found if name not in classes]
    return methods | {f"{method}, {variant}": f"{classes[method]}, {variant}" for method, _, variant in variants}


def _cell(entry: dict[str, Any] | None) -> str:
    from planetoid.experiments.render import format_seconds

    if entry is None:
        return ""
    spread = f" ± {entry['std']:.1f}" if entry["seeds"] > 1 else ""
    return f"{entry['accuracy']:.1f}{spread} ({format_seconds(entry['seconds'])} s, {entry['peak_gb']:.2f} GB)"


def methods() -> str:
    """Every method: what it learns from, whether it labels new nodes, and the first line of its docstring."""
    from planetoid.evaluation import what_it_uses
    from planetoid.registry import METHODS

    rows = [
        [f"`{cls.__name__}`", f"`{name}`", what_it_uses(name), "yes" if cls.inductive else "", _summary(cls)]
        for name, cls in METHODS.items()
    ]
    return _table(["class", "`--method`", "learns from", "labels new nodes", "summary"], rows)


def _summary(cls: type) -> str:
    return (inspect.getdoc(cls) or "").splitlines()[0].replace("|", "\\|")


def method_reference() -> str:
    """The API reference of every method, which mkdocstrings renders."""
    from planetoid.registry import CLASSES

    return "\n" + "".join(f"::: planetoid.{info.module}.{name}\n\n" for name, info in CLASSES.items())


def typed_classes(text: str) -> str:
    """Return the source of the package with the import of every method for type checkers."""
    from planetoid.registry import CLASSES

    lines = sorted(f"    from planetoid.{info.module} import {name} as {name}\n" for name, info in CLASSES.items())
    return TYPED_CLASSES.sub(lambda match: match[1] + "".join(lines), text)


def skipgram() -> str:
    """Speed, scaling and memory of the engine, compared with its peers."""
    found = _read(RESULTS / "skipgram.json")
    rows = [
        [
            row["what"],
            *("" if row[key] is None else f"{row[key]:.2f}" for key in ("ours", "peer", "ratio")),
            row["note"],
        ]
        for part in ENGINE_PARTS
        for row in found.get(part, ())
    ]
    return _table(["", "ours", "peer", "ratio", ""], rows)


def cluster() -> str:
    """Two processes against one, and predictions while a worker is killed."""
    found = _read(RESULTS / "cluster.json")
    training, prediction = found["training"], found["prediction"]
    rates = training["pairs_per_second"]
    exchange = ", ".join(f"{size}: {ms:.1f} ms" for size, ms in training["exchange_ms"].items())
    above = training["gigabytes_above_half_of_the_tables_and_the_graph"]
    rows = [
        [f"M pairs/s, {case}, {training['nodes']:,} nodes, d = 128", f"{rate / 1e6:.2f}"]
        for case, rate in rates.items()
    ]
    rows += [
        ["two processes against one", f"{training['two_against_one']:.2f}"],
        ["two processes against the engine of one process", f"{training['two_against_the_engine_of_one_process']:.2f}"],
        ["GB of a process above half of the tables and the graph", f"{above:.2f}"],
        ["exchange of so many integers", exchange],
        [
            f"rows/s, {prediction['rows']:,} rows of 100 features, 2 Dask workers, one killed half way",
            f"{prediction['rows_per_second']:,.0f}" + (", complete" if prediction["complete"] else ", incomplete"),
        ],
    ]
    return _table(["measured", "result"], rows)


def propagation() -> str:
    """Time and memory of the label-propagation family on millions of nodes."""
    rows = [
        [row["name"], f"{row['seconds']:.0f}", str(row["iterations"]), f"{row['peak_gb']:.1f}"]
        for row in _read(RESULTS / "propagation.json")["fit"]
    ]
    return _table(["method, solver", "seconds", "iterations", "peak GB"], rows)


def few_labels() -> str:
    """Accuracy with one, three and five labels per class."""
    found = _read(RESULTS / "few_labels.json")
    counts = [str(count) for count in found["labels"]]
    heads = ["method", *(f"{title}: {count}" for title in DATA_SETS.values() for count in counts)]
    rows = [
        [title, *(_mean_and_error(found["methods"][name], key, count) for key in DATA_SETS for count in counts)]
        for name, title in _method_titles(found["methods"]).items()
    ]
    left_out = "; ".join(f"`{name}` {why}" for name, why in found["left_out"].items())
    return f"{_table(heads, rows)}\n({found['splits']} splits. Left out: {left_out}.)\n"


def _mean_and_error(entry: dict[str, Any], dataset: str, count: str) -> str:
    cell = (entry.get(dataset) or {}).get(count)
    return "" if cell is None else f"{cell['mean']:.1f} ± {cell['error']:.1f}"


def label_more() -> str:
    """Accuracy as labels are added, by how the nodes are chosen."""
    found = _read(RESULTS / "label_more.json")
    rows = [
        [row["method"], row["choice"], *(f"{m:.1f} ± {e:.1f}" for m, e in zip(row["mean"], row["error"], strict=True))]
        for row in found["rows"]
    ]
    table = _table(["method", "chosen", *(f"{count} labels" for count in found["labels"])], rows)
    return f"{table}\n({found['splits']} splits.)\n"


def multilabel() -> str:
    """Micro and macro F1 of several labels per node, by the share of labelled nodes."""
    found = _read(RESULTS / "multilabel.json")
    rates = [f"{rate:g}" for rate in found["rates"]]
    rows = [
        [name.replace("; ", ", ")]
        + [
            f"{row[rate][score]['mean']:.1f} ± {row[rate][score]['std']:.1f}"
            for score in ("micro_f1", "macro_f1")
            for rate in rates
        ]
        for name, row in found["methods"].items()
    ]
    shares = [f"{float(rate):.0%}" for rate in rates]
    table = _table(["method", *(f"micro F1, {one}" for one in shares), *(f"macro F1, {one}" for one in shares)], rows)
    return f"{table}\n({found['data']}; {found['protocol']}.)\n"


def demo() -> str:
    """The results of ``planetoid demo`` (``benchmarks/results/demo.json``), best first."""
    from planetoid.evaluation import Spread, what_it_uses
    from planetoid.registry import METHODS

    found = sorted(_read(RESULTS / "demo.json")["summary"], key=lambda row: -row["metrics"]["accuracy"]["mean"])
    rows = [
        [
            f"`{METHODS[row['method']].__name__}`",
            what_it_uses(row["method"]),
            Spread(**row["metrics"]["accuracy"]).percent(),
        ]
        for row in found
    ]
    return _table(["method", "learns from", "accuracy"], rows)


def beyond() -> str:
    """Planetoid on the public splits in several settings."""
    found = _read(RESULTS / "beyond.json")["public"]
    settings = [key for key in next(iter(found.values())) if key != "seconds"]

    def cell(of_data: dict, setting: str) -> str:
        return "{:.1f} ± {:.1f}".format(*of_data[setting]) if setting in of_data else ""

    rows = [[setting, *(cell(of_data, setting) for of_data in found.values())] for setting in settings]
    return _table(["", *(DATA_SETS.get(name, name.replace("nell-", "NELL ")) for name in found)], rows)


def ablation() -> str:
    """What each part of Planetoid is worth."""
    found = _read(RESULTS / "beyond.json")["ablation"]
    heads = list(next(iter(found.values())))
    rows = [
        [part, *(f"{mean:.1f} ± {error:.1f}" for mean, error in (row[head] for head in heads))]
        for part, row in found.items()
    ]
    return _table(["", *heads], rows)


def calibration() -> str:
    """Calibration error before and after calibrating, and what it costs."""
    found = _read(RESULTS / "calibration.json")
    rows = []
    for name, title in _method_titles(found).items():
        runs = [found[name][key] for key in DATA_SETS if key in found[name]]
        source = next(iter(runs[0]["calibrated"].values()))["calibration"]["source"]
        shares = [run["calibration"]["share"] for part in runs for run in part["calibrated"].values()]
        cells = [_errors(found[name].get(key)) for key in DATA_SETS]
        rows.append([title, *cells, source, f"{100 * statistics.median(shares):.0f} %"])
    return _table(["method", *DATA_SETS.values(), "calibrated by", "share of the fit"], rows)


def prediction_sets() -> str:
    """Coverage and size of prediction sets beside split-conformal ones."""
    titles = {**DATA_SETS, "nell": "NELL"}
    found = _read(RESULTS / "prediction_sets.json")
    rows = [
        [
            f"{title}, {titles[data]}",
            str(entry["splits"]),
            *(
                f"{entry[f'{kind} coverage']:.3f} / {entry[f'{kind} size']:.2f}"
                for kind in ("ours", "plain", "adaptive")
            ),
        ]
        for name, title in _method_titles(found).items()
        for data, entry in found[name].items()
    ]
    return _table(["coverage / size", "splits", "`predict_set`", "plain", "adaptive"], rows)


def onnx_export() -> str:
    """Exported models beside the library."""
    found = _read(RESULTS / "onnx_export.json")
    rows = [
        [
            title,
            f"{sum(found[name][kind]['labels that differ'] for kind in ('dense', 'tokens'))}",
            f"{max(found[name][kind]['largest difference'] for kind in ('dense', 'tokens')):.0e}",
            *(
                f"{found[name][kind]['exported']:,.0f} ({found[name][kind]['ratio']:.1f}x)"
                for kind in ("dense", "tokens")
            ),
        ]
        for name, title in _method_titles(found).items()
    ]
    heads = ["method", "labels that differ", "largest difference of a probability"]
    return _table([*heads, "dense rows per second (against the library)", "tokens"], rows)


def explanations() -> str:
    """By how much scores fall without the strongest reasons, and without others."""
    found = _read(RESULTS / "explanations.json")
    rows = []
    for name, title in _method_titles(found).items():
        for kind, entry in found[name].items():
            if kind == "seconds":
                continue
            ratio = entry["ratio"]
            rows.append(
                [
                    title,
                    f"{_removed(name, kind)} ({entry['nodes']} nodes)",
                    f"{entry['top']:.3g}",
                    f"{entry['random']:.3g}",
                    "> 100x" if ratio > 100 else f"{ratio:.3g}x",
                    f"{100 * entry['larger']:.0f} % of nodes",
                    f"{1000 * found[name]['seconds']:.0f} ms",
                ]
            )
    heads = ["method", "removed", "strongest", "at random", "ratio", "larger for", "time"]
    return _table(heads, rows)


def _removed(method: str, kind: str) -> str:
    if kind == "neighbours":
        return "features of neighbours" if method in ("planetoid", "ssgc", "gcn") else "edges to neighbours"
    return kind


def _errors(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return ""
    after = [run["error"] for run in entry["calibrated"].values()]
    before = next(iter(entry["raw"].values()))["error"]
    seeds = f" ({len(after)})" if len(after) > 1 else ""
    return f"{before:.2f} → {statistics.mean(after):.3f}{seeds}"


def robustness() -> str:
    """Mean ranks and accuracies of methods over data of several kinds."""
    found = _read(RESULTS / "robustness.json")["ranks"]
    kinds = list(found["accuracy"])
    ranks = sorted(found["mean rank"].items(), key=lambda entry: entry[1])
    rows = [
        [f"`{name}`", f"{rank:.1f}", *(f"{found['accuracy'][kind][name]:.1f}" for kind in kinds)]
        for name, rank in ranks
    ]
    return _table(["method", "mean rank", *(DATA_SETS.get(kind, kind) for kind in kinds)], rows)


def collapse() -> str:
    """How often Planetoid is far below the better of two simple methods."""
    found = _read(RESULTS / "robustness.json")["collapse"]
    rows = [[f"`{name}`", f"{value:.1f}"] for name, value in found["accuracy"].items()]
    count, draws = found["more than 3 points below"], found["draws"]
    share = f"more than 3 points below the better of `ssgc` and `lp`: {count} of {draws} draws"
    random = f"edges at random: {found['edges at random, against feat']:+.1f} points against `feat`"
    return f"{_table(['method', 'mean accuracy'], rows)}\n({share}; {random}.)\n"


def table3() -> str:
    """The paper's Table 3 in short: public split, fixed budget, test nodes as in the paper."""
    cells: dict[tuple[str, str], dict[str, Any]] = {}
    for cell in _read(REPRODUCED / "table3.json")["cells"]:
        if cell["section"] == "public split" and cell["stopping"] == "fixed" and cell["paper"] is not None:
            cells.setdefault((cell["method"], cell["settings"]), {})[cell["dataset"]] = cell
    heads = ["method", "settings", *(f"{name}: paper | ours" for name in DATA_SETS.values())]
    rows = [[*key, *(_paper_and_ours(found.get(name)) for name in DATA_SETS)] for key, found in cells.items()]
    return _table(" | ".join(heads).split(" | "), rows)


def _paper_and_ours(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return " | "
    spread = "" if cell["sd"] is None else f" ± {100 * cell['sd']:.1f}"
    return f"{100 * cell['paper']:.1f} | {100 * cell['mean']:.1f}{spread}"


def reproduced() -> str:
    """Links to the tables written by ``planetoid reproduce``."""
    pages = sorted(REPRODUCED.glob("*.md"))
    if not pages:
        raise FileNotFoundError(REPRODUCED)
    titles = [page.read_text(encoding="utf-8").splitlines()[0].lstrip("# ") for page in pages]
    return "".join(f"- [{title}](results/{page.name})\n" for title, page in zip(titles, pages, strict=True))


def mutants() -> str:
    """Mutants of the core by package, and those that no test notices (``make mutants``)."""
    found: list[dict[str, Any]] = json.loads((RESULTS / "mutants.json").read_text(encoding="utf-8"))
    packages = dict.fromkeys(entry["file"].partition("/")[0] for entry in found)
    groups = {f"`{name}`": [one for one in found if one["file"].startswith(f"{name}/")] for name in packages}
    groups["all"] = found
    rows = []
    for title, entries in groups.items():
        killed = sum(entry["killed"] for entry in entries)
        rows.append([title, str(len(entries)), str(killed), f"{killed / len(entries):.1%}"])
    survivors = [entry for entry in found if not entry["killed"]]
    lines = "".join(f"- `{one['file']}`: {one['change']}. {one['reason']}\n" for one in survivors)
    notes = f"\nNo test notices these:\n\n{lines}" if survivors else ""
    return _table(["package", "mutants", "killed", "share"], rows) + notes


def reliability() -> str:
    """Faults, power failures, flipped bits and concurrent use that were survived, and what it costs."""
    cost = _read(RESULTS / "reliability_cost.json")
    rows = [
        *_survived(),
        *_fuzzed(),
        ["checksums and syncs, of a fit of Cora", f"{cost['cost']:.1%}", f"of {cost['fit_seconds']:.1f} s"],
        ["a checkpoint every second, of a fit of Cora", f"{cost['checkpoint_cost']:.1%}", "with all that it writes"],
    ]
    return _table(["measured", "number", "result"], rows)


def _survived() -> list[list[str]]:
    """Rows for the parts that have been measured."""
    path = RESULTS / "reliability.json"
    found = _read(path) if path.exists() else {}
    rows = []
    faults = [entry for name, entry in found.items() if name.startswith("faults: ")]
    if faults:
        wrong = f"{sum(len(entry['findings']) for entry in faults)} with something lost"
        for name, words in (
            ("kills", f"kills at a file operation, {len(faults)} writers"),
            ("failures", "failing and short calls"),
            ("power_failures", "states after a power failure"),
        ):
            rows.append([words, f"{sum(entry[name] for entry in faults):,}", wrong])
            wrong = "included above"
    for kind in ("model", "checkpoint"):
        if entry := found.get(f"flips of a {kind}"):
            rows.append([f"flipped bits of a {kind}", f"{entry['tried']:,}", f"{entry['accepted']} accepted"])
    if together := found.get("concurrent use"):
        words = f"reads during {together['writes']:,} replacements in {together['seconds']:.0f} s"
        rows.append([words, f"{together['reads']:,}", "all whole"])
    return rows


def _fuzzed() -> list[list[str]]:
    path = RESULTS / "fuzz.json"
    if not path.exists():
        return []
    targets = _read(path)["targets"].values()
    inputs, findings = (sum(one[name] for one in targets) for name in ("inputs", "findings"))
    return [[f"fuzzed inputs, {len(targets)} targets", f"{inputs:,}", f"{findings} findings"]]


def reports() -> str:
    """Return how long reports take, beside the fit of the same model."""
    rows = [
        [
            f"{row['points']:,}",
            f"`{row['method']}`",
            f"{row['processor_seconds']:.1f}",
            f"{row['fit_processor_seconds']:.1f}",
            f"{row['ratio_to_fit']:.2f}",
        ]
        for row in _read(RESULTS / "report.json")["reports"].values()
        if "method" in row
    ]
    heads = ["nodes", "model", "seconds of the report", "of the fit", "ratio"]
    return _table(heads, rows)


def wide_tables() -> str:
    """Return how long wide Parquet tables take to read, beside pyarrow."""
    rows = []
    for entry in _read(RESULTS / "wide_tables.json")["tables"]:
        seconds, ratios = entry["seconds"], entry["ratios"]
        size = f"{entry['rows']:,} x {entry['columns']:,}"
        ours = (f"{seconds[name]:.2f} ({ratios[name]:.2f})" for name in ("features", "nodes"))
        rows.append([size, f"{seconds['pyarrow and CSR']:.2f}", *ours])
    return _table(["rows and columns", "pyarrow and CSR", "`--features` (ratio)", "`--nodes` (ratio)"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "ablation": ablation,
    "baselines": baselines,
    "beyond": beyond,
    "calibration": calibration,
    "cluster": cluster,
    "collapse": collapse,
    "demo": demo,
    "explanations": explanations,
    "few_labels": few_labels,
    "label_more": label_more,
    "method_reference": method_reference,
    "methods": methods,
    "multilabel": multilabel,
    "mutants": mutants,
    "onnx_export": onnx_export,
    "prediction_sets": prediction_sets,
    "propagation": propagation,
    "reliability": reliability,
    "reports": reports,
    "reproduced": reproduced,
    "robustness": robustness,
    "skipgram": skipgram,
    "table3": table3,
    "wide_tables": wide_tables,
}


def updated(text: str) -> str:
    """Return a document with every table generated from the results."""

    def regenerate(match: re.Match[str]) -> str:
        try:
            return f"{match[1]}{TABLES[match[2]]()}{match[3]}"
        except FileNotFoundError:
            return match[0]

    return MARKED.sub(regenerate, text)


def documents() -> list[Path]:
    """Return README.md and the pages of the site."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main(arguments: Sequence[str]) -> int:
    stale = 0
    for path in [PACKAGE, *documents()]:
        text = path.read_text(encoding="utf-8")
        new = typed_classes(text) if path == PACKAGE else updated(text)
        if new != text:
            stale += 1
            print(f"{path.relative_to(ROOT)}: {'out of date' if '--check' in arguments else 'updated'}")
            if "--check" not in arguments:
                path.write_text(new, encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
