"""What each constant of the engine's policy is worth on this machine: its value beside half and double of it.

    python benchmarks/calibrate.py [--only NAME ...] [--network NAME ...] [--seconds 5]

For every constant, encode() runs with each value in turn on the networks of ``ELENE_DATA`` (or generated ones), and the
table shows the geometric mean of best times relative to the value in ``elene/engine/policy.py``, and the least and the
most on any network: below 1 is faster. Some values switch off what a constant is for. What is slower by less than a
twentieth without is not worth having. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

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
    *(around(name, 1) for name in ("hand_out", "ranked_arcs", "many_entries")),
    *(around(name, 1) for name in ("root_work", "scans_a_unit", "shallow_room")),
    *(around(name, 2) for name in ("path_work", "deep_room", "lane_node", "lane_arc")),
    *(around(name, 2) for name in ("apart_scan", "apart_node")),
    Knob("alike", 2, (8, 32, 65)),  # 65 counts every lane apart
    Knob("shared_paths", 2, (0, 250, 1000, 10**9)),  # the last one never uses lanes
    Knob("narrow_bits", 2, (0,)),  # 0 has wide states only
)


def encode_with(graph: elene.Graph, k: int, **changes: float) -> None:
    before = policy.POLICY
    policy.POLICY = before._replace(**changes)
    try:
        elene.encode(elene.Graph.trusted(graph.indptr, graph.indices), k)
    finally:
        policy.POLICY = before


def measure(knob: Knob, graphs: list[elene.Graph], seconds_each: float) -> dict[float, list[float]]:
    """The times of each value relative to the present one, a network each."""
    present = getattr(policy.POLICY, knob.name)
    ratios: dict[float, list[float]] = {value: [] for value in knob.values}
    for graph in graphs:
        runners = {
            value: lambda value=value: encode_with(graph, knob.k, **{knob.name: value})  # noqa: B023
            for value in (present, *knob.values)
        }
        for run in runners.values():
            run()  # another type of state is another kernel
        seconds = race(runners, budget=seconds_each)
        for value in knob.values:
            ratios[value].append(seconds[value] / seconds[present])
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", choices=[knob.name for knob in KNOBS], help="names of constants")
    parser.add_argument("--network", nargs="*", help="names of networks")
    parser.add_argument("--seconds", type=float, default=5.0, help="for a constant on a network, about")
    options = parser.parse_args()
    graphs = [graph for _, graph in networks(options.network)]
    if not graphs:
        parser.error(f"--network names no network that is here: {' '.join(options.network)}")
    print("Time relative to that with the present value: geometric mean (least to most)")
    for knob in KNOBS:
        if not options.only or knob.name in options.only:
            print(f"{knob.name} = {getattr(policy.POLICY, knob.name):g}")
            for value, ratios in measure(knob, graphs, options.seconds).items():
                spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
                print(f"  {value:14g}: {geometric_mean(ratios):.3f} {spread}", flush=True)


if __name__ == "__main__":
    main()
