"""What checksums and syncs cost when the recommended model is fitted to Cora and saved.

    python benchmarks/bench_reliability.py [--repeat 20]

Bound to keep: 5 % of the fit. A model with its record is saved as always, without syncs (``PLANETOID_NO_SYNC``), and
without checksums either; of a checkpointed fit, the whole time in the callback counts. All times are medians of one
run of this script, in which the cases take turns. Results go to ``benchmarks/results/reliability_cost.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from unittest import mock

import planetoid as pl
from planetoid.errors import PlanetoidWarning
from planetoid.persistence import FitRecord, write_record
from planetoid.utils.syncing import NO_SYNC_VARIABLE

RESULTS = Path(__file__).parent / "results" / "reliability_cost.json"
BOUND = 0.05


class TimedCheckpoint(pl.Checkpoint):
    """Counts the seconds that it takes."""

    seconds = 0.0

    def on_train_begin(self, trainer):
        self._timed(super().on_train_begin, trainer)

    def on_step_end(self, trainer):
        self._timed(super().on_step_end, trainer)

    def on_train_end(self, trainer):
        self._timed(super().on_train_end, trainer)

    def _timed(self, hook, trainer):
        began = time.perf_counter()
        hook(trainer)
        self.seconds += time.perf_counter() - began


@contextmanager
def without_syncs() -> Iterator[None]:
    with mock.patch.dict(os.environ, {NO_SYNC_VARIABLE: "1"}):
        yield


@contextmanager
def without_both() -> Iterator[None]:
    def plain(document: dict[str, object], *, indent: int | None = None) -> bytes:
        return json.dumps(document, indent=indent).encode()

    with (
        without_syncs(),
        mock.patch("planetoid.io.model_files.sha256_of_file", return_value=""),
        mock.patch("planetoid.io.model_files.seal", plain),
        mock.patch("planetoid.persistence.record.sha256_of_file", return_value=""),
        mock.patch("planetoid.persistence.record.seal", plain),
    ):
        yield


CASES = {"as always": nullcontext, "no sync": without_syncs, "neither": without_both}


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=20)
    options = parser.parse_args()
    warnings.simplefilter("ignore", PlanetoidWarning)
    cora = pl.datasets.load("cora-bundled")
    split = cora.split("random")
    y = pl.mask_labels(cora.y, split.train)
    data = pl.Dataset("cora", cora.graph, cora.X, y, cora.classes)
    pl.Planetoid(random_state=0).fit(data)  # compiles
    fits, checkpoints = [], []
    with tempfile.TemporaryDirectory(dir=".") as where:
        for number in range(3):
            model = pl.Planetoid(random_state=0)
            fits.append(seconds_of(lambda model=model: model.fit(data)))
            callback = TimedCheckpoint(Path(where) / f"run{number}", every=1.0)
            pl.Planetoid(random_state=0, callbacks=[callback]).fit(data)
            checkpoints.append(callback.seconds)
        record = FitRecord.of(data)
        out = Path(where) / "model"
        times: dict[str, list[float]] = {name: [] for name in CASES}

        def save() -> None:
            model.save(out, extra_files=lambda folder: write_record(folder, record))

        for _ in range(options.repeat):
            for name, case in CASES.items():
                shutil.rmtree(out, ignore_errors=True)
                with case():
                    times[name].append(seconds_of(save))
        size = sum(file.stat().st_size for file in out.iterdir())
    fit, saved = median(fits), {name: median(found) for name, found in times.items()}
    cost = (saved["as always"] - saved["neither"]) / (fit + saved["neither"])
    checkpoint = median(checkpoints) / fit
    print(f"fit {fit:.2f} s, model of {size / 1e6:.2f} MB")
    print("saved in", ", ".join(f"{1e3 * seconds:.1f} ms ({name})" for name, seconds in saved.items()))
    print(f"cost of checksums and syncs: {cost:.2%} of the fit; of a checkpoint every second: {checkpoint:.2%}")
    result = {
        "machine": {"platform": platform.platform(), "cores": os.cpu_count(), "load": os.getloadavg()[0]},
        "fit_seconds": round(fit, 3),
        "megabytes": round(size / 1e6, 3),
        "save_milliseconds": {name: round(1e3 * s, 2) for name, s in saved.items()},
        "cost": round(cost, 5),
        "checkpoint_cost": round(checkpoint, 5),
    }
    RESULTS.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(max(cost, checkpoint) > BOUND)


if __name__ == "__main__":
    sys.exit(main())
