"""Loader of all JSON files, which checks size, syntax, format version and types.

Every fault of a file becomes one problem chosen by the caller; a missing file remains FileNotFoundError.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from workbench.core.messages import Message
from workbench.core.problems import Problem, unreadable
from workbench.inference.io.json_io import LIMIT, JsonError, parse_json, read_file

M = TypeVar("M", bound=BaseModel)
D = TypeVar("D")


def load_json(path: Path, broken: type[Problem], *, limit: int = LIMIT, finite: bool = True) -> Any:
    """Return the content of a JSON file. Raises FileNotFoundError, and `broken(path=, why=)` for every other fault.

    limit: the largest file in bytes. finite: refuse NaN and infinities.
    """
    try:
        return parse_json(read_file(path, limit=limit), finite=finite)
    except JsonError as error:
        raise unreadable(broken, path, error.__cause__, str(error)) from error


def load_object(path: Path, broken: type[Problem], *, limit: int = LIMIT, finite: bool = True) -> dict[str, Any]:
    """Return the content of a JSON file that must be an object. Raises as `load_json`."""
    raw = load_json(path, broken, limit=limit, finite=finite)
    if not isinstance(raw, dict):
        raise broken(path=str(path), why=Message("file.not_object"))
    return raw


def load_versioned(
    path: Path,
    model: type[M],
    newest: int,
    broken: type[Problem],
    *,
    too_new: type[Problem] | None = None,
    required: bool = False,
    limit: int = LIMIT,
) -> M:
    """Return the content of a JSON file with a format number, as `model`.

    newest: the latest known format. required: the file must have a format number, otherwise a missing one means the
    first format. Raises FileNotFoundError; `too_new(path=, found=, known=)`, by default `broken`, for a later format;
    `broken(path=, why=)` for every other fault.
    """
    raw = load_object(path, broken, limit=limit)
    found = raw.get("format", None if required else 1)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise broken(path=str(path), why=Message("file.no_format"))
    if found > newest:
        if too_new is None:
            raise broken(path=str(path), why=Message("file.newer"))
        raise too_new(path=str(path), found=found, known=newest)
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise broken(path=str(path), why=first_error(error)) from error


def first_error(error: ValidationError) -> str:
    """Return the first error of a validation as a part of a sentence: the place and the message."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def to_dataclass(kind: type[D], raw: dict[str, Any]) -> D:
    """Create a dataclass from JSON values of exactly the declared types. Unknown names are ignored.

    Raises ValueError for another type, TypeError for a missing value.
    """
    return kind(**_validator(kind)(raw))


@cache
def _validator(kind: type) -> Callable[[Any], Any]:
    """Return a function that checks the values of a dataclass: one call for all fields, which is faster."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in dataclasses.fields(kind)]  # ty: ignore[invalid-argument-type]
    values = TypedDict(kind.__name__, {name: hints[name] for name in names}, total=False)  # ty: ignore[invalid-argument-type]
    values.__pydantic_config__ = ConfigDict(strict=True, allow_inf_nan=False)  # ty: ignore[missing-attribute]
    return TypeAdapter(values).validate_python
