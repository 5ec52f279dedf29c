"""Several processes write and read the same model and the same file at once."""

import os
import shutil
import tempfile
import time
import traceback
from pathlib import Path

from tests.reliability.writers import digest

import planetoid as pl
from planetoid.persistence import SavedModel, read_record
from planetoid.utils import atomic


def in_processes(*works):
    """Run functions in forks; return how often each was done, or fail with what they printed."""
    pipes = []
    for work in works:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            text = "failed"
            try:
                text = str(work())
            except BaseException:
                text = traceback.format_exc()
            finally:
                os.write(writing, text.encode())
                os._exit(0)
        os.close(writing)
        pipes.append((child, reading))
    said = []
    for child, reading in pipes:
        with os.fdopen(reading) as answer:
            said.append(answer.read())
        os.waitpid(child, 0)
    failed = [text for text in said if not text.isdigit()]
    assert not failed, failed[0]
    return [int(text) for text in said]


def repeated(work, seconds):
    """Return a function that repeats ``work(number)`` for a while and returns how often it did."""

    def repeat():
        until, n = time.monotonic() + seconds, 0
        while time.monotonic() < until:
            work(n)
            n += 1
        return n

    return repeat


def replace_and_read(data, seconds, *, exchange=True, n_writers=2):
    """Let processes replace a model while others read it; return the numbers of writes and of reads."""
    sources = [data.folder / "lp-old", data.folder / "lp-new"]
    models = [pl.load(source) for source in sources]
    records = [read_record(source) for source in sources]
    expected = [digest(model.label_distributions_, record.y) for model, record in zip(models, records, strict=True)]
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as where:
        folder, table = Path(where) / "model", Path(where) / "p.csv"
        shutil.copytree(sources[0], folder)
        tables = [name * 20_000 for name in ("old", "new")]
        table.write_text(tables[0])

        def write(number):
            if not exchange:
                atomic.exchange = lambda *_: False  # in this process only
            which = number % 2

            def add_record(into):
                pl.persistence.write_record(into, records[which])

            models[which].save(folder, overwrite=True, extra_files=add_record)
            with atomic.atomic_write(table) as temporary:
                temporary.write_text(tables[which])

        def read(number):
            from planetoid.io.model_files import read_consistently

            saved, record = read_consistently(folder, lambda: (SavedModel(folder), read_record(folder)))
            assert digest(saved.probabilities, record.y) in expected
            assert table.read_text() in tables

        writers = [repeated(write, seconds)] * n_writers
        counts = in_processes(*writers, repeated(read, seconds), repeated(read, seconds))
        left = sorted(path.name for path in Path(where).iterdir())
        assert left == ["model", "p.csv"], left
    return sum(counts[:n_writers]), sum(counts[n_writers:])
