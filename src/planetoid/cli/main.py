"""The root of the command line: global options, and how errors end a command."""

from __future__ import annotations

import _thread
import errno
import os
import signal
import sys
import threading
import traceback
from functools import partial
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from typer.core import TyperGroup

from planetoid import __version__
from planetoid.cli import (
    check,
    compare,
    datasets,
    demo,
    embed,
    evaluate,
    explain,
    export,
    fit,
    predict,
    report,
    reproduce,
    tune,
)
from planetoid.cli.console import prepare_streams, print_message
from planetoid.cli.diagnostics import ARGUMENTS, print_warnings, render
from planetoid.distributed.environment import LOST_PROCESS, is_launched
from planetoid.errors import LostProcessError, PlanetoidError
from planetoid.utils.deferred import defer_module
from planetoid.utils.syncing import NO_SYNC_VARIABLE

if TYPE_CHECKING:
    from typer.core import TyperCommand

__all__ = ["app", "run"]

USER_ERROR, INTERRUPTED, TERMINATED = 2, 130, 143  # exit codes; 1 is for unexpected errors
SECONDS_TO_LEAVE_A_HOOK = 0.01
HELP = {"-h", "--help"}


class Terminated(KeyboardInterrupt):
    """SIGTERM: what is finished is shown and kept, as after Ctrl-C."""


class Commands(TyperGroup):
    """Turns an error of the user into one line and an exit code, without a traceback."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        ARGUMENTS.set(tuple(args))
        if HELP & set(args):
            _hide_types_of_flags(self, ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        try:
            with print_warnings():
                return super().invoke(ctx)
        except Terminated:
            print_message("terminated")
            raise typer.Exit(TERMINATED) from None
        except KeyboardInterrupt:
            print_message("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except LostProcessError as error:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # which torchrun sends to those that are about to end
            if not is_launched():  # else the process that started this one says what has happened
                print_message(f"error: {render(error)}")
            raise typer.Exit(LOST_PROCESS) from None
        except PlanetoidError as error:
            raise _exit(ctx, render(error)) from None
        except OSError as error:
            if error.errno is None or error.errno == errno.EPIPE:
                raise
            file = f"{error.filename}: " if error.filename else ""
            raise _exit(ctx, f"{file}{error.strerror}") from None


def _hide_types_of_flags(command: TyperCommand | TyperGroup, ctx: typer.Context) -> None:
    """Let the help of a command and its subcommands show flags without a type: ``--quiet``, not ``--quiet <bool>``."""
    for parameter in command.get_params(ctx):  # includes --help, which no command declares
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    for subcommand in getattr(command, "commands", {}).values():
        _hide_types_of_flags(subcommand, ctx)


def _exit(ctx: typer.Context, message: str) -> typer.Exit:
    if ctx.params.get("debug"):
        traceback.print_exc()
    print_message(f"error: {message}")
    return typer.Exit(USER_ERROR)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": sorted(HELP, key=len)},
)
app.command("check")(check.check)
app.command("fit")(fit.fit)
app.command("predict")(predict.predict)
app.command("explain")(explain.explain)
app.command("embed")(embed.embed)
app.command("export")(export.export)
app.command("evaluate")(evaluate.evaluate)
app.command("compare")(compare.compare)
app.command("tune")(tune.tune)
app.command("report")(report.report)
app.command("reproduce")(reproduce.reproduce)
app.command("demo")(demo.demo)
app.add_typer(datasets.app, name="datasets")


def _show_version(requested: bool) -> None:
    if requested:
        print(f"planetoid {__version__}")  # noqa: T201
        raise typer.Exit


@app.callback()
def planetoid(
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback with errors.")] = False,  # noqa: ARG001
    no_sync: Annotated[
        bool,
        typer.Option(
            "--no-sync", help="Do not force files to disk: faster on slow disks, but a power failure may lose them."
        ),
    ] = False,
) -> None:
    """Label a graph from a handful of labels.

    Results go to stdout, messages to stderr. Exit codes: 0 success, 2 an error
    in data or options, 3 another process of the training ended, 130
    interrupted (143 by SIGTERM).
    """
    if no_sync:
        os.environ[NO_SYNC_VARIABLE] = "1"


def _terminate(*_: object) -> NoReturn:
    raise Terminated


def _interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
    """Send a signal again that arrived in a ``__del__``, where Python ignores the exception of its handler."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    number = signal.SIGTERM if isinstance(unraisable.exc_value, Terminated) else signal.SIGINT
    if hasattr(signal, "pthread_kill"):  # also ends a system call
        send = partial(signal.pthread_kill, threading.get_ident(), number)
    else:
        send = partial(_thread.interrupt_main, number)
    threading.Timer(SECONDS_TO_LEAVE_A_HOOK, send).start()


def run() -> None:
    """Entry point of the command; ``--debug`` and ``--no-sync`` are accepted anywhere."""
    if not prepare_streams():
        print_message("error: results go to stdout, which is closed; redirect it to a file or to /dev/null")
        sys.exit(USER_ERROR)
    arguments = sys.argv[1:]
    for option in ("--debug", "--no-sync"):
        if option in arguments:
            arguments = [option, *(argument for argument in arguments if argument != option)]
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _interrupt_again
    if {"explain", "fit", "report"} & set(arguments) and not HELP & set(arguments):
        defer_module("scipy.stats")  # imported by scikit-learn, which takes a second, and used by few methods
    app(arguments, prog_name="planetoid")
