"""``planetoid tune``: hyperparameter search on splits of the known labels."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planetoid.cli.console import counted, noted, print_json, print_lines, print_table, simple_table, tell
from planetoid.cli.evaluate import HoldOut, PerClass, TrainShare
from planetoid.cli.options import AsJson, Jobs, NewNodes, Quiet, Seed, Settings, takes_data
from planetoid.cli.sources import Sources

if TYPE_CHECKING:
    from planetoid.cli.settings import Settings as ParsedSettings
    from planetoid.evaluation.tuning import Trial, Tuned
    from planetoid.search_space import Plain

__all__ = ["tune"]

FIRST_SPLIT = 1000  # seed; planetoid evaluate draws other splits, which then show how good the choice is


@takes_data(validation=False)
def tune(
    sources: Sources,
    method: Annotated[str, typer.Option(help="Short name of the method.", metavar="NAME")] = "planetoid-t",
    trials: Annotated[int, typer.Option(min=1, help="Sets of parameters to try, the defaults first.")] = 50,
    splits: Annotated[int, typer.Option(min=1, help="Random splits per trial.")] = 3,
    journal: Annotated[
        Path | None,
        typer.Option(help="File that records the trials; the same command resumes from it.", show_default=False),
    ] = None,
    new_nodes: NewNodes = False,
    train_share: TrainShare = None,
    per_class: PerClass = None,
    hold_out: HoldOut = None,
    settings: Settings = None,
    seed: Seed = 0,
    jobs: Jobs = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Search for parameters that suit the data, and print the command to fit with them.

    Each set of parameters learns from a part of the known labels and is scored
    on the others, on the same splits. Parameters given by [bold]--set[/bold] stay fixed. The
    score of the best is optimistic, since it is the best of many trials: measure
    it by planetoid evaluate, which draws other splits.

    For instance:
      [bold]planetoid tune --edges e.csv --features f.parquet --labels l.csv --trials 30[/bold]
      [bold]planetoid tune --edges e.csv --labels l.csv --method planetoid-g --journal trials.log[/bold]
    """
    from planetoid.cli.choosing import check_names
    from planetoid.cli.inputs import read_data
    from planetoid.cli.measuring import draw_protocol, processes
    from planetoid.cli.settings import parse_settings, settings_by_method
    from planetoid.errors import ParameterError
    from planetoid.evaluation.tuning import tune as search
    from planetoid.utils.progress import progress

    sources.require(labels=True)
    names = check_names(method)
    if len(names) != 1:
        raise ParameterError(f"--method {method}: tune takes one method")
    fixed = settings_by_method(names, parse_settings(settings))[names[0]]
    with noted([], quiet=quiet):
        data = read_data(sources, quiet=quiet)
    protocol = draw_protocol(data, train_share=train_share, per_class=per_class, hold_out=hold_out, new_nodes=new_nodes)
    best = [0.0]
    with progress(names[0], trials, verbose=not quiet) as advance:

        def note(trial: Trial) -> None:
            best[0] = max(best[0], 0.0 if trial.score is None else trial.score.mean)
            advance(1, f"best {100 * best[0]:.1f} %")

        tuned = search(
            names[0], data.dataset(), trials=trials, protocol=protocol, fixed=fixed, seed=seed,
            seeds=range(FIRST_SPLIT, FIRST_SPLIT + splits), jobs=processes(jobs, min(trials, 8)), journal=journal,
            on_trial=note,
        )  # fmt: skip
    if as_json:
        print_json(tuned.as_dict())
        return
    _show(tuned, fixed, sources)
    tell("The score is the best of many trials; planetoid evaluate with these settings is unbiased.", quiet=quiet)


def _show(tuned: Tuned, fixed: ParsedSettings, sources: Sources) -> None:
    keys = {name.replace("__", "."): value for name, value in tuned.parameters.items()}
    if tuned.parameters.keys() <= fixed.keys():  # nothing but what was given by --set
        alone = "Only the defaults were tried."
        print_lines([alone if tuned.trials == 1 else "No trial is better than the defaults: keep them."])
    else:
        table = simple_table("parameter", right=("value",))
        for key, value in keys.items():
            table.add_row(key, _written(value))
        print_table(table)
    default = "" if tuned.default is None else f"; defaults: {tuned.default.percent()}"
    measured = f"{counted(len(tuned.seeds), 'split')}, {counted(tuned.trials, 'trial')}"
    print_lines([f"Accuracy {tuned.score.percent()} % over {measured}{default}."])
    inputs = [
        part
        for option, path in (("--edges", sources.edges), ("--features", sources.features), ("--labels", sources.labels))
        if path is not None
        for part in (option, str(path))
    ]
    chosen = [part for key, value in keys.items() for part in ("--set", f"{key}={_written(value)}")]
    print_lines([shlex.join(["planetoid", "fit", *inputs, "--method", tuned.method, *chosen])])


def _written(value: Plain) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
