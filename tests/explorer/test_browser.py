"""The page in a real browser, headless: open, search, click, slide, compare, save. Skipped where there is no Chromium.

With ELENE_PICTURES=docs/images in the environment these tests also save what the documentation shows.
"""

from __future__ import annotations

import json
import os
import shutil
import threading
from pathlib import Path

import pytest

webdriver = pytest.importorskip("selenium.webdriver")
pytest.importorskip("dash_cytoscape")

from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

from elene.explorer.page import make_app  # noqa: E402
from elene.explorer.server import bind, make_server  # noqa: E402
from elene.explorer.shelf import Named, Shelf  # noqa: E402
from elene.graph import Graph  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = [
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="needs Chromium and its driver"),
    pytest.mark.xdist_group("browser"),
]
CY = "document.getElementById('canvas')?._cyreg?.cy"


class Browser:
    """A browser at the page, which waits for what it is to see."""

    def __init__(self, driver, address, folder):
        self.driver, self.address, self.folder = driver, address, folder

    def run(self, script):
        return self.driver.execute_script(script)

    def until(self, script, message=None):
        waiting = WebDriverWait(self.driver, 20, poll_frequency=0.05)
        return waiting.until(lambda _: self.run(f"return {script}"), message or script)

    def open(self, query=""):
        self.driver.get(self.address + query)
        self.until(f"{CY} && {CY}.nodes().length > 0 && !!document.getElementById('title').textContent")

    def until_title(self, title):
        self.until(f"document.getElementById('title').textContent === {json.dumps(title)}", title)
        # The canvas is drawn after the words.
        name = title.split()[-1].strip("()")
        self.until(f"{CY}.nodes().some(node => node.data('name') === {json.dumps(name)})", title)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def over(self, selector):
        """Move the mouse to an element of the canvas, by its selector there."""
        place = self.until(
            f"(() => {{ const found = {CY}.$({json.dumps(selector)}); if (found.empty()) return null;"
            " const at = found[0].isNode() ? found[0].renderedPosition() : found[0].renderedMidpoint();"
            " const box = document.getElementById('canvas').getBoundingClientRect();"
            " return [at.x - box.width / 2, at.y - box.height / 2]; })()"
        )
        canvas = self.find("#canvas")
        return ActionChains(self.driver).move_to_element_with_offset(canvas, round(place[0]), round(place[1]))

    def classes(self, name):
        return self.run(f"return {CY}.nodes('.{name}').map(node => node.data('name'))")

    def picture(self, name):
        folder = os.environ.get("ELENE_PICTURES")
        if folder:
            self.until("!document.getElementById('ranking').textContent.includes('Ranking all')")
            Path(folder).mkdir(parents=True, exist_ok=True)
            assert self.driver.save_screenshot(str(Path(folder, f"explorer-{name}.png")))


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    folder = tmp_path_factory.mktemp("downloads")
    file = tmp_path_factory.mktemp("graph") / "friends.txt"
    file.write_text("ann ben\nben cat\ncat ann\ncat dan\n")
    server = make_server(make_app(Shelf({"file": Named(file.name, lambda: Graph.read(file), str(file))})), bind(0)[0])
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1280,940")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        found = Browser(driver, f"http://127.0.0.1:{server.port}/", folder)
        found.file = file
        yield found
    finally:
        driver.quit()
        server.shutdown()
        server.server_close()
        thread.join()


