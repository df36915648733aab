"""What views show, against the definitions: exact counts whatever is drawn, and drawings that hang together."""

from __future__ import annotations

import threading
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import elene
import naive
from elene.explorer.beside import beside_view, differences_of, find_differences
from elene.explorer.demos import DEMOS
from elene.explorer.drawing import SHADES, elements_of
from elene.explorer.ego import ego_view
from elene.explorer.labels import RARER, label_legend, shades_of
from elene.explorer.pair import ONLY_U, ONLY_V, pair_view
from elene.explorer.scene import scene_of
from elene.explorer.shelf import Opened, Shelf
from elene.explorer.state import State, follow
from elene.explorer.usual import rank_nodes, ranking_of
from elene.graph import Graph
from graphs import random_graphs


def opened(graph, key="graph"):
    return Opened(key, key.title(), graph if isinstance(graph, Graph) else Graph.from_networkx(graph))


def kind(*quadruplets):
    return "-".join(".".join(map(str, quadruplet)) for quadruplet in quadruplets)


def counts(view):
    return {row.kind: int(row.cells[-1].replace(",", "")) for row in view.rows}


def joined_names(view):
    names = {dot.id: dot.name for dot in view.dots}
    return {frozenset((names[line.source], names[line.target])) for line in view.lines}


@settings(deadline=None, max_examples=60)
@given(random_graphs(), st.integers(0, 3), st.data())
def test_a_node_view_shows_its_encoding(graph, k, data):
    root = data.draw(st.sampled_from(sorted(graph)))
    view = ego_view(opened(graph), root, k)
    expected = naive.node_encoding(graph, root, k)
    assert counts(view) == {kind(quadruplet): count for quadruplet, count in expected.items()}
    assert Counter(dot.kind for dot in view.dots) == counts(view)
    ball = nx.ego_graph(graph, root, k)
    assert {dot.name for dot in view.dots} == set(map(str, ball))
    assert joined_names(view) == {frozenset(map(str, edge)) for edge in ball.edges}
    assert all(row.drawn == counts(view)[row.kind] for row in view.rows)
    assert len({(dot.x, dot.y) for dot in view.dots}) == len(view.dots)


@settings(deadline=None, max_examples=60)
@given(random_graphs(), st.integers(0, 3), st.data())
def test_a_pair_view_shows_both_balls_and_the_intersection(graph, k, data):
    u, v = (data.draw(st.sampled_from(sorted(graph))) for _ in range(2))
    if u == v:
        return
    view = pair_view(opened(graph), u, v, k)
    balls = [set(nx.single_source_shortest_path_length(graph, end, k)) for end in (u, v)]
    expected = {kind(*pair): count for pair, count in naive.pair_encoding(graph, u, v, k).items()}
    for tier, only in ((ONLY_U, balls[0] - balls[1]), (ONLY_V, balls[1] - balls[0])):
        if only:
            expected[tier] = len(only)
        assert {dot.name for dot in view.dots if dot.tier == tier} == set(map(str, only))
    assert counts(view) == expected
    assert joined_names(view) == {frozenset(map(str, edge)) for edge in graph.subgraph(balls[0] | balls[1]).edges}


def hub():
    graph = nx.star_graph(500)
    graph.add_edges_from((leaf, 1000 + leaf) for leaf in range(1, 400))
    graph.add_edges_from((1000 + leaf, 2000 + leaf) for leaf in range(1, 20))
    return nx.convert_node_labels_to_integers(graph)


def test_hubs_are_sampled_and_counts_stay_exact():
    source = opened(hub())
    view = ego_view(source, 0, 3)
    assert len(view.dots) < 100 and "sample" in view.notes[0] and "919" in view.notes[0]
    assert sum(counts(view).values()) == 919
    assert counts(view) == {kind(q): count for q, count in elene.quadruplets(source.graph, 0, 3).items()}
    assert view.rows[0].cells[0] == "0"
    drawn = nx.Graph((line.source, line.target) for line in view.lines)
    tiers = {dot.id: int(dot.tier[-1]) for dot in view.dots}
    assert set(tiers.values()) == {0, 1, 2, 3}
    assert nx.single_source_shortest_path_length(drawn, "0") == tiers  # every drawn node hangs on the root
    assert ego_view(source, 0, 3) == view


