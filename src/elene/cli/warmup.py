"""``elene warmup``: compile everything beforehand."""

from __future__ import annotations

from time import perf_counter

from elene.cli.common import console, working


def warmup() -> None:
    """Compile all kernels now, so that nobody waits for it later: for container images, clusters and the impatient.

    They are kept beside the package, or in the folder that NUMBA_CACHE_DIR names, for processors of this kind. What is
    there already takes no time.

    **Example:** NUMBA_CACHE_DIR=/opt/kernels elene warmup
    """
    from elene.warmup import steps, warm_up

    started = perf_counter()
    with working("Compiling"):
        for what, seconds in warm_up(list(steps())):
            console.print(f"{what:28} {seconds:5.1f} s", markup=False)
    console.print(f"{'in all':28} {perf_counter() - started:5.1f} s")
