"""One step on L_s + L_u, against the same computed by torch."""

import numpy as np
import pytest
import torch
from scipy import sparse
from tests.distributed.in_threads import run_together

from planetoid.engine.arrays import GraphArrays
from planetoid.engine.consistency import Examples, FeatureArrays
from planetoid.engine.neighbourhoods import Walks
from planetoid.training import consistency_loss
from planetoid.training.consistency_loss import ConsistencyLoss, new_layers
from planetoid.training.settings import Consistency

PLAN = Consistency(
    steps=50, n_labelled=100, n_unlabelled=6, weight=1.0, warmup=0, temperature=0.5, confidence=2.0, alignment=0.0,
    teaching=0, learning_rate=0.01, weight_decay=0.0, dropout=0.0, feature_dropout=0.0,
)  # fmt: skip
N, N_FEATURES, N_CLASSES = 20, 9, 3
LABEL_WEIGHT = np.array([0.5, 2.0, 1.25], np.float32)


def new_loss(plan=PLAN, *, n_threads=1, units=16, prior=None, seed=3):
    rng = np.random.default_rng(0)
    dense = np.triu(rng.random((N, N)) < 0.2, 1)
    adjacency = sparse.csr_array((dense + dense.T).astype(np.float32))
    x = sparse.csr_array((rng.random((N, N_FEATURES)) < 0.4) * rng.random((N, N_FEATURES)), dtype=np.float32)
    nothing = np.empty(0, np.float32), np.empty(0, np.int32)
    graph = GraphArrays(adjacency.indptr, adjacency.indices, *nothing)
    walks = Walks(np.uint64(seed), graph, np.ones(N, np.float32), 3, 4, float(np.log(0.8)))
    teacher = rng.dirichlet(np.ones(N_CLASSES), N).astype(np.float32)
    prior = np.full(N_CLASSES, 1 / N_CLASSES, np.float32) if prior is None else np.asarray(prior, np.float32)
    labelled = np.arange(5, dtype=np.int32)
    codes, unlabelled = (labelled % 3).astype(np.int32), np.arange(5, N, dtype=np.int32)
    examples = Examples(labelled, codes, unlabelled, teacher, prior, LABEL_WEIGHT)
    layers = new_layers(N_FEATURES, units, N_CLASSES, 1)
    layers.b1[:] = 0.1
    layers.W2[:] *= 4  # so that some predictions are confident
    arrays = FeatureArrays(x.indptr.astype(np.int64), x.indices.astype(np.int32), x.data)
    loss = ConsistencyLoss(layers, arrays, walks, examples, plan, n_threads=n_threads)
    loss.x_dense = x.toarray()
    return loss


def features_of(loss, slots):
    """Return the features of contexts, those that were dropped as zero."""
    if not loss.plan.feature_dropout:
        return loss.x_dense[loss.memory.visits.contexts[slots]]
    rows = np.zeros((len(slots), N_FEATURES), np.float32)
    for row, slot in zip(rows, slots, strict=True):
        kept = slice(loss.memory.kept_first[slot], loss.memory.kept_first[slot] + loss.memory.kept_count[slot])
        row[loss.memory.kept_column[kept]] = loss.memory.kept_value[kept]
    return rows


