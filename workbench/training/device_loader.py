"""Batches on a GPU, copied while it computes the step before."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle

from workbench.training.patch_loader import PatchLoader


class DeviceLoader(PatchLoader):
    """Loader whose batches are tensors on the current GPU. Other arguments as for PatchLoader."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._ready: tuple[int, tuple[paddle.Tensor, paddle.Tensor]] | None = None
        # A copy from page-locked memory is only queued: its source must exist until the copy is complete, which it is
        # when a later step has been read.
        self._sources: list[paddle.Tensor] = []

    def prefetch(self, step: int) -> None:
        """Begin to copy the batch of a later step."""
        if self._ready is None or self._ready[0] != step:
            self._ready = step, self._load(step)

    def take(self, step: int) -> tuple[paddle.Tensor, paddle.Tensor]:
        """Return the batch of a step, as tensors of the types of PatchLoader."""
        if self._ready is not None and self._ready[0] == step:
            batch, self._ready = self._ready[1], None
            return batch
        return self._load(step)

    def restart(self) -> None:
        self._ready = None
        super().restart()

    def _load(self, step: int) -> tuple[paddle.Tensor, paddle.Tensor]:
        images, truth = super().take(step)
        batch = self._upload(images), self._upload(truth)
        self._sources = self._sources[-4:]  # of the last two batches
        return batch

    def _upload(self, array: np.ndarray) -> paddle.Tensor:
        if not paddle.device.get_device().startswith("gpu"):
            return paddle.to_tensor(array)
        try:
            source = paddle.to_tensor(array, place=paddle.CUDAPinnedPlace())
        except (OSError, RuntimeError, MemoryError):  # the system limits page-locked memory
            return paddle.to_tensor(array)
        self._sources.append(source)
        return source.cuda(blocking=False)
