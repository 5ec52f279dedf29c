"""All measurements of reliability, in a file: ``python -m tests.reliability benchmarks/results/reliability.json``.

Takes about half an hour of processor time. Every part is written down when it is done, and the same command goes on
with those that are missing; remove the file to begin anew. ``scripts/update_docs.py`` writes the figures into
``docs/reliability.md``.
"""

import json
import sys
import tempfile
from pathlib import Path

from tests.reliability import campaign
from tests.reliability.bit_flips import flip_checkpoint, flip_model
from tests.reliability.concurrent_use import replace_and_read
from tests.reliability.writers import Data, all_writers

from planetoid.utils.versions import package_versions

N_FLIPS = 20_000
SECONDS = 60.0


def flips(found):
    tried, accepted = found
    return {"tried": tried, "accepted": len(accepted)}


def concurrent(data):
    writes, reads = replace_and_read(data, SECONDS)
    return {"seconds": SECONDS, "writes": writes, "reads": reads}


def main(path):
    path = Path(path)
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    record["versions"] = package_versions()
    with tempfile.TemporaryDirectory() as folder:
        data = Data(folder)
        parts = {
            "flips of a model": lambda: flips(flip_model(data, N_FLIPS)),
            "flips of a checkpoint": lambda: flips(flip_checkpoint(N_FLIPS)),
            **{f"faults: {writer.name}": _faults(writer.name) for writer in all_writers(data)},
            "concurrent use": lambda: concurrent(data),
        }
        for name, measure in parts.items():
            if name not in record:
                record[name] = measure()
                path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
                print(name, record[name], file=sys.stderr, flush=True)


def _faults(writer):
    def measure():
        found = campaign.run("--only", writer)
        kills = sum(found["cases"].get(name, 0) for name in ("KILL_BEFORE", "KILL_AFTER", "TORN"))
        return {
            "operations": found["operations"][writer],
            "kills": kills,
            "failures": sum(found["cases"].values()) - kills,
            "power_failures": found["power_losses"][writer],
            "findings": found["findings"],
        }

    return measure


if __name__ == "__main__":
    main(*sys.argv[1:])
