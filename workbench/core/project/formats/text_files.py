"""Text files of other tools: encodings (UTF-8, UTF-16 with a byte order mark, GB18030), and JSON label files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from workbench.core.messages import Message
from workbench.core.project.formats.base import FileTree, UnreadableLabel
from workbench.inference.io.json_io import parse_json, read_file
from workbench.inference.io.regular_files import open_regular

LARGEST = 1 << 30  # bytes of a label file, which may embed its image
LARGEST_SET = 256 << 20  # bytes of a label file of many images, which needs about 15 times its size in memory
_BLOCK = 1 << 20  # bytes of larger files that are searched for keys at a time
_LONGEST_KEY = 64  # bytes

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
# Letters that hardly occur in texts, but are UTF-8 of the bytes of common Chinese characters in GB2312.
_UNLIKELY = re.compile("[\u0250-\u02ff\u0340-\u037f]")
_GB2312 = re.compile(rb"(?:[\x00-\x7f]|[\xb0-\xf7][\xa1-\xfe])*")


def decode_text(data: bytes) -> str:
    """Return the text of a label file in UTF-8, UTF-16 with a byte order mark, or GB18030. Raises ValueError."""
    if data[:2] in _UTF_16:
        return data.decode("utf-16")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("gb18030")  # includes GBK and GB2312
        if "\0" in text:
            raise ValueError("it is not a text file") from None
        return text
    return data.decode("gb18030") if _is_gb2312(data, text) else text


def _is_gb2312(data: bytes, text: str) -> bool:
    """Return True for bytes that are valid in UTF-8 by chance: "图" in GB2312 is an unusual letter in UTF-8."""
    return not text.isascii() and _UNLIKELY.search(text) is not None and _GB2312.fullmatch(data) is not None


def read_utf8(path: Path, *, limit: int) -> bytes:
    """Return the content of a text file as UTF-8, see `decode_text`. Raises FileNotFoundError, ValueError."""
    data = read_file(path, limit=limit)
    try:
        if data[:2] not in _UTF_16 and not _is_gb2312(data, data.decode("utf-8")):
            return data
    except UnicodeDecodeError:
        pass
    return decode_text(data).encode()


def json_files(tree: FileTree, *keys: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the JSON files below a tree that contain all `keys`, such as b'"images"'.

    Of files that are too large to be loaded, which are refused later, the content is the start only.
    """
    for name in tree.with_suffix(".json"):
        path = tree.path(name)
        try:
            if path.stat().st_size > LARGEST_SET:
                data = _start_with_keys(path, keys)
            else:
                data = read_utf8(path, limit=LARGEST_SET)
        except (OSError, ValueError):
            continue
        if all(key in data for key in keys):
            yield name, data


def _start_with_keys(path: Path, keys: Sequence[bytes]) -> bytes:
    """Return the start of a large file, followed by those of `keys` that occur anywhere in it."""
    missing, rest = set(keys), b""
    with open_regular(path) as file:
        start = block = file.read(_BLOCK)
        while block and missing:
            missing -= {key for key in missing if key in rest + block}
            rest = block[-_LONGEST_KEY:]
            block = file.read(_BLOCK)
    return start + b" ".join(set(keys) - missing)


def load(path: Path, *, limit: int = LARGEST_SET) -> Any:
    """Return the content of a label file of at most `limit` bytes. Raises UnreadableLabel."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise UnreadableLabel(Message("import.file_too_large", n=size >> 20, m=limit >> 20))
        return parse_json(read_utf8(path, limit=limit))
    except (OSError, ValueError) as error:
        raise UnreadableLabel(str(error)) from None
