"""Flip single bits of saved files, and count how often nobody notices."""

import random
import shutil
import tempfile
from pathlib import Path

from tests.reliability.writers import Training

import planetoid as pl
from planetoid.persistence import read_record


def accepted(folder, load, n, seed=0):
    """Flip ``n`` different bits of the files in a folder, one at a time; return their number and those accepted."""
    # A model card is text for people, who may edit it; nothing is read from it but their own section.
    files = [path for path in Path(folder).rglob("*") if path.is_file() and path.name != "card.md"]
    files = sorted(path for path in files if path.stat().st_size)
    bits = [(file, bit) for file in files for bit in range(8 * file.stat().st_size)]
    chosen = random.Random(seed).sample(bits, min(n, len(bits)))
    contents = {file: file.read_bytes() for file in files}
    found = []
    for file, bit in chosen:
        changed = bytearray(contents[file])
        changed[bit // 8] ^= 1 << bit % 8
        file.write_bytes(changed)
        try:
            load(folder)
        except pl.PlanetoidError:
            pass
        else:
            found.append(f"{file.name}, bit {bit}")
        file.write_bytes(contents[file])
    return len(chosen), found


def load_model(folder):
    """Read everything of a model's folder."""
    pl.load(folder)
    assert read_record(folder) is not None


def flip_model(data, n):
    """Flip bits of a model with its record."""
    with tempfile.TemporaryDirectory() as where:
        shutil.copytree(data.folder / "lp-old", Path(where) / "model")
        load_model(Path(where) / "model")
        return accepted(Path(where) / "model", load_model, n)


def flip_checkpoint(n):
    """Flip bits of a checkpoint; the training that resumes has no step left to do."""
    training = Training(None)

    def resume(folder):
        training._train(folder, training.steps[0])

    with tempfile.TemporaryDirectory() as where:
        training.prepare(Path(where))
        resume(Path(where))
        return accepted(Path(where), resume, n)
