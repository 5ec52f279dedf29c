"""Time and memory."""

from __future__ import annotations

from docs_tables.common import RESULTS, Tables, as_table, by_name, method_titles, read_json

ENGINE_PARTS = ("speed", "quality", "threads", "end", "growth", "memory", "cold")
PLAN_BYTES = ("tables_bytes", "graph_bytes")


def skipgram() -> str:
    """Speed, scaling and memory of the engine, compared with its peers."""
    found = read_json(RESULTS / "skipgram.json")
    rows = [
        [
            row["what"],
            *("" if row[key] is None else f"{row[key]:.2f}" for key in ("ours", "peer", "ratio")),
            row["note"],
        ]
        for part in ENGINE_PARTS
        for row in found.get(part, ())
    ]
    return as_table(["", "ours", "peer", "ratio", ""], rows)


def cluster() -> str:
    """Two processes against one, and predictions while a worker is killed."""
    found = read_json(RESULTS / "cluster.json")
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
        ["two processes against TorchRec, tables sharded by rows", f"{training['two_against_TorchRec']:.0f}"],
        ["GB of a process above half of the tables and the graph", f"{above:.2f}"],
        ["exchange of so many integers", exchange],
        [
            f"rows/s, {prediction['rows']:,} rows of 100 features, 2 Dask workers, one killed half way",
            f"{prediction['rows_per_second']:,.0f}" + (", complete" if prediction["complete"] else ", incomplete"),
        ],
    ]
    return as_table(["measured", "result"], rows)


def cluster_plan() -> str:
    """Processor time of a walk at three sizes, and what it would be for a billion nodes."""
    found = read_json(RESULTS / "cluster.json")["growth"]
    rows = [
        [f"{row['nodes']:,}", f"{row['cpu_microseconds_per_walk']:.1f}", *(f"{row[k] / 1e9:.2f}" for k in PLAN_BYTES)]
        for row in found["sizes"]
    ]
    at_billion = found["microseconds_at_1e9"]
    hours = 1e10 * at_billion / 3.6e9
    said = (
        f"Each tenfold adds {found['microseconds_more_per_tenfold']:.1f} µs, so that a walk would take "
        f"{at_billion:.0f} µs at 10⁹ nodes, and 10 walks per node {hours:.0f} hours."
    )
    return f"{as_table(['nodes', 'µs per walk', 'GB of tables', 'GB of graph'], rows)}\n{said}\n"


def cluster_accuracy() -> str:
    """Accuracy of two processes beside that of one."""
    found = read_json(RESULTS / "cluster_accuracy.json")
    rows = []
    for method, entry in found["methods"].items():
        accuracies = entry["accuracies"]
        cells = [f"{100 * sum(some) / len(some):.1f}" for some in accuracies.values()]
        same = [
            case if case.startswith("without") else f"{case} process" for case in entry["same_bits_as"] if case != "2"
        ]
        repeated = "yes" if entry["same_bits_from_run_to_run"] else "no"
        rows.append([f"`{method}`", *cells, repeated, ", ".join(same)])
    heads = ["mean accuracy in %", "without `--processes`", "1 process", "2 processes", "same bits in both runs of 2"]
    return as_table([*heads, "same bits as those of 2"], rows)


def propagation() -> str:
    """Time and memory of the label-propagation family on millions of nodes."""
    rows = [
        [row["name"], f"{row['seconds']:.0f}", str(row["iterations"]), f"{row['peak_gb']:.1f}"]
        for row in read_json(RESULTS / "propagation.json")["fit"]
    ]
    return as_table(["method, solver", "seconds", "iterations", "peak GB"], rows)


def onnx_export() -> str:
    """Exported models beside the library."""
    found = read_json(RESULTS / "onnx_export.json")
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
        for name, title in method_titles(found).items()
    ]
    heads = ["method", "labels that differ", "largest difference of a probability"]
    return as_table([*heads, "dense rows per second (against the library)", "tokens"], rows)


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
        for row in read_json(RESULTS / "report.json")["reports"].values()
        if "method" in row
    ]
    heads = ["nodes", "model", "seconds of the report", "of the fit", "ratio"]
    return as_table(heads, rows)


def wide_tables() -> str:
    """Return how long wide Parquet tables take to read, beside pyarrow."""
    rows = []
    for entry in read_json(RESULTS / "wide_tables.json")["tables"]:
        seconds, ratios = entry["seconds"], entry["ratios"]
        size = f"{entry['rows']:,} x {entry['columns']:,}"
        ours = (f"{seconds[name]:.2f} ({ratios[name]:.2f})" for name in ("features", "nodes"))
        rows.append([size, f"{seconds['pyarrow and CSR']:.2f}", *ours])
    return as_table(["rows and columns", "pyarrow and CSR", "`--features` (ratio)", "`--nodes` (ratio)"], rows)


TABLES: Tables = by_name(
    skipgram, cluster, cluster_plan, cluster_accuracy, propagation, onnx_export, reports, wide_tables
)
