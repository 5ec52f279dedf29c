"""The HTML file: well-formed, safe, reproducible, and written atomically."""

import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.report.conftest import HOSTILE_CLASSES, HOSTILE_IDS, data_of

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.report import write_report

HEAVY = ("torch", "numba", "sklearn", "pandas", "pyarrow", "matplotlib")
VOID = {"meta", "link", "br", "input", "img", "hr"}


class Reader(HTMLParser):
    """Collects elements and texts, and checks that every element is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    assert reader.open == []
    return reader


def test_importing_the_report_loads_nothing_heavy():
    code = f"import sys, planetoid.report\nprint(sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize("page", ["cited_page", "hostile_page"])
def test_nothing_is_loaded_from_outside(page, request):
    path = request.getfixturevalue(page)
    reader = read(path)
    for tag, attributes in reader.elements:
        for name in ("src", "href", "action", "data", "srcset"):
            assert attributes.get(name, "#").startswith(("#", "data:")), (tag, name)
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
    style = path.read_text().split("<style>")[1].split("</style>")[0]
    assert "@import" not in style
    assert "url(" not in style


def test_the_content_security_policy_allows_the_pages_own_style_and_script_only(cited_page):
    text = cited_page.read_text(encoding="utf-8")
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        content = text.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_hostile_texts_are_escaped(hostile_page):
    reader = read(hostile_page)
    assert [tag for tag, _ in reader.elements].count("script") == 2
    assert not [tag for tag, _ in reader.elements if tag in ("img", "b")]
    assert "</title><script>window.broken = true</script>" in reader.texts
    assert "planetoid fit </pre><script>" in reader.texts
    for text in (*HOSTILE_CLASSES, *HOSTILE_IDS[1:7]):
        assert text in reader.texts
    data = data_of(hostile_page)
    assert sorted(data["ids"]) == sorted(HOSTILE_IDS)
    assert sorted(data["classes"]) == sorted(HOSTILE_CLASSES)


def test_the_data_of_the_page_are_those_of_the_model(cited, cited_page):
    model, record, truth = cited
    data = data_of(cited_page)
    unpack = {
        name: np.frombuffer(base64.b64decode(data[name]["data"]), dtype=data[name]["type"])
        for name in ("topClasses", "topProbabilities", "labels", "truth", "coordinates", "evaluated")
    }
    rows = model.node_ids_.known_rows(data["ids"])
    assert sorted(rows.tolist()) == list(range(300))
    top, probabilities = (unpack[name].reshape(300, -1) for name in ("topClasses", "topProbabilities"))
    assert np.array_equal(top[:, 0], model.label_distributions_[rows].argmax(axis=1))
    wanted = -np.sort(-model.label_distributions_[rows], axis=1)[:, :3]
    assert probabilities / 65535 == pytest.approx(wanted, abs=1e-5)
    assert np.array_equal(unpack["labels"], record.y[rows])
    assert [node for node, flag in zip(data["ids"], unpack["evaluated"], strict=True) if flag] == [
        node for node in data["ids"] if node in truth
    ]
    shown = {node: data["classes"][code] for node, code in zip(data["ids"], unpack["truth"], strict=True) if code >= 0}
    assert truth.items() <= shown.items()
    assert unpack["coordinates"].max() == 65535
    assert data["csv"].splitlines()[0].startswith("id,label,predicted")


def test_what_the_page_shows(cited, cited_page):
    model, record, truth = cited
    texts = read(cited_page).texts
    right = np.mean([model.predict(nodes=[node])[0] == label for node, label in truth.items()])
    for text in (
        f"{100 * right:.1f} %",
        "Papers & <fields>",
        "PlanetoidT",
        record.command,
        "my edges.csv",
        *record.notes,
    ):
        assert text in texts
    assert any(
        "Evaluated on 100 labelled nodes that were used neither for training nor for validation" in text
        for text in texts
    )


def test_the_same_input_gives_the_same_bytes(cited, tmp_path, monkeypatch):
    monkeypatch.setattr("planetoid.report.layout.EARLY_EXAGGERATION", 10)
    monkeypatch.setattr("planetoid.report.layout.ITERATIONS", 10)
    model, record, truth = cited
    write_report(tmp_path / "first.html", model, record=record, truth=truth)
    summary = write_report(tmp_path / "second.html", model, record=record, truth=truth, n_jobs=2)
    assert (tmp_path / "second.html").read_bytes() == (tmp_path / "first.html").read_bytes()
    assert summary.n_bytes == (tmp_path / "first.html").stat().st_size
    assert summary.n_nodes == summary.n_points == 300
    assert summary.n_evaluated == 100
    assert summary.n_labelled == int((record.y >= 0).sum())


def test_a_model_without_a_record(cited, tmp_path):
    summary = write_report(tmp_path / "r.html", cited[0], max_points=120)
    assert summary.n_points == 120
    assert summary.accuracy is summary.n_labelled is None
    texts = " ".join(read(tmp_path / "r.html").texts)
    assert "Shown is a sample of 120 of 300 nodes" in texts
    assert "There are no labels to evaluate on" in texts


def test_many_classes_get_a_list_of_errors(tmp_path):
    n = 90
    graph = [(k, (k + 1) % n) for k in range(n)]
    from planetoid.persistence import FitRecord

    y = [f"class {k % 30}" if k < 30 else None for k in range(n)]
    model = pl.LabelPropagation().fit(y=y, graph=pl.Graph.of(graph))
    codes = np.array([-1 if label is None else model.classes_.tolist().index(label) for label in y], dtype=np.int32)
    truth = {k: f"class {k % 30}" for k in range(30, n)}
    write_report(tmp_path / "r.html", model, record=FitRecord(y=codes), truth=truth)
    reader = read(tmp_path / "r.html")
    assert "Most frequent errors" in reader.texts
    assert not [1 for tag, attributes in reader.elements if attributes.get("id") == "confusion"]


def test_ids_that_are_not_valid_text(tmp_path):
    model = pl.LabelPropagation().fit(y={"\ud800": "x", "b": "y"}, graph=[("\ud800", "b"), ("b", ("c", 1))])
    write_report(tmp_path / "r.html", model)
    assert "('c', 1)" in data_of(tmp_path / "r.html")["ids"]


def out_of_memory(*_):
    raise MemoryError


def test_an_existing_file_is_kept(cited, tmp_path, monkeypatch):
    model = cited[0]
    target = tmp_path / "r.html"
    target.write_text("mine")
    with pytest.raises(DataError, match="the file exists already; pass overwrite=True"):
        write_report(target, model)
    with pytest.raises(DataError, match="is a folder"):
        write_report(tmp_path, model, overwrite=True)
    monkeypatch.setattr("planetoid.report.writing.assemble", out_of_memory)
    with pytest.raises(MemoryError):
        write_report(target, model, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    assert target.read_text() == "mine"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"max_points": 0}, "write_report: max_points must be an integer >= 1, got 0"),
        ({"seed": -1}, "write_report: seed must be an integer >= 0, got -1"),
        ({"n_jobs": 0}, "write_report: n_jobs must be an integer other than 0 or None, got 0"),
    ],
)
def test_invalid_parameters(cited, tmp_path, wrong, words):
    with pytest.raises(ParameterError, match=words):
        write_report(tmp_path / "r.html", cited[0], **wrong)
