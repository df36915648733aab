"""The ops of ELENE-L: fused (autograd), over one of two backends, compiled (numba) and chunked (torch); arcs."""
