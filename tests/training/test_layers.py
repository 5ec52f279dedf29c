"""The first layer on dense rows and on sparse batches."""

import numpy as np
import pytest
import torch
from scipy import sparse

from planetoid.training.batches import FeatureRows
from planetoid.training.layers import InputLinear
from planetoid.training.randomness import StepRandom


@pytest.mark.parametrize("n_inputs", [40, 60_000])  # the second has a sparse gradient
def test_sparse_rows_have_the_output_and_the_gradients_of_dense_ones(n_inputs):
    random = np.random.default_rng(2)
    X = sparse.random_array((20, n_inputs), density=4 / n_inputs, format="csr", dtype=np.float32, rng=random)
    rows = np.array([3, 0, 7, 19])
    slope = torch.randn(4, 6, generator=torch.Generator().manual_seed(0))
    outputs, gradients = [], []
    for features in (X, X.toarray()):
        layer = InputLinear(n_inputs, 6, StepRandom(5, "cpu"), sparse_input=features is X)
        out = layer(FeatureRows(features).batch(rows))
        out.backward(slope)
        weight = layer.weight.grad
        outputs.append(out.detach())
        gradients.append((weight.to_dense() if weight.is_sparse else weight, layer.bias.grad))
        assert weight.is_sparse == (features is X and n_inputs > 50_000)
    torch.testing.assert_close(*outputs)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("there", ["nothing", "dense", "sparse"])
def test_products_with_sparse_rows_add_to_the_gradient_that_is_there(there):
    """Two products in one backward pass, on top of the gradient of an earlier one."""
    X = sparse.random_array((9, 7), density=0.4, format="csr", dtype=np.float32, rng=np.random.default_rng(0))
    layer = InputLinear(7, 5, StepRandom(1), sparse_input=True)
    earlier = torch.zeros(7, 5)
    earlier[[2, 3]] = 1.5
    if there != "nothing":
        layer.weight.grad = earlier.to_sparse(1) if there == "sparse" else earlier.clone()
    (
        layer(FeatureRows(X).batch(np.arange(4))).sum() + 2 * layer(FeatureRows(X).batch(np.array([3, 8]))).sum()
    ).backward()
    counts = np.array([1.0, 1, 1, 3, 0, 0, 0, 0, 2])
    expected = torch.from_numpy(X.toarray().T @ counts).float()[:, None].expand(7, 5)
    torch.testing.assert_close(layer.weight.grad, expected + (earlier if there != "nothing" else 0))