def test_a_kind_that_is_lit_is_drawn():
    source = opened(hub())
    rare = kind((3, 1, 1, 0))
    view = ego_view(source, 0, 3, rare)
    assert next(row.drawn for row in view.rows if row.kind == rare) >= 10
    classes = Counter(element["classes"].split()[-1] for element in elements_of(view) if "position" in element)
    assert classes["lit"] >= 10 and classes["lit"] + classes["dim"] == len(view.dots)


def test_a_sampled_pair_hangs_together():
    graph = nx.complete_bipartite_graph(2, 600)
    view = pair_view(opened(graph), 0, 1, 1)
    assert "Both see 600 nodes" in view.facts and "sample" in view.notes[0] and len(view.dots) < 120
    assert counts(view)[kind((1, 0, 0, 0), (1, 0, 0, 0))] == 600


def test_two_graphs_side_by_side_light_what_differs():
    a, b = opened(DEMOS["rook"][1](), "rook"), opened(DEMOS["shrikhande"][1](), "shrikhande")
    differences_of(a, b, 2, "edge").result()
    view = beside_view(a, b, 2, "edge")
    assert "differ by the encodings of their edges, ED at k=1" in view.facts
    assert [(row.cells, row.drawn) for row in view.rows] == [
        (("(1,1,2,0) (1,1,2,0)", "0", "96"), 2),
        (("(1,1,3,0) (1,1,3,0)", "96", "0"), 2),
    ]
    assert Counter(dot.graph for dot in view.dots) == {"rook": 4, "shrikhande": 4}
    edges = Counter(line.source[0] for line in view.lines)
    assert edges == {"A": 6, "B": 5}  # the paper's figure
    left, right = ([dot.x for dot in view.dots if dot.graph == key] for key in ("rook", "shrikhande"))
    assert max(left) < min(right)


def test_graphs_that_are_not_told_apart():
    a, b = opened(nx.cycle_graph(6), "a"), opened(nx.cycle_graph(6), "b")
    differences_of(a, b, 2, "edge").result()
    assert "Not told apart" in beside_view(a, b, 2, "edge").facts


def test_a_click_does_not_wait_for_what_takes_long():
    shelf, release = Shelf({}), threading.Event()
    busy = Opened("busy", "Busy", Graph.from_edges([(0, 1)])).jobs.future("long", release.wait)
    try:
        scene = scene_of(shelf, State(graph="karate", k=2))
        ranking = ranking_of(scene.opened, 2)
        waiting = scene_of(shelf, State(graph="rook", beside="shrikhande")).view.waiting
        assert not busy.done() and not ranking.done() and waiting == "Comparing the two graphs ..."
    finally:
        release.set()
    assert ranking.result(60).encodings > 1


def test_a_comparison_that_fails_says_so(monkeypatch):
    monkeypatch.setattr("elene.explorer.beside.compare", lambda *arguments, **options: 1 / 0)
    a, b = opened(nx.path_graph(3), "a"), opened(nx.path_graph(4), "b")
    assert differences_of(a, b, 1, "edge").exception(60)
    assert "could not be compared: division by zero" in beside_view(a, b, 1, "edge").notes[0]


def test_graphs_that_differ_by_whole_encodings_alone():
    # Each sees the same kinds of nodes as often in all; who sees which together differs.
    a = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(6))
    found = find_differences(opened(a, "a"), opened(nx.cycle_graph(9), "b"), 2, "node")
    assert found.by == "ND at k=1" and found.differences


@settings(deadline=None, max_examples=30)
@given(random_graphs())
def test_ranking_is_by_mean_surprise(graph):
    source = opened(graph)
    ranking = rank_nodes(source.graph, 1, most=100)
    encodings = {v: frozenset(naive.node_encoding(graph, v, 1).items()) for v in graph}
    seen_by = Counter(q for v in graph for q in {q for q, _ in encodings[v]})
    for ranked in ranking.unusual:
        own = [q for q, _ in encodings[ranked.position]]
        assert ranked.bits == pytest.approx(np.mean([np.log2(len(graph) / seen_by[q]) for q in own]))
        assert ranked.alike == sum(encodings[v] == encodings[ranked.position] for v in graph)
    assert ranking.encodings == len(set(encodings.values())) == len(ranking.unusual)
    bits = [round(ranked.bits, 9) for ranked in ranking.unusual]
    assert bits == sorted(bits, reverse=True) and ranking.usual == ranking.unusual[::-1]


