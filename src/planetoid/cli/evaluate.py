"""``planetoid evaluate``: how good methods are on the known labels, by repeated splits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from planetoid.cli.console import counted, noted, print_json, print_lines, print_table, simple_table, tell
from planetoid.cli.options import AsJson, Jobs, NewNodes, Quiet, Seed, Settings, takes_data
from planetoid.cli.sources import Sources
from planetoid.errors import DataError, ParameterError

if TYPE_CHECKING:
    from planetoid.cli.measuring import Outcome
    from planetoid.evaluation import Protocol

__all__ = ["HoldOut", "PerClass", "Splits", "TrainShare", "evaluate"]

WIDEST_MATRIX = 12  # classes up to which the whole confusion matrix is shown

Splits = Annotated[int, typer.Option(min=1, help="Random splits; all methods see the same ones.")]
TrainShare = Annotated[
    float | None, typer.Option(help="Share of each class's labels to learn from; 0.8 if not given.", show_default=False)
]
PerClass = Annotated[
    int | None, typer.Option(min=1, help="Labels of each class to learn from, instead of a share.", show_default=False)
]
HoldOut = Annotated[
    float | None, typer.Option(help="Share of all labels to stop by; not measured on.", show_default=False)
]


@takes_data(validation=False)
def evaluate(
    sources: Sources,
    method: Annotated[
        str,
        typer.Option(help="Short names, separated by commas; auto: as planetoid fit would choose.", metavar="NAMES"),
    ] = "auto",
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
    """Measure methods on the labels that are known: learn from some, predict the others, several times.

    Shows mean ± standard deviation over the splits of accuracy, macro F1 and
    calibration error, which classes are taken for which, and whether a
    probability of 0.8 is right in 80 % of the cases. With [bold]--new-nodes[/bold] the
    nodes that are measured on are taken out of the graph first.

    For instance:
      [bold]planetoid evaluate --edges e.csv --features f.parquet --labels l.csv[/bold]
      [bold]planetoid evaluate --edges e.csv --labels l.csv --method planetoid-g,lp[/bold]
      [bold]planetoid evaluate --edges e.csv --labels l.csv --per-class 20 --json[/bold]
    """
    from planetoid.cli.choosing import Situation, check_names, choose
    from planetoid.cli.inputs import read_data
    from planetoid.cli.measuring import draw_protocol, measure, processes
    from planetoid.cli.settings import parse_settings, settings_by_method
    from planetoid.utils.progress import progress

    sources.require(labels=True)
    given = parse_settings(settings)
    methods = [] if method == "auto" else check_names(method)
    if methods:
        parameters = settings_by_method(methods, given)
    notes: list[str] = []
    with noted(notes, quiet=quiet):
        data = read_data(sources, quiet=quiet)
    situation = Situation.of(data, new_nodes=new_nodes)
    if not methods:
        chosen, why = choose(situation)
        tell(f"{chosen}: {why}", quiet=quiet)
        methods, parameters = [chosen], settings_by_method([chosen], given)
    _refuse_misfits(methods, situation)
    protocol = draw_protocol(data, train_share=train_share, per_class=per_class, hold_out=hold_out, new_nodes=new_nodes)
    finished: list[Outcome] = []
    seeds = range(seed, seed + splits)
    jobs = processes(jobs, len(methods) * splits)

    def note(outcome: Outcome) -> None:
        if outcome.error is not None:
            raise DataError(f"{outcome.method} failed on split {outcome.seed}: {outcome.error}")
        finished.append(outcome)
        advance(1, f"{outcome.method}, split {outcome.seed}")

    try:
        with progress("", len(methods) * splits, verbose=not quiet) as advance:
            measure(methods, data.dataset(), protocol, seeds, parameters, jobs, note)
    except KeyboardInterrupt:
        _show(finished, data.coded[1].tolist(), protocol, notes, as_json)
        raise
    _show(finished, data.coded[1].tolist(), protocol, notes, as_json)


def summary(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return mean and deviation of every method that finished a split, as plain data."""
    from planetoid.evaluation import summarize

    return [
        {
            "method": row.method,
            "splits": len(row.seeds),
            **{name: {"mean": spread.mean, "sd": spread.sd} for name, spread in row.metrics.items()},
            "seconds": row.fit_seconds,
        }
        for row in summarize(outcome.result for outcome in outcomes if outcome.result is not None)
    ]


def percent(spread: dict[str, float | None]) -> str:
    """Return mean and deviation in per cent."""
    mean, sd = spread["mean"], spread["sd"]
    assert mean is not None
    return f"{100 * mean:.1f}" + ("" if sd is None else f" ± {100 * sd:.1f}")


