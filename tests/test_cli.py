"""The command line: what it prints, its exit codes, and what bad input gets."""

from __future__ import annotations

import errno
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import elene.__main__
import elene.io.parts
import elene.io.writing
from elene.cli import app, demo
from elene.cli.options import read_graph
from elene.datasets import rook, shrikhande, sr25
from elene.encoding import Encoding, encode
from elene.graph import Graph

pytest.importorskip("networkx")
pytest.importorskip("pyarrow")

from typer.testing import CliRunner

FRIENDS = "ann,ben\nben,cat\ncat,ann\ncat,dan\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    Path("friends.csv").write_text(FRIENDS)
    Path("numbers.csv").write_text("5,6\n6,7\n7,5\n7,8\n")
    two = "".join(graph6(graph) for graph in (rook(), shrikhande()))
    Path("both.g6").write_text(two)
    return tmp_path


def graph6(graph):
    import networkx as nx

    return nx.to_graph6_bytes(nx.Graph(graph.edges.tolist()), header=False).decode()


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    assert "Traceback" not in result.output
    return result


def complaint(*arguments):
    """The one line that bad input gets on standard error."""
    result = run(*arguments, code=2)
    assert result.stdout == ""
    assert result.stderr.count("error:") == 1
    return " ".join(result.stderr.split())


# Help


def test_help_names_the_commands():
    text = run("--help").output
    for command in ("encode", "store", "compare", "explain", "explore", "demo", "warmup"):
        assert command in text
    assert "demo" in run(code=2).output


@pytest.mark.parametrize("command", ["encode", "store", "compare", "explain", "explore", "demo", "warmup"])
def test_each_help_has_an_example(command):
    text = run(command, "-h").output
    assert f"elene {command}" in text.partition("Example:")[2]


def test_help_is_quick_to_load():
    code = "import sys, elene.cli; print({'numpy', 'numba', 'scipy', 'pyarrow', 'matplotlib'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


def test_version():
    assert run("--version").output.strip() == f"elene {elene.__version__}"


def test_what_is_alive_at_the_end_is_not_looked_through_again():
    show = "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count() > 1000)); "
    code = show + "sys.argv = ['elene', '--version']; from elene.__main__ import main; main()"
    end = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert end.stdout.splitlines()[-1] == "True"


