"""Choose the parameters in ``src/planetoid/presets`` anew: ``python scripts/make_presets.py [--only printed/cora]``.

Every preset is the best of some trials (``planetoid.evaluation.tuning``) on random splits with seeds from 1000, drawn
after the labels of the public test nodes were hidden; results are reported on the public split and on seeds from 0.
``preset_searches.py`` declares the searches. Trials are recorded in ``--journal``, so that the script can be
interrupted, and resumes; ``--trials`` and ``--splits`` make a smaller search, and more trials later continue it. Data
sets are looked up as ``planetoid.datasets.load`` does.

Each section of a preset file names the splits, the number of trials and the starts that it was chosen by. ``departs``
in it is generated (``--departs`` does that alone): every parameter that differs from the same method in ``printed/*``.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import tomllib
from preset_searches import CITATION, NELL, Wanted, all_wanted
from scipy import sparse

import planetoid as pl
from planetoid.data.dataset import Dataset
from planetoid.evaluation import Protocol
from planetoid.evaluation.tuning import Trial, Tuned, hide_labels, tune
from planetoid.experiments.printed import PRINTED, departures, departures_in_words
from planetoid.parameters import flatten
from planetoid.search_space import Plain

PRESETS = Path(__file__).resolve().parent.parent / "src" / "planetoid" / "presets"
FAMILIES = ("printed", "paper", "tuned", "kernel", "two-stage", "joint-walks", "joint-labels")
NELL_SHARES = {"nell-0.1": 0.8, "nell-0.01": 0.15, "nell-0.001": 0.001}  # of the labels that may be used
UNSEEN = ("planetoid-i", "manireg", "semiemb")  # scored on unseen test nodes, as in the paper


def tuning_data(name: str) -> Dataset:
    """Return a dataset without the labels of public test nodes."""
    if name in CITATION:
        data = pl.datasets.load(name)
        return hide_labels(data, data.split("public").test)
    data = pl.datasets.load("nell-0.1")
    hidden = set(data.split("public").test.tolist())
    for other in NELL[1:]:  # the same entity, known by its words, may be labelled at one rate and tested at another
        others = pl.datasets.load(other)
        tested = {_words(others.X, row) for row in others.split("public").test}
        hidden |= {row for row in data.split("public").train.tolist() if _words(data.X, row) in tested}
    return hide_labels(data, np.array(sorted(hidden)))


def _words(X: sparse.csr_array, row: int) -> tuple[bytes, bytes]:
    part = slice(X.indptr[row], X.indptr[row + 1])
    order = np.argsort(X.indices[part])
    return X.indices[part][order].astype(np.int64).tobytes(), X.data[part][order].tobytes()


def protocol_of(name: str, method: str) -> Protocol:
    setting = "unseen" if method in UNSEEN else "transductive"
    if name in CITATION:
        return Protocol(n_val=0, n_test=500, setting=setting)
    return Protocol("rate", rate=NELL_SHARES[name], n_val=0, setting=setting)


def choose(wanted: Wanted, data: Dataset, journal: Path, jobs: int) -> Tuned:
    def report(trial: Trial) -> None:
        score = trial.failure if trial.score is None else trial.score.percent()
        print(f"{wanted.name} {trial.number}: {score}", file=sys.stderr, flush=True)

    return tune(
        wanted.method, data, trials=wanted.trials, protocol=protocol_of(wanted.dataset, wanted.method),
        seeds=range(1000, 1000 + wanted.n_splits), space=wanted.space, fixed=wanted.fixed, starts=wanted.starts,
        jobs=jobs,
        journal=journal / f"{wanted.name.replace('/', '-')}.log", on_trial=report,
    )  # fmt: skip


def explicit(wanted: Wanted, found: Tuned) -> dict[str, Plain]:
    """Return all parameters that were searched or fixed, so that a preset does not change with a default."""
    defaults = pl.METHODS[wanted.method]().get_params()
    return {name: found.parameters.get(name, defaults[name]) for name in {**wanted.space, **wanted.fixed}}


def read(family: str) -> dict[str, dict[str, dict]]:
    """Return the sections of a family by dataset and class."""
    file = PRESETS / f"{family}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def with_departures(sections: dict[str, dict[str, dict]]) -> dict[str, dict[str, dict]]:
    """Return the sections of a family with ``departs`` of every method that the paper prints."""
    short = {type(pl.METHODS[method]()).__name__: method for method in PRINTED}
    printed = read("printed")
    for dataset, methods in sections.items():
        for cls, section in methods.items():
            section.pop("departs", None)
            if cls in short:
                theirs = printed.get(dataset, {}).get(cls, {}).get("parameters")
                as_printed = PRINTED[short[cls]] if theirs is None else plain(theirs)
                found = departures(short[cls], plain(section["parameters"]), as_printed)
                section["departs"] = departures_in_words(found)
    return sections


def plain(parameters: dict) -> dict[str, Plain]:
    """Return the parameters of a section by their full names."""
    return {name: None if value == "none" else value for name, value in flatten(parameters).items()}


def write(family: str, sections: dict[str, dict[str, dict]]) -> None:
    """Write the file of a family, which no one else writes."""
    if family != "printed":
        sections = with_departures(sections)
    lines = [f"# The presets {family}/*: chosen by scripts/make_presets.py, which says how."]
    for dataset, methods in sections.items():
        for cls, section in methods.items():
            if "departs" in section:
                lines += ["", f"[{_key(dataset)}.{cls}]", f"departs = {_toml(section['departs'])}"]
            for part in ("parameters", "chosen"):
                lines += ["", f"[{_key(dataset)}.{cls}.{part}]"]
                entries = flatten(section[part])
                lines += [f"{name.replace('__', '.')} = {_toml(value)}" for name, value in entries.items()]
    (PRESETS / f"{family}.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _key(name: str) -> str:
    return f'"{name}"' if "." in name else name


def _toml(value: object) -> str:
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else repr(value)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="start of the names to choose, such as paper/cora/planetoid-t")
    parser.add_argument("--journal", type=Path, default=Path("presets-journal"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trials", type=int, help="instead of those of preset_searches.py")
    parser.add_argument("--splits", type=int, help="instead of those of preset_searches.py")
    parser.add_argument("--departs", action="store_true", help="only generate the departures again")
    options = parser.parse_args()
    if options.departs:
        for family in FAMILIES[1:]:
            if sections := read(family):
                write(family, sections)
        return
    loaded: dict[str, Dataset] = {}
    for wanted in all_wanted():
        if not wanted.name.startswith(tuple(options.only.split(","))):
            continue
        wanted = replace(wanted, trials=options.trials or wanted.trials, n_splits=options.splits or wanted.n_splits)
        group = wanted.dataset if wanted.dataset in CITATION else "nell"
        if group not in loaded:
            loaded[group] = tuning_data(wanted.dataset)
        found = choose(wanted, loaded[group], options.journal, options.jobs)
        sections = read(wanted.family)
        section = {
            "parameters": explicit(wanted, found),
            "chosen": {
                "accuracy": round(found.score.mean, 4),
                "accuracy_of_defaults": round(found.default.mean, 4) if found.default else "failed",
                "splits": f"{found.protocol}; seeds {found.seeds[0]} to {found.seeds[-1]}; public test labels hidden",
                "trials": found.trials,
                "starts": wanted.n_starts,
                "search_seed": 0,
            },
        }
        sections.setdefault(wanted.dataset, {})[type(pl.METHODS[wanted.method]()).__name__] = section
        write(wanted.family, sections)
        print(f"{wanted.name}: {found.score.percent()} {found.parameters}", flush=True)


if __name__ == "__main__":
    main()
