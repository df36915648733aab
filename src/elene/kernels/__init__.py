"""Numba kernels: arrays in, arrays out, serial and without the GIL; the callers in the rooms above know about graphs.

Every kernel runs on a range of rows with scratch that belongs to one thread. Scratch starts as zeros (pages that are
never touched cost nothing) and is cleaned by walking what was visited, never by clearing n entries.
"""
