"""Files of every format, changed at random: read as a naive reader does, or refused; quickly, and in little memory.

Run in a process of its own, for it measures memory: ``python tests/io/fuzz_files.py FOLDER SEED FILES_A_FORMAT``.
"""

from __future__ import annotations

import gzip
import io
import re
import signal
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp

import naive_files as naive
from elene.graph import Graph
from elene.io.readers import Options, text

SECONDS, MOST_MEMORY = 20, 200_000_000
TOKENS = [
    *(b'"', b'""', b"\n", b"\r", b"\r\n", b"\n\n", b",", b";", b"\t", b" ", b"  ", b"#", b"# ", b"%", b"\xef\xbb\xbf"),
    *(b"007", b"-0", b"0x1F", b"1e5", b"+7", b"99999999999999999999", b"-1", b"2147483648", b"nan", b"NA", b"{}"),
    *(b"{'w': 1}", b"source", b"target", b"weight", b"\0", b"\xff", "\u00e9".encode(), b"\xc2\xa0", b"'", b"0", b"1"),
]


def edge_lists(random):
    """Edge lists of many shapes."""
    n = int(random.integers(3, 9))
    pairs = random.integers(0, n, size=(int(random.integers(1, 12)), 2)).tolist()
    delimiter = str(random.choice([",", ";", "\t", " ", ", ", "  "]))
    name = str(random.choice(["{}", "n{}", '"n {}"' if delimiter.strip(" ") else '"n{}"', "00{}"]))
    rows = [[name.format(u), name.format(v)] for u, v in pairs]
    if random.random() < 0.4:
        rows = [[*row, f"{random.random():.3f}"] for row in rows]
    if random.random() < 0.4:
        rows.insert(0, ["source", "target", "weight"][: len(rows[0])])
    if random.random() < 0.2:
        rows = [[str(i), *row] if i else ["", *row] for i, row in enumerate(rows)]
    ending = str(random.choice(["\n", "\r\n", "\r"]))
    top = "# a comment" + ending if random.random() < 0.3 else ""
    attributes = " {}" if random.random() < 0.1 else ""
    return (top + "".join(delimiter.join(row) + attributes + ending for row in rows)).encode()


def some_graph(random, name=int):
    n = int(random.integers(2, 10))
    graph = nx.gnp_random_graph(n, 0.4, seed=int(random.integers(2**31)))
    return nx.relabel_nodes(graph, {node: name(node) for node in graph})


def written(write, *arguments):
    buffer = io.BytesIO()
    write(buffer, *arguments)
    return buffer.getvalue()


def parquets(random):
    pairs = random.integers(0, 9, size=(int(random.integers(1, 12)), 2))
    columns = {"weight": pa.array(random.random(len(pairs))), "u": pa.array(pairs[:, 0]), "v": pa.array(pairs[:, 1])}
    if random.random() < 0.5:
        columns["u"] = columns["u"].cast(pa.string())
        columns["v"] = columns["v"].cast(pa.string())
    return written(lambda file: pq.write_table(pa.table(columns), file, write_page_checksum=True))


def matrices(random):
    array = nx.to_scipy_sparse_array(some_graph(random), format=str(random.choice(["csr", "csc", "coo"])))
    return written(sp.save_npz, array)


def networks(random):
    graph = some_graph(random)
    edges = np.array(graph.edges).reshape(-1, 2)
    return written(lambda file: np.savez(file, edges=edges, num_nodes=len(graph)))


def metis_files(random):
    graph, weighted = some_graph(random), random.random() < 0.3
    lines = [f"{len(graph)} {graph.number_of_edges()}" + (" 1" if weighted else "")]
    for node in graph:
        lines.append(" ".join(f"{other + 1} 5" if weighted else str(other + 1) for other in graph[node]))
    return "\n".join([*lines, ""]).encode()


def graph6_files(random):
    return nx.to_graph6_bytes(some_graph(random), header=bool(random.integers(2)))


def graphml_files(random):
    return written(lambda file: nx.write_graphml(some_graph(random, "n{}".format), file))


def gml_files(random):
    return written(lambda file: nx.write_gml(some_graph(random, "n{}".format), file))


def naive_edges(path, content):
    """The same file, naively; the layout of a table is that of the reader, whose choice has tests of its own."""
    table = text.describe_text(text.normalised(content), Options())
    if table is None:
        return naive.spanned([])
    return naive.edge_list(content, table.delimiter, table.ends, table.header is not None)


def naive_parquet(path, content):
    names = pq.read_schema(path).names
    return naive.parquet(path, [name for name in ("u", "v") if name in names])


FORMATS = {
    "a.txt": (edge_lists, naive_edges),
    "a.csv.gz": (edge_lists, naive_edges),
    "a.parquet": (parquets, naive_parquet),
    "matrix.npz": (matrices, lambda path, content: naive.matrix(path)),
    "network.npz": (networks, lambda path, content: naive.network(path)),
    "a.metis": (metis_files, lambda path, content: naive.metis(content)),
    "a.g6": (graph6_files, lambda path, content: naive.graph6(content)),
    "a.graphml": (graphml_files, lambda path, content: naive.graphml(content)),
    "a.gml": (gml_files, lambda path, content: naive.gml(content)),
}


def mutated(content, random):
    """Some bytes or tokens changed, some lines moved, or the end cut off."""
    content = bytearray(content)
    for _ in range(int(random.integers(0, 4))):
        place, how = int(random.integers(len(content) + 1)), random.integers(6)
        if how == 0 and place < len(content):
            content[place] = int(random.integers(256))
        elif how == 1:
            content[place:place] = TOKENS[int(random.integers(len(TOKENS)))]
        elif how == 2:
            content[place : place + int(random.integers(1, 4))] = b""
        elif how == 3:
            content[place : place + 1] = TOKENS[int(random.integers(len(TOKENS)))]
        elif how == 4:
            del content[place:]
        else:
            lines = bytes(content).split(b"\n")
            random.shuffle(lines)
            content = bytearray(b"\n".join(lines))
    return bytes(content)


def peak_memory():
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) * 1000


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


def read(path):
    """Nodes and edges as our reader finds them; None where it refuses the file, which it must name."""
    try:
        graph = Graph.read(path)
    except ValueError as error:
        assert str(error).startswith(f"{path}: "), error
        return None
    labels = graph.nodes.tolist()
    return set(labels), {frozenset((labels[u], labels[v])) for u, v in graph.edges.tolist()}


def check(path, content, naively):
    """Whether a file was read, as the naive reader does it."""
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    forget_peak()
    before = peak_memory()
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        found = read(path)
        assert peak_memory() - before < MOST_MEMORY + 10 * len(content), "memory"
        if found is not None:
            expected = naively(path, content)
            assert found == expected, f"{found} instead of {expected}"
    except BaseException as error:
        print(f"{path.name}: {type(error).__name__}: {error}\n{content!r}", file=sys.stderr)
        raise
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found is not None


def main(folder, seed, count):
    """Check so many files of each format, and print how many of them were read."""
    warnings.simplefilter("ignore")
    for name, (make, naively) in FORMATS.items():
        random, tally = np.random.default_rng([seed, len(name), ord(name[0])]), 0
        check(Path(folder, name), make(random), naively)
        for _ in range(count):
            tally += check(Path(folder, name), mutated(make(random), random), naively)
        print(name, tally)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
