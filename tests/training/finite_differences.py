"""Gradients against finite differences, in double precision."""

import numpy as np
import torch


def numbers(*shape, seed=0):
    """Normal random numbers."""
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape)) + 0.05


def check_gradient(loss, tensors):
    """Compare the gradient of ``loss()`` with central differences, in every entry of every tensor."""
    for tensor in tensors:
        tensor.grad = None
    loss().backward()
    for tensor in tensors:
        flat, step = tensor.data.view(-1), 1e-6
        expected = torch.empty_like(flat)
        for k in range(len(flat)):
            value = flat[k].item()
            with torch.no_grad():
                flat[k] = value + step
                above = float(loss())
                flat[k] = value - step
                below = float(loss())
                flat[k] = value
            expected[k] = (above - below) / (2 * step)
        actual = tensor.grad.to_dense() if tensor.grad.is_sparse else tensor.grad
        torch.testing.assert_close(actual.reshape(-1), expected, atol=1e-7, rtol=1e-5)
