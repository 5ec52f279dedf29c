"""Nothing that was finished is lost, and nothing is silently changed: a sample, and with ``make soak`` all of it."""

import pytest
from tests.reliability import campaign
from tests.reliability.bit_flips import flip_checkpoint, flip_model
from tests.reliability.concurrent_use import replace_and_read
from tests.reliability.faults import AVAILABLE
from tests.reliability.writers import Data

needs_compiler = pytest.mark.skipif(not AVAILABLE, reason="needs Linux and a C compiler")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return Data(tmp_path_factory.mktemp("data"))


@needs_compiler
def test_some_faults():
    """A model that is replaced, and a journal; one case in so many."""
    found = campaign.run("--only", "fit --force", "--only", "tune --journal", "--every", 25, "--states", 40)
    assert found["findings"] == []
    assert sum(found["cases"].values()) >= 8
    assert sum(found["power_losses"].values()) >= 60


@needs_compiler
@pytest.mark.soak
def test_all_faults():
    found = campaign.run(jobs=2)
    assert found["findings"] == []
    assert sum(found["cases"].values()) >= 2_000
    assert sum(found["power_losses"].values()) >= 1_000


@pytest.mark.parametrize("n", [200, pytest.param(20_000, marks=pytest.mark.soak)])
def test_flipped_bits_of_a_model(data, n):
    assert flip_model(data, n) == (n, [])


@pytest.mark.parametrize("n", [60, pytest.param(20_000, marks=pytest.mark.soak)])
def test_flipped_bits_of_a_checkpoint(n):
    assert flip_checkpoint(n) == (n, [])


@pytest.mark.parametrize("seconds", [1.0, pytest.param(60.0, marks=pytest.mark.soak)])
def test_readers_find_a_whole_model_while_it_is_replaced(data, seconds):
    n_writes, n_reads = replace_and_read(data, seconds)
    assert n_writes >= 10 * seconds
    assert n_reads >= 10 * seconds


@pytest.mark.parametrize("seconds", [1.0, pytest.param(60.0, marks=pytest.mark.soak)])
def test_readers_find_a_whole_model_where_folders_cannot_be_exchanged(data, seconds):
    n_writes, n_reads = replace_and_read(data, seconds, exchange=False, n_writers=1)
    assert n_writes >= 5 * seconds
    assert n_reads >= 5 * seconds
