"""The report in a real browser: interaction works, and the console has no messages."""

import csv
import json

import numpy as np
import pytest
from tests.report.conftest import HOSTILE_IDS

from planetoid.report.model_view import ModelView
from planetoid.report.nodes import ReportNodes
from planetoid.report.quality import measure_quality

pytest.importorskip("selenium", reason="the test extra is not installed")
from selenium.webdriver.common.action_chains import ActionChains, ScrollOrigin
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

DESKTOP = {"width": 1300, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 3, "mobile": True}


class Reader:
    """A reader of a page."""

    def __init__(self, driver, path, screen=DESKTOP, scheme="light"):
        self.driver = driver
        self.touch = screen["mobile"]
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": self.touch})
        scheme = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": scheme})
        driver.get_log("browser")
        driver.get_log("performance")
        driver.get(path.as_uri())
        driver.execute_script("try { localStorage.clear(); } catch {}")
        self.settled()

    def run(self, code, *arguments):
        return self.driver.execute_script(f"const {{ map, data, select }} = window.planetoidReport; {code}", *arguments)

    def settled(self):
        """Wait until the map is drawn and does not move."""
        wait = WebDriverWait(self.driver, 10, poll_frequency=0.05)
        wait.until(lambda _: self.run("return map.ratio > 0 && !map.pending && !map.moving && !map.animation"))

    def element(self, name):
        return self.driver.find_element(By.ID, name)

    def text(self, name):
        return self.element(name).text

    def button(self, inside, starts):
        found = self.driver.find_elements(By.CSS_SELECTOR, f"#{inside} button")
        return next(one for one in found if one.text.startswith(starts))

    def click(self, what):
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", what)
        what.click()
        self.settled()

    def pointer_to(self, point):
        """Return actions with the mouse on a point of the map."""
        self.driver.execute_script("document.getElementById('canvas-box').scrollIntoView({behavior: 'instant'})")
        x, y = self.run("return map.screenOf(arguments[0])", point)
        size = self.element("points").size
        dx, dy = round(x - size["width"] / 2), round(y - size["height"] / 2)
        return ActionChains(self.driver, duration=50).move_to_element_with_offset(self.element("points"), dx, dy)

    def pixels(self, code):
        """Run code on ``at``, the bytes of the map's pixels; they are read from a copy, which costs the map nothing."""
        copy = (
            "const copy = new OffscreenCanvas(map.points.width, map.points.height).getContext('2d');"
            "copy.drawImage(map.points, 0, 0);"
            "const at = copy.getImageData(0, 0, map.points.width, map.points.height).data;"
        )
        return self.run(copy + code)

    def coloured_pixels(self):
        """Count the pixels of the map that are not background."""
        return self.pixels(
            "let count = 0; for (let k = 0; k < at.length; k += 4)"
            " if (at[k] !== at[0] || at[k + 1] !== at[1] || at[k + 2] !== at[2]) count++; return count"
        )

    def requests(self):
        """Return every address that the page requested."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@pytest.fixture
def opened(chromium):
    """Open pages; afterwards there must be no network requests and no console messages."""
    readers = []

    def open_page(path, **how):
        readers.append(Reader(chromium, path, **how))
        return readers[-1]

    yield open_page
    assert chromium.get_log("browser") == []
    requested = readers[-1].requests()
    assert requested
    assert all(address.startswith(("file://", "data:", "blob:")) for address in requested)


def test_the_tooltip_shows_id_and_probabilities(opened, cited, cited_page):
    model, _, truth = cited
    reader = opened(cited_page)
    assert not reader.element("tooltip").is_displayed()
    point = reader.run("return data.ids.indexOf(arguments[0])", next(iter(truth)))
    reader.pointer_to(point).perform()
    hovered = reader.run("return data.ids[map.hovered]")
    probabilities = model.predict_proba(nodes=[hovered])[0]
    tooltip = reader.text("tooltip")
    assert tooltip.splitlines()[0] == hovered
    for code in np.argsort(-probabilities)[:3]:
        assert f"{model.classes_[code]}" in tooltip
        assert f"{100 * probabilities[code]:.1f} %" in tooltip
    if hovered in truth:
        assert f"true class\n{truth[hovered]}" in tooltip
    ActionChains(reader.driver, duration=50).move_to_element(reader.element("search")).perform()
    assert not reader.element("tooltip").is_displayed()


def test_every_point_is_found_by_the_grid(opened, cited_page):
    reader = opened(cited_page)
    wrong = reader.run(
        "let wrong = 0; for (let i = 0; i < data.n; i++) {"
        " const [x, y] = map.screenOf(i), j = map.pointAt(x, y, 1);"
        " const [u, v] = j < 0 ? [1e9, 1e9] : map.screenOf(j);"
        " if (Math.hypot(u - x, v - y) > 1e-6) wrong++; } return wrong"
    )
    assert wrong == 0
    assert reader.run("return map.pointAt(3, 3, 2)") == -1


def test_a_click_in_the_legend_hides_a_class(opened, cited_page):
    reader = opened(cited_page)
    before = reader.coloured_pixels()
    entry = reader.driver.find_element(By.CSS_SELECTOR, "#legend button")
    reader.click(entry)
    assert entry.get_attribute("aria-pressed") == "false"
    fewer = reader.coloured_pixels()
    assert fewer < before
    hidden = reader.run("return map.group.indexOf(map.shown.indexOf(0))")
    assert reader.run("return map.accept(arguments[0])", hidden) is False
    reader.click(reader.element("none"))
    assert reader.coloured_pixels() == 0
    reader.click(reader.element("all"))
    assert reader.coloured_pixels() == before
    ActionChains(reader.driver).double_click(entry).perform()
    reader.settled()
    assert reader.run("return Array.from(map.shown).filter((flag) => flag).length") == 1


def test_search_for_a_node_and_select_its_neighbours(opened, cited, cited_page):
    model, record, _ = cited
    reader = opened(cited_page)
    row = int(np.diff(record.indptr).argmax())
    node = model.node_ids_[row]
    reader.element("search").send_keys(node[:-1])
    assert reader.element("search-results").is_displayed()
    reader.element("search").send_keys(node[-1])
    first = reader.driver.find_element(By.CSS_SELECTOR, "#search-results [aria-selected=true]")
    assert first.text.startswith(node)
    reader.element("search").send_keys(Keys.ENTER)
    reader.settled()
    assert reader.run("return data.ids[map.selected]") == node
    x, y, width, height = reader.run("return [...map.screenOf(map.selected), map.width, map.height]")
    assert (x, y) == pytest.approx((width / 2, height / 2), abs=2)
    listed = reader.driver.find_elements(By.CSS_SELECTOR, "#node .neighbours button")
    neighbours = [model.node_ids_[other] for other in record.neighbours(row).tolist()]
    shown = [one.find_elements(By.TAG_NAME, "span")[0].text for one in listed]
    assert sorted(shown) == sorted(neighbours)
    labels = dict(zip(neighbours, model.predict(nodes=neighbours), strict=True))
    assert all(one.text.endswith(labels[name]) for one, name in zip(listed, shown, strict=True))
    reader.click(listed[0])
    assert reader.run("return data.ids[map.selected]") == shown[0]
    reader.click(reader.button("node", "close"))
    assert not reader.element("node").is_displayed()
    reader.element("search").clear()
    reader.element("search").send_keys("nobody")
    assert reader.text("search-results") == "no matching node"


def test_a_click_on_the_map_selects_a_node(opened, cited_page):
    reader = opened(cited_page)
    reader.pointer_to(7).click().perform()
    selected = reader.run("return data.ids[map.selected]")
    assert reader.text("node").splitlines()[0] == selected
    assert reader.run("return map.view.zoom") == 1  # the map stays where it is


def test_a_selected_node_has_its_reasons(opened, cited, cited_page):
    reader = opened(cited_page)
    model, *_ = cited
    with_reasons = reader.run("return Object.keys(data.reasons.nodes).map(Number)")
    node = reader.run("return data.ids[arguments[0]]", with_reasons[0])
    reader.run("select(arguments[0])", with_reasons[0])
    reader.settled()
    expected, shown = model.explain(node), reader.text("node")
    assert f"Why {expected.label} rather than {expected.runner_up}" in shown
    lines = reader.driver.find_elements(By.CSS_SELECTOR, "#node .reasons li")
    reasons = [reason for group in expected.groups for reason in group.reasons]
    assert len(lines) == len(reasons)
    for line, reason in zip(lines, reasons, strict=True):
        assert str(reason.name) in line.text
        assert line.get_attribute("class") == ("for" if reason.contribution > 0 else "against")
    without = next(k for k in range(300) if k not in with_reasons)
    reader.run("select(arguments[0])", without)
    assert "Reasons are included for 100 of 300 nodes, not for this one" in reader.text("node")


def test_colour_modes_agree_with_the_metrics(opened, cited, cited_page):
    model, record, truth = cited
    quality = measure_quality(ReportNodes.of(ModelView.of(model), record, truth))
    reader = opened(cited_page)
    reader.click(reader.button("modes", "Correct"))
    assert reader.text("legend-title") == "Correct or wrong"
    counts = dict(line.text.rsplit("\n", 1) for line in reader.driver.find_elements(By.CSS_SELECTOR, "#legend button"))
    assert int(counts["correct"]) == round(quality.accuracy * quality.n)
    assert int(counts["correct"]) + int(counts["wrong"]) == quality.n
    reader.click(reader.button("modes", "True"))
    counts = dict(line.text.rsplit("\n", 1) for line in reader.driver.find_elements(By.CSS_SELECTOR, "#legend button"))
    known = {model.node_ids_[row] for row in np.flatnonzero((record.y >= 0) | (record.validation >= 0))} | set(truth)
    assert int(counts["unknown"]) == 300 - len(known)
    before = reader.coloured_pixels()
    reader.click(reader.element("confidence"))
    assert reader.element("confidence").get_attribute("aria-pressed") == "false"
    assert reader.coloured_pixels() > before  # no point is drawn small any more


def test_wheel_drag_and_keys_move_the_map(opened, cited_page):
    reader = opened(cited_page)
    view = lambda: reader.run("return [map.view.zoom, map.view.x, map.view.y]")  # noqa: E731
    reader.driver.execute_script("document.getElementById('canvas-box').scrollIntoView({behavior: 'instant'})")
    canvas = reader.element("points")
    ActionChains(reader.driver).scroll_from_origin(ScrollOrigin.from_element(canvas), 0, -200).perform()
    WebDriverWait(reader.driver, 10).until(lambda _: view()[0] > 1.2)  # the browser passes a wheel on in its own time
    reader.settled()
    zoom, x, y = view()
    ActionChains(reader.driver, duration=50).move_to_element(canvas).click_and_hold().move_by_offset(
        80, 40
    ).release().perform()
    reader.settled()
    moved = view()
    assert moved[0] == zoom
    assert moved[1] < x
    assert moved[2] < y
    assert reader.run("return map.selected") == -1  # a drag is not a click
    canvas.send_keys("+")
    canvas.send_keys(Keys.ARROW_RIGHT)
    reader.settled()
    assert view()[0] > zoom
    assert view()[1] > moved[1]
    canvas.send_keys("0")
    reader.settled()
    assert view() == pytest.approx([1, 0.5, 0.5])
    reader.click(reader.element("zoom-in"))
    reader.click(reader.element("zoom-reset"))
    assert view() == pytest.approx([1, 0.5, 0.5])


def test_light_and_dark(opened, cited_page):
    reader = opened(cited_page, scheme="dark")
    page = lambda: reader.driver.execute_script("return getComputedStyle(document.body).backgroundColor")  # noqa: E731
    corner = lambda: reader.pixels("return [...at.slice(0, 3)]")  # noqa: E731
    dark, dark_corner = page(), corner()
    reader.click(reader.element("theme"))
    assert max(corner()) > 200 > 60 > max(dark_corner)
    assert page() != dark
    reader.driver.refresh()
    reader.settled()
    assert page() != dark  # the choice is remembered
    reader.click(reader.element("theme"))
    assert page() == dark
    assert reader.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert page() == dark


@pytest.mark.parametrize("page", ["cited_page", "hostile_page"])
def test_a_phone_needs_no_scrolling_sideways(opened, request, page):
    reader = opened(request.getfixturevalue(page), screen=PHONE)
    width = "return [document.documentElement.scrollWidth, window.innerWidth]"
    assert reader.driver.execute_script(width) == [390, 390]
    reader.run("select(0)")
    reader.settled()
    assert reader.driver.execute_script(width) == [390, 390]


def test_touch_gestures(opened, cited_page):
    reader = opened(cited_page, screen=PHONE)
    reader.driver.execute_script("document.getElementById('canvas-box').scrollIntoView({behavior: 'instant'})")
    left, top, width, height = reader.driver.execute_script(
        "const b = document.getElementById('points').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]"
    )
    x, y = left + width / 2, top + height / 2

    def touch(kind, *offsets):
        points = [{"x": x + dx, "y": y + dy, "id": k} for k, (dx, dy) in enumerate(offsets)]
        reader.driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", (-20, 0))
    touch("touchStart", (-20, 0), (20, 0))
    for reach in (30, 45, 60):
        touch("touchMove", (-reach, 0), (reach, 0))
    touch("touchEnd")
    reader.settled()
    assert reader.run("return map.view.zoom") == pytest.approx(3, rel=0.2)
    reader.run("map.setView(1, data.coordinates[0] / 65535, data.coordinates[1] / 65535)")
    reader.settled()
    touch("touchStart", (0, 0))
    touch("touchEnd")
    assert reader.run("return map.selected") >= 0
    assert reader.element("tooltip").is_displayed()


def test_the_ranking_of_nodes_to_label(opened, cited, cited_page, chromium):
    reader = opened(cited_page)
    first = reader.driver.find_element(By.CSS_SELECTOR, "#next-table [data-point]")
    node = first.text
    reader.click(first)
    assert reader.run("return data.ids[map.selected]") == node
    reader.click(reader.element("download"))
    target = chromium.downloads / "label-next.csv"
    WebDriverWait(reader.driver, 10).until(lambda _: target.exists())
    with target.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    _, record, _ = cited
    assert lines[0]["id"] == node
    assert len(lines) == int(((record.y < 0) & (record.validation < 0)).sum())


def test_sorting_the_classes(opened, cited_page):
    reader = opened(cited_page)
    head = reader.driver.find_elements(By.CSS_SELECTOR, "#class-table thead button")[1]
    counts = lambda: [  # noqa: E731
        int(cell.text) for cell in reader.driver.find_elements(By.CSS_SELECTOR, "#class-table tbody td:nth-child(2)")
    ]
    descending = counts()
    assert descending == sorted(descending, reverse=True)
    reader.click(head)
    reader.click(head)
    assert counts() == sorted(descending)


def test_hostile_texts_are_shown_as_text(opened, hostile_page):
    reader = opened(hostile_page)
    assert reader.driver.title == "</title><script>window.broken = true</script>"
    for node in HOSTILE_IDS:
        reader.run("select(data.ids.indexOf(arguments[0]))", node)
        reader.settled()
        assert reader.driver.execute_script("return document.querySelector('#node h3').textContent") == node
    reader.element("search").send_keys("</script>")
    assert reader.text("search-results").startswith(HOSTILE_IDS[0])
    reader.pointer_to(reader.run("return map.selected")).perform()
    assert reader.text("tooltip").startswith(HOSTILE_IDS[-1])
    assert reader.driver.execute_script("return window.broken") is None
    assert "has no embeddings, so the map shows class probabilities" in reader.text("map")
