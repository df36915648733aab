"""What a page shows, as it stands in its address: the whole state of a view, so that a link to it is the view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from elene.encoding.spec import LEVELS

DEEPEST = 5  # of the slider: beyond, the ego-networks of most networks are the whole of it
LONGEST = 400  # letters of a value; an address is written by anybody


@dataclass(frozen=True)
class State:
    """The state of a view.

    Args:
        graph: the key of the graph on the shelf; None for the first.
        node: the root's name; None for a node of largest degree.
        other: the second node of a pair.
        k: the depth.
        beside: the key of the graph to compare with.
        level: what is compared: ``"node"``, ``"edge"`` or ``"pair"``.
        lit: the kind of nodes that is lit, as a row of the table has it.

    Example:
        >>> State(graph="karate", node="33", k=1).query
        '?graph=karate&node=33&k=1'
        >>> State.parse("?graph=karate&node=33&k=1").node
        '33'
    """

    graph: str | None = None
    node: str | None = None
    other: str | None = None
    k: int = 2
    beside: str | None = None
    level: str = "edge"
    lit: str | None = None

    @property
    def query(self) -> str:
        """The state as the query of an address; what is as it would be anyway is left out."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        given = {name: value for name, value in told.items() if value != getattr(State, name) or name == "k"}
        return "?" + urlencode(given)

    @classmethod
    def parse(cls, query: str | None) -> State:
        """The state that an address names; what makes no sense in it is left out.

        >>> State.parse("?k=99&level=hand&what=ever")
        State(graph=None, node=None, other=None, k=5, beside=None, level='edge', lit=None)
        """
        try:
            found = dict(parse_qsl((query or "").removeprefix("?"), max_num_fields=50))
        except ValueError:
            return cls()
        texts = {name: clean(found.get(name)) for name in ("graph", "node", "other", "beside", "lit")}
        level = found.get("level", "edge")
        return cls(**texts, k=clip_depth(found.get("k")), level=level if level in LEVELS else "edge")


def clean(value: Any) -> str | None:
    """A text of a length that a name may have, or None.

    >>> clean("Valjean"), clean(""), clean(["a"])
    ('Valjean', None, None)
    """
    return value if isinstance(value, str) and 0 < len(value) <= LONGEST else None


def clip_depth(value: Any) -> int:
    """A depth that the slider has.

    >>> clip_depth("3"), clip_depth(77), clip_depth("deep")
    (3, 5, 2)
    """
    try:
        return min(max(int(value), 0), DEEPEST)
    except (TypeError, ValueError, OverflowError):
        return State.k


def follow(state: State, action: Mapping[str, Any]) -> State:
    """What the state becomes when somebody does something; an action that is none changes nothing.

    Args:
        state: what was shown.
        action: ``do`` says what: ``walk`` to a node, look at a ``pair``, ``light`` a kind of nodes (again: no more),
            ``open`` a graph, put one ``beside`` it, choose a ``level`` or a ``depth``, ``close`` what is beside.

    Example:
        >>> follow(State(graph="karate", node="0"), {"do": "walk", "node": "33"}).node
        '33'
    """
    done = action.get("do")
    node, graph = clean(action.get("node")), clean(action.get("graph"))
    if done == "walk" and node:
        return State(graph=graph or state.graph, node=node, k=state.k, level=state.level)
    if done == "pair" and node and clean(action.get("other")):
        return replace(State(graph or state.graph, node, clean(action.get("other")), state.k), level=state.level)
    if done == "light":
        kind = clean(action.get("kind"))
        return replace(state, lit=None if kind == state.lit else kind)
    if done == "open" and graph:
        return State(graph=graph, k=state.k, beside=state.beside, level=state.level)
    if done == "beside" and graph:
        return State(graph=state.graph, k=state.k, beside=graph, level=state.level)
    if done == "level" and action.get("level") in LEVELS:
        return replace(state, level=action["level"], lit=None)
    if done == "depth":
        return replace(state, k=clip_depth(action.get("k")), lit=None)
    if done == "close":
        return replace(state, other=None, beside=None, lit=None)
    return state