def test_open_and_nothing_comes_from_elsewhere(browser):
    browser.open()
    assert browser.find("#title").text == "Node cat"
    assert browser.find("#facts").text == "4 nodes within 2 steps, 4 edges among them."
    loaded = browser.run("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert len(loaded) > 8 and all(name.startswith((browser.address, "data:", "blob:")) for name in loaded)
    errors = [entry for entry in browser.driver.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors


def test_search_click_slide_and_back(browser):
    browser.open("?graph=miserables&node=Valjean&k=1")
    browser.picture("node")
    browser.find("#search").send_keys("cosett")
    browser.until("document.querySelector('#hits button')?.textContent === 'Cosette'")
    browser.find("#search").send_keys(Keys.ENTER)
    browser.until_title("Node Cosette")
    assert "node=Cosette" in browser.driver.current_url
    browser.over("[name = 'Marius']").click().perform()
    browser.until_title("Node Marius")
    facts = browser.find("#facts").text
    browser.find("#depth [role=slider]").send_keys(Keys.ARROW_RIGHT)
    browser.until("location.search.includes('k=2')")
    browser.until(f"document.getElementById('facts').textContent !== {json.dumps(facts)}")
    browser.until(f"{CY}.nodes('.tier2').length > 0")
    browser.driver.back()
    browser.until("location.search.includes('k=1')")
    browser.until(f"document.getElementById('facts').textContent === {json.dumps(facts)}")
    browser.driver.back()
    browser.until_title("Node Cosette")


def test_rows_light_nodes_and_nodes_light_rows(browser):
    browser.open("?graph=karate&node=33&k=2")
    row = browser.find("tr[data-kind='1.1.2.0']")
    ActionChains(browser.driver).move_to_element(row).perform()
    browser.until(f"{CY}.nodes('.hot').length === 6")
    browser.over("#2").perform()
    kind = browser.run(f"return {CY}.$('#2').data('kind')")
    browser.until(f"document.querySelector('#table tr.hot')?.dataset.kind === {json.dumps(kind)}")
    assert browser.find("#hover").text.startswith("2 ")
    row.click()
    browser.until("location.search.includes('lit=1.1.2.0')")
    browser.until(f"{CY}.nodes('.lit').length === 6")
    browser.picture("lit")
    link = browser.find("#link").get_attribute("href")
    browser.driver.get("about:blank")
    browser.driver.get(link)  # the exact state, from nothing
    browser.until(f"{CY} && {CY}.nodes('.lit').length === 6")


def test_an_edge_and_a_pair(browser):
    browser.open("?graph=shrikhande&node=0&k=1")
    browser.over("edge[source = '0'][target = '1']").click().perform()
    browser.until_title("Edge (0, 1)")
    assert "Both see 4 nodes and 5 edges" in browser.find("#facts").text
    browser.picture("pair")
    browser.find("#close").click()
    browser.until_title("Node 0")
    browser.run("document.querySelectorAll('#click input')[1].click()")
    browser.over("#12").click().perform()
    browser.until_title("Edge (0, 12)")


def test_labels_are_colours_with_a_legend(browser):
    browser.open("?graph=caffeine&node=C2&k=3")
    legend = browser.until("[...document.querySelectorAll('#legend span')].map(key => key.textContent)")
    assert legend == ["root", "H (4)", "C (7)", "N (4)", "O (2)"]
    colours = browser.run(f"return {CY}.nodes().map(node => [node.data('labelled'), node.style('background-color')])")
    assert len({tuple(colour) for colour in colours}) == 4 == len({colour for _, colour in colours})
    keys = browser.run("return [...document.querySelectorAll('#legend i')].map(key => key.style.background)")
    assert {colour for _, colour in colours} == {key.replace(" ", "") for key in keys if key}
    browser.over("node[name='N4']").perform()
    browser.until("document.getElementById('hover').textContent === 'N4  labelled N  (1,3,2)'")
    browser.picture("labels")


def test_compare_two_graphs(browser):
    browser.open("?graph=rook&k=2")
    browser.find("#beside").click()
    browser.until("[...document.querySelectorAll('[role=option], .dash-dropdown-option')].length > 3")
    browser.run(
        "[...document.querySelectorAll('[role=option], .dash-dropdown-option')]"
        ".find(option => option.textContent.includes('Shrikhande')).click()"
    )
    browser.until("document.getElementById('facts').textContent.includes('ED at k=1')")
    browser.until(f"{CY}.nodes('.lit').length === 4")
    assert browser.run(f"return {CY}.edges().length") == 6 + 5
    browser.picture("compare")
    browser.find("tr[data-kind='1.1.3.0-1.1.3.0']").click()
    browser.until(f"{CY}.nodes('.lit').length === 2")
    browser.over("[graph = 'shrikhande'][name = '1']").click().perform()
    browser.until_title("Node 1")
    assert "graph=shrikhande" in browser.driver.current_url


def test_unusual_nodes_are_a_list_to_click(browser):
    browser.open("?graph=grid&node=0,0&k=1")
    browser.until("document.querySelectorAll('#ranking li button').length > 4")
    first = browser.find("#ranking li button")
    name = first.get_attribute("data-node")
    browser.picture("unusual")
    first.click()
    browser.until_title(f"Node {name}")


def test_hubs_say_that_they_are_sampled(browser):
    browser.open("?graph=social&k=3")
    assert "Drawn is a sample" in browser.find("#notes").text
    browser.picture("hub")


@pytest.mark.parametrize("kind, start", [("png", b"\x89PNG"), ("svg", b"<svg")])
def test_save_a_picture(browser, kind, start):
    browser.open("?graph=families&node=Medici&k=2")
    browser.find(f"#{kind}").click()
    path = browser.folder / f"elene-families-Medici-2.{kind}"
    WebDriverWait(browser.driver, 20).until(lambda _: path.exists() and path.stat().st_size)
    saved = path.read_bytes()
    assert saved.startswith(start) and (kind == "png" or b"Medici" in saved)


def test_dark_and_phone(browser):
    browser.open("?graph=karate&node=0&k=2")
    before = browser.run("return getComputedStyle(document.body).backgroundColor")
    browser.find("#shade").click()
    browser.until("document.documentElement.dataset.theme === 'dark'")
    assert browser.run("return getComputedStyle(document.body).backgroundColor") != before
    browser.picture("dark")
    browser.find("#shade").click()
    browser.until("document.documentElement.dataset.theme === 'light'")
    phone = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
    try:
        for query in (
            "?graph=karate&node=0&k=2",
            "?graph=rook&beside=shrikhande&k=1",
            "?graph=rook&node=0&other=1&k=1",
        ):
            browser.open(query)
            assert browser.run("return document.documentElement.scrollWidth") <= 390, query
        browser.picture("phone")
    finally:
        browser.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_file_that_changes_is_noticed_and_read_again(browser):
    browser.open("?graph=file&node=cat&k=1")
    browser.file.write_text("ann ben\nben cat\ncat ann\ncat dan\ncat eve\n")
    browser.until("document.getElementById('news').textContent.includes('has changed on disk')")
    browser.find("#news button").click()
    browser.until(f"{CY}.nodes().length === 5")
    browser.until("document.getElementById('news').textContent === ''")
