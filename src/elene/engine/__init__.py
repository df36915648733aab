"""From a graph and the rows asked for to sparse counts: plans the work, runs the kernels on threads."""
