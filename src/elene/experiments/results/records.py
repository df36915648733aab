"""Records: checked data in small JSON files, which as all text here are there whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from elene.experiments.config.errors import explain_errors
from elene.files import replacing

Record = TypeVar("Record", bound=BaseModel)


def write_record(record: BaseModel, path: Path) -> Path:
    """Write a record, in place of an older one, and give its path.

    >>> import tempfile
    >>> from elene.experiments.config import Training
    >>> path = write_record(Training(epochs=3), Path(tempfile.mkdtemp(), "new", "training.json"))
    >>> read_record(path, Training, "settings").epochs
    3
    """
    return write_text(path, record.model_dump_json(indent=1) + "\n")


def write_text(path: Path, text: str) -> Path:
    """Write a text file, in a folder that is made if need be, and give its path.

    >>> import tempfile
    >>> write_text(Path(tempfile.mkdtemp(), "new", "README.md"), "Results").read_text()
    'Results'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return path


def read_record(path: Path, kind: type[Record], what: str) -> Record:
    """Read what :func:`write_record` wrote; ``what`` says in an error what the file should be."""
    try:
        return kind.model_validate_json(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        said = explain_errors(error, kind)
        raise ValueError(f"{path} is no {what} of this version: {said}; delete it") from None
