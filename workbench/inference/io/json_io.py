"""JSON files that may be damaged or malicious: size limits, regular files only, one exception for all faults.

`core.json_files` builds on this module; the copy in an export uses it alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any

from . import file_access
from .file_access import open_regular

LIMIT = 256 << 20  # maximum file size in bytes
LINE_LIMIT = 16 << 20  # maximum line length in bytes
DEPTH = 100  # maximum nesting depth of lists and objects
_MAX_INTEGER = 1 << 63  # integers must fit into 64 bits
# Escapes of NUL and of surrogates, which are invalid in file names or in UTF-8.
_SUSPICIOUS = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_NUL, _NOT_TEXT = re.compile("\0"), re.compile("[\0\ud800-\udfff]")


class JsonError(ValueError):
    """Unusable JSON. The text is a part of a sentence: "it is not valid JSON (...)"."""


def read_json(path: Path | str, *, limit: int = LIMIT, surrogates: bool = False) -> Any:
    """Return the content of a JSON file. Raises FileNotFoundError, and JsonError for all other problems.

    limit: maximum file size in bytes. surrogates: see `parse_json`.
    """
    return parse_json(read_file(path, limit=limit), surrogates=surrogates)


def read_object(path: Path | str, *, limit: int = LIMIT) -> dict[str, Any]:
    """Return the content of a JSON file that holds an object, {} for any other file and without one."""
    try:
        content = read_json(path, limit=limit)
    except (OSError, JsonError):
        return {}
    return content if isinstance(content, dict) else {}


def parse_line(line: bytes, *, finite: bool = False) -> dict[str, Any] | None:
    """Return the object in a complete line of a log, None for any other line. finite: see `parse_json`."""
    if not line.endswith(b"\n"):
        return None
    try:
        content = parse_json(line, finite=finite, surrogates=True)
    except JsonError:
        return None
    return content if isinstance(content, dict) else None


def require(condition: object, problem: str) -> None:
    """Raise ValueError with a problem, a part of a sentence, unless the condition holds."""
    if not condition:
        raise ValueError(problem)


def read_file(path: Path | str, *, limit: int = LIMIT) -> bytes:
    """Return the bytes of a regular file of at most `limit` bytes. Raises FileNotFoundError, JsonError."""
    try:
        with BufferedReader(open_regular(path)) as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise JsonError(f"it is larger than {limit >> 20} MB")
            data = file.read(size + 1)  # `read` reserves what it is asked for
            if len(data) > size:  # the file has grown
                data += file.read(limit + 1 - len(data))
    except FileNotFoundError:
        raise
    except (OSError, UnicodeEncodeError) as error:
        raise JsonError(f"it cannot be opened ({file_access.reason(error)})") from error
    except ValueError as error:
        if isinstance(error, JsonError):
            raise
        raise JsonError(f"it cannot be opened ({error})") from error  # a path containing NUL
    if len(data) > limit:
        raise JsonError(f"it is larger than {limit >> 20} MB")
    return data


def read_lines(path: Path | str, *, limit: int = LINE_LIMIT) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line) of a regular file, newlines included, without lines longer than `limit`. Raises OSError."""
    with BufferedReader(open_regular(path)) as file:
        end = 0
        while line := file.readline(limit):
            start, end = end, end + len(line)
            if len(line) < limit or line.endswith(b"\n"):
                yield start, line
                continue
            while not line.endswith(b"\n") and (line := file.readline(limit)):
                end += len(line)


def parse_json(data: bytes | str, *, finite: bool = False, surrogates: bool = False) -> Any:
    """Return the value of a JSON text, with or without a byte order mark. Raises JsonError.

    Invalid UTF-8, nesting deeper than `DEPTH`, integers beyond 64 bits and NUL in strings are rejected.

    finite: also reject NaN and infinities, which Python writes although they are not JSON.
    surrogates: allow unpaired surrogates, which represent file names that are not valid UTF-8.
    """
    try:
        text = data if isinstance(data, str) else data.decode("utf-8-sig")
        value = (_FINITE if finite else _ANY).decode(text)
    except JsonError:
        raise
    except UnicodeDecodeError as error:
        raise JsonError(f"it is not valid JSON (invalid UTF-8 at byte {error.start})") from None
    except RecursionError:
        raise JsonError("it is not valid JSON (nested too deeply)") from None
    except ValueError as error:
        raise JsonError(f"it is not valid JSON ({error})") from None
    suspicious = _SUSPICIOUS.search(text) is not None
    if suspicious or text.count("[") + text.count("{") > DEPTH:
        _check(value, suspicious, surrogates)
    return value


def _check(value: Any, texts: bool, surrogates: bool) -> None:
    """Check the nesting depth and, if `texts` is set, every string. Raises JsonError."""
    level, unusable = [value], _NUL if surrogates else _NOT_TEXT
    for _ in range(DEPTH + 1):
        deeper: list[Any] = []
        for entry in level:
            if isinstance(entry, dict):
                deeper += entry.values()
                if texts:
                    deeper += entry
            elif isinstance(entry, list):
                deeper += entry
            elif texts and isinstance(entry, str) and (match := unusable.search(entry)):
                raise JsonError(f"it is not valid JSON (a text holds the character {ord(match[0]):#06x})")
        if not deeper:
            return
        level = deeper
    raise JsonError("it is not valid JSON (nested too deeply)")


def _parse_integer(text: str) -> int:
    number = int(text) if len(text) < 25 else _MAX_INTEGER
    if not -_MAX_INTEGER <= number < _MAX_INTEGER:
        raise JsonError(f"it is not valid JSON (the number {text[:20]}... is too large)")
    return number


def _parse_finite(text: str) -> float:
    number = float(text)
    if number - number:  # NaN if infinite
        raise JsonError(f"it is not valid JSON (the number {text[:20]} is too large)")
    return number


def _refuse_constant(text: str) -> float:
    raise JsonError(f"it is not valid JSON ({text} is no number)")


_ANY = json.JSONDecoder(parse_int=_parse_integer)
_FINITE = json.JSONDecoder(parse_int=_parse_integer, parse_float=_parse_finite, parse_constant=_refuse_constant)
