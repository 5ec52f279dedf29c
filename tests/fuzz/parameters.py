"""``python -m tests.fuzz.parameters [METHOD ...]``: ``--set`` of every parameter to values of every kind, with a fit.

A fit ends well or with a ``PlanetoidError``; anything else is printed, and ends the program with 1. A value may be a
large budget, which is no mistake: what takes more than ``SECONDS`` is left.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import planetoid as pl
from planetoid.cli.settings import parameter_names, parse_settings, settings_by_method

SECONDS = 30
VALUES = (
    *("none", "true", "false", "0", "1", "-1", "2", "3.5", "-0.5", "0.5", "nan", "inf", "-inf", "1e300", "-1e300"),
    *("1e-300", "9" * 20, "-" + "9" * 20, "1000000000", "9" * 500, "", "abc", "auto", "cpu", "cuda:99", "[]", "[1, 2]"),
    *("{}", '{"a": 1}', '"x"', '""', "sgd", "max", "l1", "linear", "[[1]]", "1,2", "0x10", "1_000", '"\\ud800"'),
    *("9223372036854775808", "2147483648", "65536", "[" * 2000),
)
# Short trainings, where the method has the parameter.
SHORT = {
    "training.steps": "2",
    "training.pretrain": "0.01",
    "pretrain": "0.01",
    "max_iter": "3",
    "steps": "2",
    "epochs": "2",
    "n_jobs": "1",
    "random_state": "0",
    "n_rounds": "1",
}
DATA = pl.datasets.make_citation(24, n_classes=3, seed=1)
Y = pl.mask_labels(DATA.y, np.arange(12))


class TooLongError(Exception):
    """A budget that the value asked for."""


def cases(methods: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield every method, parameter and value."""
    for method in methods:
        for name in parameter_names(method):
            for value in VALUES:
                yield method, name, value


def set_and_fit(method: str, name: str, value: str) -> None:
    """Set one parameter and fit; raises what is a finding."""
    known = parameter_names(method)
    chosen = {key: text for key, text in SHORT.items() if key in known} | {name: value}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            entries = parse_settings([f"{key}={text}" for key, text in chosen.items()])
            model = pl.METHODS[method]().set_params(**settings_by_method([method], entries)[method])
            X = None if model.uses_features == "never" else DATA.X
            model.fit(X, Y, graph=DATA.graph)
        except (pl.PlanetoidError, OSError):  # OSError: a folder that cannot be made, a sentence on the command line
            pass


@contextmanager
def at_most(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    except TooLongError:
        pass
    finally:
        signal.alarm(0)


def main(methods: list[str]) -> int:
    count = findings = 0
    os.chdir(tempfile.mkdtemp(prefix="planetoid-parameters-"))  # a value may be the name of a folder
    methods = methods or list(pl.METHODS)
    for method in methods:  # without a limit: an import or a compilation must not be cut off
        for name in parameter_names(method):
            set_and_fit(method, name, str(pl.METHODS[method]().get_params()[name.replace(".", "__")]))
    for method, name, value in cases(methods):
        count += 1
        try:
            with at_most(SECONDS):
                set_and_fit(method, name, value)
        except Exception:
            findings += 1
            print(f"--method {method} --set {name}={value[:60]}\n{traceback.format_exc(limit=-3)}", flush=True)
    print(f"{count:,} combinations, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
