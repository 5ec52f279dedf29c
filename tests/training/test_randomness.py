"""Random numbers that are a function of seed and step."""

import itertools

import pytest
import torch

from planetoid.training.randomness import StepRandom, one_thread


def test_dropout_keeps_the_mean_and_is_of_the_step():
    random = StepRandom(7)
    mask = random.at(3).keep_mask(torch.Size([400, 500]), 0.3)
    assert mask.unique().tolist() == pytest.approx([0.0, 1 / 0.7])
    assert float(mask.mean()) == pytest.approx(1.0, abs=0.01)
    assert torch.equal(mask, random.at(3).keep_mask(torch.Size([400, 500]), 0.3))
    seen = [tuple(random.at(step).permutation(20, 5).tolist()) for step in range(20)]
    assert all(len(set(one)) == 5 for one in seen)
    assert all(a != b for a, b in itertools.pairwise(seen))


def test_modules_draw_from_the_step_and_the_global_generator_is_restored():
    random, before = StepRandom(7), torch.get_rng_state()
    drawn = []
    for _ in range(2):
        with random.at(4).for_modules():
            drawn.append(torch.rand(3))
    assert torch.equal(*drawn)
    assert torch.equal(torch.get_rng_state(), before)


def test_one_thread_is_undone():
    before = torch.get_num_threads()
    with one_thread():
        assert torch.get_num_threads() == 1
    assert torch.get_num_threads() == before
