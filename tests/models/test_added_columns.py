"""Columns that are added to the features because the labels ask for them: the length of a row, and waves."""

import numpy as np
import pytest
from scipy import sparse

import planetoid as pl
from planetoid.models.inputs import N_WAVES, ROOT_HALF, Inputs

N, LABELLED = 300, np.arange(60)
QUICK = {"random_state": 0, "training__steps": 100, "view": "features"}


def random_graph(random):
    edges = random.integers(0, N, (2 * N, 2))
    return pl.Graph.of(edges[edges[:, 0] != edges[:, 1]].tolist(), nodes=range(N))


def totals():
    """Two classes whose rows have the same direction, but other lengths."""
    random = np.random.default_rng(0)
    y = np.arange(N) % 2
    X = random.poisson(np.where(y == 0, 0.3, 1.0)[:, None], (N, 40)).astype(np.float32)
    return X, y, random_graph(random)


def xor():
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 2)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] > 0).astype(int), random_graph(random)


CASES = {"totals": totals, "totals, sparse": lambda: (sparse.csr_array(totals()[0]), *totals()[1:]), "xor": xor}


@pytest.fixture(scope="module", params=list(CASES))
def case(request):
    return CASES[request.param]()


@pytest.fixture(scope="module")
def fitted(case):
    X, y, graph = case
    return pl.Planetoid().set_params(**QUICK).fit(X, pl.mask_labels(y, LABELLED), graph=graph)


def some_rows(case):
    """Return new rows of the same kind."""
    X = case[0]
    dense = X.toarray() if sparse.issparse(X) else X
    rows = dense[:20].copy()
    rows[:, 0] += 1.0
    rows[-1] = 0.0
    return sparse.csr_array(rows) if sparse.issparse(X) else rows


def test_classes_are_told_apart(case, fitted):
    X, y, graph = case
    rest = slice(len(LABELLED), None)
    assert (fitted.predict()[rest] == y[rest]).mean() > 0.85
    plain = Inputs._plain(X, "l2", LABELLED, y[LABELLED])
    assert not len(plain.length) + len(plain.waves.phases)
    scaled = plain.scaled(X)
    without = pl.Planetoid(row_normalize=None).set_params(**QUICK)  # adds no columns
    found = without.fit(scaled, pl.mask_labels(y, LABELLED), graph=graph).predict()
    assert (found[rest] == y[rest]).mean() < (fitted.predict()[rest] == y[rest]).mean()


def test_new_rows_and_saved_models(case, fitted, tmp_path):
    rows = some_rows(case)
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(pl.load(tmp_path / "model").predict_proba(rows), fitted.predict_proba(rows))


