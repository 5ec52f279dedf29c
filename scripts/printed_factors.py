"""What separates the system as printed from the presets ``paper/*``: one difference at a time.

    python scripts/printed_factors.py [--only "cora planetoid-t;nell-0.01 planetoid-g"] [--splits 3] [--back]

Rows: ``printed/*``, with one group of parameters as in ``paper/*`` at a time; ``paper/*``, with one group as printed at
a time; and GraphEmb as printed beside models without features. Data and protocol are those that presets are searched
with: 20 labels per class and 500 test nodes, or a share of NELL's labels; the labels of public test nodes are hidden.
No preset was chosen on these seeds. All rows see the same splits. Rows that are in
``benchmarks/results/printed_factors.json`` already are not repeated; ``scripts/update_docs.py`` writes the tables.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

from make_presets import protocol_of, tuning_data

import planetoid as pl
from planetoid.data.dataset import Dataset
from planetoid.evaluation import Protocol, run_once
from planetoid.experiments.cells import preset_parameters
from planetoid.experiments.printed import IGNORED
from planetoid.parameters import Parameters

OUTPUT = Path(__file__).resolve().parent.parent / "benchmarks" / "results" / "printed_factors.json"
FIRST_SEED = 2000
MODELS = (
    "cora planetoid-t", "pubmed planetoid-t", "pubmed planetoid-i", "nell-0.01 planetoid-g", "nell-0.01 planetoid-i"
)  # fmt: skip
# A learning rate belongs to its optimizer, and to what a step is on.
FACTORS: dict[str, tuple[str, ...]] = {
    "Adam on L_s, at its learning rates": (
        "training__optimizer",
        "training__learning_rate",
        "training__embedding_learning_rate",
    ),
    "weight decay": ("training__weight_decay",),
    "other layers": (
        "network__k",
        "network__l",
        "network__width",
        "network__activation",
        "encoder__l1",
        "encoder__activation",
    ),
    "a loss on e and x alone too": ("network__auxiliary_losses",),
    "embeddings of length 1": ("network__normalize_embedding",),
    "feature rows of length 1": ("row_normalize",),
    "N2 counts walks: all their pairs, at their learning rates": (
        "contexts__single_pairs",
        "contexts__self_pairs",
        "training__pretrain",
        "training__context_optimizer",
        "training__context_learning_rate",
        "training__joint_learning_rate",
        "training__T2",
    ),
    "share of label contexts": ("contexts__r2",),
}
TWO_STAGES: dict[str, object] = {"training__T2": 0.0, "training__embedding_learning_rate": 0.0}
AS_PRINTED, AS_PAPER, BUT = "as printed", "everything: paper/*", "paper/*, but not: "
NO_JOINT, MORE_STEPS = "no joint training", "four times the iterations"
GRAPH_EMBEDDING = "GraphEmb, as printed"


def rows_of(dataset: str, method: str) -> dict[str, dict[str, object]]:
    """Return the parameters of each row; a group in which the presets agree has none."""
    printed, paper = (_all_parameters(family, dataset, method) for family in ("printed", "paper"))
    rows = {AS_PRINTED: printed}
    differ = {
        factor: [name for name in names if paper.get(name) != printed.get(name)] for factor, names in FACTORS.items()
    }
    for factor, names in differ.items():
        if names:
            rows[factor] = printed | {name: paper[name] for name in names}
    rows[NO_JOINT] = printed | TWO_STAGES
    rows[MORE_STEPS] = printed | {"training__steps": 4 * int(str(printed["training__steps"]))}
    rows[AS_PAPER] = paper
    for factor, names in differ.items():
        if names:
            rows[f"{BUT}{factor}"] = paper | {name: printed[name] for name in names}
    return rows


def _all_parameters(family: str, dataset: str, method: str) -> dict[str, object]:
    preset = preset_parameters(family, dataset, method)
    values = pl.METHODS[method]().set_params(**(preset or {})).get_params(deep=True)
    return {name: value for name, value in values.items() if not isinstance(value, Parameters) and name not in IGNORED}


def measure(data: Dataset, protocol: Protocol, method: str, parameters: dict[str, object], splits: int) -> list[float]:
    """Return the accuracy in % on each split."""
    seeds = range(FIRST_SEED, FIRST_SEED + splits)
    results = [run_once(method, data, protocol, seed, {"calibrate": False, **parameters}).result for seed in seeds]
    return [round(100 * result.metrics["accuracy"], 2) for result in results]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=";".join(MODELS))
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--back", action="store_true", help="from paper/* alone: as printed takes long on NELL")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    report = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {"models": {}}
    for model in options.only.split(";"):
        dataset, method = model.split()
        data, protocol = tuning_data(dataset), protocol_of(dataset, method)
        rows = {row: (method, parameters) for row, parameters in rows_of(dataset, method).items()}
        if method == "planetoid-g":
            rows[GRAPH_EMBEDDING] = "graphemb", _all_parameters("printed", dataset, "graphemb")
        for row, (name, parameters) in rows.items():
            left_out = options.back and not row.startswith((AS_PRINTED, AS_PAPER, BUT))
            if left_out or row in report["models"].get(model, {}):
                continue
            start = time.perf_counter()
            values = measure(data, protocol, name, parameters, options.splits)
            report["models"].setdefault(model, {})[row] = values
            print(f"{model}, {row}: {values} ({time.perf_counter() - start:.0f} s)", flush=True)
            OUTPUT.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
