"""One output, several runs: locks, damage, killed processes, full disks and links."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest

import elene.io.parts
import elene.io.writing
from elene.encoding import Encoding, encode
from elene.encoding.encoding import encode_rows
from elene.encoding.spec import EncodingSpec
from elene.files import holding, replacing
from elene.graph import Graph, GraphWarning
from elene.io.writing import parts_folder, write_encoding

GRAPH = Graph.from_edges([(i, (i * 7 + 1) % 60) for i in range(60) if i != (i * 7 + 1) % 60])


def interrupt(monkeypatch, at):
    """Let encoding be interrupted after so many chunks; gives the list of the rows that were asked for."""
    asked = []

    def interrupted(graph, spec, rows, threads):
        if len(rows):
            if len(asked) == at:
                raise KeyboardInterrupt
            asked.append(rows.first.tolist())
        return encode_rows(graph, spec, rows, threads)

    monkeypatch.setattr(elene.io.writing, "encode_rows", interrupted)
    return asked


def left_unfinished(monkeypatch, path, spec, parts=3):
    interrupt(monkeypatch, parts)
    with pytest.raises(KeyboardInterrupt):
        write_encoding(GRAPH, spec, path, chunk=15)
    return interrupt(monkeypatch, None)


def assert_right(path, spec):
    found = Encoding.load(path)
    expected = encode(GRAPH, spec.depths, level=spec.level, form=spec.form)
    assert found.spec == expected.spec
    assert (found.matrix != expected.matrix).nnz == 0


RACE = """
import os, sys, time
from pathlib import Path
from elene.encoding import Encoding, encode
from elene.encoding.spec import EncodingSpec
from elene.graph import Graph
from elene.io.writing import write_encoding

graph = Graph.from_edges([(i, (i * 7 + 1) % 60) for i in range(60) if i != (i * 7 + 1) % 60])
specs = [EncodingSpec.of(1), EncodingSpec.of(2), EncodingSpec.of(1, "edge"), EncodingSpec.of(2, form="joint")]
expected = {spec: encode(graph, spec.depths, level=spec.level, form=spec.form) for spec in specs}

def run(spec, path, begin):
    while time.time() < begin:
        pass
    try:
        # Slow enough for the other run to come in between at any stage.
        write_encoding(graph, spec, path, chunk=6, threads=1, report=lambda *_: time.sleep(0.0005))
    except BlockingIOError as error:
        os._exit(2 if "is being written by" in str(error) else 3)
    os._exit(0)

def start(spec, path, begin):
    child = os.fork()
    if not child:
        try:
            run(spec, path, begin)
        except BaseException as error:
            print(repr(error), file=sys.stderr, flush=True)
            os._exit(4)
    return child

def same(a, b):
    return a.matrix.shape == b.matrix.shape and (a.matrix != b.matrix).nnz == 0

