"""The progress bar is shown on a terminal and nowhere else."""

import io
import sys

import pytest

from planetoid.utils.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("stream", "verbose", "shown"), [(Terminal, 1, True), (Terminal, 0, False), (io.StringIO, 1, False)]
)
def test_where_the_bar_is_shown(monkeypatch, stream, verbose, shown):
    monkeypatch.setattr(sys, "stderr", stream())
    with progress("reading", 2, verbose) as advance:
        advance(1)
        advance(1, "done")
    assert ("reading" in sys.stderr.getvalue()) == shown
