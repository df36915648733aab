"""What is not installed with the core: one error for all of it, which says what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def needing(extra: str, what: str) -> Iterator[None]:
    """Around imports of what an extra installs: where it is missing, the error names the extra.

    Args:
        extra: the extra of ``pip install "elene[extra]"``.
        what: what cannot be done without.

    Example:
        >>> with needing("io", "elene.Encoder"):
        ...     import no_such_package
        Traceback (most recent call last):
        ImportError: elene.Encoder needs no_such_package: pip install "elene[io]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in ("", "elene"):
            raise
        raise _missing(extra, what, package) from error


def need(extra: str, what: str, *packages: str) -> None:
    """The same error before anything is imported, unless all packages are there.

    >>> need("io", "elene.io", "numpy", "no_such_package")
    Traceback (most recent call last):
    ImportError: elene.io needs no_such_package: pip install "elene[io]"
    """
    for package in packages:
        if find_spec(package) is None:
            raise _missing(extra, what, package)


def _missing(extra: str, what: str, package: str) -> ImportError:
    return ImportError(f'{what} needs {package}: pip install "elene[{extra}]"', name=package)
