"""Arrays from files of weights that others have made: .safetensors, and Paddle's .pdparams without executing anything.

A .pdparams file is a pickle: a small program that may call whatever it names. Here it may name a dozen things, and each
stands for code of this module that looks at what it is given; NumPy's own restoring code is not among them.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as decode_safetensors

from workbench.core.problems import WeightsUnusable

Arrays = dict[str, np.ndarray]

MOST_BYTES = 4 << 30
_NOT_NUMBERS = "it holds something that is no array of numbers"


def read_weights(path: Path) -> Arrays:
    """Arrays by name, as the file has them. What kind of file it is, its content says. Raises WeightsUnusable."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise WeightsUnusable(path=str(path), why=f"it is larger than {MOST_BYTES >> 30} GiB")
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # a ValueError: a name with a zero in it
        raise WeightsUnusable(path=str(path), why=getattr(error, "strerror", None) or str(error)) from error
    return parse_weights(data, str(path))


def parse_weights(data: bytes, path: str) -> Arrays:
    """As `read_weights`; path is for the sentence only."""
    try:
        if data[:2] == b"PK":
            why = "it is a file of PyTorch's own kind; save the weights as .safetensors and take that"
            raise WeightsUnusable(path=path, why=why)
        arrays = _parse_pickle(data) if data[:1] in (b"\x80", b"(", b"}") else decode_safetensors(data)
    except _Refused as refused:
        raise WeightsUnusable(path=path, why=str(refused)) from refused
    except SafetensorError as error:
        raise WeightsUnusable(path=path, why=f"it is neither a safetensors nor a pdparams file ({error})") from error
    except MemoryError as error:
        raise WeightsUnusable(path=path, why="it asks for more memory than there is") from error
    except Exception as error:  # a damaged pickle may raise anything
        raise WeightsUnusable(path=path, why=f"it is damaged ({type(error).__name__}: {error})") from error
    if not arrays:
        raise WeightsUnusable(path=path, why="it holds no weights")
    return arrays


def _parse_pickle(data: bytes) -> Arrays:
    content = _Unpickler(io.BytesIO(data), encoding="latin1").load()
    if not isinstance(content, dict):
        raise _Refused("it holds no table of weights")
    arrays = {}
    for name, value in content.items():
        if not isinstance(name, str):
            raise _Refused(_NOT_NUMBERS)
        if name.endswith("@@"):  # Paddle's notes to itself
            continue
        if isinstance(value, tuple) and len(value) == 2:  # a tensor's name in the program, and the tensor
            value = value[1]
        if not isinstance(value, _Array):
            raise _Refused(_NOT_NUMBERS)
        arrays[name] = value.numbers()
    return arrays


class _Refused(Exception):
    """The file asks for something that is not done; the text says what."""


class _Call:
    """A function, and nothing of it that a file could change."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __setstate__(self, state: Any) -> None:
        raise _Refused(_NOT_NUMBERS)


class _Type:
    """Stands for numpy.dtype: numbers of a plain kind."""

    def __init__(self, name: Any = "", *_: Any) -> None:
        try:
            self.type = np.dtype(name if isinstance(name, str) else "O")
        except TypeError:
            self.type = np.dtype("O")
        if self.type.kind not in "fiub":
            raise _Refused(_NOT_NUMBERS)

    def __setstate__(self, state: Any) -> None:
        """The order of bytes; all else that NumPy stores here is for kinds of numbers that are refused."""
        if isinstance(state, tuple) and len(state) > 1 and state[1] in ("<", ">"):
            self.type = self.type.newbyteorder(state[1])


class _Array:
    """Stands for numpy.ndarray: what the file says of one, looked at when it is wanted."""

    def __init__(self, *state: Any) -> None:
        self.state: Any = state

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def numbers(self) -> np.ndarray:
        """A copy in this machine's order of bytes."""
        _, shape, kind, by_columns, raw = self.state
        if isinstance(raw, str):
            raw = raw.encode("latin1")  # written by Python 2
        if not isinstance(kind, _Type) or not isinstance(raw, (bytes, bytearray)):
            raise _Refused(_NOT_NUMBERS)
        array = np.frombuffer(raw, kind.type).reshape(tuple(shape), order="F" if by_columns else "C")
        return np.ascontiguousarray(array, kind.type.newbyteorder("=")).reshape(tuple(shape))


def _from_buffer(raw: Any, kind: Any, shape: Any, order: Any = "C") -> _Array:
    return _Array(1, shape, kind, order == "F", raw)


def _encode(text: Any, _: Any = None) -> bytes:
    if not isinstance(text, str):
        raise _Refused(_NOT_NUMBERS)
    return text.encode("latin1")


def _bytes(raw: Any = b"") -> bytes:
    if not isinstance(raw, (bytes, bytearray)):  # a number would make as many zeros
        raise _Refused(_NOT_NUMBERS)
    return bytes(raw)


_KNOWN: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): _Call(_Array),
    ("numpy", "dtype"): _Call(_Type),
    ("_codecs", "encode"): _Call(_encode),
    ("collections", "OrderedDict"): _Call(dict),
    **{(module, name): _Call(_bytes) for module in ("builtins", "__builtin__") for name in ("bytes", "bytearray")},
    **{(f"numpy.{core}.multiarray", "_reconstruct"): _Call(_Array) for core in ("core", "_core")},
    **{(f"numpy.{core}.numeric", "_frombuffer"): _Call(_from_buffer) for core in ("core", "_core")},
}  # fmt: skip


class _Unpickler(pickle.Unpickler):
    """Finds nothing but what weights are made of."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _KNOWN[module, name]
        except KeyError:
            raise _Refused(f"it wants to run {module}.{name}, which weights never need; nothing was run") from None

    def persistent_load(self, pid: Any) -> Any:
        raise _Refused(_NOT_NUMBERS)
