import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planetoid.datasets import Split, planetoid_split, rate_split
from planetoid.errors import DataError, ParameterError

Y = np.arange(3000) % 7


def test_paper_protocol_sizes_and_classes():
    split = planetoid_split(Y, seed=3)
    assert (len(split.train), len(split.val), len(split.test)) == (140, 500, 1000)
    assert np.bincount(Y[split.train]).tolist() == [20] * 7
    together = np.concatenate([split.train, split.val, split.test])
    assert len(np.unique(together)) == 1640


def test_same_seed_same_split_and_the_global_generator_is_untouched():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = planetoid_split(Y, seed=1), planetoid_split(Y, seed=1), planetoid_split(Y, seed=2)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002
    assert (first.train == again.train).all()
    assert (first.test == again.test).all()
    assert not np.array_equal(first.train, other.train)


def test_unlabelled_nodes_are_never_drawn():
    y = Y.copy()
    y[::2] = -1
    split = planetoid_split(y, per_class=10, n_val=100, n_test=200)
    for rows in (split.train, split.val, split.test):
        assert (y[rows] >= 0).all()


def test_every_node_is_drawn_equally_often():
    # class 0 has 10 nodes, of which 2 are drawn: each should come up in a fifth of 2,000 splits
    y = np.repeat([0, 1], [10, 10])
    drawn = np.zeros(20)
    for seed in range(2000):
        drawn[planetoid_split(y, per_class=2, n_val=0, n_test=1, seed=seed).train] += 1
    expected = 2000 * 2 / 10
    chi_square = ((drawn - expected) ** 2 / (expected * (1 - 2 / 10))).sum() * 9 / 10
    assert chi_square < 42.3  # 99.9 % of chi-square with 18 degrees of freedom


def test_class_too_small_is_named():
    y = np.repeat([0, 1], [100, 19])
    with pytest.raises(DataError, match=r"class 1 has 19 labelled nodes, fewer than the 20"):
        planetoid_split(y, n_val=0, n_test=10)


def test_too_few_nodes_left_is_counted():
    with pytest.raises(DataError, match=r"2,860 labelled nodes are left .* 500 \+ 5,000"):
        planetoid_split(Y, n_test=5000)


@pytest.mark.parametrize(("name", "call"), [("per_class", {"per_class": 0}), ("n_val", {"n_val": -1})])
def test_impossible_parameters_are_named(name, call):
    with pytest.raises(ParameterError, match=name):
        planetoid_split(Y, **call)


def test_rate_takes_a_share_of_each_class_and_one_at_least():
    y = np.repeat([0, 1, 2], [1000, 25, 5])
    split = rate_split(y, 0.1)
    assert np.bincount(y[split.train]).tolist() == [100, 2, 1]
    assert len(split.test) == 1030 - 103
    assert np.bincount(y[rate_split(y, 0.001).train]).tolist() == [1, 1, 1]


def test_rate_has_no_rounding_slip():
    # 0.29 * 100 is 28.999999999999996 in floating point
    assert len(rate_split(np.zeros(100, dtype=int), 0.29).train) == 29


@pytest.mark.parametrize("rate", [0, 1, -0.1, 2])
def test_rate_must_be_a_share(rate):
    with pytest.raises(ParameterError, match="rate must be"):
        rate_split(Y, rate)


def test_labels_of_any_kind():
    y = np.array(["a", None, "b", "b", "a", float("nan")], dtype=object)
    split = planetoid_split(y, per_class=1, n_val=1, n_test=1)
    assert sorted(y[split.train]) == ["a", "b"]


def test_no_label_at_all():
    with pytest.raises(DataError, match="no label"):
        rate_split(np.full(5, -1), 0.5)


def test_overlap_is_refused():
    with pytest.raises(DataError, match="duplicate row"):
        Split(np.array([1, 2]), np.array([2]), np.array([3]))


def test_val_labels_hide_all_else():
    split = Split(np.array([0]), np.array([2]), np.array([3]))
    assert split.val_labels(np.array([5, 6, 7, 8])).tolist() == [-1, -1, 7, -1]
    assert split.train_labels(np.array([5, 6, 7, 8])).tolist() == [5, -1, -1, -1]


@given(
    st.lists(st.integers(-1, 4), min_size=1, max_size=60).filter(lambda y: any(label >= 0 for label in y)),
    st.floats(0.01, 0.99),
    st.integers(0, 5),
)
def test_rate_split_covers_the_labelled_nodes(y, rate, seed):
    y = np.array(y)
    split = rate_split(y, rate, seed=seed)
    together = np.sort(np.concatenate([split.train, split.test]))
    assert together.tolist() == np.flatnonzero(y >= 0).tolist()
    for label in np.unique(y[y >= 0]):
        size = (y == label).sum()
        assert (y[split.train] == label).sum() == max(int(rate * size + 1e-9), 1)
