"""``reproduce``: make the tables and the figure, and write them down."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from planetoid.errors import ParameterError
from planetoid.evaluation import versions
from planetoid.experiments.cells import Cell
from planetoid.experiments.conclusions import Comparison, comparisons_of, conclusions_markdown
from planetoid.experiments.figure import draw_spaces, embed_spaces
from planetoid.experiments.render import Figure, as_markdown, as_record, figures_of, sections_of
from planetoid.experiments.statistics import count_all, statistics_markdown
from planetoid.experiments.store import RunStore
from planetoid.experiments.tables import quick_cell, table3, table4, table5
from planetoid.utils.atomic import atomic_write
from planetoid.utils.progress import progress

__all__ = ["PARTS", "reproduce_part"]

PARTS = ("table2", "table3", "table4", "table5", "figure")
TITLES = {
    "table2": "Table 2: the data sets",
    "table3": "Table 3: accuracy in per cent on citation networks",
    "table4": "Table 4: recall at k in per cent on coordinate lists",
    "table5": "Table 5: accuracy in per cent on NELL",
    "figure": "Figure: embedding spaces of Cora",
}
LEGEND = (
    "Each cell: mean ± standard deviation, and in brackets the median seconds of a fit. Settings: `paper` keeps what "
    "the paper fixes (r1 = 5/6, q = 10, d = 3, N1 = N2 = 200), `tuned` departs from it; both were chosen on other "
    "splits with the public test labels hidden. Stopping: `fixed` budget without validation labels, or on the 500 "
    "`validation` labels, which NELL does not have. † a Planetoid cell below the paper's figure by more than one "
    "standard deviation."
)


def reproduce_part(
    part: str, *, runs: int, jobs: int, out: Path, quick: bool = False, lists: str = "0.1", verbose: int = 0
) -> tuple[str, list[Figure]]:
    """Make one table or the figure, going on from finished runs; return its Markdown and its figures."""
    if part not in PARTS:
        raise ParameterError(f"there is no part {part!r}; it is one of {', '.join(PARTS)}, or all")
    started = time.perf_counter()
    record: dict[str, Any] = {"part": part, "quick": quick, "runs": runs, "jobs": jobs, "versions": versions()}
    figures: list[Figure] = []
    if part == "table2":
        rows = count_all(diel=lists == "diel")
        text, record["rows"] = statistics_markdown(rows), rows
    elif part == "figure":
        text, record["spaces"] = _figure(out, quick, verbose)
    else:
        cells = _cells(part, lists)
        if quick:
            cells = [quick_cell(cell) for cell in cells]
        figures = _make(part, cells, runs, jobs, out, verbose)
        compared = (
            {} if part == "table4" else {name: comparisons_of(some) for name, some in sections_of(figures).items()}
        )
        text, record["cells"] = _sections(figures, compared), as_record(figures)
        record["conclusions"] = {name: [asdict(entry) for entry in some] for name, some in compared.items()}
    record["seconds"] = time.perf_counter() - started + _earlier_seconds(out / f"{part}.json", figures, quick)
    note = "\n\nBudgets are those of `--quick`: the figures say nothing but that everything runs." if quick else ""
    document = f"# {TITLES[part]}\n\n{text}{note}\n"
    _write(out / f"{part}.md", document)
    _write(out / f"{part}.json", json.dumps(record, indent=1, allow_nan=False) + "\n")
    return document, figures


def _cells(part: str, lists: str) -> list[Cell]:
    return {"table3": table3, "table5": table5}[part]() if part != "table4" else table4(lists)


def _make(part: str, cells: Sequence[Cell], runs: int, jobs: int, out: Path, verbose: int) -> list[Figure]:
    store = RunStore(out / "runs" / f"{part}.jsonl")
    tasks = [task for cell in cells for task in cell.tasks(runs)]
    missing = store.missing(tasks)
    # The longest first would need their times; by data set and seed, workers load each data set once.
    missing.sort(key=lambda task: (task.dataset, task.seed if task.dataset.startswith("lists:") else 0, task.method))
    kept = len({task.key for task in tasks}) - len(missing)
    if kept and verbose:
        print(f"{part}: {kept} runs are there already, {len(missing)} to go", file=sys.stderr)  # noqa: T201
    with progress(part, len(missing), verbose) as advance:
        store.make(missing, jobs, lambda task, result: advance(1, f"{task.method}, {task.dataset}, seed {task.seed}"))
    return figures_of(cells, store.results, runs)


def _sections(figures: Sequence[Figure], compared: Mapping[str, Sequence[Comparison]]) -> str:
    parts = []
    for name, some in sections_of(figures).items():
        runs = max(len(figure.results) for figure in some)
        bound = [figure.results for figure in some if "upper_bound" in figure.results[0].metrics]
        parts.append(f"## {name[0].upper()}{name[1:]}, {runs} runs\n\n{as_markdown(some)}")
        if compared.get(name):
            parts.append(conclusions_markdown(compared[name]))
        if bound:
            reached = sum(result.metrics["upper_bound"] for result in bound[0]) / len(bound[0])
            parts.append(f"Upper bound (true items that occur at all): {100 * reached:.1f}; the paper's: 61.7.")
    return "\n\n".join([*parts, LEGEND])


def _figure(out: Path, quick: bool, verbose: int) -> tuple[str, dict[str, Any]]:
    with progress("figure", 6, verbose) as advance:
        spaces = embed_spaces(quick=quick, on_step=lambda text: advance(1, text))
    out.mkdir(parents=True, exist_ok=True)
    draw_spaces(out, spaces)
    lines = [
        "| | silhouette in the embedding space | silhouette on the map | accuracy |",
        "| --- | ---: | ---: | ---: |",
    ]
    told = {}
    for method, space in spaces.items():
        scores = {name: space[name] for name in ("silhouette", "silhouette_map", "accuracy")}
        told[method] = {"parameters": space["parameters"], **scores}
        lines.append(
            f"| {space['name']} | {scores['silhouette']:.3f} | {scores['silhouette_map']:.3f} "
            f"| {100 * scores['accuracy']:.1f} |"
        )
    picture = "![t-SNE maps of three embedding spaces of Cora, coloured by class](figure.png)"
    return "\n".join([picture, "", *lines]), told


def _earlier_seconds(path: Path, figures: Sequence[Figure], quick: bool) -> float:
    """Return the time of the commands whose runs were kept and are shown again."""
    if not figures or not path.exists():
        return 0.0
    try:
        earlier = json.loads(path.read_text(encoding="utf-8"))
        return float(earlier["seconds"]) if earlier["quick"] == quick else 0.0
    except (ValueError, TypeError, KeyError):  # not a file of ours
        return 0.0


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as aside:
        aside.write_text(text, encoding="utf-8")
