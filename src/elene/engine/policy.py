"""Every tuning constant in one place, with its unit and its origin; ``benchmarks/calibrate.py`` measures them anew."""

from __future__ import annotations

from typing import NamedTuple


class Policy(NamedTuple):
    """What things cost and from where on something pays: these change how long it takes, never what comes out.

    A unit is ten nanoseconds. Unless something else is said, values were measured on the 27 networks of
    ``benchmarks/encode.py``, on two cores of a cloud machine with 2 MB of cache a core.

    >>> Policy().shared_paths
    500
    """

    # Threads
    # units that it takes to hand a piece to a thread that sleeps; by networks that take a millisecond at depth 1
    hand_out: float = 8_000
    piece: int = 50_000_000  # units in a piece at most, half a second: an interrupt is noticed between two pieces
    ranked_arcs: int = 100_000  # arcs for each thread that ranks them; fewer take no longer than starting it
    many_entries: int = 200_000  # entries of a matrix; fewer are copied before a second thread has started
    # Nodes at depth 1: every triangle once, with counts of all edges for each thread
    tallying_threads: int = 8  # more would add up counts for longer than they save; estimated, not measured
    tallied_share: float = 0.75  # of all nodes; for fewer, triangles around each of them are found sooner; estimated
    tallied_most: int = 2**26  # arcs, whose counts take half a gigabyte and more; it gains least where there are most
    tallied_arcs: int = 100_000  # arcs for each thread that writes rows; fewer take no longer than starting it
    # Work of a root, in units: how pieces are cut. Least squares over the networks, one thread
    root_work: int = 6  # at depth 1, beside its neighbours
    path_work: int = 2  # deeper, for every path of two steps
    hash_work: int = 3  # the same where encodings are hashed, at three depths and more; molecules and proteins
    small_work: int = 8  # the same in a small part; molecules
    scans_a_unit: int = 8  # entries of neighbour lists scanned in a unit
    # Order of work at depth 2 and more
    shared_paths: int = 500  # mean two-hop paths of a root from which on ego-networks may overlap enough for lanes
    sorted_edges: int = 3  # times the least work that edges may be, from which on they are sorted by their larger end
    few_keys: int = 8  # keys are sorted by comparing where there may be so many times more of them than there are
    # Room, in entries: memory that is not touched costs nothing, growing costs a copy
    shallow_room: int = 12  # a row at depth 1
    deep_room: int = 32  # a row deeper
    # Lanes. What counting takes together and apart, in quarters of a nanosecond; groups after a no are not even tried,
    # so those of together are a quarter less than measured
    lane_node: int = 800  # an explored node, for all lanes
    lane_arc: int = 28  # an entry of its list, for all lanes
    apart_scan: int = 5  # an entry of a list, for one root
    apart_node: int = 60  # an explored node, for one root
    alike: int = 16  # lanes that see a node alike, from which on they are counted at once
    # State words
    narrow_bits: int = 32  # states that need no more take four bytes, and twice as many stay in the cache


POLICY = Policy()