def test_the_flaw_of_the_grid_is_what_is_unusual():
    source = opened(DEMOS["grid"][1]())
    ranking = ranking_of(source, 2).result()
    names = [source.texts[ranked.position] for ranked in ranking.unusual]
    assert {"6,6", "5,5"} & set(names[:4])


@given(st.builds(State, *[st.none() | st.text(min_size=1, max_size=20)] * 3, st.integers(0, 5)))
def test_an_address_is_the_state(state):
    assert State.parse(state.query) == state


def test_actions_that_are_none_change_nothing():
    state = State(graph="karate", node="3", lit="0.0.1.1")
    for action in ({}, {"do": "walk"}, {"do": "walk", "node": ["x"]}, {"do": "open", "graph": 7}, {"do": "rm"}):
        assert follow(state, action) == state
    assert follow(state, {"do": "light", "kind": "0.0.1.1"}).lit is None
    assert follow(state, {"do": "depth", "k": "x"}).k == 2


@pytest.mark.parametrize("key", DEMOS)
def test_every_demo_has_scenes(key):
    shelf = Shelf({})
    scene = scene_of(shelf, State(graph=key))
    assert scene.view.dots and scene.state.node is not None
    neighbour = scene.opened.texts[scene.opened.graph.neighbors(scene.opened.largest)[0]]
    pair = scene_of(shelf, State(graph=key, node=scene.state.node, other=neighbour, k=1))
    assert pair.view.title.startswith("Edge") and pair.view.rows


def test_nodes_that_look_alike_as_text_have_numbers():
    source = opened(nx.Graph([(1, "1")]))
    assert source.texts == ["0", "1"]


def test_a_lonely_node_and_depth_zero():
    lonely = opened(nx.empty_graph(3))
    assert ego_view(lonely, 1, 4).facts == "1 node within 4 steps, 0 edges among them."
    assert "empty" in pair_view(lonely, 0, 1, 3).notes[0]
    assert len(ego_view(opened(nx.path_graph(3)), 1, 0).dots) == 1


@st.composite
def labelled(draw):
    """A random graph, and a label for each node: dots, dashes and numbers in them must not matter."""
    graph = draw(random_graphs())
    labels = [draw(st.sampled_from(["C", "N", "1.2", "a-b", "a, b"])) for _ in graph]
    return graph, dict(zip(sorted(graph), labels, strict=True))


def labelled_opened(graph, labels, key="graph"):
    return opened(Graph.from_networkx(graph).with_labels(labels), key)


@settings(deadline=None, max_examples=40)
@given(labelled(), st.integers(0, 3), st.data())
def test_a_labelled_node_view_tells_nodes_apart_by_label(case, k, data):
    graph, labels = case
    root = data.draw(st.sampled_from(sorted(graph)))
    view = ego_view(labelled_opened(graph, labels), root, k)
    ball = nx.ego_graph(graph, root, k)
    bare = {int(dot.name): dot.kind for dot in ego_view(opened(graph), root, k).dots}
    expected = Counter(f"{bare[node]}.{labels[node]}" for node in ball)
    assert counts(view) == expected == Counter(dot.kind for dot in view.dots)
    assert counts(view) == {
        f"{'.'.join(map(str, quadruplet[:4]))}.{quadruplet[4]}": count
        for quadruplet, count in elene.quadruplets(graph, root, k, labels=labels).items()
    }
    assert {dot.name: dot.label for dot in view.dots} == {str(node): labels[node] for node in ball}
    assert view.title == f"Node {root}, labelled {labels[root]}"
    assert dict(view.legend[1:]).keys() == {dot.shade for dot in view.dots}
    some = data.draw(st.sampled_from([row.kind for row in view.rows]))
    assert ego_view(labelled_opened(graph, labels), root, k, some).lit == (some,)


