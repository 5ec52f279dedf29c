"""What the paper prints about its methods, and how other parameters depart from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import NamedTuple

from planetoid.parameters import Parameters
from planetoid.registry import METHODS
from planetoid.search_space import Plain

__all__ = ["PRINTED", "Departure", "departures", "departures_in_words"]

# Algorithm 1 and Section 4: r1, q and d; j = k is in the set of pairs, and a walk yields one pair, so that N2 counts
# pairs.
_ALGORITHM_1: dict[str, Plain] = {
    "contexts__r1": float(Fraction(5, 6)),
    "contexts__q": 10,
    "contexts__d": 3,
    "contexts__self_pairs": True,
    "contexts__single_pairs": True,
    "contexts__labels_first": False,
    "contexts__node2vec_p": 1.0,
    "contexts__node2vec_q": 1.0,
}
# Equations 4 and 5, Figure 2 and Algorithm 2: one layer of rectified linear units per arrow, a softmax on e and x
# themselves (neither scaled), SGD on batches of N1 and N2 without a penalty, alternating between the two losses.
_ALGORITHM_2: dict[str, Plain] = {
    "network__k": 1,
    "network__l": 1,
    "network__activation": "relu",
    "network__dropout": 0.0,
    "network__auxiliary_losses": False,
    "network__normalize_embedding": False,
    "training__N1": 200,
    "training__N2": 200,
    "training__lambda_": None,
    "training__optimizer": "sgd",
    "training__context_optimizer": "sgd",
    "training__weight_decay": 0.0,
}
_FEATURES: dict[str, Plain] = {"row_normalize": None}  # x is the bag of words

PRINTED: dict[str, Mapping[str, Plain]] = {
    "planetoid-t": {**_ALGORITHM_1, **_ALGORITHM_2, **_FEATURES},
    "planetoid-g": {**_ALGORITHM_1, **_ALGORITHM_2, "network__k": 0},
    "planetoid-i": {
        **_ALGORITHM_1,
        **_ALGORITHM_2,
        **_FEATURES,
        "encoder__l1": 1,
        "encoder__activation": "relu",
    },
    "graphemb": {**_ALGORITHM_1, "contexts__r2": 1.0},
}


class Range(NamedTuple):
    """What the paper says about a parameter that it leaves open."""

    words: str
    holds: Callable[[Plain], bool]


# Without these there is no joint training, or none on labels.
RANGES = {
    "contexts__r2": Range("between 0 and 1", lambda value: value == "auto" or 0 < float(value or 0) < 1),
    "training__T1": Range("more than 0", lambda value: float(value or 0) > 0),
    "training__T2": Range("more than 0", lambda value: float(value or 0) > 0),
    "training__embedding_learning_rate": Range("more than 0", lambda value: float(value or 0) > 0),
}
# Parameters that say nothing about the result.
IGNORED = ("callbacks", "calibrate", "device", "directory", "n_jobs", "random_state", "verbose")


class Departure(NamedTuple):
    """A parameter that differs from what the paper prints, or from what was chosen where it prints nothing."""

    parameter: str
    value: Plain
    printed: Plain
    fixed: bool  # by the paper


def departures(method: str, parameters: Mapping[str, object], printed: Mapping[str, object]) -> list[Departure]:
    """Return every parameter of a model that differs from the same method as printed.

    Parameters
    ----------
    method : str
        A key of :data:`PRINTED`.
    parameters : dict
        Those of the model; all others have their defaults.
    printed : dict
        Those of the preset ``printed/*`` for the same data; without one, ``PRINTED[method]``.

    Examples
    --------
    >>> [departure.parameter for departure in departures("graphemb", PRINTED["graphemb"], PRINTED["graphemb"])]
    []
    >>> departures("graphemb", {**PRINTED["graphemb"], "contexts__d": 6}, PRINTED["graphemb"])
    [Departure(parameter='contexts__d', value=6, printed=3, fixed=True)]
    """
    ours, theirs = (_all_parameters(method, given) for given in (parameters, printed))
    found = []
    for name, value in ours.items():
        of_paper = PRINTED[method].get(name, theirs[name])
        fixed = name in PRINTED[method]
        if not fixed and name in RANGES and not RANGES[name].holds(value):
            found.append(Departure(name, value, RANGES[name].words, True))
        elif value != of_paper:
            found.append(Departure(name, value, of_paper, fixed))
    return sorted(found, key=lambda departure: not departure.fixed)


def departures_in_words(found: list[Departure]) -> str:
    """Return departures as a sentence, those from what the paper fixes first.

    >>> departures_in_words([Departure("contexts__d", 6, 3, True), Departure("training__steps", 99, 120, False)])
    'contexts.d = 6 (printed: 3). Open in the paper and chosen otherwise: training.steps = 99 (120)'
    """
    fixed = ", ".join(f"{_assignment(one)} (printed: {_text(one.printed)})" for one in found if one.fixed)
    chosen = ", ".join(f"{_assignment(one)} ({_text(one.printed)})" for one in found if not one.fixed)
    both = [fixed or "nothing that the paper fixes"]
    if chosen:
        both.append(f"Open in the paper and chosen otherwise: {chosen}")
    return ". ".join(both)


def _assignment(departure: Departure) -> str:
    return f"{departure.parameter.replace('__', '.')} = {_text(departure.value)}"


def _text(value: Plain) -> str:
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _all_parameters(method: str, parameters: Mapping[str, object]) -> dict[str, Plain]:
    values = METHODS[method]().set_params(**parameters).get_params()
    return {name: value for name, value in values.items() if not isinstance(value, Parameters) and name not in IGNORED}
