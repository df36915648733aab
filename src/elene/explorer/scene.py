"""From a state to what is shown: the view, the words around it, and what is still being computed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from elene.explorer.beside import beside_view
from elene.explorer.ego import ego_view
from elene.explorer.pair import pair_view
from elene.explorer.shelf import Opened, Shelf
from elene.explorer.state import State
from elene.explorer.view import View


@dataclass(frozen=True)
class Scene:
    """What is shown.

    Args:
        state: the state, with everything in it that had been left to the page.
        opened: the graph.
        view: what to draw and write.
    """

    state: State
    opened: Opened
    view: View


def scene_of(shelf: Shelf, wanted: State) -> Scene:
    """What a state shows; what is not there is replaced by something that is, and said.

    Args:
        shelf: the graphs.
        wanted: the state, which may come from any address.

    Example:
        >>> scene = scene_of(Shelf({}), State(graph="karate", node="Zachary"))
        >>> scene.state.node, scene.view.notes
        ('33', ("There is no node 'Zachary' in this graph.",))
    """
    notes = []
    opened = shelf.open(wanted.graph)
    if opened is None:
        opened = shelf.open(shelf.first)
        assert opened is not None
        if wanted.graph is not None:
            notes.append(f"There is no graph {wanted.graph!r} here: this is {opened.title}.")
    beside = shelf.open(wanted.beside)
    if wanted.beside is not None and beside is None:
        notes.append(f"There is no graph {wanted.beside!r} here to put beside it.")
    if beside is not None:
        state = replace(wanted, graph=opened.key, node=None, other=None)
        view = beside_view(opened, beside, state.k, state.level, state.lit)
    else:
        root, other = opened.find(wanted.node), opened.find(wanted.other)
        missing = [name for name, found in ((wanted.node, root), (wanted.other, other)) if name and found is None]
        notes += [f"There is no node {name!r} in this graph." for name in missing]
        root = opened.largest if root is None else root
        names = opened.texts[root], None if other is None else opened.texts[other]
        state = replace(wanted, graph=opened.key, node=names[0], other=names[1], beside=None)
        if other is None or other == root:
            view = ego_view(opened, root, state.k, state.lit)
        else:
            view = pair_view(opened, root, other, state.k, state.lit)
    return Scene(state, opened, replace(view, notes=(*notes, *view.notes)))
