"""Graphs larger than memory: a store on disk, built from files of any size."""

from elene.cluster.store import GraphStore

__all__ = ["GraphStore"]
