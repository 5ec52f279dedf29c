"""Optimizers by name: sparse gradients, and a state that can be restored."""

import numpy as np
import pytest
import torch

from planetoid.training import optimizers
from planetoid.training.layers import SparseParameter
from planetoid.training.optimizers import LazyAdam, NamedOptimizer
from planetoid.training.settings import OPTIMIZERS


def test_lazy_adam_takes_the_steps_of_sparse_adam():
    """The compiled optimizer moves the rows of a gradient as torch's does, and no other rows."""
    rng = np.random.default_rng(0)
    start = torch.from_numpy(rng.normal(size=(6, 5)).astype(np.float32))
    ours, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    optimizers = LazyAdam([ours], lr=0.1), torch.optim.SparseAdam([theirs], lr=0.1)
    for rows in ([0, 2], [2, 3], [0, 2, 3], [3, 0, 3]):  # the last with a row twice
        values = torch.from_numpy(rng.normal(size=(len(rows), 5))).float()
        gradient = torch.sparse_coo_tensor([rows], values, (6, 5), check_invariants=True)
        for table, optimizer in zip((ours, theirs), optimizers, strict=True):
            table.grad = gradient.clone()
            optimizer.step()
    torch.testing.assert_close(ours.detach(), theirs.detach(), rtol=1e-5, atol=1e-6)
    assert torch.equal(ours[[1, 4, 5]].detach(), start[[1, 4, 5]])


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_restored_state_gives_the_same_steps(name):
    def new():
        dense, sparse = torch.nn.Parameter(torch.ones(3)), SparseParameter(torch.ones(4, 2))
        return (dense, sparse), NamedOptimizer(name, ([dense], 0.1), ([sparse], 0.2), weight_decay=0.01)

    def step(parameters, optimizer, number):
        optimizer.zero_grad()
        dense, sparse = parameters
        dense.grad = torch.tensor([1.0, 2.0, number])
        sparse.grad = torch.sparse_coo_tensor(
            [[0, 2]], torch.full((2, 2), float(number)), (4, 2), check_invariants=True
        )
        optimizer.step()

    parameters, optimizer = new()
    for number in (1, 2):
        step(parameters, optimizer, number)
    others, other = new()
    with torch.no_grad():
        for target, source in zip(others, parameters, strict=True):
            target.copy_(source)
    other.restore({key: value.clone() for key, value in optimizer.state().items()})
    for number in (3, 4):
        step(parameters, optimizer, number)
        step(others, other, number)
    assert all(torch.equal(a, b) for a, b in zip(parameters, others, strict=True))
    assert torch.equal(parameters[1][1], torch.ones(2))  # a row without gradient, and without weight decay


def test_a_learning_rate_of_zero_leaves_a_group_alone():
    moved, frozen = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))
    optimizer = NamedOptimizer("adam", ([moved], 0.1), ([frozen], 0.0))
    for parameter in (moved, frozen):
        parameter.grad = torch.ones(2)
    optimizer.step()
    assert not torch.equal(moved, frozen)
    assert torch.equal(frozen, torch.ones(2))


@pytest.mark.parametrize("kept", [True, False])
def test_a_large_gradient_is_cleared_in_its_place(kept, monkeypatch):
    monkeypatch.setattr(optimizers, "KEPT_FROM", 6 if kept else 7)
    parameter, rows = torch.nn.Parameter(torch.ones(2, 3)), SparseParameter(torch.ones(2, 3))
    optimizer = NamedOptimizer("sgd", ([parameter, rows], 0.5))
    parameter.grad = memory = torch.full((2, 3), 4.0)
    rows.grad = torch.ones(2, 3).to_sparse(1)
    optimizer.zero_grad()
    assert rows.grad is None
    assert parameter.grad is (memory if kept else None)
    if kept:
        assert not memory.any()
