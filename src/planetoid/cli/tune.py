"""``planetoid tune``: hyperparameter search on splits of the known labels."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planetoid.cli.console import plain_table, print_json, print_lines, print_message, print_table
from planetoid.cli.data_options import DataOptions
from planetoid.cli.diagnostics import collect_warnings
from planetoid.cli.engines import tasks_on, uses_dask
from planetoid.cli.options import (
    AsJson,
    Engine,
    HoldOut,
    PerClass,
    Processes,
    Quiet,
    Scheduler,
    Seed,
    Settings,
    TrainShare,
    UnseenNodes,
    takes_data,
)
from planetoid.cli.outputs import check_writable
from planetoid.utils.text import pluralize

if TYPE_CHECKING:
    from planetoid.cli.settings import Settings as ParsedSettings
    from planetoid.evaluation.tuning import Trial, Tuned
    from planetoid.search_space import Plain

__all__ = ["tune"]

FIRST_SPLIT = 1000  # seed; planetoid evaluate draws other splits, which then show how good the choice is


@takes_data(validation=False)
def tune(
    options: DataOptions,
    method: Annotated[str, typer.Option(help="Short name of the method.", metavar="NAME")] = "planetoid",
    trials: Annotated[int, typer.Option(min=1, help="Number of parameter sets to try, the defaults first.")] = 50,
    splits: Annotated[int, typer.Option(min=1, help="Number of splits per trial, the same for all trials.")] = 3,
    journal: Annotated[
        Path | None,
        typer.Option(
            help="File that records the trials of one search; the same command resumes from it.",
            show_default=False,
            metavar="FILE",
        ),
    ] = None,
    new_nodes: UnseenNodes = False,
    train_share: TrainShare = None,
    per_class: PerClass = None,
    hold_out: HoldOut = None,
    settings: Settings = None,
    seed: Seed = 0,
    jobs: Processes = 0,
    engine: Engine = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Search for parameters that suit the data, and print the command to fit with them.

    Each set of parameters is fitted on a part of the known labels and scored on
    the others, on the same splits: by accuracy, or by micro F1 if nodes have several
    labels. Parameters given by [bold]--set[/bold] stay fixed. The best
    score is optimistic, since it is the maximum of many trials: for an unbiased
    estimate use planetoid evaluate, which draws other splits.

    For example:
      [bold]planetoid tune --edges e.csv --features f.parquet --labels l.csv --trials 30[/bold]
      [bold]planetoid tune --edges e.csv --labels l.csv --method planetoid-g --journal trials.log[/bold]
    """
    from planetoid.cli.measurement import n_processes, split_protocol
    from planetoid.cli.method_choice import check_suitable, parse_methods
    from planetoid.cli.settings import parse_settings, settings_by_method
    from planetoid.errors import ParameterError
    from planetoid.evaluation.tuning import tune as search
    from planetoid.utils.progress import progress

    options.require(labels=True)
    uses_dask(engine, scheduler)
    names = parse_methods(method)
    if len(names) != 1:
        raise ParameterError(f"--method {method}: tune takes one method")
    if journal is not None:
        check_writable(journal)
    fixed = settings_by_method(names, parse_settings(settings))[names[0]]
    with collect_warnings(quiet=quiet):
        data = options.read(quiet=quiet)
    check_suitable(names, data, new_nodes=new_nodes)
    protocol = split_protocol(
        data, train_share=train_share, per_class=per_class, hold_out=hold_out, new_nodes=new_nodes
    )
    best, jobs = [0.0], n_processes(jobs, min(trials, 8))
    with tasks_on(engine, scheduler, jobs), progress(names[0], trials, verbose=not quiet) as advance:

        def note(trial: Trial) -> None:
            best[0] = max(best[0], 0.0 if trial.score is None else trial.score.mean)
            advance(1, f"best {100 * best[0]:.1f} %")

        found = search(
            names[0], data, trials=trials, protocol=protocol, fixed=fixed, seed=seed,
            seeds=range(FIRST_SPLIT, FIRST_SPLIT + splits), jobs=jobs, journal=journal,
            on_trial=note,
        )  # fmt: skip
    if as_json:
        print_json(found.as_dict())
        return
    _show(found, fixed, options)
    print_message(
        "The score is the best of many trials; planetoid evaluate with these parameters is unbiased.", quiet=quiet
    )


def _show(found: Tuned, fixed: ParsedSettings, options: DataOptions) -> None:
    keys = {name.replace("__", "."): value for name, value in found.parameters.items()}
    if found.parameters.keys() <= fixed.keys():  # nothing but what was given by --set
        alone = "Only the defaults were tried."
        print_lines([alone if found.trials == 1 else "No trial is better than the defaults: keep them."])
    else:
        table = plain_table("parameter", right=("value",))
        for key, value in keys.items():
            table.add_row(key, _written(value))
        print_table(table)
    default = "" if found.default is None else f"; defaults: {found.default.percent()}"
    measured = f"{pluralize(len(found.seeds), 'split')}, {pluralize(found.trials, 'trial')}"
    name = "Accuracy" if found.metric == "accuracy" else "Micro F1"
    print_lines([f"{name} {found.score.percent()} % over {measured}{default}."])
    chosen = [part for key, value in keys.items() for part in ("--set", f"{key}={_written(value)}")]
    print_lines([shlex.join(["planetoid", "fit", *options.as_arguments(), "--method", found.method, *chosen])])


def _written(value: Plain) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
