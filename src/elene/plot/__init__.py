"""Pictures of ego-networks and of their intersections: :func:`draw_ego`, :func:`draw_intersection`."""

from elene.plot.pictures import draw_ego, draw_intersection

__all__ = ["draw_ego", "draw_intersection"]
