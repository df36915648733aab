"""EgoLoader: mini-batches of roots of one large graph, with ego-networks that are exact in the whole of it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from mmap import mmap
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, Sampler, SequentialSampler
from torch_geometric.data import Data

from elene.engine.surroundings import Surroundings, arcs_of, reach, surroundings
from elene.graph import Graph, GraphWarning, as_graph
from elene.transforms.arcs import locate_arcs, read_arcs
from elene.transforms.schema import EgoData, without_lists
from elene.transforms.structure import EgoStructure
from elene.validation import as_array, brief, check_integer, check_list

MANY = 100_000  # nodes in a batch from which on it is worth a word that they are most of the graph


class EgoLoader(DataLoader[Any]):
    """Mini-batches of roots of one large graph, for training a network with ELENE-L on it.

    A batch is the subgraph of all nodes that the network's layers need for its roots, which come first: the first
    ``batch.batch_size`` rows of what the network gives are those that it would give on the whole graph. Nothing is
    sampled, for in a sample the counts of ego-networks would be wrong. A node whose ego-network is not all in the batch
    gets no lists; no root depends on what layers make of it, but a BatchNorm in training sees it, as it sees all nodes
    of the batch.

    How large batches are is up to the graph: around hubs, a few hops reach most of it. A batch that does tells so once.
    With ``most_nodes``, a batch that needs more is split into batches of fewer roots, until one alone needs too many.
    Nobody knows then how many batches there will be: the loader has no length, and processes that share roots (DDP) get
    different numbers of batches, which torch's ``Join`` is for.

    Args:
        graph: a PyG ``Data``, whose node and edge features are gathered for each batch, an :class:`elene.GraphStore`,
            which stays on disk, or any graph that :func:`elene.encode` takes.
        structure: the :class:`EgoStructure` that makes the lists.
        layers: how many layers of ELENE-L, each with a conv behind it, the network has; or for each layer the depth of
            its ELENE-L, 0 for a conv alone.
        input_nodes: the roots to take in turn: positions, or a mask of all nodes; by default every node.
        features: more features of nodes by name, with a row for each node: tensors, arrays, of which mapped ones
            (``np.load(path, mmap_mode="r")``) are read from disk as they are needed, or scipy's sparse matrices, such
            as ``elene.encode(graph, k).matrix``, whose rows become dense floats in a batch.
        most_nodes: how many nodes a batch may need.
        **kwargs: what a ``torch.utils.data.DataLoader`` takes: ``batch_size`` (roots), ``shuffle``, ``num_workers``,
            ``sampler`` (a ``DistributedSampler(range(roots))`` shares them out), ...

    A batch is an :class:`EgoData` with ``edge_index``, the features, ``n_id`` (the position of each of its nodes),
    ``input_id`` (which of ``input_nodes`` its roots are), ``batch_size`` and, if there are edge features, ``e_id``.

    Example:
        >>> from torch_geometric.data import Data
        >>> arcs = torch.tensor([[i, i + 1] for i in range(99)] + [[i + 1, i] for i in range(99)]).T
        >>> path = Data(x=torch.arange(100.0)[:, None], edge_index=arcs, y=torch.zeros(100))
        >>> loader = EgoLoader(path, EgoStructure(k=1), layers=2, input_nodes=[50, 7], batch_size=1)
        >>> for batch in loader:
        ...     print(batch.n_id.sort()[0].tolist(), batch.x[: batch.batch_size].tolist(), batch.ego_size.tolist())
        [46, 47, 48, 49, 50, 51, 52, 53, 54] [[50.0]] [3, 3, 3, 3, 3, 3, 3, 0, 0]
        [3, 4, 5, 6, 7, 8, 9, 10, 11] [[7.0]] [3, 3, 3, 3, 3, 3, 3, 0, 0]
    """

    def __init__(
        self,
        graph: Any,
        structure: EgoStructure,
        layers: int | Sequence[int] = 1,
        input_nodes: Any = None,
        features: Mapping[str, Any] | None = None,
        most_nodes: int | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(structure, EgoStructure):
            raise TypeError(f"structure must be an EgoStructure, such as EgoStructure(k=1), got {brief(structure)}")
        # Lightning makes loaders anew, from the attributes that have the names of arguments.
        self.graph, self.structure, self.layers = graph, structure, layers
        self.input_nodes, self.features, self.most_nodes = input_nodes, features, most_nodes
        if most_nodes is not None:
            check_integer("most_nodes", most_nodes, 1)
        source = Source.of(graph, features)
        n = source.graph.num_nodes
        roots = None if input_nodes is None else _read_roots(input_nodes, n)
        numbers = range(n if roots is None else len(roots))
        for made_here in ("dataset", "collate_fn"):
            kwargs.pop(made_here, None)
        gather = Gather(source, structure, count_hops(layers, structure.k), roots, most_nodes)
        if most_nodes is not None and kwargs.get("batch_sampler") is None:
            kwargs["batch_sampler"] = RootBatches(gather, _batches(numbers, kwargs))
        super().__init__(numbers, collate_fn=gather, **kwargs)

    def __repr__(self) -> str:
        return f"EgoLoader({self.structure}, layers={self.layers}, roots={len(self.dataset)})"


def count_hops(layers: int | Sequence[int], k: int) -> int:
    """How many hops around a root its output can depend on, if lists have depth k.

    A conv reads one hop, and ELENE-L the ego-networks of what the conv reads. Lists are whole or not there at all, so
    they reach k hops around every node that has one, be the layer that reads them shallower.

    >>> count_hops(2, k=1), count_hops([1, 0, 0], k=1), count_hops([2, 1], k=2)
    (4, 4, 5)
    """
    if isinstance(layers, int | np.integer):
        return check_integer("layers", layers, 1) * (k + 1)
    hops = 0
    seen = 0  # hops around a root that the layers so far, from the last one on, can see
    for depth in reversed(check_list("layers", layers, "depths")):
        if check_integer("layers", depth) > k:
            raise ValueError(f"layers has depth {depth}, and the lists k={k}: pass EgoStructure(k={depth})")
        hops = max(hops, seen + 1 + (k if depth else 0))
        seen += 1 + depth
    return max(hops, seen)


@dataclass(eq=False)
class Source:
    """A large graph with features of nodes and edges, of which batches take what they need.

    Args:
        graph: the graph.
        nodes: features of nodes by name.
        edges: features of arcs by name.
        places: for each arc, by source and target, where it stands in the features of arcs; None if there are none.
        rest: what is kept as it is.
    """

    graph: Graph
    nodes: Mapping[str, Rows]
    edges: Mapping[str, Rows]
    places: NDArray[np.int64] | None
    rest: Mapping[str, Any]

    @classmethod
    def of(cls, graph: Any, features: Any) -> Source:
        """Sort out what a data and more features have."""
        found, places = as_graph(graph), None
        kinds: tuple[dict[str, Any], ...] = ({}, {}, {})
        if isinstance(graph, Data):
            arcs = read_arcs(graph)
            if arcs.shape[1] != 2 * found.num_edges:
                raise ValueError(
                    "graph: edge_index has self-loops or lists some edges more than once: pass "
                    "torch_geometric.utils.coalesce(torch_geometric.utils.remove_self_loops(edge_index)[0])"
                )
            kinds = _sorted_out(graph)
            places = np.lexsort(arcs[::-1]) if kinds[1] else None
        nodes, edges, rest = kinds
        return cls(found, nodes | _read_features(features, found.num_nodes), edges, places, rest)

    def gather(self, found: Surroundings, arcs: NDArray[np.int64]) -> EgoData:
        """The part of the data that is found, which has these arcs, without lists."""
        batch = EgoData(edge_index=torch.from_numpy(arcs), num_nodes=len(found.nodes), **self.rest)
        batch.n_id = torch.from_numpy(found.nodes)
        for key, rows in self.nodes.items():
            batch[key] = rows.take(found.nodes)
        if self.places is not None:
            e_id = self.places[locate_arcs(self.graph, found.nodes[arcs])]
            batch.e_id = torch.from_numpy(e_id)
            for key, rows in self.edges.items():
                batch[key] = rows.take(e_id)
        return batch


class Rows:
    """A tensor, array, sparse matrix or list of which some rows are taken; a mapped array is sent as its name.

    >>> Rows(np.arange(10.0)).take(np.array([7, 2]))
    tensor([7., 2.], dtype=torch.float64)
    """

    def __init__(self, values: Any, dim: int = 0) -> None:
        self.values, self.dim = values, dim

    def __reduce__(self) -> Any:
        mapped: Any = self.values
        whole = isinstance(mapped, np.memmap) and isinstance(getattr(mapped, "base", None), mmap)
        if whole and mapped.filename is not None and mapped.mode != "c":  # its changes are in no file
            order = "C" if mapped.flags.c_contiguous else "F"
            return _mapped_rows, (str(mapped.filename), mapped.dtype, mapped.offset, mapped.shape, order, self.dim)
        return Rows, (self.values, self.dim)

    def take(self, places: NDArray[np.int64]) -> Any:
        """The rows at these places: a tensor, or a list or an array of what tensors cannot hold, such as names."""
        if isinstance(self.values, Tensor):
            return self.values.index_select(self.dim, torch.from_numpy(places).to(self.values.device))
        if issparse(self.values):
            return torch.from_numpy(self.values[places].astype(np.float32).toarray())
        if isinstance(self.values, list | tuple):
            return [self.values[place] for place in places]
        found = np.ascontiguousarray(np.take(np.asarray(self.values), places, self.dim))
        return found if found.dtype.kind in "OSUmM" else torch.from_numpy(found)


def _mapped_rows(name: str, dtype: Any, offset: int, shape: Any, order: Any, dim: int) -> Rows:
    return Rows(np.memmap(name, dtype, "r", offset, shape, order), dim)


@dataclass(eq=False)
class Gather:
    """What makes a batch of some roots, here or in a worker; without ``roots``, every node is one."""

    source: Source
    structure: EgoStructure
    hops: int
    roots: NDArray[np.int64] | None
    most: int | None
    told: bool = False

    def __call__(self, index: Sequence[int]) -> EgoData:
        """The batch of the roots with these numbers; one that is named twice is in it once."""
        numbers, chosen = np.asarray(index, np.int64), self.choose(index)
        found = surroundings(self.source.graph, chosen, self.hops, self.most)
        if found is None:
            raise self.refusal(index)
        self._tell(found)
        arcs = arcs_of(found.graph)
        batch = self.source.gather(found, arcs)
        batch.batch_size = found.within(0)
        _, first = np.unique(chosen, return_index=True)
        batch.input_id = torch.from_numpy(numbers[np.sort(first)])
        return self.structure.write(batch, found.graph, arcs, found.within(self.hops - self.structure.k))

    def choose(self, index: Sequence[int]) -> NDArray[np.int64]:
        """The positions of the roots with these numbers."""
        numbers = np.asarray(index, np.int64)
        return numbers if self.roots is None else self.roots[numbers]

    def fits(self, index: Sequence[int]) -> bool:
        """Whether a batch of these roots needs no more nodes than it may."""
        return reach(self.source.graph, self.choose(index), self.hops, self.most) is not None

    def refusal(self, index: Sequence[int]) -> ValueError:
        """What is said of a batch that is too large."""
        whose = f"node {self.choose(index)[0]}" if len(index) == 1 else f"the {len(index)} roots of a batch"
        return ValueError(
            f"most_nodes={self.most} is less than what is within {self.hops} hops of {whose}: pass fewer or shallower "
            "layers, a smaller batch_size, input_nodes without it, or a larger most_nodes"
        )

    def _tell(self, found: Surroundings) -> None:
        roots, needed, whole = found.within(0), len(found.nodes), self.source.graph.num_nodes
        if self.told or needed < MANY or 2 * needed < whole or 4 * roots > whole:
            return
        self.told = True
        warnings.warn(
            f"a batch of {roots} roots needs {needed} of {whole} nodes, all within {self.hops} hops: mini-batches "
            "save little here. Fewer or shallower layers need less; most_nodes makes it an error",
            GraphWarning,
            stacklevel=2,
        )


class RootBatches(Sampler[list[int]]):
    """Batches of roots, each split in halves as long as it needs more nodes than it may."""

    def __init__(self, gather: Gather, batches: BatchSampler) -> None:
        self.gather, self.batches = gather, batches
        self.sampler = batches.sampler  # Lightning tells it the epoch

    def __iter__(self) -> Iterator[list[int]]:
        for batch in self.batches:
            yield from self._split(batch)

    def _split(self, batch: list[int]) -> Iterator[list[int]]:
        if self.gather.fits(batch):
            yield batch
        elif len(batch) == 1:
            raise self.gather.refusal(batch)
        else:
            yield from self._split(batch[: len(batch) // 2])
            yield from self._split(batch[len(batch) // 2 :])


def _batches(roots: range, options: dict[str, Any]) -> BatchSampler:
    """What a DataLoader would make of its options, which are taken out."""
    sampler, shuffle = options.pop("sampler", None), options.pop("shuffle", False)
    if sampler is None:
        random = RandomSampler(roots, generator=options.get("generator")) if shuffle and len(roots) else None
        sampler = random or SequentialSampler(roots)
    return BatchSampler(sampler, options.pop("batch_size", 1), options.pop("drop_last", False))


def _sorted_out(data: Data) -> tuple[dict[str, Rows], dict[str, Rows], dict[str, Any]]:
    """Features of nodes, features of arcs, and the rest."""
    nodes: dict[str, Rows] = {}
    edges: dict[str, Rows] = {}
    rest = without_lists(data.to_dict())
    for key in rest.keys() - {"edge_index", "num_nodes"}:
        if data.is_node_attr(key) or data.is_edge_attr(key):
            kind = nodes if data.is_node_attr(key) else edges
            kind[key] = Rows(rest[key], data.__cat_dim__(key, rest.pop(key)))
    return nodes, edges, {key: value for key, value in rest.items() if key not in ("edge_index", "num_nodes")}


def _read_roots(nodes: Any, n: int) -> NDArray[np.int64]:
    """Positions of roots, from positions or a mask."""
    found = as_array("input_nodes", check_list("input_nodes", nodes, "nodes"))
    if found.dtype == bool:
        if found.shape != (n,):
            raise ValueError(f"input_nodes is a mask of shape {found.shape}, and the graph has {n} nodes")
        return np.flatnonzero(found)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and len(found)):
        raise TypeError(f"input_nodes must be positions of nodes, or a mask, got {found.dtype} of shape {found.shape}")
    if len(found) and not 0 <= found.min() <= found.max() < n:
        wrong = found.min() if found.min() < 0 else found.max()
        raise ValueError(f"input_nodes: node {wrong} is not in the graph, whose nodes are 0 to {n - 1}")
    return found.astype(np.int64)


def _read_features(features: Any, n: int) -> dict[str, Rows]:
    if features is None:
        return {}
    if not isinstance(features, Mapping):
        raise TypeError(f"features must be a dictionary of arrays by name, got {brief(features)}")
    for key, values in features.items():
        known = isinstance(values, Tensor | np.ndarray) or issparse(values)
        if not known or values.ndim < 1 or values.shape[0] != n:
            got = f"shape {tuple(values.shape)}" if known else brief(values)
            raise ValueError(f"features: {key!r} must be an array or a tensor with {n} rows, one a node, got {got}")
    return {
        str(key): Rows(csr_array(values) if issparse(values) else values)  # of which rows can be taken
        for key, values in features.items()
    }
