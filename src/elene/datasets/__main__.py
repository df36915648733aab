"""``python -m elene.datasets``: the same as ``elene datasets``."""

from __future__ import annotations

import sys

from elene.__main__ import main

if __name__ == "__main__":
    sys.argv.insert(1, "datasets")
    main()
