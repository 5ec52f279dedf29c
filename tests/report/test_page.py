"""The file as a whole: complete, safe, the same again, and never half written."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.report.conftest import NASTY_CLASSES, NASTY_IDS, data_of

import planetoid as pl
from planetoid.errors import DataError, ParameterError
from planetoid.report import write_report

VOID = {"meta", "link", "br", "input", "img", "hr"}


class Reader(HTMLParser):
    """Collects elements and texts, and checks that what is opened is closed."""

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


@pytest.mark.parametrize("page", ["cited_page", "nasty_page"])
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


def test_only_the_pages_own_style_and_script_may_run(cited_page):
    text = cited_page.read_text(encoding="utf-8")
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        content = text.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_nasty_texts_are_texts(nasty_page):
    reader = read(nasty_page)
    assert [tag for tag, _ in reader.elements].count("script") == 2
    assert not [tag for tag, _ in reader.elements if tag in ("img", "b")]
    assert "</title><script>window.broken = true</script>" in reader.texts
    assert "planetoid fit </pre><script>" in reader.texts
    for text in (*NASTY_CLASSES, *NASTY_IDS[1:7]):
        assert text in reader.texts
    data = data_of(nasty_page)
    assert sorted(data["ids"]) == sorted(NASTY_IDS)
    assert sorted(data["classes"]) == sorted(NASTY_CLASSES)


def test_the_data_are_those_of_the_model(cited, cited_page):
    model, record, truth = cited
    data = data_of(cited_page)
    unpack = {
        name: np.frombuffer(base64.b64decode(data[name]["data"]), dtype=data[name]["type"])
        for name in ("topClasses", "topProbabilities", "given", "truth", "places", "measured")
    }
    rows = model.node_ids_.known_rows(data["ids"])
    assert sorted(rows.tolist()) == list(range(300))
    top, likely = (unpack[name].reshape(300, -1) for name in ("topClasses", "topProbabilities"))
    assert np.array_equal(top[:, 0], model.label_distributions_[rows].argmax(axis=1))
    wanted = -np.sort(-model.label_distributions_[rows], axis=1)[:, :3]
    assert likely / 65535 == pytest.approx(wanted, abs=1e-5)
    assert np.array_equal(unpack["given"], record.y[rows])
    assert [node for node, flag in zip(data["ids"], unpack["measured"], strict=True) if flag] == [
        node for node in data["ids"] if node in truth
    ]
    told = {node: data["classes"][code] for node, code in zip(data["ids"], unpack["truth"], strict=True) if code >= 0}
    assert truth.items() <= told.items()
    assert unpack["places"].max() == 65535
    assert data["csv"].splitlines()[0].startswith("id,label,predicted")


def test_what_the_page_tells(cited, cited_page):
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
    assert any("Measured on 100 nodes whose class is known and was neither learned from" in text for text in texts)


def test_the_same_again_gives_the_same_bytes(cited, cited_page, tmp_path):
    model, record, truth = cited
    told = write_report(tmp_path / "r.html", model, record=record, truth=truth, title="Papers & <fields>", n_jobs=2)
    assert (tmp_path / "r.html").read_bytes() == cited_page.read_bytes()
    assert told["bytes"] == cited_page.stat().st_size
    assert told["nodes"] == told["points"] == 300
    assert told["measured_on"] == 100
    assert told["labelled"] == int((record.y >= 0).sum())


def test_a_bare_model_has_a_report_too(cited, tmp_path):
    told = write_report(tmp_path / "r.html", cited[0], max_points=120)
    assert told["points"] == 120
    assert told["accuracy"] is told["labelled"] is None
    texts = " ".join(read(tmp_path / "r.html").texts)
    assert "A sample of 120 of 300 nodes is shown" in texts
    assert "nothing can be measured honestly" in texts


def test_many_classes_get_a_list_of_mistakes(tmp_path):
    n = 90
    graph = [(k, (k + 1) % n) for k in range(n)]
    from planetoid.persistence import FitRecord

    y = [f"class {k % 30}" if k < 30 else None for k in range(n)]
    model = pl.LabelPropagation().fit(y=y, graph=pl.Graph.of(graph))
    codes = np.array([-1 if label is None else model.classes_.tolist().index(label) for label in y], dtype=np.int32)
    truth = {k: f"class {k % 30}" for k in range(30, n)}
    write_report(tmp_path / "r.html", model, record=FitRecord(y=codes), truth=truth)
    reader = read(tmp_path / "r.html")
    assert "Most frequent mistakes" in reader.texts
    assert not [1 for tag, attributes in reader.elements if attributes.get("id") == "confusion"]


def test_an_id_that_is_no_text_does_not_stop_the_report(tmp_path):
    model = pl.LabelPropagation().fit(y={"\ud800": "x", "b": "y"}, graph=[("\ud800", "b"), ("b", ("c", 1))])
    write_report(tmp_path / "r.html", model)
    assert "('c', 1)" in data_of(tmp_path / "r.html")["ids"]


def test_what_exists_is_kept(cited, tmp_path, monkeypatch):
    model = cited[0]
    target = tmp_path / "r.html"
    target.write_text("mine")
    with pytest.raises(DataError, match="exists already; pass overwrite=True"):
        write_report(target, model)
    with pytest.raises(DataError, match="is a folder"):
        write_report(tmp_path, model, overwrite=True)
    monkeypatch.setattr("planetoid.report.writing.assemble", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_report(target, model, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    assert target.read_text() == "mine"


@pytest.mark.parametrize("wrong", [{"max_points": 0}, {"seed": -1}, {"n_jobs": 0}])
def test_parameters_that_cannot_work(cited, tmp_path, wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        write_report(tmp_path / "r.html", cited[0], **wrong)