def test_without_typer_there_is_a_hint(monkeypatch, capsys):
    for name in [name for name in sys.modules if name.startswith("elene.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as stop:
        elene.__main__.main()
    assert stop.value.code == 2
    assert capsys.readouterr().err == 'elene: the command line needs typer: pip install "elene[io]"\n'


# encode


@pytest.mark.parametrize("depths", [["-k", 1, "-k", 2], ["-k", "1,2"]])
def test_encode_to_npz(here, depths):
    result = run("encode", "friends.csv", *depths, "--level", "edge", "-o", "out.npz")
    assert "4 edges x 60 columns" in result.stdout
    assert 'elene.Encoding.load("out.npz")' in result.stdout
    assert "4 nodes, 4 edges" in result.stderr
    found = Encoding.load("out.npz")
    expected = encode(Graph.read("friends.csv"), [1, 2], level="edge")
    assert (found.matrix != expected.matrix).nnz == 0
    assert found.edges.tolist() == expected.edges.tolist()
    assert sorted(path.name for path in here.iterdir()) == ["both.g6", "friends.csv", "numbers.csv", "out.npz"]


def test_encode_to_parquet_with_every_option(here):
    import pyarrow.parquet as parquet

    options = ["--level", "pair", "--radius", 1, "--form", "joint", "--degrees", "absolute", "--max-degree", 2]
    run("encode", "numbers.csv", "-k", 1, *options, "--threads", 1, "--chunk", 3, "-o", "out.parquet")
    table = parquet.read_table("out.parquet")
    assert table.column_names[:4] == ["source", "target", "pair_distance", "depth"]
    assert set(table["source"].to_pylist()) == {5, 6, 7, 8}
    assert max(table["pair_distance"].to_pylist()) == 1
    assert max(table["degree_1"].to_pylist()) == 2


def test_encode_one_of_several_graphs(here):
    run("encode", "both.g6#1", "-k", 1, "--level", "edge", "-o", "out.npz")
    assert (Encoding.load("out.npz").matrix != encode(shrikhande(), 1, level="edge").matrix).nnz == 0
    Path("odd#1").write_text("")
    Path("odd#7.csv").write_text(FRIENDS)
    assert read_graph("odd#7.csv").num_nodes == 4


def test_encode_warns_in_one_line(here):
    Path("loops.csv").write_text("a,a\na,b\na,b\n")
    lines = run("encode", "loops.csv", "-o", "out.npz").stderr.splitlines()
    assert [line for line in lines if "warning" in line] == [
        "warning: 1 self-loop dropped",
        "warning: 1 duplicate edge dropped",
    ]


def test_encode_interrupted_resumed_and_restarted(here, monkeypatch):
    encode_rows, calls = elene.io.writing.encode_rows, []

    def interrupted(graph, spec, rows, threads):
        calls.append(len(rows))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return encode_rows(graph, spec, rows, threads)

    for module in (elene.io.parts, elene.io.writing):
        monkeypatch.setattr(module, "encode_rows", interrupted)
    arguments = ["encode", "both.g6#0", "-k", "1", "-o", "out.npz", "--chunk", "5"]
    said = run(*arguments, code=130).stderr
    assert "10 of 16 rows are done and kept in out.npz.parts" in said
    assert "elene encode 'both.g6#0' -k 1 -o out.npz --chunk 5 --resume\n" in said
    assert not Path("out.npz").exists()
    assert "chunk=5, and now it is chunk=4" in complaint(*arguments[:-1], "4", "--resume")
    run(*arguments, "--resume")
    assert calls == [5, 5, 5, 5, 1, 0]
    Path("out.npz.parts").mkdir()
    assert "starting over, since --resume is not given" in run(*arguments).stderr
    assert not Path("out.npz.parts").exists()


def test_an_interrupt_before_any_row(here, monkeypatch):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(elene.io.writing, "find_rows", interrupted)
    assert run("encode", "friends.csv", "-o", "out.npz", code=130).stderr.endswith("interrupted\n")


def test_an_interrupt_that_numba_disguises(here, monkeypatch):
    def disguised(*arguments, **options):
        try:
            raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
        except SystemError as error:
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr(elene.io.writing, "encode_rows", disguised)
    assert "0 of 4 rows are done" in run("encode", "friends.csv", "-o", "out.npz", code=130).stderr
    monkeypatch.setattr(elene.io.writing, "find_rows", disguised)
    assert run("encode", "friends.csv", "-o", "out.npz", code=130).stderr.endswith("interrupted\n")


def test_one_interrupt_finishes_the_chunk_and_two_do_not(here, monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.default_int_handler)
    encode_rows = elene.io.writing.encode_rows
    for interrupts, expected in ((1, "5 of 16 rows are done"), (2, "0 of 16 rows are done")):

        def interrupted(*arguments, interrupts=interrupts):
            for _ in range(interrupts):
                signal.raise_signal(signal.SIGINT)
            return encode_rows(*arguments)

        monkeypatch.setattr(elene.io.writing, "encode_rows", interrupted)
        assert expected in run("encode", "both.g6#0", "-o", "out.npz", "--chunk", 5, code=130).stderr


def wait_for_parts(process, folder, wanted, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if len(list(folder.glob("part-*.npz"))) >= wanted:
            return
        time.sleep(0.005)
    process.kill()
    raise AssertionError(process.communicate())


def test_a_real_interrupt_and_resume(here):
    graph = demo.random_network(3000, 3)
    np.savetxt("network.csv", graph.edges, fmt="%d", delimiter=",")
    options = ["-k", "1", "--chunk", "10", "-o", "out.npz"]
    command = [sys.executable, "-m", "elene", "encode", "network.csv", *options]
    # A test run in the background may have been told to ignore interrupts, and the child would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    finally:
        signal.signal(signal.SIGINT, before)
    wait_for_parts(process, Path("out.npz.parts"), 3)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert f"elene encode network.csv {' '.join(options)} --resume" in said
    assert not Path("out.npz").exists()
    assert 3 <= len(list(Path("out.npz.parts").glob("part-*.npz"))) < 300
    subprocess.run([*command, "--resume"], check=True, capture_output=True, timeout=120)
    found = Encoding.load("out.npz")
    assert (found.matrix != encode(Graph.read("network.csv"), 1).matrix).nnz == 0
    assert sorted(path.name for path in here.iterdir() if "out" in path.name) == ["out.npz"]


def test_depths_beyond_the_diameter_are_said(here):
    said = " ".join(run("encode", "friends.csv", "-k", 1, "-k", 300, "-o", "out.npz").stdout.split())
    assert "No node is farther than 2 hops: -k 300 counts the same as that depth." in said
    assert "farther" not in run("encode", "friends.csv", "-k", 2, "-o", "out.npz").stdout
    assert "k=10000000 and degrees up to 3 need" in complaint(
        "encode", "friends.csv", "-k", 10_000_000, "-o", "out.npz"
    )


@pytest.mark.parametrize("how", ["same", "symbolic", "hard", "numbered", "relative"])
def test_the_output_must_not_be_the_input(how, here):
    np.savez("g.npz", edges=[[0, 1], [1, 2]], num_nodes=3)
    before, output, graph = Path("g.npz").read_bytes(), "g.npz", "g.npz"
    if how == "symbolic":
        output = "link.npz"
        Path(output).symlink_to("g.npz")
    elif how == "hard":
        output = "link.npz"
        Path(output).hardlink_to("g.npz")
    elif how == "numbered":
        graph = "g.npz#0"
    elif how == "relative":
        Path("folder").mkdir()
        output = "folder/../g.npz"
    assert f"--output '{output}' is the graph's own file" in complaint("encode", graph, "-o", output)
    assert Path("g.npz").read_bytes() == before
    if how == "symbolic":
        Path("link.png").symlink_to("g.npz")
        assert "is the graph's own file" in complaint("explain", graph, "--node", 0, "-o", "link.png")
        assert Path("g.npz").read_bytes() == before


def test_a_full_disk_is_one_line_that_names_resume(here, monkeypatch):
    def full(*arguments, **arrays):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(elene.io.parts.np, "savez", full)
    said = complaint("encode", "friends.csv", "-o", "out.npz")
    assert "error: the disk is full: make room, then go on with --resume" in said


# compare


def test_compare_graphs_that_differ(here):
    result = run("compare", "both.g6#0", "both.g6#1", code=1)
    assert "The graphs differ by ED at k=1" in result.stdout
    assert re.search(r"│ +96 │ +0 │", result.stdout)


def test_compare_by_refinement_only(here, monkeypatch):
    from elene.encoding.fingerprints import Comparison

    monkeypatch.setattr(
        "elene.encoding.fingerprints.compare", lambda *_, **__: Comparison(True, "PD at k=1 with 2-FWL", [], [])
    )
    assert "differ by PD at k=1 with 2-FWL" in run("compare", "friends.csv", "numbers.csv", code=1).stdout


def test_compare_graphs_that_look_alike(here):
    assert "Not told apart" in run("compare", "both.g6#0", "both.g6#1", "--level", "node").stdout
    same = run("compare", "friends.csv", "numbers.csv", "-k", 1, "--level", "pair", "--refine", "2fwl")
    assert "Not told apart by number of nodes, number of edges, PD at k=1" in " ".join(same.stdout.split())
    assert "WL" not in run("compare", "friends.csv", "numbers.csv", "--refine", "none").stdout.partition("They may")[0]


# explain


def test_explain_a_node(here):
    text = " ".join(run("explain", "friends.csv", "--node", "dan").stdout.split())
    assert "Node dan, k = 2 4 nodes within 2 hops, 4 edges among them" in text
    assert "│ 2 │ 1 │ 2 │ 0 │ 2 │" in text
    assert "Row (2, 1, 2, 0): 2 nodes are 2 hops from dan and have 2 neighbours in sight each: 1 closer to dan" in text


def test_explain_a_lonely_node(here):
    text = " ".join(run("explain", "numbers.csv", "--node", 5, "-k", 0).stdout.split())
    assert "1 node within 0 hops, 0 edges among them" in text
    assert "Row (0, 0, 0, 0): 1 node is 0 hops from 5 and has 0 neighbours in sight" in text


def test_explain_an_edge_and_draw_it(here):
    pytest.importorskip("matplotlib")
    text = run("explain", "numbers.csv", "--edge", 7, 8, "-k", 1, "-o", "edge.svg").stdout
    assert "Edge (7, 8), k = 1" in text
    assert "2 nodes within 1 hop of both ends, 1 edge among them" in text
    assert "from 7" in text and "from 8" in text
    assert "Picture: edge.svg" in text
    assert "<svg" in Path("edge.svg").read_text()
    run("explain", "numbers.csv", "--node", 7, "-o", "ego.png")
    assert Path("ego.png").read_bytes()[1:4] == b"PNG"


def test_explain_shortens_long_tables(here):
    np.savetxt("network.csv", demo.random_network(400, 4).edges, fmt="%d", delimiter=",")
    text = run("explain", "network.csv", "--node", 0).stdout
    assert "rarer rows" in text
    nodes = [int(line.split("│")[-2]) for line in text.splitlines() if re.match(r"│ +\d", line)]
    assert f"{sum(nodes)} nodes within 2 hops" in text


# demo


def test_demo(here, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(demo, "NODES", 500)
    monkeypatch.setattr(demo, "SAMPLE", 20)
    few = sr25()[:4]
    monkeypatch.setattr("elene.datasets.sr25", lambda: few)
    text = run("demo", "--folder", "new/pictures").stdout
    for said in ("Node Medici, k = 2", "4 nodes, 6 edges", "4 nodes, 5 edges", "different", "4 of 4", "elene encode"):
        assert said in text
    assert sorted(path.name for path in Path("new/pictures").iterdir()) == ["medici.png", "rook.png", "shrikhande.png"]


def test_warmup_runs_everything_once():
    text = run("warmup").stdout
    for what in ("nodes, k = 1", "edges, joint", "pairs", "fingerprints", 'ELENE-L, level="edge"', "in all"):
        assert what in text


def test_random_network_has_hubs():
    graph = demo.random_network(2000, 3, seed=1)
    assert graph.num_nodes == 2000
    assert 0.9 * 6000 < graph.num_edges <= 6000
    assert graph.max_degree > 10 * graph.degrees.mean()
    assert (graph.edges == demo.random_network(2000, 3, seed=1).edges).all()


# Bad input


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["encode", "friends.csv", "-o", "out.txt"], "output must end in .npz or .parquet or .csv, got 'out.txt'"),
        (["encode", "friends.csv", "-o", "no/out.npz"], "the folder 'no' does not exist: create it first"),
        (["encode", "missing.csv", "-o", "out.npz"], "no such file: missing.csv"),
        (["encode", "both.g6", "-o", "out.npz"], "both.g6 holds several graphs: pass both.g6#0 for the first of them"),
        (["encode", "both.g6#2", "-o", "out.npz"], "the file holds 2 graphs, counted from 0"),
        (["encode", "broken.npz", "-o", "out.npz"], "broken.npz: "),
        (["encode", "friends.csv", "-k", "-1", "-o", "out.npz"], "k must be at least 0, got -1"),
        (["encode", "friends.csv", "-k", "1.5", "-o", "out.npz"], "-k must be a number of hops, such as 2, or several"),
        (["compare", "friends.csv", "missing.csv", "-k", "1,x"], "-k must be a number of hops"),
        (["encode", "friends.csv", "-k", "1", "-k", "1", "-o", "out.npz"], "k must name each depth once, got [1, 1]"),
        (["encode", "friends.csv", "--max-degree", "-3", "-o", "out.npz"], "max_degree must be at least 0, got -3"),
        (["encode", "friends.csv", "--radius", "2", "-o", "out.npz"], "radius=2 is for level='pair'"),
        (["encode", "friends.csv", "--form", "product", "-o", "out.npz"], "pass level='edge' or level='pair'"),
        (["brec", "--file", "friends.csv"], "friends.csv, line 1: the tab-separated columns must be pair,"),
        (["brec", "--file", "friends.csv", "--seed", "1"], "pass --row NAME, too, or leave them out"),
        (["brec", "model.layers=2"], "pass --row NAME, too, or leave them out"),
        (["reproduce", "brec"], "BREC is a command of its own"),
        (["explain", "friends.csv"], "pass either --node NODE or --edge U V"),
        (["explain", "friends.csv", "--node", "ann", "--edge", "ann", "ben"], "pass either --node NODE or --edge U V"),
        (["explain", "friends.csv", "--node", "eve"], "node: node 'eve' is not in the graph"),
        (["explain", "friends.csv", "--edge", "ann", "dan"], "edge: ('ann', 'dan') is not an edge of the graph"),
        (
            ["explain", "numbers.csv", "--node", "x"],
            "--node must be an integer, as all nodes of this graph are; got 'x'",
        ),
        (["explain", "numbers.csv", "--node", "9"], "node 9 is not in the graph"),
        (["explain", "numbers.csv", "--node", "5", "-o", "a.pdf"], "--output must end in .png or .svg, got 'a.pdf'"),
        (["demo", "--folder", "friends.csv"], "friends.csv"),
    ],
)
def test_bad_input_gets_one_line(arguments, expected, here):
    Path("broken.npz").write_bytes(b"PK\x03\x04 no more")
    assert expected in complaint(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ["encode", "friends.csv"],
        ["encode", "friends.csv", "--level", "triangle", "-o", "out.npz"],
        ["encode", "friends.csv", "--threads", "0", "-o", "out.npz"],
        ["encode", "friends.csv", "--chunk", "0", "-o", "out.npz"],
        ["compare", "friends.csv"],
        ["compare", "friends.csv", "numbers.csv", "--refine", "3wl"],
        ["explain", "friends.csv", "--edge", "ann"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_explained(arguments, here):
    said = run(*arguments, code=2).stderr
    assert "Error" in said


def test_out_of_memory_is_said(here, monkeypatch):
    def greedy(*arguments, **options):
        raise MemoryError

    monkeypatch.setattr(elene.io.writing, "encode_rows", greedy)
    assert "not enough memory" in complaint("encode", "friends.csv", "-o", "out.npz")


def test_debug_shows_the_traceback(here):
    result = CliRunner().invoke(app, ["--debug", "encode", "missing.csv", "-o", "out.npz"])
    assert isinstance(result.exception, FileNotFoundError)


def test_a_pipe_that_closes_early_is_no_error(here):
    command = f"{sys.executable} -m elene explain numbers.csv --node 7 | head -c 1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert all(line.startswith(("numbers.csv: ", "elene: compiling")) for line in result.stderr.splitlines())


def test_threads_that_cannot_be_started_are_one_line(here, monkeypatch):
    def refused(*arguments, **options):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(elene.io.writing, "encode_rows", refused)
    assert "the system starts no more threads" in complaint("encode", "friends.csv", "-o", "out.npz")
    said = complaint("encode", "friends.csv", "-o", "out.npz", "--threads", 2**63 - 1)
    assert "threads must be at most 4096, got 9223372036854775807" in said


INTERRUPTED = """
import importlib.abc, signal, sys
import elene.__main__

module, sys.argv = sys.argv[1], ["elene", "encode", "friends.csv", "-o", "out.npz"]

class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == module:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
elene.__main__.main()
"""


@pytest.mark.parametrize("module", ["typer", "elene.cli", "elene.graph", "numpy", "scipy.sparse", "pyarrow", "numba"])
def test_an_interrupt_while_modules_are_loaded_is_one_line(module, here):
    result = subprocess.run([sys.executable, "-c", INTERRUPTED, module], capture_output=True, text=True, timeout=120)
    assert result.returncode == 130, result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.splitlines()[-1] == "interrupted"


def test_a_table_with_a_row_a_node_from_a_pipe(here):
    result = CliRunner().invoke(app, ["encode", "-", "-k", "1", "-o", "out.csv", "--compact"], input="a|b\nb|c\n")
    assert result.exit_code == 0 and "pandas.read_csv" in result.output, result.output
    header, *rows = Path("out.csv").read_text().splitlines()
    assert header.startswith('"node","k1.distance0.closer0"')
    assert [row.split(",")[0] for row in rows] == ['"a"', '"b"', '"c"']
    assert "layout='wide' (--wide) is for" in complaint("encode", "numbers.csv", "--wide", "-o", "out.npz")


@pytest.fixture
def water(here):
    """Two paths with the same atoms in another order, and a table of nodes for the friends."""
    import networkx as nx

    for name, atoms in (("water", "HOH"), ("other", "HHO")):
        graph = nx.path_graph(3)
        nx.set_node_attributes(graph, dict(enumerate(atoms)), "atom")
        nx.write_graphml(graph, f"{name}.graphml")
    Path("people.csv").write_text("node,town\ndan,Rome\ncat,Rome\nben,Oslo\nann,Oslo\n")
    Path("ages.tsv").write_text("who\tage\n5\t30\n6\t30\n7\t31\n8\t32\n")
    return here


def test_labels_from_attributes_and_tables_of_nodes(water):
    run("encode", "water.graphml", "-k", 1, "--form", "joint", "--labels", "atom", "-o", "out.npz")
    names = [str(column) for column in Encoding.load("out.npz").columns]
    assert names == ["k1.(0,0,1,1,H)", "k1.(0,0,2,2,O)", "k1.(1,1,1,0,H)", "k1.(1,1,1,0,O)"]
    result = run("encode", "friends.csv", "-k", 1, "--nodes", "people.csv", "--labels", "town", "-o", "out.csv")
    assert "2 labels" in result.stderr
    header, ann, *_ = Path("out.csv").read_text().splitlines()
    assert "k1.distance1.degree2.labelRome" in header and ann.startswith('"ann"')
    run(
        "encode",
        "numbers.csv",
        "-k",
        1,
        "--nodes",
        "ages.tsv",
        "--labels",
        "age",
        "--form",
        "type",
        "-o",
        "out.parquet",
    )
    assert "type" in Path("out.parquet").read_bytes().decode("latin-1")
    assert Graph.read("numbers.csv", nodes="ages.tsv", labels="age").labels.tolist() == [30, 30, 31, 32]


def test_compare_and_explain_with_labels(water):
    run("compare", "water.graphml", "other.graphml")
    result = run("compare", "water.graphml", "other.graphml", "--labels", "atom", code=1)
    assert "ED at k=1" in result.stdout and "(0,0,1,1,H)(1,1,1,0,H)" in result.stdout
    result = run("explain", "water.graphml", "--node", 1, "-k", 1, "--labels", "atom")
    assert re.search(r"distance.*farther.*label.*nodes", result.stdout)
    assert "2 nodes labelled H are 1 hop from 1" in result.stdout
    result = run("explain", "water.graphml", "--edge", 0, 1, "-k", 1, "--labels", "atom")
    assert "label" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("friends.csv", "--labels", "town"), "--nodes"),
        (("friends.csv", "--nodes", "people.csv"), "name the column that holds them as labels"),
        (("friends.csv", "--nodes", "people.csv", "--labels", "age"), "is not a column of people.csv"),
        (("friends.csv", "--nodes", "people.csv", "--labels", "node"), "the column with the names of nodes"),
        (("numbers.csv", "--nodes", "people.csv", "--labels", "town"), "node 5 has none"),
        (("friends.csv", "--nodes", "missing.csv", "--labels", "town"), "no such file"),
        (("friends.csv", "--nodes", "both.g6", "--labels", "town"), "a table of nodes must end in"),
        (("water.graphml", "--labels", "colour"), "'atom'"),
    ],
)
def test_bad_labels_get_one_line(arguments, says, water):
    assert says in complaint("encode", *arguments, "-o", "out.npz")


