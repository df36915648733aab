"""Files of every format, changed at random, in a process of its own, which measures its memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("fuzz_files.py")
FILES = 150


@pytest.mark.jit
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is measured as Linux does it")
def test_mutated_files_are_read_as_a_naive_reader_reads_them_or_refused(tmp_path):
    command = [sys.executable, SCRIPT, tmp_path, "0", str(FILES)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert result.returncode == 0, result.stderr[-5000:]
    tally = {name: int(read) for name, read in map(str.split, result.stdout.splitlines())}
    assert len(tally) == 9
    # Some must be read and some refused, or nothing was tested.
    assert all(FILES / 10 < read < FILES for read in tally.values()), tally
