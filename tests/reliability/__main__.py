"""All measurements of reliability, in a file: ``python -m tests.reliability benchmarks/results/reliability.json``.

A second argument is the number of processes. Takes about half an hour; ``scripts/update_docs.py`` writes the figures
into ``docs/reliability.md``.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from tests.reliability import campaign
from tests.reliability.bit_flips import flip_checkpoint, flip_model
from tests.reliability.concurrent_use import replace_and_read
from tests.reliability.writers import Data

from planetoid.utils.versions import package_versions

N_FLIPS = 20_000
SECONDS = 60.0


def main(path, jobs=2):
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        data = Data(folder)
        flips = {"model": flip_model(data, N_FLIPS), "checkpoint": flip_checkpoint(N_FLIPS)}
        writes, reads = replace_and_read(data, SECONDS)
    found = campaign.run(jobs=int(jobs))
    record = {
        "versions": package_versions(),
        "faults": found,
        "flips": {name: {"tried": tried, "accepted": len(accepted)} for name, (tried, accepted) in flips.items()},
        "concurrent": {"seconds": SECONDS, "writes": writes, "reads": reads},
        "seconds": round(time.monotonic() - started),
    }
    Path(path).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
