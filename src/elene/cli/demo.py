"""``elene demo``: what the library is about, on graphs that need no file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

import elene
from elene.cli.common import console, counted, make_table, say, size_of, working
from elene.cli.explain import explain_node, save_picture

KERNELS = ("nodes, k = 1", "nodes, k = 2", "edges, k = 1", "single nodes and edges", "fingerprints, small graphs")
NODES, EDGES_PER_NODE, SAMPLE = 200_000, 5, 20_000


def demo(
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where to put the pictures; made if it is not there.")
    ] = Path("demo"),
) -> None:
    """Show in a minute what elene does: four short scenes on built-in graphs, and pictures to keep.

    The very first run compiles the kernels, which takes longer, once.

    **Example:** elene demo --folder pictures
    """
    from elene.warmup import warm_up

    started = perf_counter()
    folder.mkdir(parents=True, exist_ok=True)
    with working("Compiling the kernels, once and for all"):
        for _ in warm_up(KERNELS):
            pass
    scenes: list[tuple[str, Callable[[Path], None]]] = [
        ("What a node sees", _show_quadruplets),
        ("Two graphs that nodes cannot tell apart, and edges can", _show_rook_and_shrikhande),
        ("Fifteen such graphs", _show_sr25),
        ("A network of real size", _show_speed),
    ]
    for number, (title, scene) in enumerate(scenes, start=1):
        _begin(f"{number}. {title}")
        scene(folder)
    _begin("Try next")
    console.print(
        "Your own edge list   [cyan]elene encode edges.csv -k 2 -o features.parquet[/]\n"
        "One node of it       [cyan]elene explain edges.csv --node 7 -o ego-7.png[/]\n"
        'In Python            [cyan]import elene; elene.encode(graph, k=2, level="edge").matrix[/]\n'
        f"\n[dim]This took {perf_counter() - started:.0f} seconds.[/]"
    )


def _begin(title: str) -> None:
    console.print()
    console.rule(f"[bold]{title}", align="left", style="dim")
    console.print()


def _show_quadruplets(folder: Path) -> None:
    import networkx as nx

    from elene.plot import draw_ego

    say(
        "The great families of Florence around 1430, joined by marriage. What the house of Medici sees within two "
        "steps is its [bold]encoding[/]: how many families are how far, with how many ties one step closer, in all, "
        "and one step farther.\n"
    )
    families = elene.Graph.from_networkx(nx.florentine_families_graph())
    explain_node(families, "Medici", 2)
    save_picture(folder / "medici.png", lambda path: draw_ego(families, "Medici", 2, path))


def _show_rook_and_shrikhande(folder: Path) -> None:
    from elene.plot import draw_intersection

    a, b = elene.datasets.rook(), elene.datasets.shrikhande()
    say(
        "The Rook graph and the Shrikhande graph look the same from every node, counted like that; message passing "
        "and even 2-FWL see no difference either. But an [bold]edge[/] has two ends, and what both of them see is "
        "different.\n"
    )
    table = make_table("", "Rook", "Shrikhande", "")
    table.add_row("nodes, edges", *(f"{graph.num_nodes}, {graph.num_edges}" for graph in (a, b)), "same")
    table.add_row("every node sees (ND, k = 1)", _seen_by_node(a), _seen_by_node(b), _same_or_different(a, b, "node"))
    table.add_row(
        "both ends of every edge see (ED, k = 1)", _seen_by_edge(a), _seen_by_edge(b), _same_or_different(a, b, "edge")
    )
    console.print(table)
    save_picture(folder / "rook.png", lambda path: draw_intersection(a, 0, 1, 1, path))
    save_picture(folder / "shrikhande.png", lambda path: draw_intersection(b, 0, 1, 1, path))


def _seen_by_node(graph: elene.Graph) -> str:
    seen = sorted(elene.quadruplets(graph, 0, 1).items())
    return "\n".join(f"{count} x ({','.join(map(str, quadruplet))})" for quadruplet, count in seen)


def _seen_by_edge(graph: elene.Graph) -> str:
    seen = elene.edge_quadruplets(graph, (0, 1), 1)
    edges = sum(by_u.degree * count for (by_u, _), count in seen.items()) // 2
    return f"{counted(seen.total(), 'node')}, [bold]{counted(edges, 'edge')}[/]"


def _same_or_different(a: elene.Graph, b: elene.Graph, level: str) -> str:
    same = elene.fingerprint(a, 1, level, None) == elene.fingerprint(b, 1, level, None)
    return "same" if same else "[bold green]different[/]"


def _show_sr25(folder: Path) -> None:
    say(
        "There are 15 graphs of 25 nodes where all have 12 neighbours, of which adjacent nodes share 5, all others 6. "
        "The benchmark SR25 asks how many of them a method can tell apart. Here without any learning:\n"
    )
    graphs = elene.datasets.sr25()
    table = make_table("encodings of", "k", "different graphs seen", "because")
    table.columns[-1].justify = "left"
    reasons = (
        ("node", 1, "around every node, all counts are the same"),
        ("edge", 1, "the shared neighbours are joined in different ways"),
        ("edge", 2, "both ends see the whole graph"),
    )
    for level, k, why in reasons:
        seen = len({elene.fingerprint(graph, k, level, None) for graph in graphs})
        style = "bold green" if seen == len(graphs) else "bold"
        table.add_row(f"{level}s", str(k), f"[{style}]{seen} of {len(graphs)}[/]", why)
    console.print(table)
    say(
        "Deeper is not always better: several depths together, [cyan]-k 1 -k 2[/], get the best of both.",
        style="italic",
    )


def random_network(nodes: int, edges_per_node: int, seed: int = 0) -> elene.Graph:
    """A network grown by preferential attachment (Barabasi and Albert), all at once.

    Each new edge leads to an end of an earlier edge, drawn at random; where that end is itself such a draw, follow it
    (Batagelj and Brandes, 2005). Ends have numbers: 2i is the new node of edge i, and 2i + 1 what it leads to.

    >>> random_network(1000, 3).num_nodes
    1000
    """
    import numpy as np

    edge = np.arange(nodes * edges_per_node)
    end = (np.random.default_rng(seed).random(len(edge)) * (2 * edge + 1)).astype(np.int64)
    while (drawn := end % 2 == 1).any():
        end[drawn] = end[end[drawn] // 2]
    source, target = edge // edges_per_node, end // 2 // edges_per_node
    distinct = np.unique((source * nodes + target)[source != target])
    return elene.Graph.from_edges(np.stack(np.divmod(distinct, nodes), axis=1), num_nodes=nodes)


def _show_speed(folder: Path) -> None:
    import numpy as np

    from elene.engine.parallel import count_threads

    with working("Growing a random network"):
        graph = random_network(NODES, EDGES_PER_NODE)
        # What the kernels need of the graph is computed on first use.
        elene.encode(graph, 1, roots=[0])
    say(f"A random network with hubs: {size_of(graph)}, and up to {graph.max_degree:,} neighbours a node.\n")
    sample = np.random.default_rng(1).choice(NODES, SAMPLE, replace=False)
    table = make_table("encodings of", "k", "rows", "seconds", "rows a second")
    for level, k, roots in (("node", 1, None), ("edge", 1, None), ("node", 2, sample)):
        with working(f"Encoding {level}s at k = {k}"):
            started = perf_counter()
            rows = elene.encode(graph, k, level=level, roots=roots).matrix.shape[0]
            seconds = perf_counter() - started
        what = f"all {level}s" if roots is None else f"a sample of {level}s"
        table.add_row(what, str(k), f"{rows:,}", f"{seconds:.2f}", f"[bold green]{rows / seconds:,.0f}[/]")
    console.print(table)
    say(f"Exact counts, on {counted(count_threads(None), 'thread')}.", style="italic")
