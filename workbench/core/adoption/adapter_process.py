"""Adaptation of a foreign network in a child process, which reads, checks and runs it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.adoption.adoption_options import AdoptionOptions
from workbench.core.adoption.network_file import load_network
from workbench.core.runs.network_process import Cancelled, Frame, Header, NetworkProcess


@dataclass(frozen=True)
class AdaptedFile:
    """Content of an ONNX file, and the fields of `adapter_graph.AdaptedNetwork`."""

    content: bytes
    channels: int
    tile: int
    multiple: int
    batch: bool


def adapt_file(path: Path, options: AdoptionOptions, cancelled: Cancelled) -> AdaptedFile:
    """Return the adapted network of a file. Raises NetworkRefused, NetworkCancelled."""
    process = NetworkProcess("adapt")
    try:
        header, (content,) = process.ask(
            {"path": str(path), "options": dataclasses.asdict(options)}, cancelled=cancelled
        )
    finally:
        process.kill()
    return AdaptedFile(content.tobytes(), **header)


class AdapterWork:
    """Work of the child process."""

    def handle(self, header: Header, arrays: list[np.ndarray]) -> Frame:
        values: dict[str, Any] = header["options"]
        values |= {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        model = load_network(Path(header["path"]))
        from workbench.core.adoption.adapter_graph import adapt  # needs onnx, which is now known to be installed

        network = adapt(model, AdoptionOptions(**values))
        content = np.frombuffer(network.model.SerializeToString(), np.uint8)
        fields = ("channels", "tile", "multiple", "batch")
        return {name: getattr(network, name) for name in fields}, [content]

    def stop(self) -> None:
        """Do nothing: the process is killed."""
