"""BREC: how many of its 400 pairs each encoding and each trained network tells apart, and who else does."""
