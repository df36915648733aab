"""How long the explorer's server takes to answer a click, over HTTP, on the largest networks.

    python benchmarks/explorer.py [--json FILE] [--networks NAME ...]

A click is a request as a browser sends it: the whole answer (drawing, table, words) as JSON, to the last byte. Clicked
are the hub of largest degree, nodes drawn at random, their first edges, and a row of the table, at each depth; then a
search by name. The ranking of all nodes, which is computed once in the background, has been waited for before: its time
is told by itself. Times are medians and the worst, in milliseconds.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from http.client import HTTPConnection
from statistics import median
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import elene
from common import networks, verdict, write_json
from elene.explorer.page import make_app
from elene.explorer.server import bind, make_server
from elene.explorer.shelf import Named, Shelf
from elene.explorer.state import State
from elene.explorer.usual import ranking_of

TARGET = 300.0  # milliseconds
DEPTHS = (1, 2, 3, 5)
LARGEST = ("metis_mdual", "soc-Epinions1", "debian12_main_amd64_deps")


class Client:
    """What a browser asks."""

    def __init__(self, port: int) -> None:
        self.connection = HTTPConnection("127.0.0.1", port)
        self.connection.request("GET", "/_dash-dependencies")
        found = json.loads(self.connection.getresponse().read())
        self.update = next(callback for callback in found if "canvas.elements" in callback["output"])
        self.find = next(callback for callback in found if callback["output"] == "hits.children")

    def ask(self, callback: dict[str, Any], trigger: str, values: dict[str, Any]) -> tuple[float, int]:
        """Milliseconds until the whole answer is there, and its bytes."""
        names = callback["output"].strip(".").split("...")
        outputs: Any = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
        parts = {
            kind: [{**part, "value": values.get(f"{part['id']}.{part['property']}")} for part in callback[kind]]
            for kind in ("inputs", "state")
        }
        if len(outputs) == 1:
            outputs = outputs[0]
        body = json.dumps({"output": callback["output"], "outputs": outputs, "changedPropIds": [trigger], **parts})
        begun = time.perf_counter()
        self.connection.request("POST", "/_dash-update-component", body, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        size = len(answer.read())
        assert answer.status == 200
        return 1000 * (time.perf_counter() - begun), size

    def click(self, state: State) -> tuple[float, int]:
        return self.ask(self.update, "url.search", {"url.search": state.query})

    def search(self, text: str) -> tuple[float, int]:
        values = {"search.value": text, "link.href": "?graph=file"}
        return self.ask(self.find, "search.value", values)


def measure(graph: elene.Graph) -> dict[str, Any]:
    shelf = Shelf({"file": Named("network", lambda: graph)})
    opened = shelf.open("file")
    assert opened is not None
    server = make_server(make_app(shelf), bind(0)[0])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = Client(server.port)
    first, _ = client.click(State(graph="file", k=1))
    begun = time.perf_counter()
    ranking_of(opened, 1).result()
    ranking = time.perf_counter() - begun
    ranking_of(opened, 2).result()
    some = np.random.default_rng(0).choice(np.flatnonzero(graph.degrees), 10, replace=False).tolist()
    times: dict[str, list[tuple[float, int]]] = {"hub": [], "node": [], "edge": [], "hub's edge": [], "row": []}
    for k in DEPTHS:
        for _ in range(3):
            times["hub"].append(client.click(State("file", opened.texts[opened.largest], k=k)))
            beside = opened.texts[graph.neighbors(opened.largest)[0]]
            times["hub's edge"].append(client.click(State("file", opened.texts[opened.largest], beside, k)))
            times["row"].append(client.click(State("file", opened.texts[opened.largest], k=k, lit="1.1.1.0")))
        for node in some:
            times["node"].append(client.click(State("file", opened.texts[node], k=k)))
            times["edge"].append(
                client.click(State("file", opened.texts[node], opened.texts[graph.neighbors(node)[0]], k))
            )
    times["search"] = [client.search(text) for text in ("1", "12345", "no such node")]
    server.shutdown()
    server.server_close()
    found: dict[str, Any] = {
        what: {"median": median(ms for ms, _ in seen), "worst": max(seen)[0], "bytes": max(size for _, size in seen)}
        for what, seen in times.items()
    }
    return found | {"first": first, "ranking": ranking}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--networks", nargs="*", default=list(LARGEST))
    arguments = parser.parse_args()
    console, figures = Console(width=150), {}
    for name, graph in networks(arguments.networks):
        figures[name] = found = measure(graph)
        table = Table("click on", "median ms", "worst ms", "kB", title=f"{name}: {graph.num_edges:,} edges")
        for what, seen in found.items():
            if isinstance(seen, dict):
                table.add_row(what, f"{seen['median']:.0f}", f"{seen['worst']:.0f}", f"{seen['bytes'] / 1000:.0f}")
        console.print(table)
        worst = max(seen["worst"] for seen in found.values() if isinstance(seen, dict))
        console.print(f"worst click {worst:.0f} ms: {verdict(worst, TARGET, at_least=False)}; the very first, which")
        console.print(f"may compile and numbers the names, {found['first']:.0f} ms; ranking {found['ranking']:.1f} s\n")
    write_json(arguments.json, figures)


if __name__ == "__main__":
    main()
