"""What pydantic finds wrong, as one line that names each setting, its value and the choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import BaseModel, ValidationError


def explain_errors(error: ValidationError, root: type[BaseModel]) -> str:
    """All that is wrong, where ``root`` is the model that was to be made.

    >>> from elene.experiments.config.spec import Training
    >>> try:
    ...     Training(epochs=0, speed=3)
    ... except ValidationError as error:
    ...     print(explain_errors(error, Training))
    epochs must be greater than or equal to 1, got 0; speed is not a setting: choose from epochs, step, lr, ...
    """
    found: dict[str, dict[str, str]] = {}
    for item in error.errors():
        key, owner = _place(item["loc"], root)
        if item["type"] == "union_tag_not_found":
            key = f"{key}.name"
        reason, rest = _reason(item, owner)
        # The alternatives of a union each give a reason; they belong together.
        before = found.setdefault(key, {}).get(rest)
        found[key][rest] = reason if before is None else f"{before} or {reason.removeprefix(' must be ')}"
    return "; ".join(f"{key}{reason}{rest}" for key, said in found.items() for rest, reason in said.items())


def _place(loc: tuple[int | str, ...], root: type[BaseModel]) -> tuple[str, type[BaseModel]]:
    """The dotted name of a setting, and the model that has or should have it."""
    key: list[str] = []
    owner, alternatives = root, [root]
    for part in loc:
        matching = [kind for kind in alternatives if part in kind.model_fields]
        tagged = [kind for kind in alternatives if part in _tags(kind)]
        if matching:
            owner, alternatives = matching[0], _models(matching[0].model_fields[str(part)].annotation)
            key.append(str(part))
        elif tagged:
            owner, alternatives = tagged[0], tagged
        elif alternatives and part == loc[-1]:
            owner = alternatives[0]
            key.append(str(part))
    return ".".join(key), owner


def _tags(kind: type[BaseModel]) -> tuple[Any, ...]:
    return get_args(kind.model_fields["name"].annotation) if "name" in kind.model_fields else ()


def _models(annotation: Any) -> list[type[BaseModel]]:
    return [
        kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type) and issubclass(kind, BaseModel)
    ]


def _reason(item: Any, owner: type[BaseModel]) -> tuple[str, str]:
    """What is wrong with a setting, and what follows it."""
    kind, value, context = item["type"], item["input"], item.get("ctx", {})
    if kind == "extra_forbidden":
        return f" is not a setting: choose from {', '.join(owner.model_fields)}", ""
    if kind in ("missing", "union_tag_not_found"):
        return " is missing", ""
    if kind == "union_tag_invalid":
        return f" must be one of {context['expected_tags']}", f", got {context['tag']!r}"
    if kind == "value_error":
        whole = isinstance(value, Mapping | BaseModel)
        return f"{':' if whole else ''} {context['error']}", "" if whole else f", got {value!r}"
    table = kind in ("model_type", "model_attributes_type")
    return f" must be {'a table' if table else item['msg'].removeprefix('Input should be ')}", f", got {value!r}"
