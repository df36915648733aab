"""encode(): the rows of a graph on disk as a folder of Parquet parts, made here or by the workers of a Dask cluster.

Parts are the record of a run. One that was stopped, for whatever reason, goes on when the same call is made again: a
task whose part is there and whole does nothing.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from elene import __version__
from elene.cluster.parts import SEALS, Part, PartTask, cut_parts, encode_part, seal_of
from elene.cluster.store import GraphStore
from elene.encoding.spec import EncodingSpec
from elene.engine.parallel import count_threads
from elene.extras import need
from elene.files import check_path, holding, replacing
from elene.validation import brief, check_integer

MANIFEST, FINISHED, LOCK = "_manifest.json", "_parts.json", "_lock"
Report = Callable[[int, int, int], None]


class Dataset(NamedTuple):
    """A folder of parts: how many there are and were made now, the rows of the level, and their counts.

    >>> Dataset(Path("features"), parts=4, made=4, rows=100, counts=1800, size=20_000).counts
    1800
    """

    folder: Path
    parts: int
    made: int
    rows: int
    counts: int
    size: int


def encode(
    store: Any,
    k: Any,
    folder: Any,
    client: Any = None,
    *,
    workers: int | None = None,
    threads: int | None = None,
    parts: int | None = None,
    report: Report | None = None,
    **options: Any,
) -> Dataset:
    """The rows that :func:`elene.encode` gives, as a folder of Parquet files that every tool reads, on a Dask cluster.

    Each part holds a range of roots of about equal work, and stands under its name only when it is whole. Called again
    after whatever stopped it, it makes what is missing or damaged; a finished folder is looked through and left alone.

    Args:
        store: a :class:`elene.GraphStore` or its folder, which every worker must see under the same name.
        k: one depth or several.
        folder: where the parts are to be, seen by every worker under the same name.
        client: a ``dask.distributed.Client``; by default a cluster of processes on this machine is started.
        workers: how many processes that has, by default one for each core; 0 for none: all is done in this process.
        threads: how many threads a part is made with; by default one on a client, which runs as many tasks at a time as
            its workers have threads, and on this machine its cores, divided among the workers.
        parts: how many parts; by default as many as keep each to about a second of a core.
        report: called as ``report(parts done, parts, rows done)``.
        options: ``level``, ``degrees``, ``form``, ``max_degree`` and ``radius`` as :func:`elene.encode` takes them.

    Example:
        >>> import pathlib, tempfile, pandas
        >>> place = pathlib.Path(tempfile.mkdtemp())
        >>> pandas.DataFrame({"source": [0, 1, 2], "target": [1, 2, 0]}).to_parquet(place / "edges.parquet")
        >>> triangle = GraphStore.build(place / "edges.parquet", place / "triangle.elene")
        >>> found = encode(triangle, 1, place / "features", workers=0)
        >>> found.rows, found.counts, found.made
        (3, 18, 1)
        >>> encode(triangle, 1, place / "features", workers=0).made
        0
        >>> pandas.read_parquet(place / "features").query("kind == 'degree' and distance == 1")["value"].tolist()
        [2, 2, 2]
    """
    graph = store if isinstance(store, GraphStore) else GraphStore.open(store)
    try:
        spec = EncodingSpec.of(k, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise TypeError(f"options: {str(error).split('of() ')[-1]}") from None
    spec = replace(spec, labelled=graph.labels is not None)
    count = None if parts is None else check_integer("parts", parts, least=1)
    processes = None if workers is None else check_integer("workers", workers)
    target = check_path("folder", folder).absolute()
    if client is not None and workers is not None:
        raise ValueError(f"workers={workers} is for a cluster of its own, and client is given: leave one of them out")
    with _held(target), ExitStack() as stack:
        tasks = _prepared(graph, spec, target, count)
        run = _runner(client, processes, threads, stack)
        return _gathered(run(tasks), tasks, target, report or (lambda done, total, rows: None))


def _runner(
    client: Any, workers: int | None, threads: int | None, stack: ExitStack
) -> Callable[[list[PartTask]], Iterator[Part]]:
    """What runs tasks: something with the shape of :mod:`concurrent.futures`, or this process."""
    cores = count_threads(threads)
    if workers == 0:
        return partial(_run_here, threads=cores)
    need("cluster", "elene.cluster.encode", "distributed")
    from elene.cluster.dask import local_client, run_on

    if client is None:
        processes = count_threads(None) if workers is None else workers
        share = max(1, count_threads(None) // processes) if threads is None else cores
        return run_on(stack.enter_context(local_client(processes)), share)
    if not (hasattr(client, "scheduler_info") and hasattr(client, "submit")):
        raise TypeError(f"client must be a dask.distributed.Client or None, got {brief(client)}")
    return run_on(client, 1 if threads is None else cores)


def _run_here(tasks: list[PartTask], threads: int) -> Iterator[Part]:
    """Run tasks on threads of this process, a part each: writing one goes on beside encoding others."""
    with ThreadPoolExecutor(threads, thread_name_prefix="elene-part") as pool:
        futures = [pool.submit(encode_part, task, max(1, threads // len(tasks))) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Have the folder for oneself, and remove in the end what killed tasks left."""
    if not folder.parent.is_dir():
        raise FileNotFoundError(f"folder: {str(folder.parent)!r} does not exist: create it first")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"folder: {str(folder)!r} is a file, and parts go into a folder: name another")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MANIFEST).exists():
        # A run that was stopped while it was planned has left files of ours, and none that a tool takes for data.
        strange = sorted(path.name for path in folder.iterdir() if not path.name.startswith(("_", ".")))
        if strange:
            raise FileExistsError(f"folder: {str(folder)!r} holds {strange[0]!r} and no {MANIFEST}: name another")
    (folder / SEALS).mkdir(parents=True, exist_ok=True)
    with holding(folder / LOCK, f"{folder} is being written", "wait until it ends"):
        yield