folder = Path(sys.argv[1])
outcomes = []
for race in range(20):
    path = folder / f"out{race}.npz"
    pair = specs[race % 4], specs[(race + 1 + race // 4 % 3) % 4]
    begin = time.time() + 0.02
    children = [start(spec, path, begin + race * 0.002 * i) for i, spec in enumerate(pair)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    found = Encoding.load(path)
    whole = found.spec in pair and same(found, expected[found.spec])
    refused_did_not_write = all(codes[i] == 0 or found.spec == pair[1 - i] for i in range(2))
    outcomes.append((sorted(codes), whole, refused_did_not_write, sorted(p.name for p in folder.iterdir())))
    path.unlink()
for race, (codes, whole, right, left) in enumerate(outcomes):
    assert codes in ([0, 0], [0, 2]), outcomes
    assert whole and right and left == [f"out{race}.npz"], outcomes
print(sum(codes == [0, 2] for codes, *_ in outcomes))
"""


@pytest.mark.jit
def test_pairs_of_runs_with_one_output_end_whole_or_refused(tmp_path):
    result = subprocess.run([sys.executable, "-c", RACE, str(tmp_path)], capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    assert int(result.stdout) >= 5, "hardly any two runs met"


def test_a_run_is_told_who_writes_the_same_output(tmp_path):
    path = tmp_path / "out.npz"
    refusals = []

    def meanwhile(stage, done, total):
        if not refusals:
            with pytest.raises(BlockingIOError) as refusal:
                write_encoding(GRAPH, EncodingSpec.of(2), path)
            refusals.append(str(refusal.value))

    write_encoding(GRAPH, EncodingSpec.of(1), path, report=meanwhile)
    assert f"{path} is being written by process {os.getpid()} on " in refusals[0]
    assert_right(path, EncodingSpec.of(1))
    assert os.listdir(tmp_path) == ["out.npz"]


def test_the_lock_is_the_same_through_a_link(tmp_path):
    path, link = tmp_path / "out.npz", tmp_path / "link.npz"
    link.symlink_to("out.npz")
    (tmp_path / "out.npz.parts").mkdir()
    with holding(parts_folder(path) / "lock"), pytest.raises(BlockingIOError, match="is being written"):
        write_encoding(GRAPH, EncodingSpec.of(1), link)


def test_parts_of_another_setting_are_never_used(tmp_path, monkeypatch):
    path = tmp_path / "out.npz"
    left_unfinished(monkeypatch, path, EncodingSpec.of(1))
    stranger = (parts_folder(path) / "part-000001.npz").read_bytes()
    parts_folder(path).rename(tmp_path / "old")
    rest = left_unfinished(monkeypatch, path, EncodingSpec.of(2))
    (parts_folder(path) / "part-000001.npz").write_bytes(stranger)
    with pytest.warns(GraphWarning, match=r"part-000001\.npz is damaged"):
        write_encoding(GRAPH, EncodingSpec.of(2), path, chunk=15, resume=True)
    assert [rows[0] for rows in rest] == [15, 45]
    assert_right(path, EncodingSpec.of(2))


def test_a_part_in_the_place_of_another_is_not_used(tmp_path, monkeypatch):
    path = tmp_path / "out.npz"
    rest = left_unfinished(monkeypatch, path, EncodingSpec.of(1))
    folder = parts_folder(path)
    (folder / "part-000000.npz").write_bytes((folder / "part-000002.npz").read_bytes())
    with pytest.warns(GraphWarning, match="is damaged"):
        write_encoding(GRAPH, EncodingSpec.of(1), path, chunk=15, resume=True)
    assert [rows[0] for rows in rest] == [0, 45]
    assert_right(path, EncodingSpec.of(1))


@pytest.mark.parametrize("form", ["marginal", "joint"])
def test_a_flipped_byte_in_a_part_is_found_and_mended(form, tmp_path, monkeypatch):
    spec, path, random = EncodingSpec.of(1, form=form), tmp_path / "out.npz", np.random.default_rng(0)
    left_unfinished(monkeypatch, path, spec)
    part = parts_folder(path) / "part-000001.npz"
    whole = part.read_bytes()
    kept = {p.name: p.read_bytes() for p in parts_folder(path).iterdir()}
    mended = 0
    for place in random.integers(len(whole), size=60):
        parts_folder(path).mkdir(exist_ok=True)
        for name, content in kept.items():
            (parts_folder(path) / name).write_bytes(content)
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << int(random.integers(8))]) + whole[place + 1 :])
        rest = interrupt(monkeypatch, None)
        # A flip where the archive says nothing about the content, in a date for one, may go unnoticed.
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            write_encoding(GRAPH, spec, path, chunk=15, resume=True)
        # Without the JIT numpy tells of the overflows that hashes are made of, too.
        named = [warning for warning in told if issubclass(warning.category, GraphWarning)]
        assert rest in ([list(range(45, 60))], [list(range(15, 30)), list(range(45, 60))])
        assert len(named) == len(rest) - 1
        mended += len(named)
        assert_right(path, spec)
    assert mended > 20


def test_what_is_written_is_verified_before_it_is_moved(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    for ending in ("npz", "parquet"):
        path = tmp_path / f"out.{ending}"
        path.write_text("what was there before")
        write, verify = elene.io.writing._FORMATS[f".{ending}"]

        def failing_disk(parts, temporary, tell, write=write):
            write(parts, temporary, tell)
            content = bytearray(temporary.read_bytes())
            content[200] ^= 1
            temporary.write_bytes(content)

        monkeypatch.setitem(elene.io.writing._FORMATS, f".{ending}", (failing_disk, verify))
        with pytest.raises((OSError, ValueError, zipfile.BadZipFile)):
            write_encoding(GRAPH, EncodingSpec.of(1), path)
        assert path.read_text() == "what was there before"
        monkeypatch.setitem(elene.io.writing._FORMATS, f".{ending}", (write, verify))
        write_encoding(GRAPH, EncodingSpec.of(1), path, resume=True)
        assert path.read_text(errors="replace") != "what was there before"


def test_a_part_that_goes_bad_while_the_file_is_written(tmp_path):
    path = tmp_path / "out.npz"

    def spoil(stage, done, total):
        if stage == "writing" and done == 0:
            part = parts_folder(path) / "part-000002.npz"
            part.write_bytes(part.read_bytes()[:-30])

    with pytest.raises(ValueError, match=r"part-000002\.npz is damaged .* resume computes it again"):
        write_encoding(GRAPH, EncodingSpec.of(1), path, chunk=15, report=spoil)
    with pytest.warns(GraphWarning, match=r"part-000002\.npz is damaged"):
        write_encoding(GRAPH, EncodingSpec.of(1), path, chunk=15, resume=True)
    assert_right(path, EncodingSpec.of(1))


# Left-overs


KILLED = """
import os, signal, sys
from elene.files import replacing

with replacing(sys.argv[1]) as temporary:
    temporary.write_text("half")
    print(temporary.name, flush=True)
    if len(sys.argv) > 2:
        sys.stdin.readline()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_gone_after_the_next(tmp_path):
    path = tmp_path / "out.txt"
    waiting = [
        subprocess.Popen([sys.executable, "-c", KILLED, path, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    names = {process.stdout.readline().strip() for process in waiting}
    assert len(names) == 2, "two writers, two temporary files"
    with replacing(path) as temporary:
        temporary.write_text("mine")
    assert path.read_text() == "mine"
    assert len(os.listdir(tmp_path)) == 3, "files of living writers stay"
    for process in waiting:
        process.communicate(b"\n")
        assert process.returncode == -signal.SIGKILL
    with replacing(path) as temporary:
        temporary.write_text("whole")
    assert path.read_text() == "whole"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.jit
def test_what_a_killed_run_left_is_gone_after_the_next(tmp_path):
    code = """
import os, signal, sys
from elene.encoding.spec import EncodingSpec
from elene.graph import Graph
from elene.io.writing import write_encoding

def kill(stage, done, total):
    if stage == sys.argv[2] and done > 0:
        os.kill(os.getpid(), signal.SIGKILL)

graph = Graph.from_edges([(i, (i * 7 + 1) % 60) for i in range(60) if i != (i * 7 + 1) % 60])
write_encoding(graph, EncodingSpec.of(1), sys.argv[1], chunk=15, report=kill)
"""
    path = tmp_path / "out.npz"
    for stage in ("encoding", "writing"):
        subprocess.run([sys.executable, "-c", code, path, stage], timeout=120)
        assert not path.exists()
        assert {p.name for p in parts_folder(path).iterdir()} >= {"lock", "manifest.json", "part-000000.npz"}
    assert len(os.listdir(tmp_path)) == 2
    write_encoding(GRAPH, EncodingSpec.of(1), path, chunk=15, resume=True)
    assert_right(path, EncodingSpec.of(1))
    assert os.listdir(tmp_path) == ["out.npz"]


def test_an_empty_folder_of_parts_does_not_stay(tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(elene.io.writing, "find_rows", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_encoding(GRAPH, EncodingSpec.of(1), tmp_path / "out.npz")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("full", [errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("stage", ["encoding", "writing"])
def test_a_full_disk_names_resume(full, stage, tmp_path):
    path = tmp_path / "out.npz"

    def no_space(now, done, total):
        if now == stage and done > 0:
            raise OSError(full, os.strerror(full))

    with pytest.raises(OSError, match=r"disk is full: make room, then go on with --resume .*out\.npz\.parts") as error:
        write_encoding(GRAPH, EncodingSpec.of(1), path, chunk=15, report=no_space)
    assert error.value.errno == full
    write_encoding(GRAPH, EncodingSpec.of(1), path, chunk=15, resume=True)
    assert_right(path, EncodingSpec.of(1))


# Links


def test_a_linked_output_is_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real, link = tmp_path / "elsewhere" / "real.npz", tmp_path / "out.npz"
    link.symlink_to("elsewhere/real.npz")
    for _ in range(2):  # first it dangles
        write_encoding(GRAPH, EncodingSpec.of(1), link)
        assert link.is_symlink() and not real.is_symlink()
        assert_right(real, EncodingSpec.of(1))
    encode(GRAPH, 2).save(link)
    assert link.is_symlink()
    assert_right(real, EncodingSpec.of(2))
    assert os.listdir(real.parent) == ["real.npz"]


# Labels


def test_names_that_look_alike_as_text_are_not_saved_alike(tmp_path):
    labels = np.empty(3, dtype=object)
    labels[:] = 1, "1", "x"
    graph = Graph.from_edges([(0, 1), (1, 2)], names=labels)
    for write in (
        lambda path: write_encoding(graph, EncodingSpec.of(1), path),
        lambda path: encode(graph, 1).save(path),
        lambda path: encode(graph, 1, level="edge").save(path),
    ):
        with pytest.raises(ValueError, match="nodes 1 and '1' would both be saved as '1': rename one of them"):
            write(tmp_path / "out.npz")
        assert os.listdir(tmp_path) == []
