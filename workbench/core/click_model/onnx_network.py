"""Network of a click model, in a child process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from workbench.core.messages import Message
from workbench.core.problems import ClickModelRefused
from workbench.core.runs.child_network import ChildNetwork, Tensor
from workbench.core.runs.network_process import NetworkCancelled
from workbench.core.runs.onnx_files import NetworkRefused, network_stamp

_MAX_NAMED = 12  # inputs or outputs that a message lists


class ClickCancelled(Exception):
    """Run that was ended on request."""


class OnnxNetwork(ChildNetwork):
    """Network of a file. Not for several threads at once, except `terminate`.

    Raises ClickModelRefused if the file cannot be a network, and ClickCancelled.
    """

    def __init__(self, path: Path) -> None:
        with _refusals(path):
            super().__init__(path, why="click.not_run")

    def load(self, cancelled: Callable[[], bool]) -> None:
        with _refusals(self.path):
            super().load(cancelled)

    def run(
        self, feeds: Mapping[str, np.ndarray], outputs: list[str], cancelled: Callable[[], bool]
    ) -> list[np.ndarray]:
        with _refusals(self.path):
            return super().run(feeds, outputs, cancelled)

    def refused(self, id: str, **fields: object) -> ClickModelRefused:
        """Return the problem with a reason of the catalog."""
        return ClickModelRefused(path=str(self.path), why=Message(id, **fields))

    @property
    def signature(self) -> dict[str, str]:
        """Fields `inputs` and `outputs` of a message: names, types and sizes."""
        return {"inputs": _listed(self.inputs), "outputs": _listed(self.outputs)}


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Raise the exceptions of a click model instead of those of networks in general."""
    try:
        yield
    except NetworkCancelled as error:
        raise ClickCancelled from error
    except NetworkRefused as refusal:
        raise ClickModelRefused(path=str(path), why=refusal.why) from refusal


def file_stamp(path: Path) -> tuple[int, int]:
    """Return the time of the last change and the size of a file. Raises ClickModelRefused if it cannot be a network."""
    with _refusals(path):
        return network_stamp(path)


def _listed(tensors: Mapping[str, Tensor]) -> str:
    texts = [str(tensor) for tensor in tensors.values()]
    return ", ".join(texts[:_MAX_NAMED]) + (", …" if len(texts) > _MAX_NAMED else "")
