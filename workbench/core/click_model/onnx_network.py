"""ONNX network in ONNX Runtime on the CPU, in a child process: its inputs and outputs, and runs that can be ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.messages import Message, first_line
from workbench.core.network_process import Frame, Header, NetworkCancelled, NetworkProcess
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
    """Network of a file, in a child process. Not for several threads at once, except `terminate`.

    Raises ClickModelRefused if the file cannot be a network. inputs, outputs: after `load`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamp = file_stamp(path)
        self.inputs: dict[str, Tensor] = {}
        self.outputs: dict[str, Tensor] = {}
        self._process: NetworkProcess | None = None
        self._running: NetworkProcess | None = None  # while it computes

    def load(self, cancelled: Callable[[], bool]) -> None:
        """Load the network in a new process. Raises ClickModelRefused, ClickCancelled."""
        self.terminate()
        self._process = NetworkProcess("infer")
        header, _ = self._ask({"load": str(self.path)}, [], cancelled, stoppable=False)
        self.inputs, self.outputs = (
            {entry[0]: Tensor(entry[0], tuple(entry[1]), entry[2]) for entry in header[name]}
            for name in ("inputs", "outputs")
        )

    def refused(self, id: str, **fields: object) -> ClickModelRefused:
        """Return the problem with a reason of the catalog."""
        return ClickModelRefused(path=str(self.path), why=Message(id, **fields))

    def run(
        self, feeds: Mapping[str, np.ndarray], outputs: list[str], cancelled: Callable[[], bool]
    ) -> list[np.ndarray]:
        """Return the named outputs. Raises ClickModelRefused, and ClickCancelled once `cancelled` returns True."""
        if self._process is None or not self._process.alive:  # killed to end an earlier run
            self.load(cancelled)
        return self._ask({"inputs": list(feeds), "outputs": outputs}, list(feeds.values()), cancelled)[1]

    def terminate(self) -> None:
        """End the process now, and with it a run of another thread."""
        if self._process is not None:
            self._process.kill()

    def _ask(
        self, header: Header, arrays: list[np.ndarray], cancelled: Callable[[], bool], *, stoppable: bool = True
    ) -> Frame:
        if cancelled():
            raise ClickCancelled
        self._running = self._process
        assert self._process is not None
        try:
            return self._process.ask(header, arrays, cancelled=cancelled, stoppable=stoppable)
        except NetworkCancelled as error:
            raise ClickCancelled from error
        except NetworkRefused as refusal:
            raise ClickModelRefused(path=str(self.path), why=refusal.why) from refusal
        finally:
            self._running = None

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


class InferenceWork:
    """Work of the child process: it loads a network and runs it."""

    def __init__(self) -> None:
        self._session: onnxruntime.InferenceSession | None = None
        self._options: onnxruntime.RunOptions | None = None

    def handle(self, header: Header, arrays: list[np.ndarray]) -> Frame:
        import onnxruntime

        if "load" in header:
            session = self._session = open_session(Path(header["load"]))
            entries = {"inputs": session.get_inputs(), "outputs": session.get_outputs()}
            return {name: [_signature(entry) for entry in found] for name, found in entries.items()}, []
        assert self._session is not None
        options = self._options = onnxruntime.RunOptions()
        options.log_severity_level = 4  # the error is reported by its exception
        try:
            found = self._session.run(header["outputs"], dict(zip(header["inputs"], arrays)), options)
        except Exception as error:  # the library raises many kinds
            raise NetworkRefused("click.not_run", why=first_line(error)) from error
        return {}, [np.asarray(array) for array in found]

    def stop(self) -> None:
        if self._options is not None:
            self._options.terminate = True


def _signature(entry: object) -> tuple[str, list[int | None], str]:
    """Return name, sizes and type of an input or output."""
    name, shape, kind = (getattr(entry, field) for field in ("name", "shape", "type"))
    sizes = [size if isinstance(size, int) and size > 0 else None for size in shape or ()]
    return name, sizes, kind.removeprefix("tensor(").removesuffix(")")


def _listed(tensors: Mapping[str, Tensor]) -> str:
    texts = [str(tensor) for tensor in tensors.values()]
    return ", ".join(texts[:_MAX_NAMED]) + (", …" if len(texts) > _MAX_NAMED else "")
