"""``--set``: how values are read, which method gets them, and what is said about mistakes."""

import pytest

from planetoid.cli.settings import parameter_names, parse_settings, settings_by_method
from planetoid.errors import ParameterError


def test_values_are_read_by_their_form():
    entries = ["a=1", "b=0.5", "c=1e-3", "d=true", "e=None", 'f="x y"', "g=sgd", "h=.5", "i = 2 ", "j=a=b"]
    values = [1, 0.5, 0.001, True, None, "x y", "sgd", 0.5, 2, "a=b"]
    assert parse_settings(entries) == dict(zip("abcdefghij", values, strict=True))
    for wrong, message in ((["steps"], "KEY=VALUE"), (["=3"], "KEY=VALUE"), (["a=1", "a=2"], "more than once")):
        with pytest.raises(ParameterError, match=message):
            parse_settings(wrong)


def test_settings_apply_to_the_methods_that_have_them():
    by_method = settings_by_method(["lp", "feat"], {"feat.max_iter": 6, "max_iter": 5, "C": 2.0})
    assert by_method == {"lp": {"max_iter": 5}, "feat": {"max_iter": 6, "C": 2.0}}


def test_nested_settings_have_dots():
    settings = {"training.steps": 7, "planetoid-g.training.steps": 8, "contexts.q": 5, "planetoid-t.network.k": 0}
    assert settings_by_method(["planetoid-t", "planetoid-g", "graphemb"], settings) == {
        "planetoid-t": {"training__steps": 7, "contexts__q": 5, "network__k": 0},
        "planetoid-g": {"training__steps": 8, "contexts__q": 5},
        "graphemb": {"contexts__q": 5},
    }
    assert {"training.steps", "encoder.l1", "dimension"} <= set(parameter_names("planetoid-i"))
    assert "training" not in parameter_names("planetoid-i")


@pytest.mark.parametrize(
    ("methods", "key", "value", "message"),
    [
        (
            ["planetoid-t"],
            "steps",
            5,
            r"--set steps: planetoid-t has no parameter 'steps'; did you mean training\.steps\?",
        ),
        (["planetoid-t"], "trainings.step", 5, r"did you mean training\.steps"),
        (["planetoid-i"], "encoder", "gru", r"did you mean encoder\.activation, encoder\.l1 or encoder\.width\?"),
        (["planetoid-i"], "width", 5, r"did you mean encoder\.width or network\.width\?"),
        (["planetoid-t"], "planetoid-t.contexts.p", 5, r"--set planetoid-t\.contexts\.p: planetoid-t has no"),
        (
            ["lp", "feat"],
            "zebra",
            5,
            "none of lp, feat has a parameter 'zebra'; valid parameters are C, calibrate, class_mass",
        ),
        (["lp", "feat"], "mad.mu1", 5, "'mad' is not among the methods, lp, feat"),
        (["feat"], "feat.tol", 5, "feat has no parameter 'tol'; valid parameters are C"),
    ],
)
def test_unknown_keys_list_similar_ones(methods, key, value, message):
    with pytest.raises(ParameterError, match=message):
        settings_by_method(methods, {key: value})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("contexts.q", "many", r"PlanetoidI: contexts\.q must be an integer >= 1, got 'many'"),
        ("contexts.self_pairs", 1, r"contexts\.self_pairs must be True or False, got 1"),
        ("training.learning_rate", True, r"training\.learning_rate must be a number > 0, got True"),
        ("dimension", [1], r"dimension must be an integer >= 1, got \[1\]"),
        ("callbacks", "early", "callbacks must be a list of Callback objects or None, got 'early'"),
    ],
)
def test_values_obey_the_constraints(key, value, message):
    with pytest.raises(ParameterError, match=message):
        settings_by_method(["planetoid-i"], {key: value})
