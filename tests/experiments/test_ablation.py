"""The ablation: three forms of each model that differ in nothing else, and paired differences."""

from dataclasses import replace

import numpy as np
import pytest
from tests.experiments.conftest import make_cell

import planetoid as pl
from planetoid.evaluation import Result, Spread
from planetoid.experiments.ablation import VARIANTS, Difference, ablation, differences_markdown, paired_differences
from planetoid.experiments.cells import RowLabels
from planetoid.experiments.render import CellResult
from planetoid.registry import METHODS

MODELS = ("planetoid-g", "planetoid-t", "planetoid-i")


def test_every_form_on_every_data_set_and_kind_of_split():
    cells = ablation()
    assert len(cells) == 2 * (6 * (1 + 3 * 3) - 3 * 3)  # on NELL Planetoid-T has no features, as in the paper
    assert not any(cell.method == "planetoid-t" and cell.dataset.startswith("nell") for cell in cells)
    assert len({(cell.section, cell.dataset, cell.method, cell.row.settings) for cell in cells}) == len(cells)
    for cell in cells:
        assert cell.protocol.setting == ("unseen" if cell.method == "planetoid-i" else "transductive")
        assert (cell.protocol.split == "public") == (cell.section == "public split")
        assert not cell.protocol.validation
        METHODS[cell.method]().set_params(**cell.parameters)._check_parameters()


@pytest.mark.filterwarnings("ignore:PlanetoidG can say nothing:planetoid.errors.PlanetoidWarning")
@pytest.mark.parametrize("method", MODELS)
def test_a_two_stage_model_is_pre_training_on_walks_and_a_classifier(method):
    """Its embedding is that of pre-training, without one label in it; its joint form moves on."""
    data = pl.datasets.make_citation(n_nodes=120, seed=0)
    y = pl.mask_labels(data.y, data.split("random", per_class=5, n_val=0, n_test=50).train)
    X = None if method == "planetoid-g" else data.X

    def embedding(**changes):
        model = METHODS[method]().set_params(dimension=8, training__pretrain=2, contexts__r2=0.5, calibrate=False)
        return model.set_params(**changes).fit(X, y, graph=data.graph).embedding_

    pretrained = embedding(contexts__r2=1.0, training__steps=0)
    np.testing.assert_array_equal(embedding(training__steps=20, **VARIANTS["two-stage"]), pretrained)
    assert not np.array_equal(embedding(training__steps=20, **VARIANTS["joint-walks"]), pretrained)


def result_of(method, settings, dataset, accuracies):
    row = RowLabels(method, settings, "fixed", "in the graph")
    results = [
        Result(method, dataset, "p", seed, {"accuracy": value}, 0.5, 0.0, 1, 1, 1) for seed, value in accuracies.items()
    ]
    return CellResult(make_cell(method=method, dataset=dataset, row=row), Spread.of(accuracies.values()), 0.5, results)


def test_differences_are_paired_by_seed():
    """Runs 0 to 2 differ by 1, 2 and 3 points: mean 2, standard error 1 / sqrt(3); run 9 has no partner."""
    entries = [
        result_of("planetoid-g", "two stages", "cora", {0: 0.70, 1: 0.60, 2: 0.50}),
        result_of("planetoid-g", "joint, no label contexts", "cora", {2: 0.53, 1: 0.62, 0: 0.71, 9: 0.1}),
        result_of("planetoid-g", "joint, label contexts (defaults)", "cora", {0: 0.71, 1: 0.62, 2: 0.53}),
        result_of("graphemb", "two stages", "pubmed", {0: 0.7, 1: 0.7}),
    ]
    joint, labels, both = paired_differences(entries)
    assert (joint.text, joint.method, joint.dataset, joint.runs) == ("joint training", "planetoid-g", "cora", 3)
    assert joint.mean == pytest.approx(0.02)
    assert joint.error == pytest.approx(0.01 / 3**0.5)
    assert (labels.mean, labels.error) == (pytest.approx(0), pytest.approx(0))
    assert both.mean == pytest.approx(0.02)
    table = differences_markdown([joint, labels])
    assert "| joint training | Planetoid-G | +2.0 ± 0.6 |" in table
    assert "| label contexts | Planetoid-G | +0.0 ± 0.0 |" in table


def test_a_difference_of_few_runs_has_to_be_larger():
    """3.5 standard errors are within the 95 % interval of three runs (4.3), and not of four (3.2)."""
    few, more = (Difference("joint training", "planetoid-g", "cora", 0.035, 0.01, runs) for runs in (3, 4))
    assert not few.clear
    assert more.clear
    assert replace(more, mean=-0.035).clear
    assert "| joint training | Planetoid-G | **+3.5 ± 1.0** |" in differences_markdown([more])


def test_every_labelling_rate_of_nell_has_the_parameters_found_at_one():
    by_rate = {}
    for cell in ablation(["nell-0.1", "nell-0.01", "nell-0.001"]):
        assert "defaults" not in cell.row.settings
        by_rate.setdefault((cell.section, cell.method, cell.row.settings), []).append(dict(cell.parameters))
    assert len(by_rate) == 2 * (1 + 2 * 3)
    assert all(parameters == [parameters[0]] * 3 for parameters in by_rate.values())
