"""Parsing of third-party weight files: .safetensors, and Paddle's .pdparams without executing code.

A .pdparams file is a pickle: a program that may call anything it names. It is not unpickled. Only the opcodes that
build tables of arrays are interpreted here, and each name they may refer to is replaced by code of this module that
checks its arguments; NumPy's own restoring code is not among them.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as decode_safetensors

from workbench.core.messages import Message
from workbench.core.problems import WeightsUnusable
from workbench.inference.io import file_access
from workbench.inference.io.file_access import read_regular

Arrays = dict[str, np.ndarray]

MAX_BYTES = 4 << 30


def read_file(path: Path) -> bytes:
    """Return the content of a file. Raises WeightsUnusable."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise WeightsUnusable(path=str(path), why=Message("weights.too_large", n=MAX_BYTES >> 30))
        return read_regular(path)
    except (OSError, ValueError) as error:  # a ValueError: a name with a null character
        raise WeightsUnusable(path=str(path), why=file_access.reason(error)) from error


def parse_weights(data: bytes, path: str) -> Arrays:
    """Return the arrays in the content of a file, by their names. The file type is detected by the content.

    path: used in messages only. Raises WeightsUnusable.
    """
    try:
        if data[:2] == b"PK":
            why = Message("weights.pytorch")
            raise WeightsUnusable(path=path, why=why)
        arrays = _parse_pickle(data) if data[:1] in (b"\x80", b"(", b"}") else decode_safetensors(data)
    except _UnsafeWeights as unsafe:
        raise WeightsUnusable(path=path, why=str(unsafe)) from unsafe
    except SafetensorError as error:
        raise WeightsUnusable(path=path, why=Message("weights.unknown_format", why=error)) from error
    except MemoryError as error:
        raise WeightsUnusable(path=path, why=Message("weights.memory")) from error
    except Exception as error:  # a damaged pickle may raise anything
        why = Message("weights.damaged", why=f"{type(error).__name__}: {error}")
        raise WeightsUnusable(path=path, why=why) from error
    if not arrays:
        raise WeightsUnusable(path=path, why=Message("weights.empty"))
    return arrays


def _parse_pickle(data: bytes) -> Arrays:
    content = _run(data)
    if not isinstance(content, dict):
        raise _UnsafeWeights(Message("weights.no_table"))
    arrays = {}
    for name, value in content.items():
        if not isinstance(name, str):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        if name.endswith("@@"):  # Paddle's internal metadata
            continue
        if isinstance(value, tuple) and len(value) == 2:  # name of the tensor in the program, and the tensor
            value = value[1]
        if not isinstance(value, _Array):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        arrays[name] = value.numbers()
    return arrays


class _UnsafeWeights(Exception):
    """Raised for an operation in the file that is not supported; the text names it."""


class _Type:
    """Replacement of numpy.dtype: plain number types only."""

    def __init__(self, name: Any = "", *_: Any) -> None:
        try:
            self.type = np.dtype(name if isinstance(name, str) else "O")
        except TypeError:
            self.type = np.dtype("O")
        if self.type.kind not in "fiub":
            raise _UnsafeWeights(Message("weights.not_numbers"))

    def restore(self, state: Any) -> None:
        """Set the byte order; other state that NumPy stores belongs to unsupported types."""
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">"):
            self.type = self.type.newbyteorder(state[1])


class _Array:
    """Replacement of numpy.ndarray: its state in the file, checked on use."""

    def __init__(self, *state: Any) -> None:
        self.state: Any = state

    def restore(self, state: Any) -> None:
        self.state = state

    def numbers(self) -> np.ndarray:
        """Return a copy in native byte order."""
        _, shape, kind, fortran_order, raw = self.state
        if isinstance(raw, str):
            raw = raw.encode("latin1")  # written by Python 2
        if not isinstance(kind, _Type) or not isinstance(raw, (bytes, bytearray)):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        array = np.frombuffer(raw, kind.type).reshape(tuple(shape), order="F" if fortran_order else "C")
        return np.ascontiguousarray(array, kind.type.newbyteorder("=")).reshape(tuple(shape))