def test_onnx(case, fitted, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    rows = some_rows(case)
    expected = fitted.predict_proba(rows)
    dense = rows.toarray() if sparse.issparse(rows) else rows
    pl.export.to_onnx(fitted, tmp_path / "dense.onnx", tokens=False)
    session = runtime.InferenceSession(tmp_path / "dense.onnx")
    found = session.run(None, {"features": dense.astype(np.float32)})
    np.testing.assert_allclose(found[1], expected, atol=1e-5)
    if sparse.issparse(rows):
        pl.export.to_onnx(fitted, tmp_path / "tokens.onnx", tokens=True)
        tokens, values = pl.export.token_rows(rows)
        session = runtime.InferenceSession(tmp_path / "tokens.onnx")
        found = session.run(None, {"tokens": tokens, "values": values})
        np.testing.assert_allclose(found[1], expected, atol=1e-5)


def test_reasons_are_of_given_features(case, fitted):
    n_features = case[0].shape[1]
    for node in (70, 71):
        features = next(group for group in fitted.explain(node, top=50).groups if group.kind == "features")
        assert {reason.name for reason in features.reasons} <= set(range(n_features))
        assert features.reasons
    new = next(group for group in fitted.explain(X=some_rows(case)[:1]).groups if group.kind == "features")
    assert {reason.name for reason in new.reasons} <= set(range(n_features))


def test_waves_are_shared_among_columns():
    X, y, _ = xor()
    inputs = Inputs.of(X, "l2", LABELLED, y[LABELLED])
    assert inputs.is_curved
    x = np.asarray(inputs.scaled(X[[3]]), dtype=np.float64)[0]
    contributions = np.random.default_rng(0).normal(size=len(x))
    at, values, rest = inputs.by_given_columns(np.arange(len(x)), contributions, x)
    assert at.tolist() == [0, 1]
    np.testing.assert_allclose(values.sum() + rest, contributions.sum())
    only = np.zeros(len(x))  # a wave that the first column alone moves
    directions = inputs.waves.directions.copy()
    directions[1:, 0] = 0.0
    only[len(x) - N_WAVES] = 2.0
    alone = inputs._replace(waves=inputs.waves._replace(directions=directions))
    at, values, rest = alone.by_given_columns(np.arange(len(x)), only, x)
    np.testing.assert_allclose([at[0], values[0], rest], [0, 2.0, 0.0], atol=1e-6)


def test_products_of_waves_are_a_gaussian_kernel():
    X, y, _ = xor()
    inputs = Inputs.of(X, "l2", LABELLED, y[LABELLED])
    rows = np.asarray(inputs.scaled(X[:50]), dtype=np.float64)
    given, waves = rows[:, :3] / ROOT_HALF, rows[:, 3:] / ROOT_HALF + inputs.waves.mean
    widths = np.sqrt(1 / (inputs.waves.directions.astype(np.float64) ** 2).mean())
    distances = ((given[:, None] - given) ** 2).sum(axis=2)
    np.testing.assert_allclose(waves @ waves.T, np.exp(-distances / (2 * widths**2)), atol=0.25)
    assert not inputs.scaled(np.zeros((1, 2), np.float32)).any()  # no features


def test_the_length_is_kept_beside_the_direction():
    X, y, _ = totals()
    inputs = Inputs.of(sparse.csr_array(X), "l2", LABELLED, y[LABELLED])
    assert len(inputs.length) == 2
    assert not len(Inputs.of(sparse.csr_array(X), None, LABELLED, y[LABELLED]).length)
    rows = np.stack([X[0], 2 * X[0]])
    found = inputs.scaled(sparse.csr_array(rows)).toarray()
    np.testing.assert_allclose(found[0, :-1], found[1, :-1], atol=1e-6)
    assert found[1, -1] > found[0, -1]
    np.testing.assert_allclose(found[0, :-1], ROOT_HALF * X[0] / np.linalg.norm(X[0]), atol=1e-6)


def test_labels_that_do_not_ask_add_nothing():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(N, 20)).astype(np.float32), np.arange(N) % 2
    X[:, 0] += 3 * y
    inputs = Inputs.of(X, "l2", LABELLED, y[LABELLED])
    assert not inputs.is_curved
    assert not len(inputs.length)
    X, y, _ = xor()
    assert not Inputs.of(X, "l2", LABELLED[:4], y[:4]).is_curved  # too few to say


@pytest.mark.parametrize("scale", [1e-25, 1e-13, 1e20])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_unit_of_columns_does_not_matter(scale, kind):
    random = np.random.default_rng(1)
    y = np.arange(N) % 3
    X = (np.abs(random.normal(size=(N, 20))) * (random.random((N, 20)) < 0.4) + 2 * np.eye(20)[y]).astype(np.float32)
    one, other = (
        Inputs.of(kind(factor * X), "l2", LABELLED, y[LABELLED]) for factor in (np.float32(1), np.float32(scale))
    )
    expected, found = (inputs.scaled(kind(factor * X)) for inputs, factor in ((one, 1), (other, np.float32(scale))))
    dense = [rows if isinstance(rows, np.ndarray) else rows.toarray() for rows in (found, expected)]
    np.testing.assert_allclose(*dense, atol=1e-4)


@pytest.mark.parametrize(("n_columns", "n_correct", "curved"), [
    (20, 31, False), (20, 45, True), (16, 31, True), (16, 30, True), (16, 29, True), (16, 27, False),
])  # fmt: skip
def test_waves_are_added_to_many_columns_if_that_is_better_and_to_few_unless_it_is_worse(
    monkeypatch, n_columns, n_correct, curved
):
    """Thirty of sixty labels are correct without them."""
    X, y = np.random.default_rng(0).normal(size=(N, n_columns)).astype(np.float32), np.arange(N) % 2
    monkeypatch.setattr(
        "planetoid.models.inputs._correct",
        lambda rows, _: np.arange(60) < (n_correct if rows.shape[1] > N_WAVES else 30),
    )
    assert Inputs.of(X, "l2", LABELLED, y[LABELLED]).is_curved == curved