def how_measured(protocol: Protocol, outcomes: list[Outcome]) -> str:
    """Say in a sentence what the figures are."""
    first = outcomes[0].result
    assert first is not None
    return (
        f"Mean ± standard deviation in per cent, on {counted(first.n_test, 'label that was', 'labels that were')} not "
        f"learned from; {counted(first.n_train, 'was', 'were')}. Protocol: {protocol.in_words()}."
    )


def warned(outcomes: list[Outcome]) -> dict[str, list[str]]:
    """Return what each method warned of, each sentence once."""
    found: dict[str, list[str]] = {}
    for outcome in outcomes:
        for text in outcome.result.warnings if outcome.result is not None else ():
            if text not in found.setdefault(outcome.method, []):
                found[outcome.method].append(text)
    return found


def _refuse_misfits(methods: list[str], situation: Any) -> None:
    from planetoid.cli.choosing import misfit

    for method in methods:
        why = misfit(method, situation)
        if why is not None and method != "diel":
            raise ParameterError(f"{method} does not fit the data: {why}")


def _show(outcomes: list[Outcome], classes: list[Any], protocol: Protocol, notes: list[str], as_json: bool) -> None:
    if not outcomes:
        return
    names = [str(label) for label in classes]
    details = {row["method"]: row | _details(row["method"], outcomes, names) for row in summary(outcomes)}
    if as_json:
        record = {"protocol": protocol.in_words(), "classes": names, "methods": list(details.values())}
        results = [outcome.result.as_dict() for outcome in outcomes if outcome.result is not None]
        print_json({**record, "warnings": notes, "warnings_of_methods": warned(outcomes), "results": results})
        return
    table = simple_table("method", right=("accuracy %", "macro F1 %", "calibration\nerror %", "splits", "seconds"))
    for row in details.values():
        figures = (percent(row[name]) for name in ("accuracy", "macro_f1", "calibration_error"))
        table.add_row(row["method"], *figures, str(row["splits"]), f"{row['seconds']:.2f}")
    print_table(table)
    for method, row in details.items():
        _print_details(method, row, names)
    print_lines([how_measured(protocol, outcomes)])
    for method, texts in warned(outcomes).items():
        print_lines([f"{method} warned: {texts[0]}"])


def _details(method: str, outcomes: list[Outcome], names: list[str]) -> dict[str, Any]:
    """Return confusion matrix, accuracy of each class and calibration of one method, over all of its splits."""
    from planetoid.cli.measuring import calibration, confusion

    own = [outcome for outcome in outcomes if outcome.method == method]
    matrix = confusion(own, len(names))
    totals = matrix.sum(axis=1)
    per_class = [
        {
            "class": name,
            "count": int(total),
            "accuracy": float(matrix[k, k] / total) if total else None,
            "most_often_taken_for": _taken_for(matrix[k], k, names),
        }
        for k, (name, total) in enumerate(zip(names, totals, strict=True))
    ]
    return {"confusion": matrix.tolist(), "per_class": per_class, "calibration": calibration(own)}


def _taken_for(row: Any, own: int, names: list[str]) -> str | None:
    others = row.copy()
    others[own] = 0
    return names[int(others.argmax())] if others.any() else None


def _print_details(method: str, row: dict[str, Any], names: list[str]) -> None:
    print_lines([f"{method}: classes (rows) and what they were taken for (columns), over all splits"])
    wide = len(names) <= WIDEST_MATRIX
    table = simple_table("class", right=("accuracy %", "count", *(map(str, range(1, len(names) + 1)) if wide else ())))
    if not wide:
        table.add_column("most often taken for")
    for k, entry in enumerate(row["per_class"]):
        accuracy = "" if entry["accuracy"] is None else f"{100 * entry['accuracy']:.1f}"
        cells = [str(count or "·") for count in row["confusion"][k]] if wide else [entry["most_often_taken_for"] or ""]
        name = f"{k + 1} {entry['class']}" if wide else entry["class"]
        table.add_row(name, accuracy, str(entry["count"]), *cells)
    print_table(table)
    print_lines([f"{method}: how sure, and how often right"])
    table = simple_table("probability", right=("predictions", "mean probability %", "right %"))
    for entry in row["calibration"]:
        interval = f"{entry['from']:.1f} to {entry['to']:.1f}"
        figures = (f"{100 * entry[name]:.1f}" for name in ("confidence", "accuracy"))
        table.add_row(interval, f"{entry['count']:,}", *figures)
    print_table(table)
