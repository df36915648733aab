"""What a result must be told with: versions, the machine, and how much memory was used."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import sys
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import psutil

MEGABYTE = 2**20
PACKAGES = ("elene", "torch", "torch-geometric", "pytorch-lightning", "numpy")


def versions() -> dict[str, str]:
    """The versions of Python and of what computes.

    >>> sorted(versions())[:2]
    ['elene', 'numpy']
    """
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def use_threads(threads: int | None) -> None:
    """Let this process compute with so many threads, torch's and ours; None changes nothing.

    >>> use_threads(None)
    """
    if threads is None:
        return
    import torch

    from elene.engine import parallel

    parallel.use_threads(threads)
    torch.set_num_threads(threads)


def machine() -> dict[str, str | int]:
    """The processor, how many cores may be used and how many threads torch uses, and the accelerator, if any.

    >>> sorted(machine())
    ['accelerator', 'cores', 'processor', 'system', 'threads']
    """
    import torch

    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "processor": _processor(),
        "cores": usable,
        "threads": torch.get_num_threads(),
        "accelerator": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "system": platform.system(),
    }


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    lines = described.read_text().splitlines() if described.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


class PeakMemory:
    """The most memory in use since it was made, in megabytes: of the accelerator if there is one, else of this process.

    The memory of a process includes its data and libraries; ``base`` says how much that was at the start.

    Example:
        >>> peak = PeakMemory()
        >>> peak.megabytes() >= peak.base > 0
        True
    """

    def __init__(self) -> None:
        import torch

        self._accelerator = torch.cuda if torch.cuda.is_available() else None
        if self._accelerator is not None:
            self._accelerator.reset_peak_memory_stats()
            self.base = self._accelerator.memory_allocated() / MEGABYTE
        else:
            _give_back()
            _forget_peak()
            self.base = psutil.Process().memory_info().rss / MEGABYTE

    def megabytes(self) -> float:
        """The peak so far."""
        if self._accelerator is not None:
            return float(self._accelerator.max_memory_allocated() / MEGABYTE)
        return max(_process_peak(), self.base)


def _give_back() -> None:
    """Return free memory to the system, where its C library can: else a run would hide in what one before it left."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def _forget_peak() -> None:
    """Let the peak start anew, where the system can: else it is that of the whole life of the process."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _process_peak() -> float:
    """The most megabytes that this process had; psutil knows the peak on Windows alone, and no way to begin it anew."""
    if sys.platform == "win32":
        return float(psutil.Process().memory_info().peak_wset / MEGABYTE)
    status = Path("/proc/self/status")
    if status.exists():
        [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) * 1024 / MEGABYTE
    import resource

    # Linux counts in kilobytes, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / MEGABYTE