def by_torch(loss, before, teaching=0.0, alignment=0.0):
    """Return L_s, L_u and the gradients by autograd, for the batch and the dropout that the step has drawn."""
    memory, examples, plan = loss.memory, loss.examples, loss.plan
    half = loss.n_labelled + loss.n_unlabelled
    inputs = np.zeros((2 * half, N_FEATURES), np.float32)
    for b in range(2 * half):
        part = slice(memory.visits.first[b], memory.visits.first[b + 1])
        inputs[b] = memory.visits.weight[part] @ features_of(loss, memory.visits.slot[part])
    W1, b1, W2, b2 = (torch.tensor(value, requires_grad=True) for value in before)
    hidden = torch.relu(torch.tensor(inputs) @ W1 + b1)
    if plan.dropout:
        hidden = hidden * torch.tensor(memory.gate)
    p = torch.softmax(hidden @ W2 + b2, dim=1)
    codes = torch.tensor(memory.codes.astype(np.int64))
    logs = sum(torch.log(p[k : k + loss.n_labelled].gather(1, codes[:, None]))[:, 0] for k in (0, half)) / 2
    L_s = -(torch.tensor(LABEL_WEIGHT)[codes] * logs).mean()
    first, second = p[loss.n_labelled : half], p[half + loss.n_labelled :]
    with torch.no_grad():
        target = (first + second) / 2
        mean = target.mean(dim=0)
        if alignment:
            target = target * (torch.tensor(examples.prior) / mean) ** alignment
            target = target / target.sum(dim=1, keepdim=True)
        taught = torch.tensor(examples.teacher[memory.nodes[loss.n_labelled : half]])
        target = (1 - teaching) * target + teaching * taught
        counts = (target.max(dim=1).values >= plan.confidence / (N_CLASSES + 1)).float()
        target = target ** (1 / plan.temperature)
        target = target / target.sum(dim=1, keepdim=True)
    distance = ((first - target) ** 2).sum(dim=1) + ((second - target) ** 2).sum(dim=1)
    L_u = (counts * distance / 2).mean() * plan.weight
    (L_s + L_u).backward()
    assert counts.sum() > 0
    assert alignment or teaching or plan.confidence == 0 or counts.sum() < len(counts)  # some of each kind
    return float(L_s.detach()), float(L_u.detach()), [value.grad.numpy() for value in (W1, b1, W2, b2)]


@pytest.mark.parametrize(
    ("changes", "teaching"),
    [
        ({}, 0.0),
        ({"weight": 3.0, "confidence": 0.0}, 0.0),
        ({"alignment": 0.7, "confidence": 1.6}, 0.0),
        ({"teaching": 10**9}, 1.0),
        ({"dropout": 0.5, "feature_dropout": 0.25, "confidence": 0.0}, 0.0),
    ],
)
def test_losses_and_gradients_are_those_of_autograd(changes, teaching):
    plan = PLAN.replace(**changes)
    loss = new_loss(plan, prior=[0.6, 0.3, 0.1])
    before = [value.copy() for value in loss.layers]
    L_s = loss.step(0)
    expected_s, expected_u, gradients = by_torch(loss, before, teaching, plan.alignment)
    assert L_s == pytest.approx(expected_s, rel=1e-4)
    assert loss.evaluate()["context_loss"] == pytest.approx(expected_u, rel=1e-3, abs=1e-6)
    for found, expected in zip(loss.gradients, gradients, strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-6)


def test_the_step_is_that_of_adam_with_weight_decay():
    plan = PLAN.replace(weight_decay=0.02)
    loss = new_loss(plan)
    parameters = [torch.tensor(value.copy(), requires_grad=True) for value in loss.layers]
    optimizer = torch.optim.Adam(parameters, lr=0.01, weight_decay=0.02)
    for step in range(3):
        loss.step(step)
        for parameter, gradient in zip(parameters, loss.gradients, strict=True):
            parameter.grad = torch.tensor(gradient.copy())
        optimizer.param_groups[0]["lr"] = 0.01 * 0.5 * (1 + np.cos(np.pi * step / plan.steps))
        optimizer.step()
    for found, expected in zip(loss.layers, parameters, strict=True):
        np.testing.assert_allclose(found, expected.detach().numpy(), rtol=1e-4, atol=1e-6)


def test_the_result_does_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(consistency_loss, "UNITS_PER_THREAD", 8)
    plan = PLAN.replace(dropout=0.5, feature_dropout=0.3, alignment=1.0, teaching=5)
    losses = [new_loss(plan, n_threads=n_threads, units=37) for n_threads in (1, 2, 3)]
    assert [loss.n_threads for loss in losses] == [1, 2, 3]
    for loss in losses:
        for step in range(10):
            loss.step(step)
    for other in losses[1:]:
        for one, two in zip(losses[0].layers, other.layers, strict=True):
            np.testing.assert_array_equal(one, two)


