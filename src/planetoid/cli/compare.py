"""``planetoid compare``: all methods that suit the data, ranked, and which one to use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from planetoid.cli.console import plain_table, print_json, print_lines, print_message, print_table
from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import collect_warnings
from planetoid.cli.engines import uses_dask
from planetoid.cli.evaluate import (
    ACCURACY,
    how_measured,
    main_metric,
    percent,
    summary,
    warnings_by_method,
    with_interval,
)
from planetoid.cli.evaluate_sets import COLUMNS, NUMBER_KNOWN
from planetoid.cli.method_choice import Choice, excluded_lines
from planetoid.cli.options import (
    AsJson,
    Engine,
    HoldOut,
    Journal,
    Methods,
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
    from rich.table import Table

    from planetoid.cli.measurement import Outcome
    from planetoid.evaluation import Protocol
    from planetoid.evaluation.comparison import LabelScores

__all__ = ["compare", "recommend"]


@takes_data(validation=False)
def compare(
    options: DataOptions,
    method: Methods = None,
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
    """Measure all methods that suit the data, rank them, and recommend one.

    All methods are trained on the same labels and tested on the same others,
    as in [bold]planetoid evaluate[/bold]. A method is recommended if it is clearly better than
    all others, by two standard errors of the difference, label by label. If there is
    no clear winner, it is the one that does best on data of many kinds. Methods for
    several labels per node are ranked by micro F1, compared node by node. A method
    that fails does not end the comparison; Ctrl-C shows what is finished, and with
    [bold]--journal[/bold] the same command continues from there.

    For example:
      [bold]planetoid compare --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid compare --edges e.csv --labels l.csv --splits 3 --jobs 2 --json[/bold]
      [bold]planetoid compare --edges e.csv --labels l.csv --splits 20 --journal runs.log[/bold]
    """
    from planetoid.cli.measurement import measure_with_progress, split_protocol
    from planetoid.cli.method_choice import parse_methods, suitable_methods
    from planetoid.cli.settings import parse_settings, settings_by_method

    options.require(labels=True)
    uses_dask(engine, scheduler)
    if journal is not None:
        check_writable(journal)
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
    seeds = range(seed, seed + splits)
    try:
        measure_with_progress(
            methods, data, protocol, seeds, parameters, finished.append,
            jobs=jobs, engine=engine, scheduler=scheduler, journal=journal, quiet=quiet,
        )  # fmt: skip
    except KeyboardInterrupt:
        _show(finished, excluded, protocol, warned, as_json)
        raise
    if _show(finished, excluded, protocol, warned, as_json) == 0:
        raise DataError(f"every method failed, the first with: {finished[0].error}")


def recommend(rows: list[dict[str, Any]], scores: Mapping[str, LabelScores]) -> Choice:
    """Return the method to use and why.

    Parameters
    ----------
    rows : list of dict
        Method, number of splits, accuracy or micro F1, and seconds of each method.
    scores : dict
        How often each label was predicted correctly, or what each node adds to micro F1, by method.
    """
    from planetoid.cli.method_choice import by_prior
    from planetoid.evaluation.comparison import undecided

    metric = main_metric(rows[0])
    most = max(row["splits"] for row in rows)
    complete = {row["method"]: row for row in rows if row["splits"] == most}
    if len(complete) == 1:
        (method,) = complete
        return Choice(method, f"Recommended: {method}, the only method that was measured on {_splits(most)}.")
    candidates = undecided({method: scores[method] for method in complete})
    if len(candidates) == 1:
        (method,) = candidates
        return Choice(
            method,
            f"Recommended: {method}. Its {metric.name} of {complete[method][metric.key]['mean']:.1%} is better than "
            "that of every other method by more than two standard errors of the difference.",
        )
    method = by_prior(candidates)[0]
    n_tested = len(scores[method].rows)
    fastest = min(candidates, key=lambda name: float(complete[name]["seconds"]))
    quick = "" if fastest == method else f" The fastest of them is {fastest}."
    return Choice(
        method,
        f"No clear winner: {pluralize(n_tested, metric.unit)} cannot tell {_listed(candidates)} apart. "
        f"Recommended: {method}, which does best of these on data of many kinds.{quick}",
    )


def _splits(number: int) -> str:
    return pluralize(number, "split")


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _show(
    outcomes: list[Outcome], excluded: dict[str, str], protocol: Protocol, warned: list[str], as_json: bool
) -> int:
    """Show what is finished; return the number of methods that were measured."""
    measured = [outcome for outcome in outcomes if outcome.result is not None]
    failed = {outcome.method: outcome.error for outcome in reversed(outcomes) if outcome.error is not None}
    rows = [row for row in summary(measured) if row["method"] not in failed]
    rows.sort(key=lambda row: -row[main_metric(row).key]["mean"])
    choice = recommend(rows, _scores(rows, measured)) if rows else None
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
        lines.append(how_measured(protocol, rows))
        if main_metric(rows[0]) is not ACCURACY:
            lines.append(NUMBER_KNOWN)
        lines.append(choice.reason)
    if lines and outcomes:
        print_lines(lines)
    return len(rows)


def _scores(rows: list[dict[str, Any]], measured: list[Outcome]) -> dict[str, LabelScores]:
    from planetoid.cli.measurement import label_scores

    methods = [row["method"] for row in rows]
    return {name: label_scores([outcome for outcome in measured if outcome.method == name]) for name in methods}


def _ranking(rows: list[dict[str, Any]]) -> Table:
    from planetoid.evaluation import what_it_uses

    metric = main_metric(rows[0])
    others = {"macro F1 %": "macro_f1", "calibration\nerror %": "calibration_error"} if metric is ACCURACY else COLUMNS
    interrupted = len({row["splits"] for row in rows}) > 1
    figures = (f"{metric.name} %", *others, *(("splits",) if interrupted else ()), "seconds")
    table = plain_table("method", "learns from", right=figures)
    for row in rows:
        shown = [with_interval(row[metric.key]), *(percent(row[name]) for name in others.values())]
        shown += [str(row["splits"])] if interrupted else []
        table.add_row(row["method"], what_it_uses(row["method"]), *shown, f"{row['seconds']:.2f}")
    return table
