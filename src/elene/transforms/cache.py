"""Cached: what a transform made of graphs, kept in a folder by the content of these graphs."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset
from torch_geometric.transforms import BaseTransform

import elene
from elene.arrays import Arrays, opened
from elene.files import check_path, replacing
from elene.inmemory import restored, stored, whole
from elene.transforms.schema import EgoData
from elene.validation import brief

KINDS = {"Data": Data, "EgoData": EgoData}
HEAD, PARTS = "head", ("data/", "slices/")

Graphs = tuple[Data, Any]  # the arrays of one or all graphs, and where each graph begins; None for a single one


class Cached(BaseTransform):  # type: ignore[misc]
    """A transform that is computed once for the same graphs, in whichever process, and read from a folder afterwards.

    What it made is found again by the content of the graphs, the parameters of the transform and the version of this
    library: nothing has to be deleted by hand, and anything may be. A damaged file is made anew, with a warning.

    Args:
        transform: a transform that depends on nothing but its data and the parameters in its ``repr``:
            :class:`AddELENE`, :class:`EgoStructure`, or a ``Compose`` of such.
        folder: where results are kept, a file for each graph, or for a whole data set that :meth:`prepare` is given.

    Example:
        >>> import tempfile
        >>> from elene.transforms import EgoStructure
        >>> path = Data(edge_index=torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]]), num_nodes=3)
        >>> cached = Cached(EgoStructure(k=1), tempfile.mkdtemp())
        >>> cached(path).ego_node.tolist(), len(list(cached.folder.iterdir()))
        ([0, 1, 1, 0, 2, 2, 1], 1)
        >>> cached(path).ego_node.tolist(), len(list(cached.folder.iterdir()))
        ([0, 1, 1, 0, 2, 2, 1], 1)
    """

    def __init__(self, transform: BaseTransform, folder: str | os.PathLike[str]) -> None:
        if not isinstance(transform, BaseTransform):
            raise TypeError(f"transform must be a transform of PyG, such as EgoStructure(k=1), got {brief(transform)}")
        self.transform, self.folder = transform, check_path("folder", folder)

    def __repr__(self) -> str:
        return repr(self.transform)  # where it is kept changes nothing that PyG would have to process anew

    def forward(self, data: Data) -> Data:
        """What the transform gives for a graph."""
        if not isinstance(data, Data):
            raise TypeError(f"data must be a torch_geometric.data.Data, got {brief(data)}")
        return self._keep((data, None), lambda: (self.transform(data), None))[0]

    def prepare(self, dataset: InMemoryDataset) -> InMemoryDataset:
        """A copy of an in-memory data set with what the transform gives for each of its graphs, in one file."""
        if not isinstance(dataset, InMemoryDataset):
            raise TypeError(f"dataset must be a torch_geometric.data.InMemoryDataset, got {brief(dataset)}")
        dataset = whole(dataset)

        def make() -> Graphs:
            if hasattr(self.transform, "prepare"):
                return stored(self.transform.prepare(dataset))
            made = [self.transform(dataset.get(i)) for i in range(len(dataset))]
            return InMemoryDataset.collate(made) if len(made) > 1 else (made[0], None)

        return restored(dataset, *self._keep(stored(dataset), make))

    def _keep(self, before: Graphs, make: Callable[[], Graphs]) -> Graphs:
        path = self.folder / f"{self._key(before)}.npz"
        if path.exists():
            try:
                with opened(path) as arrays:
                    return _read(arrays, before, path.stem)
            except (ValueError, OSError) as error:
                warnings.warn(f"{path} is damaged and made anew: {error}", stacklevel=4)
        after = make()
        arrays_of = _arrays(before, after, path.stem)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as temporary, open(temporary, "wb") as file:
                np.savez(file, **arrays_of)  # type: ignore[arg-type]
        except OSError as error:
            warnings.warn(f"{path} cannot be written, and will be computed again: {error}", stacklevel=4)
        return after

    def _key(self, graphs: Graphs) -> str:
        """A hash of all that the result depends on."""
        digest = hashlib.blake2b(f"{elene.__version__} {self.transform!r}".encode(), digest_size=16)
        for name, value in _items(graphs):
            content = _array(value) if isinstance(value, Tensor | np.ndarray) else repr(value).encode()
            shape = f"{content.dtype} {content.shape}" if isinstance(content, np.ndarray) else ""
            digest.update(f"\0{name} {shape}\0".encode())
            digest.update(np.ascontiguousarray(content) if isinstance(content, np.ndarray) else content)
        return digest.hexdigest()


def _items(graphs: Graphs) -> Iterator[tuple[str, Any]]:
    data, slices = graphs
    yield from (("data/" + name, value) for name, value in sorted(data.to_dict().items()))
    yield from (("slices/" + name, value) for name, value in sorted((slices or {}).items()))


def _array(tensor: Tensor | NDArray[Any]) -> NDArray[Any]:
    return tensor.detach().cpu().numpy() if isinstance(tensor, Tensor) else tensor


def _arrays(before: Graphs, after: Graphs, key: str) -> dict[str, NDArray[Any]]:
    """What is new in a result, and a head that says what it has besides."""
    old, new = dict(_items(before)), dict(_items(after))
    same = [name for name, value in new.items() if name in old and _equal(value, old[name])]
    changed = {name: value for name, value in new.items() if name not in same}
    tensors = {name: _array(value) for name, value in changed.items() if isinstance(value, Tensor)}
    plain = {name: value for name, value in changed.items() if name not in tensors}
    for name, value in plain.items():
        if not _is_plain(value):
            what = f"transform gives {name.partition('/')[2]} = {brief(value)}"
            raise TypeError(f"{what}: only tensors, numbers, text and lists of these are kept")
    if type(after[0]).__name__ not in KINDS:
        raise TypeError(f"transform gives a {type(after[0]).__name__}, and only {' and '.join(KINDS)} are kept")
    head = {"key": key, "kind": type(after[0]).__name__, "sliced": after[1] is not None, "same": same, "plain": plain}
    return {HEAD: np.frombuffer(json.dumps(head).encode(), np.uint8), **tensors}


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | float | str | None) or (isinstance(value, list) and all(map(_is_plain, value)))


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a is b or (a.dtype == b.dtype and torch.equal(a, b))
    return a is b or (type(a) is type(b) and isinstance(a, int | float | str) and a == b)


def _read(arrays: Arrays, before: Graphs, key: str) -> Graphs:
    """A result as it was kept, with what it shares with the graphs that it was made from."""
    head = json.loads(arrays[HEAD].tobytes())
    if head["key"] != key:
        raise ValueError("it was kept for other graphs")
    old = dict(_items(before))
    device = before[0].edge_index.device if before[0].edge_index is not None else "cpu"
    found = {name: old[name] for name in head["same"]} | head["plain"]
    found |= {name: torch.from_numpy(arrays[name]).to(device) for name in arrays if name != HEAD}
    parts = {part: {name.partition("/")[2]: found[name] for name in found if name.startswith(part)} for part in PARTS}
    return KINDS[head["kind"]](**parts["data/"]), parts["slices/"] if head["sliced"] else None
