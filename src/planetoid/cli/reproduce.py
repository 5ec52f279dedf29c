"""``planetoid reproduce``: the paper's tables and figure, with the paper's values beside ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from planetoid.cli.console import print_json, print_message, print_table
from planetoid.cli.engines import tasks_on
from planetoid.cli.options import AsJson, Engine, Quiet, Scheduler
from planetoid.cli.outputs import make_output_folder

__all__ = ["reproduce"]


def reproduce(
    parts: Annotated[
        list[str],
        typer.Argument(
            metavar="PART", help="table2, table3, table4, table5, figure, ablation or all.", show_default=False
        ),
    ],
    runs: Annotated[int, typer.Option(min=1, help="Runs per cell, each with its own seed and random split.")] = 10,
    first_seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first run, to add runs to those of another machine.")
    ] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    engine: Engine = None,
    scheduler: Scheduler = None,
    out: Annotated[Path, typer.Option(help="Folder for tables and finished runs.", metavar="FOLDER")] = Path("results"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Compute everything at a small scale in minutes, as a smoke test.")
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Compute Table 4 at the size of DIEL instead of a tenth of it.")
    ] = False,
    data: Annotated[
        list[str] | None,
        typer.Option("--data", metavar="NAME", help="Only run this dataset of a table; may be repeated."),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", metavar="NAME", help="Only run this method of a table; may be repeated."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--settings", metavar="NAME", help="Only run these settings, such as printed; may be repeated."),
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the paper's tables and figure, with the paper's value and ours in each cell.

    Finished runs are stored in the folder and not repeated, so that an
    interrupted command resumes where it stopped. "all" is everything but
    the ablation, which takes as long as the rest.

    For example:
      [bold]planetoid reproduce table3 --runs 10[/bold]
      [bold]planetoid reproduce all --quick --out /tmp/results[/bold]
    """
    from planetoid.experiments.render import as_record, as_rich, by_section
    from planetoid.experiments.reproduce import OF_THE_PAPER, TITLES, check_part, file_name, reproduce_part

    wanted = list(dict.fromkeys(OF_THE_PAPER + tuple(parts) if "all" in parts else parts))
    wanted = [part for part in wanted if part != "all"]
    for part in wanted:
        check_part(part)
    folder = make_output_folder(out / "quick" if quick else out)
    lists = _lists(full, quick)
    records = []
    for part in wanted:
        started = time.perf_counter()
        with tasks_on(engine, scheduler, jobs):
            text, cells = reproduce_part(
                part,
                runs=1 if quick else runs,
                jobs=jobs,
                out=folder,
                quick=quick,
                lists=lists,
                datasets=data or (),
                methods=method or (),
                settings=settings or (),
                first_seed=first_seed,
                verbose=not quiet,
            )
        seconds = time.perf_counter() - started
        print_message(f"{TITLES[part]}: {seconds:.0f} s, {folder / file_name(part, lists)}.md", quiet=quiet)
        if as_json:
            records += as_record(cells)
        elif not cells:
            print(text)  # noqa: T201
        else:
            for name, section in by_section(cells).items():
                print_table(as_rich(section, f"{TITLES[part]}, {name}"))
    if as_json:
        print_json(records)


def _lists(full: bool, quick: bool) -> str:
    """Return the lists of Table 4: DIEL if its files are available, otherwise synthetic ones at some scale."""
    from planetoid import datasets
    from planetoid.cli.datasets import find_folder
    from planetoid.experiments.reproduce import FULL_SIZE

    if not quick and find_folder(datasets.info("diel"), None) is not None:
        return "diel"
    return "0.01" if quick else FULL_SIZE if full else "0.1"
