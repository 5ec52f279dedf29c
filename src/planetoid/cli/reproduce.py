"""``planetoid reproduce``: the paper's tables and figure beside ours."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from planetoid.cli.console import print_json, print_message, print_table
from planetoid.cli.outputs import make_output_folder

__all__ = ["reproduce"]


def reproduce(
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART...", help="table2, table3, table4, table5, figure or all.", show_default=False),
    ],
    runs: Annotated[int, typer.Option(min=1, help="Seeds, and random splits, of each cell.")] = 10,
    jobs: Annotated[int, typer.Option(min=1, help="Processes.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder for tables, records and finished runs.")] = Path("results"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Everything small, in minutes: shows only that it runs.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Table 4 at DIEL's size instead of a tenth of it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON to stdout instead of tables.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages and no progress bar.")] = False,
) -> None:
    """Make the paper's tables and figure again, each cell with the paper's figure beside ours.

    Finished runs are kept in the folder and not made again, so that an
    interrupted command goes on where it was.

    [bold]planetoid reproduce table3 --runs 10[/bold]

    [bold]planetoid reproduce all --quick --out /tmp/results[/bold]
    """
    from planetoid.errors import ParameterError
    from planetoid.experiments.render import as_record, as_rich, sections_of
    from planetoid.experiments.reproduce import PARTS, TITLES, reproduce_part

    wanted = list(PARTS) if "all" in parts else list(dict.fromkeys(parts))
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        raise ParameterError(f"there is no part {unknown[0]!r}; it is one of {', '.join(PARTS)}, or all")
    folder = make_output_folder(out / "quick" if quick else out)
    lists = _lists(full, quick)
    answers = []
    for part in wanted:
        started = time.perf_counter()
        text, figures = reproduce_part(
            part, runs=min(runs, 1) if quick else runs, jobs=jobs, out=folder, quick=quick, lists=lists,
            verbose=not quiet,
        )  # fmt: skip
        print_message(f"{TITLES[part]}: {time.perf_counter() - started:.0f} s, {folder / part}.md", quiet=quiet)
        if as_json:
            answers += as_record(figures)
        elif not figures:
            print(text)  # noqa: T201
        for name, some in sections_of(figures).items() if not as_json else ():
            print_table(as_rich(some, f"{TITLES[part]}, {name}"))
    if as_json:
        print_json(answers)


def _lists(full: bool, quick: bool) -> str:
    """Return the lists of table 4: DIEL where its files are, else made ones of some size."""
    from planetoid import datasets
    from planetoid.cli.datasets import find_folder

    if not quick and find_folder(datasets.info("diel"), None) is not None:
        return "diel"
    return "0.01" if quick else "1" if full else "0.1"
