"""``planetoid compare``: all methods that fit the data, ranked, and which one to take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from planetoid.cli.console import counted, noted, print_json, print_lines, print_table, simple_table, tell, why_not
from planetoid.cli.evaluate import HoldOut, PerClass, Splits, TrainShare, how_measured, percent, summary, warned
from planetoid.cli.options import AsJson, Jobs, Methods, NewNodes, Quiet, Seed, Settings, takes_data
from planetoid.cli.sources import Sources
from planetoid.errors import DataError

if TYPE_CHECKING:
    from planetoid.cli.measuring import Outcome
    from planetoid.evaluation import Protocol

__all__ = ["compare", "recommend"]


@takes_data(validation=False)
def compare(
    sources: Sources,
    method: Methods = None,
    new_nodes: NewNodes = False,
    splits: Splits = 5,
    train_share: TrainShare = None,
    per_class: PerClass = None,
    hold_out: HoldOut = None,
    settings: Settings = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Measure all methods that fit the data, rank them, and recommend one.

    Every method learns from the same labels and is measured on the same
    others, as in [bold]planetoid evaluate[/bold]. Of the methods that are as good as
    the best, within one standard error, the quickest is recommended. A method
    that fails does not end the comparison; Ctrl-C shows what was finished.

    For instance:
      [bold]planetoid compare --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid compare --edges e.csv --labels l.csv --splits 3 --jobs 2 --json[/bold]
    """
    from planetoid.cli.choosing import Situation, check_names, fitting
    from planetoid.cli.inputs import read_data
    from planetoid.cli.measuring import draw_protocol, measure, processes
    from planetoid.cli.settings import parse_settings, settings_by_method
    from planetoid.utils.progress import progress

    sources.require(labels=True)
    given = parse_settings(settings)
    wanted = None if method is None else check_names(method)
    notes: list[str] = []
    with noted(notes, quiet=quiet):
        data = read_data(sources, quiet=quiet)
    methods, skipped = fitting(Situation.of(data, new_nodes=new_nodes))
    if wanted is not None:
        methods = [name for name in methods if name in wanted]
        skipped = {name: why for name, why in skipped.items() if name in wanted}
    if not methods:
        raise DataError(f"no method fits the data: {'; '.join(f'{name}: {why}' for name, why in skipped.items())}")
    parameters = settings_by_method(methods, given)
    protocol = draw_protocol(data, train_share=train_share, per_class=per_class, hold_out=hold_out, new_nodes=new_nodes)
    tell(f"comparing {', '.join(methods)} on {counted(splits, 'split')}", quiet=quiet)
    finished: list[Outcome] = []
    n_tasks = len(methods) * splits
    seeds = range(seed, seed + splits)

    def note(outcome: Outcome) -> None:
        finished.append(outcome)
        advance(1, f"{outcome.method}, split {outcome.seed}")

    try:
        with progress("", n_tasks, verbose=not quiet) as advance:
            measure(methods, data.dataset(), protocol, seeds, parameters, processes(jobs, n_tasks), note)
    except KeyboardInterrupt:
        _show(finished, skipped, protocol, notes, as_json)
        raise
    if _show(finished, skipped, protocol, notes, as_json) == 0:
        raise DataError("no method could be measured; the first says: " + str(finished[0].error))


def recommend(rows: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the method to take, and a sentence: the quickest within one standard error of the best.

    >>> rows = [{"method": "lp", "splits": 4, "accuracy": {"mean": 0.80, "sd": 0.02}, "seconds": 0.1},
    ...         {"method": "planetoid-g", "splits": 4, "accuracy": {"mean": 0.805, "sd": 0.02}, "seconds": 3.0}]
    >>> recommend(rows)[0]
    'lp'
    """
    best = max(rows, key=lambda row: row["accuracy"]["mean"])
    mean, sd = best["accuracy"]["mean"], best["accuracy"]["sd"]
    error = 0.0 if sd is None else sd / best["splits"] ** 0.5
    as_good = [row for row in rows if row["accuracy"]["mean"] >= mean - error and row["splits"] == best["splits"]]
    chosen = min(as_good, key=lambda row: row["seconds"])
    if chosen is not best:
        return chosen["method"], (
            f"Take {chosen['method']}: with {chosen['accuracy']['mean']:.1%} it is as good as {best['method']} "
            f"({mean:.1%}) within one standard error ({error:.1%}), and quicker "
            f"({chosen['seconds']:.2g} s instead of {best['seconds']:.2g} s); more --splits may tell them apart."
        )
    others = "the best" if len(as_good) == 1 else "the best, and none as good within one standard error is quicker"
    told = "" if sd is None else f" (standard error {error:.1%})"
    return best["method"], f"Take {best['method']}: with {mean:.1%}{told} it is {others}."


def _show(outcomes: list[Outcome], skipped: dict[str, str], protocol: Protocol, notes: list[str], as_json: bool) -> int:
    """Show what was finished; return how many methods were measured."""
    measured = [outcome for outcome in outcomes if outcome.result is not None]
    failed = {outcome.method: outcome.error for outcome in reversed(outcomes) if outcome.error is not None}
    rows = sorted(
        (row for row in summary(measured) if row["method"] not in failed), key=lambda row: -row["accuracy"]["mean"]
    )
    chosen, why = recommend(rows) if rows else (None, "")
    if as_json and outcomes:
        results = [outcome.result.as_dict() for outcome in measured if outcome.result is not None]
        told: dict[str, Any] = {"protocol": protocol.in_words(), "ranking": rows, "recommended": chosen, "why": why}
        told |= {"failed": failed, "skipped": skipped, "warnings": notes, "warnings_of_methods": warned(measured)}
        print_json({**told, "results": results})
        return len(rows)
    if rows:
        print_table(_ranked(rows))
    lines = [f"{method} failed: {error}" for method, error in failed.items()]
    lines += why_not(skipped)
    if rows:
        lines += [how_measured(protocol, measured), why]
    if lines and outcomes:
        print_lines(lines)
    return len(rows)


def _ranked(rows: list[dict[str, Any]]) -> Any:
    from planetoid.evaluation import what_it_uses

    partly = len({row["splits"] for row in rows}) > 1  # an interrupted comparison
    figures = ("accuracy %", "macro F1 %", "calibration\nerror %", *(("splits",) if partly else ()), "seconds")
    table = simple_table("method", "learns from", right=figures)
    for row in rows:
        shown = [percent(row[name]) for name in ("accuracy", "macro_f1", "calibration_error")]
        shown += [str(row["splits"])] if partly else []
        table.add_row(row["method"], what_it_uses(row["method"]), *shown, f"{row['seconds']:.2f}")
    return table
