"""``planetoid compare``: all methods that suit the data, ranked, and which one to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planetoid.cli.console import plain_table, print_json, print_lines, print_message, print_table
from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import collect_warnings
from planetoid.cli.evaluate import (
    HoldOut,
    PerClass,
    Splits,
    TrainShare,
    how_measured,
    percent,
    summary,
    warnings_by_method,
)
from planetoid.cli.method_choice import Choice, excluded_lines
from planetoid.cli.options import AsJson, Methods, NewNodes, Processes, Quiet, Seed, Settings, takes_data
from planetoid.errors import DataError
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from rich.table import Table

    from planetoid.cli.measurement import Outcome
    from planetoid.evaluation import Protocol

__all__ = ["compare", "recommend"]


@takes_data(validation=False)
def compare(
    options: DataOptions,
    method: Methods = None,
    new_nodes: NewNodes = False,
    splits: Splits = 5,
    train_share: TrainShare = None,
    per_class: PerClass = None,
    hold_out: HoldOut = None,
    settings: Settings = None,
    seed: Seed = 0,
    jobs: Processes = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure all methods that suit the data, rank them, and recommend one.

    All methods are trained on the same labels and tested on the same others,
    as in [bold]planetoid evaluate[/bold]. Of the methods within one standard error of the
    best, the fastest is recommended. A method that fails does not end the
    comparison; Ctrl-C shows what is finished.

    For example:
      [bold]planetoid compare --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid compare --edges e.csv --labels l.csv --splits 3 --jobs 2 --json[/bold]
    """
    from planetoid.cli.measurement import measure, n_processes, split_protocol
    from planetoid.cli.method_choice import parse_methods, suitable_methods
    from planetoid.cli.settings import parse_settings, settings_by_method
    from planetoid.utils.progress import progress

    options.require(labels=True)
    given = parse_settings(settings)
    wanted = None if method is None else parse_methods(method)
    with collect_warnings(quiet=quiet) as warned:
        data = options.read(quiet=quiet)
    methods, excluded = suitable_methods(data, new_nodes=new_nodes)
    if wanted is not None:
        methods = [name for name in methods if name in wanted]
        excluded = {name: reason for name, reason in excluded.items() if name in wanted}
    if not methods:
        reasons = "; ".join(f"{name} {reason}" for name, reason in excluded.items())
        raise DataError(f"no method suits the data: {reasons}")
    parameters = settings_by_method(methods, given)
    protocol = split_protocol(
        data, train_share=train_share, per_class=per_class, hold_out=hold_out, new_nodes=new_nodes
    )
    print_message(f"comparing {', '.join(methods)} on {pluralize(splits, 'split')}", quiet=quiet)
    finished: list[Outcome] = []
    n_tasks = len(methods) * splits
    seeds = range(seed, seed + splits)

    def collect(outcome: Outcome) -> None:
        finished.append(outcome)
        advance(1, f"{outcome.method}, split {outcome.seed}")

    try:
        with progress("", n_tasks, verbose=not quiet) as advance:
            measure(methods, data, protocol, seeds, parameters, n_processes(jobs, n_tasks), collect)
    except KeyboardInterrupt:
        _show(finished, excluded, protocol, warned, as_json)
        raise
    if _show(finished, excluded, protocol, warned, as_json) == 0:
        raise DataError(f"every method failed, the first with: {finished[0].error}")


def recommend(rows: list[dict[str, Any]]) -> Choice:
    """Return the method to use and why: the fastest within one standard error of the best.

    >>> rows = [{"method": "lp", "splits": 4, "accuracy": {"mean": 0.80, "sd": 0.02}, "seconds": 0.1},
    ...         {"method": "planetoid-g", "splits": 4, "accuracy": {"mean": 0.805, "sd": 0.02}, "seconds": 3.0}]
    >>> recommend(rows).method
    'lp'
    """
    best = max(rows, key=lambda row: row["accuracy"]["mean"])
    mean, sd = best["accuracy"]["mean"], best["accuracy"]["sd"]
    error = 0.0 if sd is None else sd / best["splits"] ** 0.5
    as_good = [row for row in rows if row["accuracy"]["mean"] >= mean - error and row["splits"] == best["splits"]]
    chosen = min(as_good, key=lambda row: row["seconds"])
    if chosen is not best:
        return Choice(
            chosen["method"],
            f"Recommended: {chosen['method']}. Its accuracy of {chosen['accuracy']['mean']:.1%} is within one standard "
            f"error ({error:.1%}) of the best ({best['method']}, {mean:.1%}), and it is faster "
            f"({chosen['seconds']:.2g} s instead of {best['seconds']:.2g} s). More --splits may separate them.",
        )
    deviation = "" if sd is None else f" (standard error {error:.1%})"
    others = "" if len(as_good) == 1 else ", and none within one standard error is faster"
    return Choice(
        best["method"],
        f"Recommended: {best['method']}. Its accuracy of {mean:.1%}{deviation} is the best{others}.",
    )


def _show(
    outcomes: list[Outcome], excluded: dict[str, str], protocol: Protocol, warned: list[str], as_json: bool
) -> int:
    """Show what is finished; return the number of methods that were measured."""
    measured = [outcome for outcome in outcomes if outcome.result is not None]
    failed = {outcome.method: outcome.error for outcome in reversed(outcomes) if outcome.error is not None}
    rows = [row for row in summary(measured) if row["method"] not in failed]
    rows.sort(key=lambda row: -row["accuracy"]["mean"])
    choice = recommend(rows) if rows else None
    if as_json and outcomes:
        print_json(
            {
                "protocol": protocol.in_words(),
                "ranking": rows,
                "recommended": None if choice is None else choice.method,
                "reason": "" if choice is None else choice.reason,
                "failed": failed,
                "excluded": excluded,
                "warnings": warned,
                "warnings_by_method": warnings_by_method(measured),
                "results": [outcome.result.as_dict() for outcome in measured if outcome.result is not None],
            }
        )
        return len(rows)
    if rows:
        print_table(_ranking(rows))
    lines = [f"{method} failed: {error}" for method, error in failed.items()] + excluded_lines(excluded)
    if choice is not None:
        lines += [how_measured(protocol, measured), choice.reason]
    if lines and outcomes:
        print_lines(lines)
    return len(rows)


def _ranking(rows: list[dict[str, Any]]) -> Table:
    from planetoid.evaluation import what_it_uses

    interrupted = len({row["splits"] for row in rows}) > 1
    figures = ("accuracy %", "macro F1 %", "calibration\nerror %", *(("splits",) if interrupted else ()), "seconds")
    table = plain_table("method", "learns from", right=figures)
    for row in rows:
        shown = [percent(row[name]) for name in ("accuracy", "macro_f1", "calibration_error")]
        shown += [str(row["splits"])] if interrupted else []
        table.add_row(row["method"], what_it_uses(row["method"]), *shown, f"{row['seconds']:.2f}")
    return table
