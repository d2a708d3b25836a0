"""Tensors in one contiguous tensor, so that one operation changes all of them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence

import numpy as np
import paddle

from workbench.training.device import is_out_of_memory

_ALIGNMENT = 64  # elements: every part begins at a multiple of 256 bytes, as in an allocation of its own
_BYTES = 4  # of an element
_POLL_SECONDS = 2e-4  # between two queries of a GPU, which meanwhile has the work of a step


class FlatTensors:
    """Tensors of 32 bits that are moved into one tensor, `whole`, and remain parts of it.

    Every later change in place of `whole` or of a tensor is one of the other. Gaps between the parts are 0.
    """

    def __init__(self, tensors: Sequence[paddle.Tensor]) -> None:
        self.tensors = list(tensors)
        self.shapes = [tuple(tensor.shape) for tensor in tensors]
        sizes = [-(-math.prod(shape) // _ALIGNMENT) * _ALIGNMENT for shape in self.shapes]
        self.starts = [0, *np.cumsum(sizes, dtype=int).tolist()]
        self.whole = paddle.zeros([self.starts[-1]], "float32")
        self._gaps = {gap: paddle.zeros([gap]) for gap in {s - math.prod(t) for s, t in zip(sizes, self.shapes)} if gap}
        with paddle.no_grad():
            for tensor, part in zip(self.tensors, self.slices(self.whole)):
                value = tensor.clone()
                part._share_buffer_to(tensor)
                paddle.assign(value, tensor)

    @property
    def is_intact(self) -> bool:
        """True while all tensors are parts of `whole`."""
        first = self.whole.data_ptr()
        return all(tensor.data_ptr() == first + _BYTES * at for tensor, at in zip(self.tensors, self.starts))

    def slices(self, whole: paddle.Tensor) -> list[paddle.Tensor]:
        """Return the parts of a tensor of this layout, without a copy; each has one dimension."""
        return [whole._slice(at, at + math.prod(shape)) for at, shape in zip(self.starts, self.shapes)]

    def range(self, first: int, last: int) -> paddle.Tensor:
        """Return the part of `whole` with the tensors `first` to `last` - 1, without a copy."""
        return self.whole._slice(self.starts[first], self.starts[last])

    def join(self, tensors: Iterable[paddle.Tensor | None], first: int = 0) -> paddle.Tensor:
        """Return a new tensor with the values of others in this layout, beginning with tensor `first`. None: zeros."""
        parts = []
        for number, tensor in enumerate(tensors, start=first):
            size = math.prod(self.shapes[number])
            if tensor is None:
                parts.append(paddle.zeros([size]))
            else:
                parts.append((tensor if tensor.dtype == paddle.float32 else tensor.astype("float32")).reshape([-1]))
            gap = self.starts[number + 1] - self.starts[number] - size
            if gap:
                parts.append(self._gaps[gap])
        return paddle.concat(parts)

    def arrays(self, whole: np.ndarray) -> list[np.ndarray]:
        """Return the parts of a host array of this layout, in the shapes of the tensors."""
        return [whole[at : at + math.prod(shape)].reshape(shape) for at, shape in zip(self.starts, self.shapes)]


class HostCopy:
    """Copies of tensors on the way to the host. Work that is enqueued later does not change them.

    `read` waits for the copies, not for that work: `Tensor.numpy` would wait until the GPU has completed everything.
    """

    def __init__(self, tensors: Sequence[paddle.Tensor]) -> None:
        self._event = None
        self._sources = list(tensors)  # must exist until they are copied
        if not tensors[0].place.is_gpu_place():
            self._copies = [tensor.clone() for tensor in tensors]
            return
        try:
            self._copies = [tensor._copy_to(paddle.CUDAPinnedPlace(), False) for tensor in tensors]
            event = paddle.device.cuda.Event()
            event.record()
            self._event = event
        except (OSError, RuntimeError, MemoryError):  # the system limits page-locked memory
            self._copies = _copies_elsewhere(tensors)

    def read(self) -> list[np.ndarray]:
        while self._event is not None and not self._event.query():
            # `synchronize` would wait without releasing the interpreter lock, so that no thread prepares images.
            time.sleep(_POLL_SECONDS)
        return [copy.numpy() for copy in self._copies]


def _copies_elsewhere(tensors: Sequence[paddle.Tensor]) -> list[paddle.Tensor]:
    """Return copies on the GPU, or on the host if its memory is insufficient, as for a state during a training."""
    try:
        return [tensor.clone() for tensor in tensors]
    except (OSError, RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    return [tensor.cpu() for tensor in tensors]
