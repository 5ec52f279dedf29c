"""Steps on L_s + L_u of :class:`~planetoid.Planetoid`, in compiled code.

A batch holds labelled nodes and unlabelled ones, each with two independent samples of its contexts
(:mod:`planetoid.engine.neighbourhoods`). The network is

    h = sum_c weight_c (W1^T x_c) + b1,    p = softmax(W2^T relu(h) + b2),

where features and hidden units are dropped at random. L_s is the cross-entropy of the labelled nodes. L_u is the
squared distance of both predictions p of an unlabelled node from one target: their mean, aligned with the class prior,
mixed with the prediction of a teacher, and sharpened; it counts where this mean is confident.

Processes and threads divide the columns of the first layer, each of whose sums is taken by one thread in the same order
whatever their number, so the result is the same bit for bit. What is small (drawing, the second layer, the losses) is
done by one thread while the others wait, and by every process. A step has two parts, :func:`read_batch` and
:func:`take_step`; between them the processes exchange their columns of h.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from planetoid.engine.arrays import Integers, Nodes, Row, Table
from planetoid.engine.barrier import barrier
from planetoid.engine.compiling import exact, fast, fast_entry
from planetoid.engine.generator import BATCHES, DROPPED_FEATURES, DROPPED_UNITS, U64, below, bits_at, key_of
from planetoid.engine.loops import add_multiple, add_row, add_rows_in_turn, combine_rows
from planetoid.engine.neighbourhoods import Visits, Walks, draw_visits

__all__ = ["Examples", "FeatureArrays", "Layers", "Memory", "Objective", "read_batch", "take_step"]

F32 = np.float32
ZERO, ONE, HALF = F32(0.0), F32(1.0), F32(0.5)
NONE = np.int64(0)
BYTE, EIGHT, PER_HASH = U64(0xFF), U64(8), np.int64(8)  # 64 random bits are eight bytes, one for each thing to drop
SMALLEST = F32(1e-12)
BETA_1, BETA_2, EPSILON = F32(0.9), F32(0.999), F32(1e-8)  # of Adam
KEPT_OF_MEAN = F32(0.95)  # per step, of the running mean of predictions
LEAST_MEAN = F32(1e-3)


class FeatureArrays(NamedTuple):
    """The features, in CSR rows."""

    indptr: Integers
    indices: Nodes
    values: Row


class Examples(NamedTuple):
    """The nodes that batches are drawn from."""

    labelled: Nodes
    codes: Nodes  # (labelled node): its class
    unlabelled: Nodes
    teacher: Table  # (node of the graph, class): what the teacher predicts; no rows where there is none
    prior: Row  # (class)
    label_weight: Row  # (class): what a label of the class counts in L_s


class Objective(NamedTuple):
    """What a step minimises, and how far it goes."""

    n_labelled: int  # in a batch
    n_unlabelled: int
    drop_features: int  # of 256
    drop_units: int  # of 256
    temperature: float
    confidence: float  # least probability of the target's class
    consistency: float  # weight of L_u
    alignment: float  # exponent of prior / running mean
    teaching: float  # share of the teacher in the target
    learning_rate: float
    weight_decay: float


class Layers(NamedTuple):
    """Two layers: parameters, their gradients, or the moments of Adam."""

    W1: Table  # (feature, unit of this process)
    b1: Row
    W2: Table  # (unit, class)
    b2: Row


class Memory(NamedTuple):
    """The memory of a batch: two rows for each of its nodes, those of the first sample before those of the second."""

    nodes: Nodes  # (row)
    codes: Nodes  # (labelled node of the batch): its class
    visits: Visits
    kept_first: Integers  # (slot): where its kept features start
    kept_count: Integers  # (slot)
    kept_column: Nodes  # (kept feature)
    kept_value: Row
    projected: Table  # (slot, unit of this process): x_c W1, then its gradient
    hidden: Table  # (row, unit): after ReLU and dropout
    gate: Table  # (row, unit): the derivative of that
    probability: Table  # (row, class), then the gradient of the scores
    target: Table  # (unlabelled node, class)
    W2_turned: Table  # (class, unit)
    mean: Row  # (class): running mean of the predictions; negative before the first step
    n_slots: Integers  # (1): how many contexts the batch has
    losses: npt.NDArray[np.float64]  # L_s and L_u


@exact
def next_bytes(bits: np.uint64, key: np.uint64, number: np.int64) -> np.uint64:
    """Return random bits whose lowest byte belongs to thing ``number``, from those of the thing before it."""
    return bits_at(key, number // PER_HASH) if number % PER_HASH == 0 else bits >> EIGHT


@fast
def clear(row: Row) -> None:
    """Set a row to 0."""
    for f in range(len(row)):
        row[f] = ZERO


@exact
def draw_batch(step: np.int64, walks: Walks, examples: Examples, objective: Objective, memory: Memory) -> np.int64:
    """Draw the nodes of a batch and two samples of their contexts; return the number of slots."""
    key = key_of(walks.seed, BATCHES, step)
    n_labelled, n_unlabelled = objective.n_labelled, objective.n_unlabelled
    half = n_labelled + n_unlabelled
    total = np.int64(len(examples.labelled))
    offset = NONE if n_labelled == total else step * n_labelled  # all of them, or in turn
    for b in range(n_labelled):
        memory.nodes[b] = examples.labelled[(offset + b) % total]
        memory.codes[b] = examples.codes[(offset + b) % total]
    for b in range(n_unlabelled):
        memory.nodes[n_labelled + b] = examples.unlabelled[below(key, b, np.int64(len(examples.unlabelled)))]
    for b in range(half):
        memory.nodes[half + b] = memory.nodes[b]
    return draw_visits(step * 2 * half, memory.nodes[: 2 * half], walks, memory.visits)


@exact
def keep_features(
    step: np.int64, n_slots: np.int64, seed: np.uint64, x: FeatureArrays, of_256: np.int64, memory: Memory
) -> None:
    """Drop features of every context at random; the others are scaled up to the same mean."""
    scale = F32(256.0 / (256.0 - of_256))
    used = NONE
    for slot in range(n_slots):
        node = memory.visits.contexts[slot]
        first, last = x.indptr[node], x.indptr[node + 1]
        key = key_of(seed, DROPPED_FEATURES, step * len(memory.visits.slot_of) + node)
        memory.kept_first[slot] = used
        for block in range(first, last, PER_HASH):
            bits = bits_at(key, (block - first) // PER_HASH)
            for at in range(block, min(block + PER_HASH, last)):
                memory.kept_column[used] = x.indices[at]  # to be overwritten if it is dropped: faster than a branch
                memory.kept_value[used] = x.values[at] * scale
                used += np.int64(np.int64(bits & BYTE) >= of_256)
                bits >>= EIGHT
        memory.kept_count[slot] = used - memory.kept_first[slot]


@fast
def project(
    low: np.int64, high: np.int64, first_unit: np.int64, n_slots: np.int64, n_rows: np.int64, W1: Table, memory: Memory
) -> None:
    """Set units of ``h = sum_c weight_c W1^T x_c``, in ``memory.hidden``, from columns ``low`` to ``high`` of W1."""
    visits = memory.visits
    for slot in range(n_slots):
        first = memory.kept_first[slot]
        row = memory.projected[slot][low:high]
        clear(row)
        last = first + memory.kept_count[slot]
        add_rows_in_turn(W1, low, memory.kept_column[first:last], memory.kept_value[first:last], row)
    for b in range(n_rows):
        row = memory.hidden[b][first_unit + low : first_unit + high]
        clear(row)
        first, last = visits.first[b], visits.first[b + 1]
        add_rows_in_turn(memory.projected, low, visits.slot[first:last], visits.weight[first:last], row)


@fast
def project_back(
    low: np.int64, high: np.int64, first_unit: np.int64, n_slots: np.int64, n_rows: np.int64, gradient: Table,
    memory: Memory,
) -> None:  # fmt: skip
    """Set columns ``low`` to ``high`` of the gradient of W1, from that of h, which is in ``memory.hidden``."""
    visits = memory.visits
    for slot in range(n_slots):
        clear(memory.projected[slot][low:high])
    for b in range(n_rows):
        row = memory.hidden[b][first_unit + low : first_unit + high]
        for at in range(visits.first[b], visits.first[b + 1]):
            add_row(row, visits.weight[at], memory.projected[visits.slot[at]][low:high])
    for feature in range(len(gradient)):
        clear(gradient[feature][low:high])
    for slot in range(n_slots):
        first = memory.kept_first[slot]
        row = memory.projected[slot][low:high]
        for at in range(first, first + memory.kept_count[slot]):
            add_row(row, memory.kept_value[at], gradient[memory.kept_column[at]][low:high])


@fast
def predict_rows(
    step: np.int64, n_rows: np.int64, seed: np.uint64, of_256: np.int64, layers: Layers, memory: Memory
) -> None:
    """Turn h into hidden units, with dropout, and these into class probabilities."""
    n_units, n_classes = layers.W2.shape
    scale = F32(256.0 / (256.0 - of_256))
    for b in range(n_rows):
        key = key_of(seed, DROPPED_UNITS, step * n_rows + b)
        hidden, gate, scores = memory.hidden[b], memory.gate[b], memory.probability[b]
        for k in range(n_classes):
            scores[k] = layers.b2[k]
        bits = U64(0)
        for f in range(n_units):
            bits = next_bytes(bits, key, np.int64(f))
            value = hidden[f] + layers.b1[f]
            is_open = value > ZERO and np.int64(bits & BYTE) >= of_256
            gate[f] = scale if is_open else ZERO
            hidden[f] = value * gate[f]
            if is_open:
                weights = layers.W2[f]
                for k in range(n_classes):
                    scores[k] += hidden[f] * weights[k]
        softmax(scores)


@exact
def softmax(scores: Row) -> None:
    """Turn scores into probabilities, in place."""
    largest = scores[0]
    for k in range(len(scores)):
        largest = max(largest, scores[k])
    total = ZERO
    for k in range(len(scores)):
        scores[k] = np.exp(scores[k] - largest)
        total += scores[k]
    for k in range(len(scores)):
        scores[k] /= total


@exact
def normalize(row: Row) -> None:
    """Scale a row to sum 1, in place."""
    total = SMALLEST
    for k in range(len(row)):
        total += row[k]
    for k in range(len(row)):
        row[k] /= total


@exact
def set_targets(examples: Examples, objective: Objective, memory: Memory) -> None:
    """Set the target of every unlabelled node of the batch; a row of zeros where there is none."""
    half = objective.n_labelled + objective.n_unlabelled
    n_classes = memory.target.shape[1]
    mean = memory.mean
    kept = ZERO if mean[0] < ZERO else KEPT_OF_MEAN
    share = (ONE - kept) / F32(max(1, objective.n_unlabelled))
    for k in range(n_classes):
        mean[k] *= kept
    for u in range(objective.n_unlabelled):
        first, second = (
            memory.probability[objective.n_labelled + u],
            memory.probability[half + objective.n_labelled + u],
        )
        for k in range(n_classes):
            memory.target[u, k] = HALF * (first[k] + second[k])
            mean[k] += share * memory.target[u, k]
    teaching, alignment = F32(objective.teaching), F32(objective.alignment)
    power = F32(1.0 / objective.temperature)
    for u in range(objective.n_unlabelled):
        target = memory.target[u]
        if alignment > ZERO:
            for k in range(n_classes):
                target[k] *= (examples.prior[k] / max(mean[k], LEAST_MEAN)) ** alignment
            normalize(target)
        if teaching > ZERO:
            taught = examples.teacher[memory.nodes[objective.n_labelled + u]]
            for k in range(n_classes):
                target[k] += teaching * (taught[k] - target[k])
        most = ZERO
        for k in range(n_classes):
            most = max(most, target[k])
        counts = ONE if most >= F32(objective.confidence) else ZERO
        for k in range(n_classes):
            target[k] = counts * (target[k] / most) ** power
        normalize(target)


@exact
def set_gradients(label_weight: Row, objective: Objective, memory: Memory) -> None:
    """Turn the probabilities into the gradient of L_s + L_u by the scores; note the losses."""
    half = objective.n_labelled + objective.n_unlabelled
    n_classes = memory.target.shape[1]
    L_s, L_u = 0.0, 0.0
    weight = F32(0.5 / max(1, objective.n_labelled))
    pull = F32(objective.consistency / max(1, objective.n_unlabelled))
    for sample in range(2):
        for b in range(objective.n_labelled):
            p = memory.probability[sample * half + b]
            code = memory.codes[b]
            of_label = weight * label_weight[code]
            L_s -= of_label * np.log(max(p[code], SMALLEST))
            for k in range(n_classes):
                p[k] = of_label * (p[k] - (ONE if k == code else ZERO))
        for u in range(objective.n_unlabelled):
            p, target = memory.probability[sample * half + objective.n_labelled + u], memory.target[u]
            counts, inner, distance = ZERO, ZERO, ZERO
            for k in range(n_classes):
                counts += target[k]
                inner += (p[k] - target[k]) * p[k]
                distance += (p[k] - target[k]) * (p[k] - target[k])
            factor = pull if counts > HALF else ZERO
            L_u += HALF * factor * distance
            for k in range(n_classes):
                p[k] = factor * p[k] * (p[k] - target[k] - inner)
    memory.losses[0], memory.losses[1] = L_s, L_u


@exact
def second_layer_back(n_rows: np.int64, layers: Layers, gradients: Layers, memory: Memory) -> None:
    """Set the gradients of W2, b2 and b1, and that of h in ``memory.hidden``."""
    n_units, n_classes = layers.W2.shape
    for f in range(n_units):
        gradients.b1[f] = ZERO
        for k in range(n_classes):
            gradients.W2[f, k] = ZERO
    for k in range(n_classes):
        gradients.b2[k] = ZERO
    for f in range(n_units):
        for k in range(n_classes):
            memory.W2_turned[k, f] = layers.W2[f, k]
    for b in range(n_rows):
        hidden, gate, of_scores = memory.hidden[b], memory.gate[b], memory.probability[b]
        for k in range(n_classes):
            gradients.b2[k] += of_scores[k]
        for f in range(n_units):
            if gate[f] > ZERO:
                add_multiple(of_scores, hidden[f], gradients.W2[f])
        clear(hidden)
        combine_rows(memory.W2_turned, of_scores, hidden)  # all units at once, and not one long sum after the other
        for f in range(n_units):
            slope = hidden[f] * gate[f] if gate[f] > ZERO else ZERO
            hidden[f] = slope
            gradients.b1[f] += slope


@fast
def adam(
    values: Row, gradient: Row, first: Row, second: Row, rate: np.float32, scale: np.float32, decay: np.float32
) -> None:
    """Take a step of Adam on a row of parameters; ``rate`` and ``scale`` contain the corrections of the two moments."""
    for f in range(len(values)):
        slope = gradient[f] + decay * values[f]
        first[f] = BETA_1 * first[f] + (ONE - BETA_1) * slope
        second[f] = BETA_2 * second[f] + (ONE - BETA_2) * slope * slope
        values[f] -= rate * first[f] / (np.sqrt(second[f] * scale) + EPSILON)


@exact
def corrections(step: np.int64, objective: Objective) -> tuple[np.float32, np.float32]:
    """Return Adam's learning rate of a step, and the factor of its second moment."""
    rate = objective.learning_rate / (1.0 - float(BETA_1) ** (step + 1))
    return F32(rate), F32(1.0 / (1.0 - float(BETA_2) ** (step + 1)))


