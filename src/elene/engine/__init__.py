"""The only caller of the encoding kernels: plans the order of work, fills rows on threads, gives arrays back."""