@pytest.fixture
def rings(here):
    """Two rings of six with as many bonds of each kind, in another order, as markup and as tables."""
    import networkx as nx

    for name, bonds in (("a", "121212"), ("turned", "212121"), ("b", "111222")):
        graph = nx.cycle_graph(6)
        nx.set_edge_attributes(graph, dict(zip([(i, (i + 1) % 6) for i in range(6)], bonds, strict=True)), "bond")
        nx.write_graphml(graph, f"{name}.graphml")
        lines = [f"{u},{v},{bond}" for u, v, bond in graph.edges(data="bond")]
        Path(f"{name}.csv").write_text("\n".join(["source,target,bond", *reversed(lines)]) + "\n")
    return here


@pytest.mark.parametrize("ending", ["graphml", "csv"])
def test_compare_with_labels_of_edges(ending, rings):
    run("compare", f"a.{ending}", f"b.{ending}")
    result = run("compare", f"a.{ending}", f"b.{ending}", "--edge-labels", "bond", code=1)
    assert "6 nodes, 6 edges, 2 labels of edges" in result.stdout and "over labelled edges" in result.stdout
    run("compare", f"a.{ending}", f"b.{ending}", "--edge-labels", "bond", "--refine", "2fwl", code=1)
    run("compare", f"a.{ending}", f"turned.{ending}", "--edge-labels", "bond")
    run("compare", "a.graphml", "turned.csv", "--edge-labels", "bond", "--refine", "2fwl")


def test_labels_of_edges_from_a_pipe(rings):
    result = CliRunner().invoke(app, ["compare", "-", "b.csv", "--edge-labels", "2"], input="0 1 9\n1 2 9\n")
    assert result.exit_code == 1 and "1 label of edges" in result.stdout and "number of nodes" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("a.graphml", "b.graphml", "--edge-labels", "colour"), "a.graphml: edge_labels='colour' is no attribute"),
        (("a.csv", "b.csv", "--edge-labels", "colour"), "there are 0 ('source'), 1 ('target'), 2 ('bond')"),
        (("a.graphml", "both.g6#0", "--edge-labels", "bond"), "edge_labels='bond' is for attributes of edges"),
        (("a.graphml", "b.graphml", "--edge-labels", "bond", "--refine", "none"), "--refine wl"),
        (("a.graphml", "both.g6", "--edge-labels", "bond"), "edge_labels='bond' is for attributes of edges"),
    ],
)
def test_bad_labels_of_edges_get_one_line(arguments, says, rings):
    assert says in complaint("compare", *arguments)