def test_threads_share_units_only_if_there_are_enough_for_each():
    found = [new_loss(n_threads=2, units=units).n_threads for units in (32, 127, 128)]
    assert found == [1, 1, 2]


def test_the_result_does_not_depend_on_the_number_of_processes(monkeypatch):
    monkeypatch.setattr(consistency_loss, "UNITS_PER_THREAD", 8)
    plan = PLAN.replace(dropout=0.5, feature_dropout=0.3, alignment=1.0, teaching=5)

    def trained(exchange=None):
        loss = new_loss(plan, units=37, n_threads=2)
        values = [loss.step(step) for step in range(10)]
        return values, loss.whole_layers(), loss.layers.W1.shape[1]

    values, layers, _ = trained()
    for size, widths in ((1, [37]), (2, [16, 21]), (3, [8, 16, 13]), (5, [8, 8, 8, 8, 5])):
        for rank, (own_values, own_layers, width) in enumerate(run_together(size, trained)):
            assert own_values == values
            assert width == widths[rank]
            for one, two in zip(layers, own_layers, strict=True):
                np.testing.assert_array_equal(one, two)


def test_dropout_drops_its_share_and_keeps_the_mean():
    loss = new_loss(PLAN.replace(feature_dropout=0.25, dropout=0.5, n_unlabelled=50), units=64)
    kept, total, values, units = 0, 0, 0.0, []
    for step in range(40):
        loss.step(step)
        n_slots = int(loss.memory.n_slots[0])
        contexts = loss.memory.visits.contexts[:n_slots]
        used = int(loss.memory.kept_count[:n_slots].sum())
        kept += used
        values += float(loss.memory.kept_value[:used].sum())
        total += float(loss.x_dense[contexts].sum())
        units.append((loss.memory.gate > 0).mean())
        assert set(np.unique(loss.memory.gate)) <= {0.0, 2.0}
    assert values == pytest.approx(total, rel=0.03)
    assert 0 < np.mean(units) < 0.5


def test_labelled_nodes_take_turns_where_a_batch_does_not_hold_all():
    loss = new_loss(PLAN.replace(n_labelled=2))
    seen = []
    for step in range(5):
        loss.step(step)
        seen += loss.memory.nodes[:2].tolist()
    assert sorted(seen) == sorted([0, 1, 2, 3, 4] * 2)


def test_state_goes_on_where_it_was():
    plan = PLAN.replace(dropout=0.5, alignment=1.0)
    whole, stopped, resumed = (new_loss(plan) for _ in range(3))
    for step in range(6):
        whole.step(step)
    for step in range(3):
        stopped.step(step)
    resumed.restore({name: value.copy() for name, value in stopped.state().items()})
    for step in range(3, 6):
        resumed.step(step)
    for one, two in zip(whole.layers, resumed.layers, strict=True):
        np.testing.assert_array_equal(one, two)


def test_weight_decay_is_small_with_very_many_labels():
    loss = new_loss(PLAN.replace(weight_decay="auto"))
    loss.examples = loss.examples._replace(labelled=np.zeros(300, np.int32))  # 100 per class
    assert loss._weight_decay() == pytest.approx(0.005 * 3 / 6 * 20 / 100)


def test_weight_decay_is_small_with_few_or_many_classes_and_few_labels():
    loss = new_loss(PLAN.replace(weight_decay="auto"))
    assert loss.weight_decay == pytest.approx(0.005 * 3 / 6 * (5 / 3 / 20) ** 0.5)
    loss.layers = loss.layers._replace(b2=np.zeros(20, np.float32))
    assert loss._weight_decay() == pytest.approx(0.25 / 20**2 * (5 / 20 / 20) ** 0.5)
    assert new_loss(PLAN.replace(weight_decay=0.5)).weight_decay == 0.5
