"""Contributions against closed forms, against values computed by hand, and against finite differences."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from tests.explanation.conftest import fit, fitted

import planetoid as pl
from planetoid.data.scaling import scale_rows
from planetoid.engine.filters import Filter
from planetoid.explanation.contributions import MARGIN, Answer, Contributions, Question, by_occlusion
from planetoid.graph.adjacency import normalized_adjacency, symmetric_adjacency
from planetoid.models.context_predictions import PREDICTION_RESTART
from planetoid.models.context_reasons import PooledPredictions

PATH = pl.Graph.from_edges("abcd", "bcde")


def ask(model, data, row, contrast):
    x = None if data.X is None else data.X[[row]]
    return model._explain(Question(row, x, contrast, data, type(model).__name__))


def part(answer, kind):
    return next(one for one in answer.parts if one.kind == kind)


def dense_scores(method, model, data):
    """The scores of all nodes by dense linear algebra, before they are scaled to sum to one."""
    A = data.graph.to_scipy().toarray().astype(np.float64)
    d, Y, n = A.sum(axis=1), data.one_hot(), data.n_nodes
    labelled = data.y >= 0
    if method == "lp":
        scores = Y.copy()
        free = ~labelled & (np.linalg.matrix_power(A + np.eye(n), n)[:, labelled].sum(axis=1) > 0)
        L = np.diag(d) - A
        scores[free] = np.linalg.solve(L[np.ix_(free, free)], A[np.ix_(free, labelled)] @ Y[labelled])
    elif method == "lgc":
        root = np.divide(1, np.sqrt(d), out=np.zeros(n), where=d > 0)
        scores = (1 - model.alpha) * np.linalg.solve(np.eye(n) - model.alpha * root[:, None] * A * root, Y)
    elif method == "mad":
        walk, flow, diagonal = model._walk_system(data)
        flow = flow.toarray().astype(np.float64)
        scores = np.linalg.solve(np.diag(diagonal) - flow, model.mu1 * walk.p_inj[:, None] * Y)
    else:
        return model.scores_
    return scores * model._class_weights(data)


@pytest.mark.parametrize("method", ["lp", "lgc", "mad", "poisson"])
@pytest.mark.parametrize("parameters", [{}, {"class_mass_normalization": False}])
def test_labels_and_neighbours_add_up_to_the_scores_of_a_dense_solution(method, parameters, data):
    if parameters and method in ("mad", "poisson"):
        pytest.skip("has no such parameter")
    model = fit(method, data, **parameters)
    scores = dense_scores(method, model, data)
    known = model._known(data)
    for row in [0, 7, 40, 77, 100, int(np.diff(data.graph.indptr).argmax())]:
        for contrast in (np.array([1.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])):
            answer = ask(model, data, row, contrast)
            expected = scores[row] @ contrast if known[row] else 0.0
            assert answer.score == pytest.approx(expected, abs=1e-6)
            for one in answer.parts:
                assert one.base + one.values.sum() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("method", ["lp", "lgc", "mad", "poisson"])
def test_a_contribution_is_what_the_score_loses_if_a_label_says_nothing(method, data):
    """The scores are linear in the labels: halving what one label says takes away half of its contribution."""
    model = fit(method, data)
    row, contrast = 40, np.array([1.0, -1.0, 0.0])
    labels = part(ask(model, data, row, contrast), "labels")
    chosen = int(labels.at[np.argmax(np.abs(labels.values))])

    class Halved(pl.Dataset):
        def one_hot(self):
            matrix = super().one_hot()
            matrix[chosen] /= 2
            return matrix

    halved = Halved("halved", data.graph, None, data.y, data.classes)
    lost = ask(model, data, row, contrast).score - ask(model, halved, row, contrast).score
    assert lost == pytest.approx(labels.values[labels.at == chosen][0] / 2, abs=1e-8)


def test_label_propagation_by_hand():
    model = pl.LabelPropagation(class_mass_normalization=False).fit(y={"a": "left", "e": "right"}, graph=PATH)
    found = model.explain("b")
    assert {reason.name: round(reason.contribution, 9) for reason in found.labels.reasons} == {"a": 0.75, "e": -0.25}
    # its neighbours are a, with the score 1, and c, with the score 0
    assert {reason.name: round(reason.contribution, 9) for reason in found.neighbours.reasons} == {"a": 0.5}
    assert found.score == pytest.approx(0.5)
    own = model.explain("a")
    assert [(reason.name, reason.contribution) for reason in own.labels.reasons] == [("a", 1.0)]


def test_the_label_of_an_isolated_node_is_its_own_reason():
    graph = pl.Graph.from_edges(["a", "b"], ["b", "c"], nodes="abcd")
    model = pl.LocalGlobalConsistency(alpha=0.75, class_mass_normalization=False)
    found = model.fit(y={"a": "left", "c": "right", "d": "left"}, graph=graph).explain("d")
    assert [(reason.name, reason.contribution) for reason in found.labels.reasons] == [("d", 0.25)]
    assert found.score == 0.25


def test_one_class_in_a_component_of_poisson_learning():
    graph = pl.Graph.from_edges("abcx", "bcdy")
    model = pl.PoissonLearning().fit(y={"a": "left", "d": "right", "x": "left"}, graph=graph)
    found = model.explain("y")
    assert (found.label, found.score) == ("left", 0.0)
    assert "of one class" in found.note


def test_linear_scores_are_sums_of_features(data):
    contrast = np.array([1.0, 0.0, -1.0])
    for method, scores in {
        "feat": lambda model: model._softmax.scores(data.X),
        "tsvm": lambda model: data_rows(data, "l2") @ model.coef_.T + model.intercept_,
        "diel": lambda model: model.scores_,
        "manireg": lambda model: data_rows(data, "l2") @ model.coef_ + model.intercept_,
    }.items():
        model = fitted(method)
        expected = np.asarray(scores(model))[42] @ contrast
        features = part(ask(model, data, 42, contrast), "features")
        assert features.base + features.values.sum() == pytest.approx(expected, abs=1e-6)
        assert set(features.at) <= set(data.X[[42]].indices)


def data_rows(data, norm):
    return scale_rows(data.X, norm, np.float64).toarray()


@pytest.mark.parametrize("variant", ["ssgc", "sgc"])
def test_propagated_features_by_a_dense_filter(variant, data):
    model = fit("ssgc", data, variant=variant, K=3)
    A = normalized_adjacency(symmetric_adjacency(data.graph)).toarray().astype(np.float64)
    powers = [np.linalg.matrix_power(A, k) for k in (1, 2, 3)]
    S = powers[-1] if variant == "sgc" else (1 - model.alpha) / 3 * sum(powers) + model.alpha * np.eye(120)
    X, w = data_rows(data, "l2"), (model.coef_[0] - model.coef_[2])
    answer = ask(model, data, 42, np.array([1.0, 0.0, -1.0]))
    neighbours, features, labels = (part(answer, kind) for kind in ("neighbours", "features", "labels"))
    np.testing.assert_allclose(neighbours.values, S[42, neighbours.at] * (X[neighbours.at] @ w), atol=1e-6)
    np.testing.assert_allclose(features.values, (S[42] @ X * w)[features.at], atol=1e-6)
    assert answer.score == pytest.approx(S[42] @ X @ w + model.intercept_[0] - model.intercept_[2], abs=1e-5)
    assert labels.values.sum() == pytest.approx(S[42] @ X @ w, abs=1e-3)  # the optimum, to the solver's tolerance


def test_two_classes_share_one_row_of_weights():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 3.0, 1.0]])
    graph = [(0, 1), (1, 2), (2, 3)]
    for model in (
        pl.Feat(C=100.0), pl.PropagatedFeatures(K=2), pl.TransductiveSVM(), pl.ManifoldRegularization(), pl.Diel(),
        pl.IterativeClassification(), pl.GCN(epochs=20), pl.GraphEmbedding(dimension=4, pretrain=20),
        pl.Planetoid(),
    ):  # fmt: skip
        given = {} if model.uses_graph == "never" else {"graph": graph}
        X_used = None if model.uses_features == "never" else X
        model.set_params(calibrate=False).fit(X_used, ["a", "b", "a", "b"], **given)
        found = model.explain(2)
        odds = np.log(found.probability / found.runner_up_probability)
        assert found.score == pytest.approx(odds, rel=1e-4, abs=1e-5), type(model).__name__


@pytest.mark.parametrize("method", ["planetoid", "planetoid-t", "planetoid-i", "planetoid-g", "feat", "ssgc", "gcn",
                                    "semiemb", "ica", "graphemb", "manireg"])  # fmt: skip
def test_the_score_is_the_log_odds_of_the_raw_probabilities(method, data):
    """All of them end in a softmax, whose log-odds are what the reasons explain."""
    model = fit(method, data, calibrate=False)
    for node in ("n30", "n75"):
        found = model.explain(node)
        assert found.score == pytest.approx(np.log(found.probability / found.runner_up_probability), abs=1e-3)


def test_the_score_of_an_svm_is_by_how_much_farther_a_row_is_from_one_hyperplane(data):
    """Its probabilities are logistic functions of the distances, in which the features of a row are not linear."""
    model = fit("tsvm", data, calibrate=False)
    distances = data_rows(data, model.row_normalize) @ model.coef_.T + model.intercept_
    for node in (30, 75):
        found = model.explain(f"n{node}")
        one, other = (list(model.classes_).index(label) for label in (found.label, found.runner_up))
        assert found.quantity == MARGIN
        assert found.score == pytest.approx(distances[node, one] - distances[node, other], abs=1e-5)
        logistic = 1 / (1 + np.exp(-distances[node]))
        assert found.probability == pytest.approx(logistic[one] / logistic.sum(), abs=1e-5)


def test_graph_convolution_by_finite_differences(data):
    model = fitted("gcn")
    row, contrast = 42, np.array([1.0, -1.0, 0.0])
    A = normalized_adjacency(symmetric_adjacency(data.graph)).toarray().astype(np.float64)
    X = data_rows(data, model.row_normalize)
    W1, W2 = model.W1_.astype(np.float64), model.W2_.astype(np.float64)

    def score(X):
        return (A @ np.maximum(A @ X @ W1, 0) @ W2)[row] @ contrast

    answer = ask(model, data, row, contrast)
    assert answer.score == pytest.approx(score(X), abs=1e-5)
    nodes, features = part(answer, "neighbours"), part(answer, "features")
    for node, value in zip(nodes.at[:5], nodes.values[:5], strict=True):
        less = X.copy()
        less[node] *= 1 - 1e-6
        assert (score(X) - score(less)) / 1e-6 == pytest.approx(value, abs=1e-4)
    for column, value in zip(features.at[:5], features.values[:5], strict=True):
        less = X.copy()
        less[:, column] *= 1 - 1e-6
        assert (score(X) - score(less)) / 1e-6 == pytest.approx(value, abs=1e-4)


def planetoid_weights(model, row, restart, described):
    return model._network.contexts._replace(restart=restart).shares(row, described)


def relu_scores(rows, layers):
    hidden = np.maximum(rows @ layers.W1.astype(np.float64) + layers.b1, 0)
    return hidden @ layers.W2.astype(np.float64) + layers.b2


def planetoid_score(model, X, row, contrast):
    """The log-odds that Planetoid predicts with inputs X, by its definition."""
    described = (X != 0).any(axis=1)
    contexts = planetoid_weights(model, row, model._network.contexts.restart, np.ones(len(X)))
    network = (relu_scores(contexts @ X, model._network.layers) + model.opinions_[row]) @ contrast
    distilled = model._context_predictions.layers
    own = np.exp(relu_scores(X, distilled) + X @ distilled.direct)
    own /= own.sum(axis=1, keepdims=True)
    mean = planetoid_weights(model, row, PREDICTION_RESTART, described) @ own
    weight, second = model.propagation_weight_, model._second_view
    score = (1 - weight) * network + weight * np.log(mean) @ contrast
    return (1 - second.share) * score + second.share * second.log_probabilities[row] @ contrast


def test_planetoid_by_its_definition_and_by_finite_differences(data):
    model = fit("planetoid", data, student=False)
    assert model.view_ == "neighbourhood"
    model.propagation_weight_ = 0.6
    row, contrast = 42, np.array([0.0, -1.0, 1.0])
    X = model._inputs.scaled(data.X).toarray().astype(np.float64)
    answer, score = ask(model, data, row, contrast), planetoid_score(model, X, row, contrast)
    assert answer.score == pytest.approx(score, abs=1e-4)
    nodes, features = part(answer, "neighbours"), part(answer, "features")
    assert nodes.base + nodes.values.sum() == pytest.approx(answer.score, abs=1e-6)
    for column in np.argsort(-np.abs(features.values))[:4]:
        less = X.copy()
        less[:, features.at[column]] *= 1 - 1e-6
        slope = (score - planetoid_score(model, less, row, contrast)) / 1e-6
        assert slope == pytest.approx(features.values[column], abs=1e-4)


def test_the_network_of_planetoid_by_finite_differences(data, monkeypatch):
    """Without the predictions of contexts the score is linear in them around a node."""
    model = fit("planetoid", data, student=False)
    monkeypatch.setattr(model, "_context_predictions", None)
    monkeypatch.setattr(model, "_second_view", None)
    row, contrast = 42, np.array([0.0, -1.0, 1.0])
    X = model._inputs.scaled(data.X).toarray().astype(np.float64)
    contexts = planetoid_weights(model, row, model._network.contexts.restart, np.ones(len(X)))

    def score(X):
        return (relu_scores(contexts @ X, model._network.layers) + model.opinions_[row]) @ contrast

    answer = ask(model, data, row, contrast)
    assert answer.score == pytest.approx(score(X), abs=1e-4)
    nodes, features = part(answer, "neighbours"), part(answer, "features")
    for one in (nodes, features):
        assert one.base + one.values.sum() == pytest.approx(answer.score, abs=1e-5)
    for node in np.argsort(-np.abs(nodes.values))[:4]:
        less = X.copy()
        less[nodes.at[node]] *= 1 - 1e-6
        assert (score(X) - score(less)) / 1e-6 == pytest.approx(nodes.values[node], abs=1e-4)


def test_predictions_of_contexts_by_hand():
    """Two contexts with equal shares: log(0.6 / 0.4) is the sum of what each adds, in proportion to its difference."""
    own = np.array([[0.9, 0.1], [0.3, 0.7]], np.float32)
    nothing = Contributions("neighbours", np.empty(0, np.int64), np.empty(0), "", 0.0)
    pooled = PooledPredictions(np.array([0.5, 0.5]), own, None, 1.0)
    answer = pooled.added_to(Answer(7.0, "q", [nothing]), np.array([1.0, -1.0]), None)
    assert answer.score == pytest.approx(np.log(0.6 / 0.4), abs=1e-6)
    first, second = answer.parts[0].values
    assert first + second == pytest.approx(answer.score, abs=1e-6)
    assert first / second == pytest.approx(0.8 / -0.4, rel=1e-5)


def test_what_planetoid_says_of_a_new_row_is_that_of_its_student(data):
    model = fitted("planetoid")
    row = data.X[[5]].copy()
    row.data[0] += 0.25  # no fitted row is the same
    found = model.explain(X=row)
    raw = model._student.predict(model._inputs.scaled(row))[0]
    codes = [list(model.classes_).index(label) for label in (found.label, found.runner_up)]
    assert found.score == pytest.approx(np.log(raw[codes[0]] / raw[codes[1]]), abs=1e-4)
    assert found.features.base + found.features.total == pytest.approx(found.score, abs=1e-6)
    assert "equals that of a fitted node" in model.explain(X=data.X[[5]]).note


@pytest.mark.parametrize("as_sparse", [True, False])
def test_occlusion_leaves_out_one_feature_at_a_time(as_sparse):
    row = np.array([[3.0, 0.0, -2.0, 1.0]], np.float32)
    weights = np.array([1.0, 5.0, 2.0, -1.0])
    calls = []

    def score(rows):
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        calls.append(dense)
        return dense @ weights + dense[:, 0] * dense[:, 2]  # 0 and 2 act together

    found = by_occlusion(sparse.csr_array(row) if as_sparse else row, score)
    assert found.at.tolist() == [0, 2, 3]
    np.testing.assert_allclose(found.values, [3 - 6, -4 - 6, -1])
    assert found.base is None
    np.testing.assert_array_equal(calls[1], [[0, 0, -2, 1], [3, 0, 0, 1], [3, 0, -2, 0]])


def test_very_many_features_are_limited_to_the_largest(monkeypatch):
    monkeypatch.setattr("planetoid.explanation.contributions.MOST_OCCLUDED", 2)
    found = by_occlusion(np.array([[1.0, -9.0, 3.0]], np.float32), lambda rows: rows.sum(axis=1).astype(float))
    assert found.at.tolist() == [1, 2]
    assert "2 features with the largest values" in found.meaning


@pytest.mark.parametrize("method", ["feat", "semiemb"])
def test_what_a_label_adds_is_a_step_along_its_gradient(method, data):
    """Of softmax regression the contributions add up to the score; of a network they are products of gradients."""
    row, contrast = 42, np.array([1.0, -1.0, 0.0])
    if method == "feat":
        model = fit("feat", data, C=0.1)
        labels = part(ask(model, data, row, contrast), "labels")
        expected = data.X[[row]] @ (model._softmax.coef[0] - model._softmax.coef[1])
        assert labels.values.sum() == pytest.approx(expected[0], abs=1e-3)
        return
    import torch

    model = fitted("semiemb")
    features = model._features(data.X)
    labels = part(ask(model, data, row, contrast), "labels")
    for node, value in zip(labels.at[:3], labels.values[:3], strict=True):
        weight = model.network_.output.weight
        score = model.network_.logits(features.batch(np.array([row])))[0] @ torch.tensor(contrast, dtype=torch.float32)
        (of_score,) = torch.autograd.grad(score, weight)
        y = torch.tensor([int(data.y[node])])
        loss = torch.nn.functional.cross_entropy(model.network_.logits(features.batch(np.array([node]))), y)
        (of_loss,) = torch.autograd.grad(loss, weight)
        assert float(-(of_score * of_loss).sum()) == pytest.approx(value, abs=1e-5)


def test_items_of_diel_are_explained_by_their_lists():
    lists = pl.datasets.make_coordinate_lists(scale=0.001, seed=1)
    model = pl.Diel().fit(lists.X, lists.y, graph=lists.graph)
    degrees = np.diff(lists.graph.indptr)
    row = int(np.flatnonzero(model.is_item_ & (degrees > 1))[0])
    found = model.explain(lists.ids[row])
    codes = [list(model.classes_).index(label) for label in (found.label, found.runner_up)]
    assert found.score == pytest.approx(model.scores_[row, codes[0]] - model.scores_[row, codes[1]], abs=1e-6)
    assert found.neighbours.total == pytest.approx(found.score)


def test_iterative_classification_adds_features_and_classes_of_neighbours(data):
    model = fitted("ica")
    answer = ask(model, data, 42, np.array([1.0, -1.0, 0.0]))
    features, neighbours = part(answer, "features"), part(answer, "neighbours")
    intercept = model.intercept_[0] - model.intercept_[1]
    assert answer.score == pytest.approx(features.values.sum() + neighbours.values.sum() + intercept)
    codes = model.final_labels_[neighbours.at]
    assert len({round(value, 9) for value in neighbours.values}) == len(set(codes.tolist()))


def test_the_filter_and_the_labels_use_the_same_rows(data):
    """A labelled row that equals the row in question contributes its residual times the squared length."""
    model = fit("ssgc", data)
    A = Filter(normalized_adjacency(symmetric_adjacency(data.graph)), model.variant, model.K, model.alpha)
    X = scale_rows(data.X, model.row_normalize)
    rows = A.rows(X, data.labelled).astype(np.float64)
    row = int(data.labelled[0])
    labels = part(ask(model, data, row, np.array([1.0, -1.0, 0.0])), "labels")
    scores = rows[0] @ model.coef_.T + model.intercept_
    p = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    C = model._inverse_penalty(len(rows)) / np.mean((rows**2).sum(axis=1))
    residual = (np.eye(3)[data.y[row]] - p) @ [1.0, -1.0, 0.0]
    assert labels.values[0] == pytest.approx(C * residual * rows[0] @ rows[0], rel=1e-4)


def test_isolated_nodes_have_their_own_features_only(data):
    found = fitted("ssgc").explain("n119")
    assert [reason.name for reason in found.neighbours.reasons] == ["n119"]
    alone = replace(data, X=data.X)
    assert found.score == pytest.approx(fitted("ssgc").explain("n119", data=alone).score)
