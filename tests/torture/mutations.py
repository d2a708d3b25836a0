"""Seeded mutations of files: flipped or truncated bytes, and JSON values of changed type, size and depth."""

from __future__ import annotations

import json
import random
from typing import Any

ODD: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    255,
    2**31,
    2**63,
    -(2**63),
    10**400,
    1.5,
    -0.0,
    1e308,
    float("inf"),
    float("nan"),
    "",
    ".",
    "..",
    "/",
    "~",
    "../../outside",
    "/etc/passwd",
    "C:\\x",
    "a\\b",
    "\0",
    "\ud800",
    "\udcff",
    "*" * 300,
    "x" * 5000,
    "{x}",
    "%s",
    "=1+1",
    "\x1b[31m",
    "\u202e",
    [],
    {},
    [[]],
    [None],
    {"": None},
    [1, "a", None],
)
RAW = (
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"1" * 5000,
    b"",
    b"\0" * 100,
    b"\xff\xfe{}",
    b"\xef\xbb\xbf{}",
    b"null",
    b"1e999",
    b'"\\ud800"',
    b'{"format": 1e400}',
    b'{"format": 99}',
)


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Return `data` with one to three mutations."""
    for _ in range(rng.randint(1, 3)):
        data = _mutate_json(data, rng) if rng.random() < 0.6 else mutate_bytes(data, rng)
    return data


def mutate_bytes(data: bytes, rng: random.Random) -> bytes:
    """Flip bits, cut, repeat or replace a part of `data`."""
    if not data:
        return rng.choice(RAW)
    at = rng.randrange(len(data))
    length = min(len(data) - at, 1 << rng.randrange(8))
    way = rng.randrange(6)
    if way == 0:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if way == 1:
        return data[:at]
    if way == 2:
        return data[: at + length] + data[at:]
    if way == 3:
        return data[:at] + data[at + length :]
    if way == 4:
        return data[:at] + rng.randbytes(length) + data[at + length :]
    return rng.choice(RAW)


def _mutate_json(data: bytes, rng: random.Random) -> bytes:
    """Change one value of a JSON document, or of one line of a file with one document per line."""
    lines = data.split(b"\n")
    try:
        return _dump(_changed(json.loads(data), rng))
    except (ValueError, RecursionError):
        pass
    at = rng.randrange(len(lines))
    try:
        lines[at] = _dump(_changed(json.loads(lines[at]), rng))
    except (ValueError, RecursionError):
        return mutate_bytes(data, rng)
    return b"\n".join(lines)


def _dump(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=True).encode()


def _changed(value: Any, rng: random.Random) -> Any:
    places: list[tuple[Any, Any]] = []
    level = [value]
    while level:
        each = level.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        for key in keys:
            places.append((each, key))
            level.append(each[key])
    if not places:
        return rng.choice(ODD)
    holder, key = rng.choice(places)
    way = rng.randrange(8)
    if way == 0:
        del holder[key]
    elif way == 1:
        holder[key] = _nested(holder[key], rng.choice((3, 90, 300)))
    elif way == 2 and isinstance(holder, dict):
        holder[str(rng.choice(ODD))[:300]] = holder.pop(key)
    elif way == 3:
        other = rng.choice(places)
        holder[key] = json.loads(json.dumps(other[0][other[1]])) if other[0] is not holder else rng.choice(ODD)
    elif way == 4 and isinstance(holder[key], (int, float)) and not isinstance(holder[key], bool):
        found = holder[key]
        half = found + 0.5 if abs(found) < 2**1000 else found  # a larger integer is no float
        holder[key] = rng.choice((-found, found * 10**6, half, str(found), [found]))
    else:
        holder[key] = rng.choice(ODD)
    return value


def _nested(value: Any, depth: int) -> Any:
    for number in range(depth):
        value = [value] if number % 2 else {"x": value}
    return value
