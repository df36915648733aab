"""Forks while another thread imports, compiles or computes what is kept: no child may wait for what nobody releases."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The thread is in the middle of its work when the process forks, and a child that cannot do the same is killed.
SCRIPT = """
import os, signal, sys, threading, time, types, warnings
warnings.simplefilter("ignore")
import elene
from elene import forking

def fork_while(held, wanted):
    begun = threading.Event()
    thread = threading.Thread(target=held, args=(begun,))
    thread.start()
    begun.wait()
    child = os.fork()
    if not child:
        signal.alarm(10)
        wanted()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    thread.join()
    print(os.waitstatus_to_exitcode(status))
"""

IMPORT = """
folder = sys.argv[1]
sys.path.insert(0, folder)
with open(os.path.join(folder, "slow.py"), "w") as file:
    file.write("import sys, time\\nsys.begun.set()\\ntime.sleep(0.5)\\nready = True")
forking.ROOTS |= {"slow"}

def load(begun):
    sys.begun = begun
    import slow

def use():
    from slow import ready

fork_while(load, use)
"""

FIND = """
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "sought" and begun is not None:
            begun.set()
            time.sleep(1.0)

def seek(event=None):
    global begun
    begun = event
    try:
        import sought
    except ModuleNotFoundError:
        pass

begun = None
sys.meta_path.insert(0, Finder())
fork_while(seek, seek)
"""

COMPILE = """
from numba.core.compiler_lock import global_compiler_lock
from llvmlite.binding.ffi import lib

def compile(begun=None):
    with global_compiler_lock, lib._lock:
        if begun is not None:
            begun.set()
            time.sleep(0.5)

fork_while(compile, compile)
"""

KEPT = """
class Thing:
    @forking.cached_property
    def value(self):
        if begun is not None:
            begun.set()
            time.sleep(0.5)
        return 7

def compute(event=None):
    global begun
    begun = event
    assert Thing().value == 7

begun = None
fork_while(compute, compute)
thing = Thing()
assert thing.value == 7 and vars(thing) == {"value": 7} and isinstance(Thing.value, forking.cached_property)
"""

OWN = """
# A fork in the middle of one's own import, or compilation, waits for nobody.
from numba.core.compiler_lock import global_compiler_lock
spec = types.SimpleNamespace(_initializing=True)
sys.modules["elene.mine"] = module = types.ModuleType("elene.mine")
module.__spec__, module.os, module.signal = spec, os, signal
with global_compiler_lock:
    exec("child = os.fork()\\nif not child: os._exit(0)", vars(module))
print(os.waitstatus_to_exitcode(os.waitpid(module.child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork here")
@pytest.mark.parametrize("case", ["IMPORT", "FIND", "COMPILE", "KEPT", "OWN"])
def test_children_do_not_wait_for_what_another_thread_held(case, tmp_path):
    command = [sys.executable, "-c", SCRIPT + globals()[case], str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("0", "")
