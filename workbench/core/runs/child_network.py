"""ONNX network of somebody else in ONNX Runtime, in a child process: its inputs and outputs, runs that can be ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from workbench.core.messages import first_line
from workbench.core.runs.network_process import Cancelled, Frame, Header, NetworkCancelled, NetworkProcess
from workbench.core.runs.onnx_files import NetworkRefused, network_stamp, open_session

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


class ChildNetwork:
    """Network of a file, in a child process. Not for several threads at once, except `terminate`.

    Raises NetworkRefused if the file cannot be a network. inputs, outputs: after `load`. threads: of ONNX Runtime, 0
    for all. gpu: use a GPU if ONNX Runtime can. why: id of the message of a run that fails.
    """

    def __init__(self, path: Path, *, threads: int = 0, gpu: bool = False, why: str = "network.not_run") -> None:
        self.path = path
        self.stamp = network_stamp(path)
        self.inputs: dict[str, Tensor] = {}
        self.outputs: dict[str, Tensor] = {}
        self._how: Header = {"load": str(path), "threads": threads, "gpu": gpu, "why": why}
        self._process: NetworkProcess | None = None

    def load(self, cancelled: Cancelled) -> None:
        """Load the network in a new process. Raises NetworkRefused, NetworkCancelled."""
        self.terminate()
        if cancelled():
            raise NetworkCancelled
        process = self._process = NetworkProcess("infer")
        header, _ = process.ask(self._how, cancelled=cancelled)
        self.inputs, self.outputs = (
            {entry[0]: Tensor(entry[0], tuple(entry[1]), entry[2]) for entry in header[name]}
            for name in ("inputs", "outputs")
        )

    def run(self, feeds: Mapping[str, np.ndarray], outputs: Sequence[str], cancelled: Cancelled) -> list[np.ndarray]:
        """Return the named outputs. Raises NetworkRefused, and NetworkCancelled once `cancelled` returns True."""
        if self._process is None or not self._process.alive:  # killed to end an earlier run
            self.load(cancelled)
        if cancelled():
            raise NetworkCancelled
        assert self._process is not None
        request = {"inputs": list(feeds), "outputs": list(outputs)}
        return self._process.ask(request, list(feeds.values()), cancelled=cancelled, stoppable=True)[1]

    def terminate(self) -> None:
        """End the process now, and with it a run of another thread."""
        if self._process is not None:
            self._process.kill()


class InferenceWork:
    """Work of the child process: it loads a network and runs it."""

    def __init__(self) -> None:
        self._session: onnxruntime.InferenceSession | None = None
        self._options: onnxruntime.RunOptions | None = None
        self._why = ""

    def handle(self, header: Header, arrays: list[np.ndarray]) -> Frame:
        import onnxruntime

        if "load" in header:
            self._why = header["why"]
            session = self._session = open_session(Path(header["load"]), header["threads"], gpu=header["gpu"])
            entries = {"inputs": session.get_inputs(), "outputs": session.get_outputs()}
            return {name: [_signature(entry) for entry in found] for name, found in entries.items()}, []
        assert self._session is not None
        options = self._options = onnxruntime.RunOptions()
        options.log_severity_level = 4  # the error is reported by its exception
        try:
            found = self._session.run(header["outputs"], dict(zip(header["inputs"], arrays)), options)
        except Exception as error:  # the library raises many kinds
            raise NetworkRefused(self._why, why=first_line(error)) from error
        return {}, [np.asarray(array) for array in found]

    def stop(self) -> None:
        if self._options is not None:
            self._options.terminate = True


def _signature(entry: object) -> tuple[str, list[int | None], str]:
    """Return name, sizes and type of an input or output."""
    name, shape, kind = (getattr(entry, field) for field in ("name", "shape", "type"))
    sizes = [size if isinstance(size, int) and size > 0 else None for size in shape or ()]
    return name, sizes, kind.removeprefix("tensor(").removesuffix(")")