@exact
def columns_of_thread(thread: np.int64, n_threads: np.int64, n_columns: np.int64) -> tuple[np.int64, np.int64]:
    """Return the first column of the first layer that belongs to a thread, and the end of its columns."""
    return thread * n_columns // n_threads, (thread + 1) * n_columns // n_threads


@fast_entry
def read_batch(
    thread: int, n_threads: int, arrivals: Integers, step: int, walks: Walks, x: FeatureArrays, examples: Examples,
    objective: Objective, first_unit: int, W1: Table, memory: Memory,
) -> None:  # fmt: skip
    """Draw the batch of a step, and set the units from ``first_unit`` on whose columns W1 has; once in each thread."""
    n_rows = 2 * (objective.n_labelled + objective.n_unlabelled)
    if thread == 0:
        memory.n_slots[0] = draw_batch(step, walks, examples, objective, memory)
        keep_features(step, memory.n_slots[0], walks.seed, x, objective.drop_features, memory)
    barrier(arrivals, n_threads)
    low, high = columns_of_thread(thread, n_threads, W1.shape[1])
    project(low, high, first_unit, memory.n_slots[0], n_rows, W1, memory)


@fast_entry
def take_step(
    thread: int, n_threads: int, arrivals: Integers, step: int, seed: np.uint64, examples: Examples,
    objective: Objective, first_unit: int, layers: Layers, gradients: Layers, first: Layers, second: Layers,
    memory: Memory,
) -> None:  # fmt: skip
    """Take the step of a batch whose units are all there; called once in each thread."""
    n_rows = 2 * (objective.n_labelled + objective.n_unlabelled)
    n_units, (n_features, n_columns) = len(layers.b1), layers.W1.shape
    if thread == 0:
        predict_rows(step, n_rows, seed, objective.drop_units, layers, memory)
        set_targets(examples, objective, memory)
        set_gradients(examples.label_weight, objective, memory)
        second_layer_back(n_rows, layers, gradients, memory)
    barrier(arrivals, n_threads)
    low, high = columns_of_thread(thread, n_threads, n_columns)
    project_back(low, high, first_unit, memory.n_slots[0], n_rows, gradients.W1, memory)
    barrier(arrivals, n_threads)
    rate, scale = corrections(step, objective)
    decay = F32(objective.weight_decay)
    for feature in range(thread * n_features // n_threads, (thread + 1) * n_features // n_threads):
        adam(layers.W1[feature], gradients.W1[feature], first.W1[feature], second.W1[feature], rate, scale, decay)
    if thread == 0:
        adam(layers.b1, gradients.b1, first.b1, second.b1, rate, scale, decay)
        adam(layers.b2, gradients.b2, first.b2, second.b2, rate, scale, decay)
        for f in range(n_units):
            adam(layers.W2[f], gradients.W2[f], first.W2[f], second.W2[f], rate, scale, decay)
