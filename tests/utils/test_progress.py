"""A progress bar on a terminal, plain lines elsewhere."""

import io
import sys
import time

import pytest

from planetoid.utils import progress as module
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


def test_elsewhere_a_line_is_printed_at_intervals(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.setattr(module, "INTERVAL", 0.05)
    with progress("fitting", 4, verbose=1) as advance:
        advance(1, "step 1")
        deadline = time.monotonic() + 20
        while sys.stderr.getvalue().count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)  # a long step
    lines = sys.stderr.getvalue().splitlines()
    assert len(lines) >= 2
    assert all(line.startswith("fitting: 25% after 0:0") and line.endswith(": step 1") for line in lines)
    assert "left" in lines[0]
    time.sleep(0.15)
    assert sys.stderr.getvalue().splitlines() == lines  # nothing once it is finished


def test_without_verbose_the_lines_go_to_a_logger_that_takes_them(monkeypatch, caplog, capsys):
    monkeypatch.setattr(module, "INTERVAL", 0.02)
    with progress("fitting", 4, verbose=0) as advance:
        advance(1)
        time.sleep(0.1)
    assert caplog.messages == []
    caplog.set_level("INFO", "planetoid")
    with progress("fitting", 4, verbose=0) as advance:
        advance(1, "step 1")
        deadline = time.monotonic() + 20
        while not caplog.messages and time.monotonic() < deadline:
            time.sleep(0.01)
    assert caplog.messages[0].startswith("fitting: 25% after")
    assert capsys.readouterr() == ("", "")
