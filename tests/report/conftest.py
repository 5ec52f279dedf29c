"""Models to report on, and a browser to open the reports in."""

import itertools
import json
import shutil

import numpy as np
import pytest

import planetoid as pl
from planetoid.persistence import FitRecord
from planetoid.report import write_report

# Ids and classes that would break a page without escaping.
HOSTILE_IDS = (
    "</script><script>window.broken = true</script>",
    "<img src=x onerror='window.broken = true'>",
    "\"double\" 'single' `back`",
    "a & b &amp; c",
    "Zoë 日本 🪐",
    "<!--",
    "\u2028line\u2029",
    "=1+1",
)
HOSTILE_CLASSES = ("<b>bold</b></style></script>", "\"'&quot;")


@pytest.fixture(scope="session")
def cited():
    """A fitted PlanetoidT with string ids, its record, and the classes of all nodes by name."""
    data = pl.datasets.make_citation(n_nodes=300, seed=0)
    split = data.split("random", per_class=10, n_val=50, n_test=100, seed=0)
    names = np.array(data.class_names, dtype=object)
    graph = pl.Graph.from_scipy(data.graph.to_scipy(), nodes=[f"paper_{k}" for k in range(300)])
    labels, validation = (pl.mask_labels(names[data.y], rows) for rows in (split.train, split.val))
    model = pl.PlanetoidT(dimension=16, training=pl.Training(steps=30), random_state=0)
    model.fit(data.X, labels, graph=graph, validation=validation)
    code = {label: k for k, label in enumerate(model.classes_.tolist())}
    codes = [np.array([code.get(label, -1) for label in y], dtype=np.int32) for y in (labels, validation)]
    record = FitRecord(
        y=codes[0],
        validation=codes[1],
        indptr=graph.indptr,
        indices=graph.indices,
        command="planetoid fit --edges 'my edges.csv' --labels labels.csv --out model",
        created="2025-01-02T03:04:05+00:00",
        versions={"planetoid": pl.__version__},
        inputs=[{"role": "edges", "path": "my edges.csv", "sha256": "0" * 64}],
        facts=[("nodes", "300")],
        notes=["7 edges repeat an earlier one"],
        seconds=1.5,
    )
    truth = {f"paper_{row}": names[data.y[row]] for row in split.test}
    return model, record, truth


@pytest.fixture(scope="session")
def hostile():
    """A model without embeddings whose ids and classes contain HTML, and its record."""
    links = list(itertools.pairwise(HOSTILE_IDS))
    given = dict(zip(HOSTILE_IDS[::7], HOSTILE_CLASSES, strict=True))
    graph = pl.Graph.of(links)
    model = pl.LabelPropagation().fit(y=given, graph=graph)
    code = {label: k for k, label in enumerate(model.classes_.tolist())}
    y = np.array([code[given[node]] if node in given else -1 for node in model.node_ids_.to_numpy()], dtype=np.int32)
    return model, FitRecord(y=y, indptr=graph.indptr, indices=graph.indices, command="planetoid fit </pre><script>")


@pytest.fixture(scope="session")
def cited_page(cited, tmp_path_factory):
    """The report on ``cited`` as a file."""
    model, record, truth = cited
    path = tmp_path_factory.mktemp("report") / "cited report.html"
    write_report(path, model, record=record, truth=truth, title="Papers & <fields>")
    return path


@pytest.fixture(scope="session")
def hostile_page(hostile, tmp_path_factory):
    """The report on ``hostile`` as a file."""
    model, record = hostile
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    write_report(path, model, record=record, title="</title><script>window.broken = true</script>")
    return path


def data_of(path):
    """Return the data inside a page."""
    inside = path.read_text(encoding="utf-8").split('id="report-data">')[1].split("</script>")[0]
    return json.loads(inside)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory):
    """A headless Chromium; tests that need it are skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="the test extra is not installed")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    driver = shutil.which("chromedriver")
    if browser is None or driver is None:
        pytest.skip("no Chromium with chromedriver on this machine (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1300,1000"):
        options.add_argument(flag)
    downloads = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    running.downloads = downloads
    yield running
    running.quit()
