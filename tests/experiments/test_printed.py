"""What the paper prints, and how presets depart from it."""

import sys
from pathlib import Path

import pytest

import planetoid as pl
from planetoid.experiments.ablation import VARIANTS
from planetoid.experiments.printed import PRINTED, Departure, departures, departures_in_words
from planetoid.presets import load_preset, preset_names
from planetoid.search_space import Categorical

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture
def searches(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import preset_searches

    yield preset_searches
    sys.modules.pop("preset_searches")


def test_printed_models_are_the_papers():
    """Section 3: Algorithm 1, one layer of rectified linear units per arrow of Figure 2, SGD in mini-batches."""
    for method in ("planetoid-t", "planetoid-g", "planetoid-i"):
        model = pl.METHODS[method]().set_params(**PRINTED[method])
        contexts, training, network = model.contexts, model.training, model.network
        assert (contexts.r1, contexts.q, contexts.d, contexts.self_pairs) == (pytest.approx(5 / 6), 10, 3, True)
        assert contexts.single_pairs
        assert (training.N1, training.N2, training.optimizer, training.context_optimizer) == (200, 200, "sgd", "sgd")
        assert (training.weight_decay, training.lambda_) == (0, None)
        assert (network.k, network.l, network.activation) == (0 if method == "planetoid-g" else 1, 1, "relu")
        assert (network.dropout, network.auxiliary_losses, network.normalize_embedding) == (0, False, False)
        if method != "planetoid-g":
            assert model.row_normalize is None
    assert (model.encoder.l1, model.encoder.activation) == (1, "relu")


def test_every_difference_is_a_departure():
    printed = {**PRINTED["planetoid-g"], "training__steps": 99}
    changed = {**printed, "contexts__d": 6, "training__steps": 50, "training__T2": 0.0, "contexts__r2": 1.0}
    assert departures("planetoid-g", printed, printed) == []
    assert departures("planetoid-g", changed, printed) == [
        Departure("contexts__r2", 1.0, "between 0 and 1", True),
        Departure("contexts__d", 6, 3, True),
        Departure("training__T2", 0.0, "more than 0", True),
        Departure("training__steps", 50, 99, False),
    ]
    defaults = {departure.parameter for departure in departures("planetoid-g", {}, printed)}
    assert {"contexts__r1", "contexts__self_pairs", "network__normalize_embedding", "training__optimizer"} <= defaults
    assert departures_in_words([]) == "nothing that the paper fixes"


@pytest.mark.parametrize("method", PRINTED)
def test_presets_as_printed_depart_in_nothing(method):
    cls = pl.METHODS[method].__name__
    names = [name for name in preset_names(cls) if name.startswith("printed/")]
    for name in names:
        preset = load_preset(name, cls)
        found = departures(method, preset.parameters, preset.parameters)
        assert not found, found
        assert not preset.departs


@pytest.mark.parametrize("method", PRINTED)
def test_every_other_preset_says_how_it_departs(method):
    """``departs`` is what ``scripts/make_presets.py --departs`` generates."""
    cls = pl.METHODS[method].__name__
    for name in preset_names(cls):
        family, _, dataset = name.partition("/")
        if family != "printed":
            preset, printed = load_preset(name, cls), PRINTED[method]
            if f"printed/{dataset}" in preset_names(cls):
                printed = load_preset(f"printed/{dataset}", cls).parameters
            found = departures(method, preset.parameters, printed)
            assert preset.departs == departures_in_words(found), name


def test_searches_are_equal_and_contain_the_defaults(searches):
    """On each data set: the same splits and trials for all; a default that is searched lies in the space."""
    wanted = searches.all_wanted()
    assert len({one.name for one in wanted}) == len(wanted)
    assert len({(one.dataset, one.trials, one.n_splits) for one in wanted}) == 6
    for one in wanted:
        defaults = pl.METHODS[one.method]().get_params()
        assert set(one.space) | set(one.fixed) <= set(defaults), one.name
        if one.family == "printed":
            assert one.fixed == PRINTED[one.method]
            continue
        for name, entry in one.space.items():
            default = defaults[name]
            if isinstance(entry, Categorical):
                assert default in entry.values or name in one.fixed, (one.name, name)
            elif isinstance(default, (int, float)):
                assert entry.low <= default <= entry.high, (one.name, name)


def test_forms_of_the_ablation_share_a_space(searches):
    """Joint training adds to the space of the two-stage model, label contexts to that of joint training."""
    spaces = {(one.family, one.dataset, one.method): one for one in searches.all_wanted()}
    forms = [key[1:] for key in spaces if key[0] == "joint-labels"]
    assert len(forms) == 3 * len(searches.MODELS) + 3 * 2  # on NELL Planetoid-T has no features
    for dataset, method in forms:
        two, walks, labels = (
            spaces[family, dataset, method] for family in ("two-stage", "joint-walks", "joint-labels")
        )
        assert two.space.items() <= walks.space.items() <= labels.space.items()
        assert two.starts == walks.starts == labels.starts
        of_data = {name: value for name, value in two.fixed.items() if name not in VARIANTS["two-stage"]}
        assert of_data.items() <= walks.fixed.items()
        assert labels.fixed == of_data
        added = set(labels.space) - set(walks.space)
        assert added == {"contexts__r2", "contexts__labels_first"}
        assert 20.0 in walks.space["training__T2"].values or method == "planetoid-i"
