"""The server: for this machine alone, of the named file alone, for many clients, while the file changes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection

import pytest

from elene.explorer.page import make_app
from elene.explorer.server import bind, make_server, protect
from elene.explorer.shelf import Named, Shelf
from elene.graph import Graph

HERE = {"Host": "127.0.0.1:8050"}


class Page:
    """A page without a browser: what its callbacks answer."""

    def __init__(self, shelf):
        self.app = make_app(shelf)
        protect(self.app.server, self.app.csp_hashes())
        self.client = self.app.server.test_client()
        found = self.client.get("/_dash-dependencies", headers=HERE).json
        self.update = next(callback for callback in found if "canvas.elements" in callback["output"])

    def status(self, route, host="127.0.0.1:8050"):
        with self.client.get(route, headers={"Host": host}) as answer:
            return answer.status_code

    def payload(self, trigger="url.search", **values):
        """The request of a browser in which something has changed."""
        given = {"url.search": "", "action.data": None, "click.value": "walk", "search.value": ""} | values

        def known(parts):
            return [{**part, "value": given.get(f"{part['id']}.{part['property']}")} for part in parts]

        output = self.update["output"]
        outputs = [
            dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in output[2:-2].split("...")
        ]
        inputs, state = known(self.update["inputs"]), known(self.update["state"])
        return {"output": output, "outputs": outputs, "changedPropIds": [trigger], "inputs": inputs, "state": state}

    def post(self, trigger="url.search", **values):
        answer = self.client.post("/_dash-update-component", json=self.payload(trigger, **values), headers=HERE)
        assert answer.status_code == 200, answer.text
        return answer.json["response"]


def text_of(part):
    """All words of a component."""
    if isinstance(part, dict):
        return text_of(part.get("props", {}).get("children"))
    return " ".join(map(text_of, part)) if isinstance(part, list) else str(part or "")


@pytest.fixture(scope="module")
def page():
    return Page(Shelf({}))


def named(path):
    return Named(path.name, lambda: Graph.read(path), str(path))


def test_a_page_and_what_it_shows(page):
    shown = page.post(**{"url.search": "?graph=rook&node=5&k=1"})
    assert shown["title"]["children"] == "Node 5" and shown["depth"]["value"] == 1
    assert "url" not in shown  # a step back in the browser must not become a step forward
    assert len(shown["canvas"]["elements"]) == 7 + 12
    deeper = page.post("depth.value", **{"url.search": "?graph=rook&node=5&k=1", "depth.value": 2})
    assert deeper["url"]["search"] == "?graph=rook&node=5&k=2" and len(deeper["canvas"]["elements"]) == 16 + 48


def test_what_is_done_on_a_page(page):
    def does(trigger, query="?graph=miserables&node=Valjean&k=1", **values):
        return page.post(trigger, **{"url.search": query, **values})["url"]["search"]

    tap = {"do": "tap", "node": "Cosette", "graph": "miserables"}
    assert does("action.data", **{"action.data": tap}) == "?graph=miserables&node=Cosette&k=1"
    assert "other=Cosette" in does("action.data", **{"action.data": tap, "click.value": "pair"})
    assert "node=Javert" in does("search.n_submit", **{"search.value": "jav"})
    assert "node=Valjean" in does("search.n_submit", **{"search.value": "nobody"})
    assert "beside=rook" in does("beside.value", **{"beside.value": "rook"})
    assert does("beside.value", "?graph=rook&beside=karate&k=1", **{"beside.value": "none"}).startswith("?graph=rook&")
    assert "graph=karate" in does("graph.value", **{"graph.value": "karate"})
    edge = {"do": "pair", "node": "0", "other": "1", "graph": "shrikhande"}
    assert does("action.data", "?graph=rook&beside=shrikhande&k=1", **{"action.data": edge}) == (
        "?graph=shrikhande&node=0&other=1&k=1"
    )
    light = {"do": "light", "kind": "1.1.1.0"}
    assert "lit=1.1.1.0" in does("action.data", **{"action.data": light})


@pytest.mark.parametrize("action", [None, 7, [], "walk", {}, {"do": None}, {"do": "walk", "node": {"$gt": 1}}])
def test_odd_actions_change_nothing(page, action):
    shown = page.post("action.data", **{"url.search": "?graph=karate&node=3&k=1", "action.data": action})
    assert shown["link"]["href"] == "?graph=karate&node=3&k=1"


@pytest.mark.parametrize(
    "query", ["?node=nobody", "?k=-3", "?k=1e9", "?graph=%00", "?lit=<script>", "?" + "a=b&" * 999]
)
def test_odd_addresses_show_something(page, query):
    assert page.post(**{"url.search": query})["canvas"]["elements"]


def test_foreign_hosts_are_refused(page):
    routes = ["/", "/assets/explorer.js", "/_dash-layout", "/_dash-dependencies"]
    for host in (
        "evil.example",
        "evil.example:8050",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "10.0.0.1",
        "",
    ):
        assert [page.status(route, host) for route in routes] == [421] * 4, host
        answer = page.client.post("/_dash-update-component", json=page.payload(), headers={"Host": host})
        assert answer.status_code == 421 and "karate" not in answer.text
    for host in ("127.0.0.1", "localhost:1234", "LOCALHOST"):
        assert [page.status(route, host) for route in routes] == [200] * 4


def test_other_pages_are_refused(page):
    for origin, status in (("http://evil.example", 403), ("null", 403), ("http://127.0.0.1:8050", 200)):
        headers = HERE | {"Origin": origin}
        answer = page.client.post("/_dash-update-component", json=page.payload(), headers=headers)
        assert answer.status_code == status


def test_everything_is_on_board(page):
    index = page.client.get("/", headers=HERE)
    sources = re.findall(r'(?:src|href)="([^"]+)"', index.text)
    assert len(sources) > 8 and all(source.startswith("/") and source[1:2] != "/" for source in sources)
    for source in sources:
        assert page.status(source) == 200, source
    policy = index.headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy and "http" not in policy and "frame-ancestors 'none'" in policy


def test_no_other_file_is_opened(tmp_path):
    (tmp_path / "edges.txt").write_text("a b\nb c\n")
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden treasure\n")
    page = Page(Shelf({"file": named(tmp_path / "edges.txt")}))
    page.post()
    touched, watching = [], [True]

    def watch(event, arguments):
        if watching and event == "open" and str(secret.name) in str(arguments[0]):
            touched.append(arguments[0])

    sys.addaudithook(watch)
    try:
        for path in (str(secret), f"file/../{secret.name}", f"file:{secret}", f"{secret}#0"):
            for name in ("graph", "beside", "node", "other", "lit"):
                shown = page.post(**{"url.search": f"?{name}={path}"})
                assert "treasure" not in json.dumps(shown)
            for trigger in ("graph", "beside"):
                assert "treasure" not in json.dumps(page.post(f"{trigger}.value", **{f"{trigger}.value": path}))
            for do in ("open", "beside", "read", "walk"):
                action = {"do": do, "graph": path, "path": path, "node": path}
                assert "treasure" not in json.dumps(page.post("action.data", **{"action.data": action}))
        for prefix in ("/", "/assets/", "/_dash-component-suites/elene.explorer/", "/_dash-component-suites/dash/"):
            for up in ("../" * 12, "..%2f" * 12, "%2e%2e/" * 12, ""):
                answer = page.client.get(f"{prefix}{up}{str(secret)[1:]}", headers=HERE)
                assert "treasure" not in answer.text
    finally:
        watching.clear()
    assert not touched


def test_ten_clients_at_once(page):
    queries = [f"?graph={graph}&k={k}" for graph in ("karate", "social", "grid", "miserables", "rook") for k in (1, 3)]
    alone = {query: page.post(**{"url.search": query})["canvas"]["elements"] for query in queries}
    bound, _ = bind(0)
    server = make_server(make_app(Shelf({})), bound)
    port = server.port
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    together = threading.Barrier(10)

    def visit(query):
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        together.wait()
        for _ in range(3):
            body = json.dumps(page.payload(**{"url.search": query}))
            connection.request("POST", "/_dash-update-component", body, {"Content-Type": "application/json"})
            answer = json.loads(connection.getresponse().read())
            assert answer["response"]["canvas"]["elements"] == alone[query]
        connection.close()
        return query

    try:
        with ThreadPoolExecutor(10) as pool:
            assert sorted(pool.map(visit, queries)) == sorted(queries)
        assert server.server_address[0] == "127.0.0.1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_graph_that_changes_on_disk(tmp_path):
    file = tmp_path / "edges.txt"
    file.write_text("a b\nb c\n")
    page = Page(Shelf({"file": named(file)}))
    first = page.post(**{"url.search": "?node=b&k=1"})
    assert not text_of(first["news"]["children"]) and len(first["canvas"]["elements"]) == 5
    assert first["tick"]["disabled"] is False  # for it looks at the file from time to time
    file.write_text("a b\nb c\nb d\nb e\n")
    stale = page.post(**{"url.search": "?node=b&k=1"})
    assert "has changed on disk" in text_of(stale["news"]["children"]) and len(stale["canvas"]["elements"]) == 5
    read = {"url.search": "?node=b&k=1", "action.data": {"do": "read"}}
    fresh = page.post("action.data", **read)
    assert not text_of(fresh["news"]["children"]) and len(fresh["canvas"]["elements"]) == 9
    file.write_bytes(b"\x00\xff only half of it")
    broken = page.post("action.data", **read)
    assert "could not be read again" in text_of(broken["news"]["children"]) and len(broken["canvas"]["elements"]) == 9
    file.unlink()
    gone = page.post(**{"url.search": "?node=b&k=1"})
    assert "is gone" in text_of(gone["news"]["children"]) and len(gone["canvas"]["elements"]) == 9


def test_the_command(tmp_path):
    (tmp_path / "edges.txt").write_text("a b\nb c\n")

    def start(port):
        command = [sys.executable, "-m", "elene", "explore", "edges.txt", "--no-browser", "--port", str(port)]
        # As a terminal starts it: what runs in the background ignores interrupts from the beginning.
        return subprocess.Popen(
            command,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def address(process):
        lines = iter(process.stdout.readline, "")
        return next(found[1] for line in lines if (found := re.search(r"http://127\.0\.0\.1:(\d+)/", line)))

    first = start(0)
    port = address(first)
    second = start(port)
    other = address(second)
    for process in (first, second):
        process.send_signal(signal.SIGINT)
    (out, complaint), (_, said) = (process.communicate(timeout=30) for process in (first, second))
    assert first.returncode == second.returncode == 0 and "Good-bye" in out and "Traceback" not in complaint
    assert other != port and f"port {port} is taken" in said


def test_the_command_with_a_file_that_is_not_there(tmp_path):
    command = [sys.executable, "-m", "elene", "explore", "nothing.csv", "--no-browser"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "nothing.csv" in done.stderr and "Traceback" not in done.stderr