def _from_buffer(raw: Any, kind: Any, shape: Any, order: Any = "C") -> _Array:
    return _Array(1, shape, kind, order == "F", raw)


def _encode(text: Any, _: Any = None) -> bytes:
    if not isinstance(text, str):
        raise _UnsafeWeights(Message("weights.not_numbers"))
    return text.encode("latin1")


def _bytes(raw: Any = b"") -> bytes:
    if not isinstance(raw, (bytes, bytearray)):  # an integer would create that many zeros
        raise _UnsafeWeights(Message("weights.not_numbers"))
    return bytes(raw)


@dataclass(frozen=True)
class _AllowedCall:
    """Function that a file may name and call."""

    call: Callable[..., Any]


_ALLOWED: dict[tuple[str, str], Callable[..., Any]] = {
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Type,
    ("_codecs", "encode"): _encode,
    ("collections", "OrderedDict"): dict,
    **{(module, name): _bytes for module in ("builtins", "__builtin__") for name in ("bytes", "bytearray")},
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _Array for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _from_buffer for core in ("core", "_core")},
}


def _find(module: Any, name: Any) -> _AllowedCall:
    if (module, name) not in _ALLOWED:
        raise _UnsafeWeights(Message("weights.forbidden_call", name=f"{module}.{name}"))
    return _AllowedCall(_ALLOWED[module, name])


_VALUES = frozenset(
    "BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINUNICODE BINUNICODE8 BINSTRING SHORT_BINSTRING "
    "BINBYTES SHORT_BINBYTES BINBYTES8 BYTEARRAY8".split()
)
_FIXED = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_MARK = object()


def _run(data: bytes) -> Any:
    """Return the object described by a pickle. Only opcodes needed for tables of arrays are supported."""
    stack: list[Any] = []
    memory: dict[int, Any] = {}

    def since_mark() -> list[Any]:
        mark = len(stack) - 1 - stack[::-1].index(_MARK)
        items = stack[mark + 1 :]
        del stack[mark:]
        return items

    for code, value, _ in pickletools.genops(data):
        order = code.name
        if order in ("PROTO", "FRAME"):
            continue
        if order == "STOP":
            break
        if order in _VALUES:
            stack.append(value)
        elif order in _FIXED:
            stack.append(_FIXED[order])
        elif order == "EMPTY_DICT":
            stack.append({})
        elif order == "MARK":
            stack.append(_MARK)
        elif order == "TUPLE":
            stack.append(tuple(since_mark()))
        elif order in _TUPLES:
            stack[-_TUPLES[order] :] = [tuple(stack[-_TUPLES[order] :])]
        elif order in ("BINPUT", "LONG_BINPUT", "MEMOIZE"):
            memory[len(memory) if order == "MEMOIZE" else value] = stack[-1]
        elif order in ("BINGET", "LONG_BINGET"):
            stack.append(memory[value])
        else:
            _execute(order, value, stack, since_mark)
    return stack.pop()


def _execute(order: str, value: Any, stack: list[Any], since_mark: Callable[[], list[Any]]) -> None:
    """Execute an opcode that looks up a name, calls it, or modifies an object."""
    if order == "GLOBAL":
        stack.append(_find(*value.split(" ", 1)))
    elif order == "STACK_GLOBAL":
        name, module = stack.pop(), stack.pop()
        stack.append(_find(module, name))
    elif order == "REDUCE" and isinstance(stack[-2], _AllowedCall) and isinstance(stack[-1], tuple):
        arguments = stack.pop()
        stack.append(stack.pop().call(*arguments))
    elif order == "BUILD" and isinstance(stack[-2], (_Type, _Array)):
        state = stack.pop()
        stack[-1].restore(state)
    elif order in ("SETITEM", "SETITEMS"):
        pairs = since_mark() if order == "SETITEMS" else [stack.pop(-2), stack.pop()]
        if not isinstance(stack[-1], dict):
            raise _UnsafeWeights(Message("weights.not_numbers"))
        stack[-1].update(zip(pairs[::2], pairs[1::2]))
    else:
        raise _UnsafeWeights(Message("weights.not_numbers"))
