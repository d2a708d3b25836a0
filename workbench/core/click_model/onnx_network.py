"""ONNX network in ONNX Runtime on the CPU: its inputs and outputs, and runs that another thread can end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.messages import Message, first_line
from workbench.core.onnx_files import NetworkRefused, network_stamp, open_session
from workbench.core.problems import ClickModelRefused

if TYPE_CHECKING:
    import onnxruntime

NUMPY_TYPES: dict[str, type[np.generic]] = {
    "float16": np.float16,
    "float": np.float32,
    "double": np.float64,
    "uint8": np.uint8,
    "int32": np.int32,
    "int64": np.int64,
    "bool": np.bool_,
}
_MAX_NAMED = 12  # inputs or outputs that a message lists


class ClickCancelled(Exception):
    """Run that was ended on request."""


@dataclass(frozen=True)
class Tensor:
    """Input or output of a network. shape: None for a free size. type: a key of `NUMPY_TYPES`, or another of ONNX."""

    name: str
    shape: tuple[int | None, ...]
    type: str

    def __str__(self) -> str:
        sizes = "×".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.name} ({self.type} {sizes})"

    @property
    def dtype(self) -> type[np.generic]:
        return NUMPY_TYPES[self.type]


class OnnxNetwork:
    """Network of a file. Raises ClickModelRefused if it cannot be loaded; nothing but its graph is ever executed."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp = file_stamp(path)
        try:
            session = open_session(path)
        except NetworkRefused as refusal:
            raise ClickModelRefused(path=str(path), why=refusal.why) from refusal
        self._session = session
        self._running: onnxruntime.RunOptions | None = None
        self.inputs = {entry.name: _tensor(entry) for entry in session.get_inputs()}
        self.outputs = {entry.name: _tensor(entry) for entry in session.get_outputs()}

    def refused(self, id: str, **fields: object) -> ClickModelRefused:
        """Return the problem with a reason of the catalog."""
        return ClickModelRefused(path=str(self.path), why=Message(id, **fields))

    def run(
        self, feeds: Mapping[str, np.ndarray], outputs: list[str], cancelled: Callable[[], bool]
    ) -> list[np.ndarray]:
        """Return the named outputs. Raises ClickModelRefused, and ClickCancelled after `terminate`."""
        import onnxruntime

        options = onnxruntime.RunOptions()
        options.log_severity_level = 4  # the error is reported by its exception
        self._running = options
        if cancelled():  # before this line, `terminate` had nothing to end
            raise ClickCancelled
        try:
            found = self._session.run(outputs, dict(feeds), options)
        except Exception as error:  # the library raises many kinds
            if cancelled():
                raise ClickCancelled from error
            raise self.refused("click.not_run", why=first_line(error)) from error
        finally:
            self._running = None
        return [np.asarray(array) for array in found]

    def terminate(self) -> None:
        """End a run of another thread, for which `cancelled` returns True from now on."""
        options = self._running
        if options is not None:
            options.terminate = True

    @property
    def signature(self) -> dict[str, str]:
        """Fields `inputs` and `outputs` of a message: names, types and sizes."""
        return {"inputs": _listed(self.inputs), "outputs": _listed(self.outputs)}


def file_stamp(path: Path) -> tuple[int, int]:
    """Return the time of the last change and the size of a file. Raises ClickModelRefused if it cannot be a network."""
    try:
        return network_stamp(path)
    except NetworkRefused as refusal:
        raise ClickModelRefused(path=str(path), why=refusal.why) from refusal


def _tensor(entry: object) -> Tensor:
    name, shape, kind = (getattr(entry, field) for field in ("name", "shape", "type"))
    sizes = tuple(size if isinstance(size, int) and size > 0 else None for size in shape or ())
    return Tensor(name, sizes, kind.removeprefix("tensor(").removesuffix(")"))


def _listed(tensors: Mapping[str, Tensor]) -> str:
    texts = [str(tensor) for tensor in tensors.values()]
    return ", ".join(texts[:_MAX_NAMED]) + (", …" if len(texts) > _MAX_NAMED else "")
