"""Graphs that are made here, by construction or drawn by a recipe: one module a family."""