@settings(deadline=None, max_examples=40)
@given(labelled(), st.integers(0, 2), st.data())
def test_a_labelled_pair_view_tells_nodes_apart_by_label(case, k, data):
    graph, labels = case
    u, v = (data.draw(st.sampled_from(sorted(graph))) for _ in range(2))
    if u == v:
        return
    view, bare = pair_view(labelled_opened(graph, labels), u, v, k), pair_view(opened(graph), u, v, k)
    outside = (ONLY_U, ONLY_V)
    kinds = {dot.name: dot.kind if dot.kind in outside else f"{dot.kind}.{labels[int(dot.name)]}" for dot in bare.dots}
    assert {dot.name: dot.kind for dot in view.dots} == kinds
    assert counts(view) == Counter(kinds.values())
    assert all(dot.label == labels[int(dot.name)] for dot in view.dots)
    assert view.title.endswith(f", labelled {labels[u]} and {labels[v]}")


def test_frequent_labels_have_colours_and_rare_ones_share_grey():
    graph = nx.star_graph(45)
    towns = {node: f"town {int((2 * node) ** 0.5)}" for node in graph}  # of 9, 7, 7, 5, 5, 5, 3, 3, 1 and 1 nodes
    source = labelled_opened(graph, towns)
    view = ego_view(source, 0, 1)
    assert source.shades["town 8"] == "label0" and source.shades["town 0"] == source.shades["town 3"] == RARER
    rarer = [text for text, shade in source.shades.items() if shade == RARER]
    assert view.legend[-1] == (RARER, f"{len(rarer)} rarer labels ({sum(t in rarer for t in towns.values())})")
    assert sum(int(text.split("(")[-1][:-1]) for _, text in view.legend[1:]) == 46
    assert {shade for shade, _ in view.legend[1:]} <= SHADES.keys()
    two = shades_of({f"t{i}": 10 - i for i in range(8)})
    assert label_legend(two, {"t7": 3})[-1] == (RARER, "t7 (3)")  # a single one is called by its name
    shown = {element["data"]["name"]: element["classes"].split() for element in elements_of(view)[:1]}
    assert shown == {"0": ["tier0", RARER, "marked"]}


def test_views_without_labels_have_none():
    view = ego_view(opened(nx.path_graph(3)), 0, 2)
    assert {(dot.label, dot.shade) for dot in view.dots} == {("", "")}
    assert [tier for tier, _ in view.legend] == ["tier0", "tier1", "tier2"]
    assert len(view.head) == 5


@pytest.mark.parametrize("level", ["node", "edge", "pair"])
def test_two_labelled_graphs_that_differ_by_labels_alone(level):
    path = nx.path_graph(3)
    a = labelled_opened(path, {0: "H", 1: "O", 2: "H"}, "a")
    b = labelled_opened(path, {0: "H", 1: "H", 2: "O"}, "b")
    differences_of(a, b, 1, level).result()
    view = beside_view(a, b, 1, level)
    assert "differ by the encodings" in view.facts
    assert {row.kind.rpartition(".")[2] for row in view.rows} == {"H", "O"}
    assert any(row.drawn for row in view.rows) and all(
        ",H)" in row.cells[0] or ",O)" in row.cells[0] for row in view.rows
    )
    shades = {(dot.label, dot.shade) for dot in view.dots}
    assert shades == {("H", "label0"), ("O", "label1")}  # the same colours on both sides
    drawn = Counter(dot.label for dot in view.dots)
    assert dict(view.legend[1:]) == {"label0": f"H ({drawn['H']})", "label1": f"O ({drawn['O']})"}


def test_a_labelled_graph_is_compared_with_one_without_labels_by_structure():
    a = labelled_opened(nx.cycle_graph(6), dict(enumerate("HOHOHO")), "a")
    b = opened(nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), "b")
    differences_of(a.bare, b.bare, 1, "node").result()
    view = beside_view(a, b, 1, "node")
    assert view.notes[0] == "Compared without labels: B has none."
    assert [row.kind for row in view.rows] == ["1.1.1.0", "1.1.2.0"]
    assert {dot.shade for dot in view.dots} == {""}
