"""``planetoid evaluate``: how well methods predict the known labels, on repeated splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from planetoid.cli.console import plain_table, print_json, print_lines, print_message, print_table
from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import collect_warnings
from planetoid.cli.engines import uses_dask
from planetoid.cli.evaluate_sets import show_sets
from planetoid.cli.options import (
    AsJson,
    Engine,
    HoldOut,
    Journal,
    PerClass,
    Processes,
    Quiet,
    Scheduler,
    Seed,
    Settings,
    Splits,
    TrainShare,
    UnseenNodes,
    takes_data,
)
from planetoid.cli.outputs import check_writable
from planetoid.errors import DataError
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    import numpy.typing as npt

    from planetoid.cli.measurement import Outcome
    from planetoid.data.dataset import Dataset
    from planetoid.evaluation import Protocol

__all__ = ["evaluate"]

WIDEST_MATRIX = 12  # classes up to which the whole confusion matrix is shown
BALANCED = 1.25  # ratio of the largest to the smallest number of labels per class


class MainMetric(NamedTuple):
    """The figure by which methods are compared."""

    key: str  # in a row of figures
    name: str
    unit: str  # what is tested
    tested_key: str  # key of how many of them were tested


ACCURACY = MainMetric("accuracy", "accuracy", "tested label", "labels_tested")
MICRO_F1 = MainMetric("micro_f1", "micro F1", "tested node", "nodes_tested")


@takes_data(validation=False)
def evaluate(
    options: DataOptions,
    method: Annotated[
        str,
        typer.Option(
            help="Short names of methods, separated by commas; auto: the one that planetoid fit chooses.",
            metavar="NAMES",
        ),
    ] = "auto",
    new_nodes: UnseenNodes = False,
    splits: Splits = 5,
    train_share: TrainShare = None,
    per_class: PerClass = None,
    hold_out: HoldOut = None,
    settings: Settings = None,
    seed: Seed = 0,
    journal: Journal = None,
    jobs: Processes = 0,
    engine: Engine = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure methods on the known labels: train on some of them and predict the others, on several splits.

    By default the splits are the five folds of a stratified cross-validation, which
    test every label once; more [bold]--splits[/bold] repeat it with other folds. Shows
    the accuracy with its 95 % interval, macro F1, calibration error, the confusion
    matrix, and how often predictions of each confidence are correct; for several
    labels per node, micro and macro F1. With [bold]--new-nodes[/bold] the test nodes are
    removed from the graph before training.

    For example:
      [bold]planetoid evaluate --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid evaluate --edges e.csv --labels l.csv --method planetoid-g,lp[/bold]
      [bold]planetoid evaluate --edges e.csv --labels l.csv --per-class 20 --json[/bold]
      [bold]planetoid evaluate --edges e.csv --labels l.csv --splits 50 --journal runs.log[/bold]
    """
    from planetoid.cli.measurement import measure_with_progress, split_protocol
    from planetoid.cli.method_choice import check_suitable, choose_method, parse_methods
    from planetoid.cli.settings import parse_settings, settings_by_method

    options.require(labels=True)
    uses_dask(engine, scheduler)
    if journal is not None:
        check_writable(journal)
    given = parse_settings(settings)
    methods = [] if method == "auto" else parse_methods(method)
    if methods:
        parameters = settings_by_method(methods, given)
    with collect_warnings(quiet=quiet) as warned:
        data = options.read(quiet=quiet)
    if not methods:
        choice = choose_method(data, new_nodes=new_nodes)
        print_message(f"{choice.method}: {choice.reason}", quiet=quiet)
        methods, parameters = [choice.method], settings_by_method([choice.method], given)
    check_suitable(methods, data, new_nodes=new_nodes)
    protocol = split_protocol(
        data, train_share=train_share, per_class=per_class, hold_out=hold_out, new_nodes=new_nodes
    )
    finished: list[Outcome] = []
    seeds = range(seed, seed + splits)

    def collect(outcome: Outcome) -> None:
        if outcome.error is not None:
            raise DataError(f"{outcome.method} failed on split {outcome.seed}: {outcome.error}")
        finished.append(outcome)

    try:
        measure_with_progress(
            methods, data, protocol, seeds, parameters, collect,
            jobs=jobs, engine=engine, scheduler=scheduler, journal=journal, quiet=quiet,
        )  # fmt: skip
    except KeyboardInterrupt:
        _show(finished, data, protocol, warned, as_json)
        raise
    _show(finished, data, protocol, warned, as_json)


