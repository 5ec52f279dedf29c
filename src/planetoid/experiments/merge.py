"""Parts of a table that were run apart, in one: cells from the ``PART.json`` files that ``reproduce`` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from planetoid.errors import DataError
from planetoid.evaluation import Result, Spread
from planetoid.experiments.cells import Cell
from planetoid.experiments.render import HEADS, CellResult

__all__ = ["merged_cells", "read_records"]


def read_records(paths: Iterable[Path], part: str) -> list[dict[str, Any]]:
    """Return the cells of ``PART.json`` files as plain data, those of the first file first."""
    records = []
    for path in paths:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.get("part") != part or content.get("quick"):
            raise DataError(f"not the results of {part}", path=path)
        records += content["cells"]
    return records


def merged_cells(cells: Sequence[Cell], records: Iterable[Mapping[str, Any]]) -> list[CellResult]:
    """Return the cells that have a record, in the order of ``cells``; of several records of a seed, the last.

    A record of other parameters than those of the cell is not taken: it was measured before the preset changed.
    """
    by_key: dict[str, Mapping[str, Any]] = {}
    for record in records:
        labels = [record[name] for name in HEADS]
        key = _key(record["section"], labels, record["dataset"], record["preset_parameters"])
        by_key[key] = _with_other_seeds(record, by_key.get(key))
    found = [(cell, by_key.get(_key(cell.section, cell.row, cell.dataset, cell.parameters))) for cell in cells]
    return [_restored(cell, record) for cell, record in found if record is not None]


def _key(section: str, labels: Sequence[str], dataset: str, parameters: Mapping[str, object]) -> str:
    return json.dumps([section, *labels, dataset, dict(parameters)], sort_keys=True)


def _with_other_seeds(record: Mapping[str, Any], earlier: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return a record with the runs of an earlier one whose seeds it has not."""
    kept = set(earlier["seeds"] if earlier else ()) - set(record["seeds"])
    if earlier is None or not kept:
        return record
    runs = {
        seed: (metrics, one["seconds"])
        for one in (earlier, record)
        for seed, metrics in zip(one["seeds"], one["runs"], strict=True)
    }
    seeds = sorted(runs)
    measured = [metrics for metrics, _ in map(runs.__getitem__, seeds)]
    spread = Spread.of(metrics[_metric(metrics)] for metrics in measured)
    seconds = float(np.median([seconds for _, seconds in runs.values()]))
    shown = {"mean": spread.mean, "sd": spread.sd, "seconds": seconds}
    warnings = sorted({*earlier["warnings"], *record["warnings"]})
    return {**record, **shown, "seeds": seeds, "runs": measured, "warnings": warnings}


def _metric(metrics: Mapping[str, float]) -> str:
    return "recall" if "recall" in metrics else "accuracy"


def _restored(cell: Cell, record: Mapping[str, Any]) -> CellResult:
    """Return the result of a cell; sizes of the splits and single times are not in the record."""
    results = [
        Result(
            method=cell.method,
            dataset=cell.dataset,
            protocol=record["protocol"],
            seed=seed,
            metrics=metrics,
            fit_seconds=record["seconds"],
            predict_seconds=0.0,
            n_train=0,
            n_val=0,
            n_test=0,
            parameters=record["parameters"],
            warnings=record["warnings"],
        )
        for seed, metrics in zip(record["seeds"], record["runs"], strict=True)
    ]
    return CellResult(cell, Spread(record["mean"], record["sd"]), record["seconds"], results)
