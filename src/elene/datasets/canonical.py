"""What a collection holds, whatever the types of its arrays: their canonical form, and a hash of it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from elene.datasets.collection import Collection

# All of these are types of torch, too, so that tensors can share the memory of canonical arrays.
_INTEGERS = (np.uint8, np.int16, np.int32, np.int64)


def narrowed(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """The array in the smallest type that holds its numbers; floating-point numbers as 32 bits.

    >>> narrowed(np.array([0, 255])).dtype, narrowed(np.array([-1, 255])).dtype, narrowed(np.array([0.5])).dtype
    (dtype('uint8'), dtype('int16'), dtype('float32'))
    """
    if array.dtype.kind == "f":
        return np.ascontiguousarray(array, dtype="<f4")
    if array.dtype.kind not in "iub":
        raise TypeError(f"arrays of a collection hold numbers, got one of type {array.dtype}")
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    fits = (dtype for dtype in _INTEGERS if np.iinfo(dtype).min <= low and high <= np.iinfo(dtype).max)
    return np.ascontiguousarray(array, dtype=next(fits))


def canonical(collection: Collection) -> Collection:
    """The collection with every array in its smallest type, and without arrays of text.

    >>> made = Collection(np.array([0, 2]), np.array([0, 2]), np.array([[0, 1], [1, 0]]), y=np.array([0.5]))
    >>> canonical(made).edge_index.dtype, canonical(made).y.dtype
    (dtype('uint8'), dtype('float32'))
    """
    small = {name: narrowed(array) for name, array in _arrays(collection).items() if array.dtype.kind != "U"}
    extra = {name: small.pop(name) for name in collection.extra if name in small}
    return replace(collection, **small, extra=extra)  # type: ignore[arg-type]


def digest(collection: Collection) -> str:
    """The SHA-256 of a canonical collection: of the name, the shape and the bytes of every array.

    >>> made = Collection(np.array([0, 2]), np.array([0, 2]), np.array([[0, 1], [1, 0]]), y=np.array([1]))
    >>> digest(canonical(made))[:12]
    '...'
    """
    found = hashlib.sha256()
    for name, array in sorted(_arrays(collection).items()):
        found.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        found.update(array.data if array.size else b"")
    return found.hexdigest()


def _arrays(collection: Collection) -> dict[str, NDArray[np.generic]]:
    named = {name: getattr(collection, name) for name in ("node_ptr", "edge_ptr", "edge_index", "y", "x", "edge_attr")}
    return {name: array for name, array in {**named, **collection.extra}.items() if array is not None}