def _prepared(graph: GraphStore, spec: EncodingSpec, folder: Path, parts: int | None) -> list[PartTask]:
    """The tasks of a run, as its manifest has them; made now, or found and the same."""
    content = f"{graph.num_nodes} nodes, {graph.num_edges} edges, digest {graph.manifest.digest}"
    about = {"elene": __version__, "graph": content, **asdict(spec), "depths": list(spec.depths)}
    path = folder / MANIFEST
    if path.exists():
        known = _read_manifest(path)
        differing = [name for name in about if known.get(name) != about[name]]
        if differing or (parts is not None and parts != len(known["cuts"]) - 1):
            then = ", ".join(f"{name}={known.get(name)!r}" for name in differing) or f"parts={len(known['cuts']) - 1}"
            now = ", ".join(f"{name}={about[name]!r}" for name in differing) or f"parts={parts}"
            raise ValueError(f"folder: {str(folder)!r} was begun with {then}, and now it is {now}: name another")
    else:
        known = {**about, "cuts": cut_parts(graph, spec, parts)}
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(known, indent=1))
    cuts, seal = known["cuts"], seal_of(known)
    return [
        PartTask(str(graph.folder), graph.manifest.digest, spec, number, start, stop, str(folder), seal)
        for number, (start, stop) in enumerate(pairwise(cuts))
    ]


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        known = dict(json.loads(path.read_text()))
        cuts = known["cuts"]
        if [int(cut) for cut in cuts] != sorted(cuts):
            raise ValueError("its cuts do not ascend")
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(f"{path} cannot be read ({error}): remove the folder to start over") from None
    return known


def _gathered(found: Iterator[Part], tasks: list[PartTask], folder: Path, report: Report) -> Dataset:
    """Wait for all parts, say how far it is, and write down what there is."""
    parts: dict[str, Part] = {}
    report(0, len(tasks), 0)
    try:
        for part in found:
            parts[part.name] = part
            report(len(parts), len(tasks), sum(part.rows for part in parts.values()))
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        advice = f"{folder} keeps the {len(parts)} of {len(tasks)} parts that are done: make room, then go on"
        raise OSError(error.errno, f"the disk is full: {advice} with the same call") from error
    finally:
        for left in (*folder.glob(".part-*.parquet"), *(folder / SEALS).glob(".part-*.json")):
            left.unlink(missing_ok=True)
    listed = [parts[task.path.name] for task in tasks]
    record = [{name: value for name, value in part._asdict().items() if name != "made"} for part in listed]
    with replacing(folder / FINISHED) as temporary:
        temporary.write_text(json.dumps(record, indent=1))
    rows, counts, size = (sum(getattr(part, name) for part in listed) for name in ("rows", "counts", "size"))
    return Dataset(folder, len(listed), sum(part.made for part in listed), rows, counts, size)
