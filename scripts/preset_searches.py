"""The searches that the presets come from: methods, spaces, starts and budgets, for ``make_presets.py``.

All searches on a dataset have the same splits and the same number of trials (a space with fewer points is searched as
a whole); the first trial is the defaults of a method, the next ones its starts. Families:

- ``printed``: everything that the paper prints (``planetoid.experiments.printed``); what it tunes, or does not state,
  is searched.
- ``paper``: r1, q, d, N1 and N2 of the paper, of ManiReg the network; everything else is searched.
- ``kernel``: manifold regularization in a function space.
- ``tuned``: nothing is kept.
- ``two-stage``, ``joint-walks``, ``joint-labels``: for the ablation, three forms of each model over one space:
  embeddings trained on walks and then a classifier; joint training without label contexts; with label contexts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import planetoid as pl
from planetoid.experiments.ablation import VARIANTS
from planetoid.experiments.printed import PRINTED
from planetoid.search_space import Categorical, Float, Int, Plain, SearchSpace, Start

CITATION, NELL = ("cora", "citeseer", "pubmed"), ("nell-0.1", "nell-0.01", "nell-0.001")
MODELS = ("planetoid-t", "planetoid-g", "planetoid-i")

_ALGORITHM_1: dict[str, Plain] = {"contexts__r1": float(Fraction(5, 6)), "contexts__q": 10, "contexts__d": 3}
_PLANETOID: dict[str, Plain] = {**_ALGORITHM_1, "training__N1": 200, "training__N2": 200}
PAPER: dict[str, Mapping[str, Plain]] = {
    "planetoid-t": _PLANETOID,
    "planetoid-g": _PLANETOID,
    "planetoid-i": _PLANETOID,
    "graphemb": _ALGORITHM_1,
    "feat": {},  # of the others the paper fixes nothing
    "manireg": {"kind": "network", "edge_batch": 200},
    "semiemb": {"batch_size": 200},
    "tsvm": {},
    "lp": {},
    "lgc": {},
    "mad": {},
    "ica": {},
}
NOT_ON_NELL = ("planetoid-t", "tsvm", "ica")  # as in the paper, whose T used no features there
NOT_KEPT = ("planetoid-t", "planetoid-g", "planetoid-i", "graphemb")  # that the family tuned has

TRIALS = {"cora": 24, "citeseer": 24}  # else 12
SPLITS = {"cora": 3, "citeseer": 3, "nell-0.1": 3, "nell-0.01": 3}  # else 2

NETWORK_SPACE: SearchSpace = {  # of ManiReg, as of SemiEmb
    "learning_rate": Float(0.003, 0.1),
    "ambient": Float(1e-5, 0.02),
    "steps": Int(50, 800),
    "intrinsic": Float(0.1, 300.0),
    "width": Categorical((16, 64, 128)),
}
# r2 over its whole range, finer where label pairs are few.
SHARES: tuple[Plain, ...] = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
PRINTED_TABLES: SearchSpace = {
    "contexts__r2": Categorical(SHARES),
    "training__T1": Categorical((1, 5)),
    "training__T2": Categorical((1, 5, 20)),
    "training__learning_rate": Float(0.03, 10.0),
    "training__embedding_learning_rate": Float(0.01, 3.0),
    "training__context_learning_rate": Float(0.005, 0.1),
    "training__joint_learning_rate": Float(0.001, 0.1),
    "training__steps": Int(50, 400),
    "training__pretrain": Float(50.0, 1500.0),
    "dimension": Categorical((64, 128)),
    "network__width": Categorical((16, 64, 128)),
}
PRINTED_START: Start = {
    "contexts__r2": 0.99,
    "training__T1": 1,
    "training__T2": 5,
    "training__learning_rate": 0.3,
    "training__embedding_learning_rate": 0.3,
    "training__context_learning_rate": 0.05,
    "training__joint_learning_rate": 0.02,
    "training__steps": 200,
    "training__pretrain": 400.0,
    "dimension": 128,
    "network__width": 64,
}
PRINTED_ENCODER: SearchSpace = {
    **{name: entry for name, entry in PRINTED_TABLES.items() if name != "training__joint_learning_rate"},
    "training__T2": Categorical((1, 5)),
    "training__embedding_learning_rate": Float(0.001, 0.3),
    "training__context_learning_rate": Float(1.0, 30.0),  # of the mean over a batch, not of a pair
    "training__steps": Int(50, 300),
    "training__pretrain": Float(20.0, 200.0),
}
ENCODER_START: Start = {
    **PRINTED_START,
    "training__embedding_learning_rate": 0.1,
    "training__context_learning_rate": 10.0,
    "training__pretrain": 100.0,
}
LARGE: SearchSpace = {"training__pretrain": Float(5.0, 50.0), "training__steps": Int(50, 200)}  # where a step is slow
PRINTED_SPACE: dict[str, SearchSpace] = {
    "planetoid-t": PRINTED_TABLES,
    "planetoid-g": PRINTED_TABLES,
    "planetoid-i": PRINTED_ENCODER,
    "graphemb": {
        "pretrain": Float(50.0, 1500.0),
        "context_learning_rate": Float(0.005, 0.1),
        "C": Float(0.3, 1000.0),
        "dimension": Categorical((64, 128)),
    },
}
TABLE_STARTS = (
    {
        **PRINTED_START,
        "contexts__r2": 0.999,
        "training__T2": 20,
        "training__learning_rate": 1.0,
        "training__joint_learning_rate": 0.05,
        "training__steps": 400,
        "training__pretrain": 1000.0,
    },
    {**PRINTED_START, "contexts__r2": 0.999, "training__T2": 20},
    PRINTED_START,
)
# On NELL, larger rates and wider layers besides, with starts that come from about 25 settings looked at on the tuning
# split of seed 1000 at 0.01.
PRINTED_NELL: SearchSpace = {
    "training__context_learning_rate": Float(0.005, 0.3),
    "network__width": Categorical((16, 64, 128, 256)),
}
NELL_START: Start = {
    **PRINTED_START,
    "contexts__r2": 0.999,
    "training__context_learning_rate": 0.3,
    "training__joint_learning_rate": 0.05,
    "training__pretrain": 100.0,
    "network__width": 256,
}
NELL_STARTS = (*TABLE_STARTS, NELL_START, {**NELL_START, "training__pretrain": 200.0})
PRINTED_STARTS: dict[str, tuple[Start, ...]] = {
    "planetoid-t": TABLE_STARTS,
    "planetoid-g": TABLE_STARTS,
    "planetoid-i": (ENCODER_START, {**ENCODER_START, "contexts__r2": 0.999}),
    "graphemb": ({"pretrain": 400.0, "context_learning_rate": 0.05},),
}

# For the inductive model where pre-training takes long; and for NELL, whose hundred classes need a weak penalty.
SHORT_PRETRAINING: SearchSpace = {
    "training__pretrain": Float(1.0, 5.0),
    "dimension": Categorical((128,)),
    "training__steps": Int(50, 250),
}
NELL_SPACE: dict[str, SearchSpace] = {
    "planetoid-g": {
        "training__weight_decay": Float(1e-6, 1e-3),
        "training__pretrain": Float(5.0, 20.0),
        "network__dropout": Categorical((0.0, 0.5)),
        "training__learning_rate": Float(0.02, 0.2),
        "training__embedding_learning_rate": Float(0.001, 0.5),
        "training__T2": Categorical((0.1, 5.0, 20.0)),
        "contexts__r2": Categorical((1.0, "auto")),
    },
    "planetoid-i": {
        "training__weight_decay": Float(1e-6, 1e-3),
        "training__pretrain": Float(2.0, 5.0),
        "dimension": Categorical((128,)),
        "training__context_learning_rate": Float(0.01, 0.05),
        "training__T2": Categorical((0.02, 0.1, 0.5)),
        "encoder__activation": Categorical(("linear", "tanh", "relu")),
        "training__N2": Categorical((50, 200)),
    },
    "graphemb": {"pretrain": Float(5.0, 20.0), "C": Float(10.0, 10000.0)},
    "semiemb": {"weight_decay": Float(1e-7, 1e-3)},
    "manireg": {"ambient": Float(1e-7, 0.02), "intrinsic": Float(1e-3, 300.0)},
}

# What was found for ManiReg at 0.1, and penalties so weak that it is a network on words: with its defaults, and with
# most of what a search finds otherwise, it labels all entities alike at the other rates.
_WEAK: Start = {"learning_rate": 0.01, "steps": 200, "intrinsic": 0.01, "width": 128}
MANIREG_ON_NELL: tuple[Start, ...] = (
    {"learning_rate": 0.05, "ambient": 3e-5, "steps": 435, "intrinsic": 0.25, "width": 128},
    {**_WEAK, "ambient": 1e-3},
    {**_WEAK, "ambient": 1e-5},
)

# Of the ablation: what the three forms share, and what only joint training and only label contexts have.
CLASSIFIER: SearchSpace = {
    "training__learning_rate": Float(0.005, 0.1),
    "training__weight_decay": Float(1e-5, 0.05),
    "training__steps": Int(50, 500),
}
SHARED: dict[str, SearchSpace] = {
    "planetoid-t": {**CLASSIFIER, "training__pretrain": Float(5.0, 50.0), "contexts__d": Categorical((3, 4, 6))},
    "planetoid-g": {**CLASSIFIER, "training__pretrain": Float(5.0, 50.0), "contexts__d": Categorical((3, 4, 6))},
    "planetoid-i": {
        **CLASSIFIER,
        "training__pretrain": Float(1.0, 6.0),
        "contexts__d": Categorical((3, 4)),
        "training__context_learning_rate": Float(0.002, 0.03),
    },
}
JOINT: dict[str, SearchSpace] = {
    "planetoid-t": {
        "training__embedding_learning_rate": Float(0.003, 0.5),
        "training__T2": Categorical((0.1, 0.5, 2.0, 5.0, 20.0)),
        "training__joint_learning_rate": Float(0.001, 0.05),
    },
    "planetoid-i": {
        "training__embedding_learning_rate": Float(1e-4, 0.03),
        "training__T2": Categorical((0.1, 0.5, 2.0, 5.0)),
    },
}
JOINT["planetoid-g"] = JOINT["planetoid-t"]
LABELS: SearchSpace = {
    "contexts__r2": Categorical((*SHARES, "auto")),
    "contexts__labels_first": Categorical((False, True)),
}
# On NELL all forms have the classifier, and Planetoid-I the encoder, of the presets paper/nell-*; a weak penalty.
SMOOTH: SearchSpace = {"training__weight_decay": Float(1e-6, 1e-3), "training__pretrain": Float(5.0, 20.0)}
_LINEAR: dict[str, Plain] = {"network__l": 0, "network__auxiliary_losses": False, "network__dropout": 0.0}
NELL_FORMS: dict[str, Mapping[str, Plain]] = {
    "planetoid-g": _LINEAR,
    "planetoid-i": {**_LINEAR, "network__k": 0, "encoder__activation": "linear", "row_normalize": "l1"},
}
_NELL_G: Start = {
    "training__weight_decay": 1e-4,
    "training__pretrain": 10.0,
    "training__learning_rate": 0.1,
    "training__steps": 200,
    "training__embedding_learning_rate": 0.01,
    "training__T2": 20.0,
    "contexts__d": 6,
}
_NELL_I: Start = {
    "training__weight_decay": 1e-5,
    "training__pretrain": 4.0,
    "training__learning_rate": 0.1,
    "training__steps": 300,
    "training__context_learning_rate": 0.03,
    "training__embedding_learning_rate": 0.001,
    "training__T2": 0.5,
}
NELL_FORM_STARTS: dict[str, tuple[Start, ...]] = {
    "planetoid-g": (_NELL_G, {**_NELL_G, "training__weight_decay": 3e-6, "training__steps": 400, "contexts__d": 3}),
    "planetoid-i": (_NELL_I, {**_NELL_I, "training__T2": 2.0}),
}


@dataclass(frozen=True)
class Wanted:
    """One section of a preset file, and the budget of its search."""

    family: str
    dataset: str
    method: str
    trials: int
    n_splits: int
    fixed: Mapping[str, Plain] = field(default_factory=dict)
    space: SearchSpace = field(default_factory=dict)
    starts: tuple[Start, ...] | None = None  # None: those of the method

    @property
    def name(self) -> str:
        return f"{self.family}/{self.dataset}/{self.method}"

    @property
    def n_starts(self) -> int:
        return len(pl.METHODS[self.method].search_starts if self.starts is None else self.starts)


def all_wanted() -> list[Wanted]:
    """Return every search, in the order of the preset files."""
    searches = []
    for dataset in (*CITATION, *NELL):
        budget = TRIALS.get(dataset, 12), SPLITS.get(dataset, 2)
        for part in (_printed, _paper, _ablation):
            searches += [Wanted(family, dataset, method, *budget, *rest) for family, method, *rest in part(dataset)]
    return searches


def _printed(dataset: str) -> Iterator[tuple]:
    for method, fixed in PRINTED.items():
        if dataset in NELL and method == "planetoid-t":
            continue  # without features it is Planetoid-G
        space = dict(PRINTED_SPACE[method])
        if method == "planetoid-i" and dataset not in ("cora", "citeseer"):
            space |= LARGE
        on_nell = dataset in NELL and method == "planetoid-g"
        if on_nell:
            space |= PRINTED_NELL
        yield "printed", method, fixed, space, NELL_STARTS if on_nell else PRINTED_STARTS[method]


def _paper(dataset: str) -> Iterator[tuple]:
    for method, fixed in PAPER.items():
        if dataset in NELL and method in NOT_ON_NELL:
            continue
        space = dict(NETWORK_SPACE if method == "manireg" else pl.METHODS[method].search_space)
        if dataset == "pubmed" and method == "planetoid-i":
            space |= SHORT_PRETRAINING
        if dataset in NELL:
            space |= NELL_SPACE.get(method, {})
        starts = MANIREG_ON_NELL if dataset in NELL and method == "manireg" else None
        yield "paper", method, fixed, space, starts
        if method == "manireg":
            yield "kernel", method, {}, dict(pl.METHODS[method].search_space)
        if method in NOT_KEPT:
            yield "tuned", method, {}, space


def _ablation(dataset: str) -> Iterator[tuple]:
    space = dict(pl.METHODS["graphemb"].search_space) | (NELL_SPACE["graphemb"] if dataset in NELL else {})
    yield "two-stage", "graphemb", {}, space
    for method in MODELS:
        on_nell = dataset in NELL
        if on_nell and method == "planetoid-t":
            continue  # as in the paper, whose T used no features there
        shared = dict(SHARED[method]) | (SMOOTH if on_nell else {})
        if dataset not in ("cora", "citeseer") and method == "planetoid-i":
            shared["training__pretrain"] = Float(1.0, 5.0)
        spaces = {"two-stage": {}, "joint-walks": JOINT[method], "joint-labels": {**JOINT[method], **LABELS}}
        of_data = NELL_FORMS[method] if on_nell else {}
        starts = NELL_FORM_STARTS[method] if on_nell else None
        for family, own in spaces.items():
            yield family, method, {**of_data, **VARIANTS[family]}, {**shared, **own}, starts
