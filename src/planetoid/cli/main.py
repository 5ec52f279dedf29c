"""The root of the command line: options of all commands, and how mistakes end."""

from __future__ import annotations

import errno
import sys
import traceback
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from planetoid import __version__
from planetoid.cli import check, compare, datasets, demo, embed, evaluate, fit, predict, report, reproduce, tune
from planetoid.cli.console import in_options, tell, warnings_in_a_line
from planetoid.errors import PlanetoidError

__all__ = ["app", "run"]

MISTAKE, INTERRUPTED = 2, 130  # exit codes; 1 is left to errors that nobody foresaw


class Commands(TyperGroup):
    """Turns a mistake of the user into one line and an exit code, without a traceback."""

    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        ctx.meta["planetoid.arguments"] = list(args)  # for the record of a fit
        _show_no_type_of_flags(self, ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        try:
            with warnings_in_a_line():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            tell("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except PlanetoidError as error:
            raise _ended(ctx, str(error)) from None
        except OSError as error:
            if error.errno is None or error.errno == errno.EPIPE:
                raise
            named = f"{error.filename}: " if error.filename else ""
            raise _ended(ctx, f"{named}{error.strerror}") from None


def _show_no_type_of_flags(command: Any, ctx: Any) -> None:
    """Let the help of a command, and of those below it, name flags alone: ``--quiet``, not ``--quiet <bool>``."""
    for parameter in command.get_params(ctx):  # that of --help too, which no command declares
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for below in getattr(command, "commands", {}).values():
        _show_no_type_of_flags(below, ctx)


def _ended(ctx: Any, message: str) -> typer.Exit:
    if ctx.params.get("debug"):
        traceback.print_exc()
    tell(f"error: {in_options(message)}")
    return typer.Exit(MISTAKE)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("check")(check.check)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command("embed")(embed.embed)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("tune")(tune.tune)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(demo.demo)
app.add_typer(datasets.app, name="datasets")


def _show_version(asked: bool) -> None:
    if asked:
        print(f"planetoid {__version__}")  # noqa: T201
        raise typer.Exit


@app.callback()
def planetoid(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback with an error.")] = False,
) -> None:
    """Label a graph from a handful of labels.

    Results go to stdout, messages to stderr. Exit codes: 0 done, 2 a mistake
    in data or options, 130 interrupted.
    """


def run() -> None:
    """Entry point of the command; ``--debug`` may stand anywhere."""
    arguments = sys.argv[1:]
    if "--debug" in arguments:
        arguments = ["--debug", *(argument for argument in arguments if argument != "--debug")]
    app(arguments, prog_name="planetoid")
