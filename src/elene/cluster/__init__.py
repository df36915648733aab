"""Graphs larger than memory, and clusters: a store on disk, built from files of any size; the same rows on Dask."""

from elene.cluster.run import Dataset, encode
from elene.cluster.store import GraphStore

__all__ = ["Dataset", "GraphStore", "encode"]