def summary(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return the figures of every method that finished a split, as plain data."""
    from planetoid.cli.measurement import label_scores
    from planetoid.evaluation import summarize
    from planetoid.evaluation.comparison import accuracy_interval, f1_interval

    rows = []
    for row in summarize(outcome.result for outcome in outcomes if outcome.result is not None):
        figures: dict[str, Any] = {name: {"mean": one.mean, "sd": one.sd} for name, one in row.metrics.items()}
        scores = label_scores([outcome for outcome in outcomes if outcome.method == row.method and outcome.result])
        metric = main_metric(figures)
        interval = accuracy_interval(scores) if metric is ACCURACY else f1_interval(scores)
        figures[metric.key] |= interval._asdict()
        rows.append(
            {"method": row.method, "splits": len(row.seeds), metric.tested_key: len(scores.rows)}
            | figures
            | {"seconds": row.fit_seconds}
        )
    return rows


def main_metric(figures: Mapping[str, object]) -> MainMetric:
    """Return by which figure methods are compared: accuracy, or micro F1 of several labels per node."""
    return ACCURACY if ACCURACY.key in figures else MICRO_F1


def percent(spread: dict[str, float | None]) -> str:
    """Return mean and standard deviation in per cent."""
    mean, sd = spread["mean"], spread["sd"]
    assert mean is not None
    return f"{100 * mean:.1f}" + ("" if sd is None else f" ± {100 * sd:.1f}")


def with_interval(figure: dict[str, float]) -> str:
    """Return a figure and its interval in per cent.

    >>> with_interval({"mean": 0.7123, "low": 0.64, "high": 0.778})
    '71.2 (64 to 78)'
    """
    return f"{100 * figure['mean']:.1f} ({100 * figure['low']:.0f} to {100 * figure['high']:.0f})"


def how_measured(protocol: Protocol, rows: list[dict[str, Any]]) -> str:
    """Return in words what the figures are."""
    metric = main_metric(rows[0])
    number = max(row[metric.tested_key] for row in rows)
    return (
        f"{metric.name[0].upper()}{metric.name[1:]} in per cent with its 95 % interval, from "
        f"{pluralize(number, metric.unit)}; others: mean ± standard deviation over splits. "
        f"Protocol: {protocol.in_words()}."
    )


def warnings_by_method(outcomes: list[Outcome]) -> dict[str, list[str]]:
    """Return the warnings of each method without duplicates."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        for text in outcome.result.warnings if outcome.result is not None else ():
            if text not in found.setdefault(outcome.method, []):
                found[outcome.method].append(text)
    return found


def _show(outcomes: list[Outcome], data: Dataset, protocol: Protocol, warned: list[str], as_json: bool) -> None:
    if not outcomes:
        return
    if data.multi_label:
        warnings = {"warnings": warned, "warnings_by_method": warnings_by_method(outcomes)}
        show_sets(outcomes, data, protocol, warnings, as_json)
        return
    classes = data.class_names
    details = {row["method"]: row | _details(row["method"], outcomes, classes) for row in summary(outcomes)}
    if as_json:
        record = {"protocol": protocol.in_words(), "classes": list(classes), "methods": list(details.values())}
        results = [outcome.result.as_dict() for outcome in outcomes if outcome.result is not None]
        warnings = {"warnings": warned, "warnings_by_method": warnings_by_method(outcomes)}
        print_json({**record, **warnings, "results": results})
        return
    table = plain_table("method", right=("accuracy %", "macro F1 %", "calibration\nerror %", "splits", "seconds"))
    for row in details.values():
        figures = (percent(row[name]) for name in ("macro_f1", "calibration_error"))
        table.add_row(
            row["method"], with_interval(row["accuracy"]), *figures, str(row["splits"]), f"{row['seconds']:.2f}"
        )
    print_table(table)
    for method, row in details.items():
        _print_confusion(method, row, classes)
        _print_calibration(method, row)
    print_lines([how_measured(protocol, list(details.values())), *_about_balance(data, details)])
    for method, texts in warnings_by_method(outcomes).items():
        print_lines([f"{method}: warning: {texts[0]}"])


def _details(method: str, outcomes: list[Outcome], classes: tuple[str, ...]) -> dict[str, Any]:
    """Return confusion matrix, accuracy per class and calibration of one method, over all of its splits."""
    from planetoid.cli.measurement import calibration, confusion_matrix

    own = [outcome for outcome in outcomes if outcome.method == method]
    matrix = confusion_matrix(own, len(classes))
    per_class = [
        {
            "class": name,
            "count": int(total),
            "accuracy": float(matrix[k, k] / total) if total else None,
            "most_confused_with": _most_confused_with(matrix[k], k, classes),
        }
        for k, (name, total) in enumerate(zip(classes, matrix.sum(axis=1), strict=True))
    ]
    bins = [
        {"from": one.low, "to": one.high, "count": one.count, "confidence": one.confidence, "accuracy": one.accuracy}
        for one in calibration(own)
    ]
    shares = np.mean([outcome.shares for outcome in own], axis=0)
    known = np.array([entry["accuracy"] is not None for entry in per_class])
    weight = np.where(known, shares, 0.0)
    recall = [entry["accuracy"] or 0.0 for entry in per_class]
    weighted = float(weight @ recall / weight.sum()) if weight.sum() else None
    return {
        "confusion": matrix.tolist(),
        "per_class": per_class,
        "calibration": bins,
        "accuracy_weighted_by_predictions": weighted,
    }


def _about_balance(data: Dataset, details: dict[str, dict[str, Any]]) -> list[str]:
    """Say what is estimated if all classes have about as many labels, though they may differ in size."""
    sizes = np.bincount(data.y[data.y >= 0], minlength=data.n_classes)
    if len(sizes) < 2 or sizes.max() > BALANCED * sizes.min():
        return []
    weighted = [
        f"{row['accuracy_weighted_by_predictions']:.1%} for {method}"
        for method, row in details.items()
        if row["accuracy_weighted_by_predictions"] is not None
    ]
    return [
        "All classes have about the same number of labels, so the accuracy is that for classes of equal size. If the "
        "classes differ in size, expect the accuracy per class, weighted by their sizes: with the predicted class "
        f"sizes, {', '.join(weighted)}."
    ]


def _most_confused_with(row: npt.NDArray[np.int64], own: int, classes: tuple[str, ...]) -> str | None:
    others = row.copy()
    others[own] = 0
    return classes[int(others.argmax())] if others.any() else None


def _print_confusion(method: str, row: dict[str, Any], classes: tuple[str, ...]) -> None:
    print_lines([f"{method}: confusion matrix over all splits, true classes in rows, predicted classes in columns"])
    wide = len(classes) <= WIDEST_MATRIX
    numbers = map(str, range(1, len(classes) + 1)) if wide else ()
    table = plain_table("class", right=("accuracy %", "count", *numbers))
    if not wide:
        table.add_column("most confused with")
    for k, entry in enumerate(row["per_class"]):
        accuracy = "" if entry["accuracy"] is None else f"{100 * entry['accuracy']:.1f}"
        cells = [str(count or "·") for count in row["confusion"][k]] if wide else [entry["most_confused_with"] or ""]
        name = f"{k + 1} {entry['class']}" if wide else entry["class"]
        table.add_row(name, accuracy, str(entry["count"]), *cells)
    print_table(table)


def _print_calibration(method: str, row: dict[str, Any]) -> None:
    print_lines([f"{method}: calibration"])
    table = plain_table("confidence", right=("predictions", "mean confidence %", "accuracy %"))
    for entry in row["calibration"]:
        interval = f"{entry['from']:.1f} to {entry['to']:.1f}"
        figures = (f"{100 * entry[name]:.1f}" for name in ("confidence", "accuracy"))
        table.add_row(interval, f"{entry['count']:,}", *figures)
    print_table(table)
