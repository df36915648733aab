"""What each constant of the engine's policy is worth on this machine: its value beside half and double of it.

    python benchmarks/calibrate.py [--only NAME ...] [--network NAME ...]

For every constant, encode() runs with each value in turn on the networks of ``ELENE_DATA`` (or generated ones), and the
table shows the geometric mean of best times relative to the value in ``elene/engine/policy.py``: below 1 is faster. A
constant of which no other value is slower by a twentieth is not worth having. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

import elene
from common import geometric_mean, networks, race
from elene.engine import policy


@dataclass(frozen=True)
class Knob:
    """A constant, the encoding it matters for, and the values to try."""

    name: str
    k: int
    values: tuple[float, ...]


def around(name: str, k: int) -> Knob:
    value = getattr(policy.POLICY, name)
    return Knob(name, k, (type(value)(value / 2), type(value)(value * 2)))


KNOBS = (
    *(around(name, 1) for name in ("hand_out", "many_entries", "root_work", "scans_a_unit", "shallow_room")),
    *(around(name, 2) for name in ("path_work", "near", "ordered", "deep_room", "lane_node", "lane_arc")),
    *(around(name, 2) for name in ("apart_scan", "apart_node", "overlap", "coverage", "alike")),
    Knob("shared_paths", 2, (0, 250, 1000, 10**9)),
    Knob("narrow_bits", 2, (0,)),
)


def encode_with(graph: elene.Graph, k: int, **changes: float) -> None:
    before = policy.POLICY
    policy.POLICY = before._replace(**changes)
    try:
        elene.encode(elene.Graph.trusted(graph.indptr, graph.indices), k)
    finally:
        policy.POLICY = before


def measure(knob: Knob, graphs: list[elene.Graph]) -> dict[float, float]:
    """The time of each value relative to the present one."""
    present = getattr(policy.POLICY, knob.name)
    ratios: dict[float, list[float]] = {value: [] for value in knob.values}
    for graph in graphs:
        runners = {
            value: lambda value=value: encode_with(graph, knob.k, **{knob.name: value})  # noqa: B023
            for value in (present, *knob.values)
        }
        for run in runners.values():
            run()  # another type of state is another kernel
        seconds = race(runners)
        for value in knob.values:
            ratios[value].append(seconds[value] / seconds[present])
    return {value: geometric_mean(found) for value, found in ratios.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", choices=[knob.name for knob in KNOBS], help="names of constants")
    parser.add_argument("--network", nargs="*", help="names of networks")
    options = parser.parse_args()
    graphs = [graph for _, graph in networks(options.network)]
    if not graphs:
        parser.error(f"--network names no network that is here: {' '.join(options.network)}")
    table = Table(title="Time relative to that with the present value")
    for heading in ("constant", "present", "others"):
        table.add_column(heading)
    for knob in KNOBS:
        if not options.only or knob.name in options.only:
            found = measure(knob, graphs)
            others = ", ".join(f"{value:g}: {ratio:.3f}" for value, ratio in found.items())
            table.add_row(knob.name, f"{getattr(policy.POLICY, knob.name):g}", others)
    Console().print(table)


if __name__ == "__main__":
    main()
