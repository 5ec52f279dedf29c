"""Optimizers without torch's compiler: the same bits, and nothing of the compiler imported."""

import subprocess
import sys

import pytest
import torch

from planetoid.training.plain_optimizers import without_compiler

OPTIONS = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1},
    "Adagrad": {"weight_decay": 0.1},
    "RMSprop": {"weight_decay": 0.1},
    "Adam": {"fused": True, "weight_decay": 0.1},
    "AdamW": {"fused": True},
    "SparseAdam": {},
}


def trained(cls, options, *, sparse):
    generator = torch.Generator().manual_seed(0)
    parameter = torch.nn.Parameter(torch.randn(5, 3, generator=generator))
    optimizer = cls([{"params": [parameter], "lr": 0.1}], **options)
    for step in range(6):
        if step == 3:  # as a checkpoint does
            optimizer.load_state_dict(optimizer.state_dict())
        optimizer.zero_grad()
        gradient = torch.randn(5, 3, generator=generator)
        parameter.grad = gradient.to_sparse(1) if sparse else gradient
        optimizer.step()
    return parameter.detach()


@pytest.mark.parametrize("name", list(OPTIONS))
def test_the_same_bits_as_torch(name):
    cls, sparse = getattr(torch.optim, name), name == "SparseAdam"
    plain = trained(without_compiler(cls), OPTIONS[name], sparse=sparse)
    assert torch.equal(plain, trained(cls, OPTIONS[name], sparse=sparse))


def test_the_compiler_is_not_imported():
    code = (
        "import sys, torch\n"
        "from planetoid.training.plain_optimizers import without_compiler\n"
        "parameter = torch.nn.Parameter(torch.ones(2))\n"
        "optimizer = without_compiler(torch.optim.Adam)([parameter], fused=True)\n"
        "parameter.sum().backward()\n"
        "optimizer.step(); optimizer.zero_grad(); optimizer.load_state_dict(optimizer.state_dict())\n"
        "print('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
