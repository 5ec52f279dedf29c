"""Inputs as people have them: each gives the accuracy of its clean twin, or a sentence says what to do, which works."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.inputs import text_files, typed_files
from tests.inputs.cases import CASES
from tests.inputs.people import PEOPLE

import planetoid as pl
from planetoid.errors import PlanetoidError, PlanetoidWarning

ONE_POINT = 0.01


def accuracy(**arguments):
    """Return the accuracy on people without a known role, however ids and roles are spelled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanetoidWarning)
        data = pl.read_dataset(**arguments)
        model = (pl.LabelPropagation() if data.X is None else pl.PropagatedFeatures()).fit(data)
    found = pd.Series(model.predict(), index=[_name(node) for node in data.node_ids])
    truth = PEOPLE.roles[PEOPLE.nodes.role.isna().to_numpy()]
    truth = truth[truth.index.isin(found.index)]
    assert len(truth) > 100
    predicted = found[truth.index]
    if predicted.dtype.kind in "iu":
        predicted = np.sort(PEOPLE.roles.unique())[predicted.to_numpy()]
    return float((predicted == truth.to_numpy()).mean())


def _name(node):
    """Return the id of a person: u007 was perhaps 7, 0007 or 007."""
    return f"u{int(str(node).removeprefix('u')):03d}"


@pytest.fixture(scope="session")
def twins(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clean")
    links = text_files.edges(folder)
    nodes = text_files.csv(folder, PEOPLE.nodes, "nodes.csv")
    labels = text_files.csv(folder, PEOPLE.labels, "labels.csv")
    vectors = pd.DataFrame(PEOPLE.vectors).add_prefix("v").assign(id=PEOPLE.ids)
    vectors = text_files.csv(folder, vectors, "vectors.csv")
    return {
        "nodes": accuracy(edges=links, nodes=nodes, label_column="role"),
        "graph": accuracy(edges=links, labels=labels),
        "list": accuracy(edges=links, nodes=typed_files.vector_frame(PEOPLE.vectors), label_column="role"),
        "vectors": accuracy(edges=links, features=vectors, labels=labels),
    }


def test_there_are_forty_and_they_differ_in_what_is_learned(twins):
    assert len(CASES) >= 40
    assert all(0.6 < found < 0.99 for found in twins.values()), twins  # something to lose, and something to win


@pytest.mark.parametrize("name", CASES)
def test_input(name, tmp_path, twins):
    case = CASES[name]
    arguments = case.arguments(tmp_path)
    if case.sentence is not None:
        assert case.sentence in sentences(arguments)
        arguments = case.arguments(tmp_path, cured=True)
    assert accuracy(**arguments) == pytest.approx(twins[case.twin], abs=ONE_POINT)


def sentences(arguments):
    """Return what is said when a data set is read: warnings, and the error if there is one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            pl.read_dataset(**arguments)
        except PlanetoidError as error:
            return str(error)
    return "\n".join(str(one.message) for one in caught)


def run(command, folder):
    python = f"{sys.executable} -c 'from planetoid.cli.main import run; run()'"
    done = subprocess.run(
        ["bash", "-c", command.format(planetoid=python)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return pd.read_csv(folder / "p.csv").set_index("id").label


def test_standard_input_and_process_substitution(tmp_path):
    text_files.gzip_files(tmp_path)
    options = "--label-column role --method ssgc --quiet --out m"
    command = "zcat edges.csv.gz | {planetoid} fit --edges - --nodes <(zcat nodes.csv.gz) " + options
    piped = run(command + " && {planetoid} predict m --out p.csv", tmp_path)
    with pytest.warns(PlanetoidWarning, match="nodes without an edge"):
        data = pl.read_dataset(tmp_path / "edges.csv.gz", nodes=tmp_path / "nodes.csv.gz", label_column="role")
    assert piped.loc[data.node_ids].tolist() == pl.PropagatedFeatures().fit(data).predict().tolist()


def test_the_script_writes_all_inputs(tmp_path):
    from tests.inputs.make_inputs import make

    make(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(CASES)
