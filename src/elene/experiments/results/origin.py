"""Origin: which code and which data made a result; both belong to its identity."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import elene
from elene.datasets.brec import BrecPair, brec_collection
from elene.datasets.canonical import canonical, digest
from elene.datasets.loading import content_hash
from elene.experiments.config.network import Settings

SHORT = 10  # digits of a hash in names and tables


class Code(Settings):
    """The state of the library's own code.

    Args:
        commit: the hash of the commit; where there is no repository, the version of the package after a ``v``.
        changes: a short hash of what was changed since the commit, and not committed; empty if nothing was.
        committed: when, in UTC; empty where there is no repository.

    Example:
        >>> Code(commit="0123456789abcdef", changes="feedbeef", committed="2026-01-01T00:00:00Z").name
        '0123456789+feedbeef'
    """

    commit: str
    changes: str = ""
    committed: str = ""

    @property
    def name(self) -> str:
        """The short form, for file names and tables."""
        commit = self.commit[:SHORT] if self.committed else self.commit
        return f"{commit}+{self.changes}" if self.changes else commit

    @property
    def age(self) -> tuple[str, bool, str]:
        """What is larger for newer code; code without a repository is older than any other."""
        return self.committed, bool(self.changes), self.name


class Origin(Settings):
    """What made a result, beside its spec, seed and fold.

    Args:
        code: the state of the library.
        data: the SHA-256 of the data set's content.

    Example:
        >>> Origin(code=Code(commit="v1.0"), data="f" * 64).name
        'v1.0-ffffffffff'
    """

    code: Code
    data: str

    @property
    def name(self) -> str:
        """The short form, for file names."""
        return f"{self.code.name}-{self.data[:SHORT]}"


def origin_of(dataset: str) -> Origin:
    """The origin that a run on a data set would have now.

    >>> origin_of("sr25").data == origin_of("sr25").data
    True
    """
    return Origin(code=code(), data=content_hash(dataset))


def origin_of_pairs(pairs: Sequence[BrecPair]) -> Origin:
    """The origin that results on pairs of BREC would have now.

    >>> from elene.datasets import rook, shrikhande
    >>> len(origin_of_pairs([BrecPair(110, "Regular", "strongly_regular", rook(), shrikhande())]).data)
    64
    """
    return Origin(code=code(), data=digest(canonical(brec_collection(pairs))))


@cache
def code() -> Code:
    """The code of this process: what it was when first asked for, since modules are not loaded again.

    >>> code() == code()
    True
    """
    return code_in(Path(elene.__file__).parent)


def code_in(folder: Path) -> Code:
    """The state of the code in a folder: that of the repository that tracks it, or else the version of the package.

    >>> import tempfile
    >>> code_in(Path(tempfile.mkdtemp())).name
    'v...'
    """
    # A package in an environment may lie within a repository that does not know it.
    tracked = _git(folder, "ls-files", "--", "__init__.py")
    told = _git(folder, "show", "--no-patch", "--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ")
    if not tracked or not told:
        return Code(commit=f"v{elene.__version__}")
    commit, committed = told.decode().split()
    return Code(commit=commit, changes=_changes(folder), committed=committed)


def _changes(folder: Path) -> str:
    """A hash of all that is not as committed, new files included."""
    found = hashlib.sha256()
    changed = _git(folder, "diff", "HEAD", "--binary", "--no-ext-diff", "--", ".") or b""
    new = _git(folder, "ls-files", "--others", "--exclude-standard", "-z", "--", ".") or b""
    for name in filter(None, new.decode().split("\0")):
        found.update(name.encode() + b"\0" + Path(folder, name).read_bytes())
    found.update(changed)
    return found.hexdigest()[:8] if changed or new else ""


def _git(folder: Path, *arguments: str) -> bytes | None:
    """What git says; None if it is not there, or the folder is in no repository."""
    # Hooks run with variables that point to their own repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, env={**environment, "TZ": "UTC"}, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
