"""Batches on a GPU, copied and normalized there while it computes the step before."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import paddle

from workbench.training.device import is_out_of_memory
from workbench.training.device_images import prepare_images
from workbench.training.learner import Batch
from workbench.training.patch_loader import PatchLoader, RawPatch, stack_truth

_SOURCES = 16  # of two batches at least


class DeviceLoader(PatchLoader):
    """Loader whose batches are tensors on the current GPU. Arguments as for PatchLoader.

    8-bit patches are sent as such and normalized on the GPU. A batch is an array if the GPU's memory is insufficient:
    the step that uses it then fails, as in every process of the run.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._sampler.raw = True
        self._ready: tuple[int, tuple[Batch, Batch]] | None = None
        # A copy from page-locked memory is only queued: its source must exist until the copy is complete, which it is
        # when a later step has been read.
        self._sources: list[paddle.Tensor] = []

    def prefetch(self, step: int) -> None:
        """Begin to copy the batch of a later step."""
        if self._ready is None or self._ready[0] != step:
            self._ready = step, self._load(step)

    def take(self, step: int) -> tuple[Batch, Batch]:
        """Return the batch of a step, of the types of PatchLoader."""
        if self._ready is not None and self._ready[0] == step:
            batch, self._ready = self._ready[1], None
            return batch
        return self._load(step)

    def restart(self) -> None:
        self._ready = None
        super().restart()

    def _load(self, step: int) -> tuple[Batch, Batch]:
        samples = self._samples(step)
        patches = [image for image, _ in samples]
        self._sources = self._sources[-_SOURCES:]
        try:
            images = self._normalize(patches, step)
            if images is None:
                images = self._upload(self._finish(patches))
            return images, self._upload(stack_truth(samples))
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        return self._finish(patches), stack_truth(samples)

    def _finish(self, patches: list[np.ndarray | RawPatch]) -> np.ndarray:
        return np.stack([self._sampler.finish(patch) for patch in patches])

    def _normalize(self, patches: list[np.ndarray | RawPatch], step: int) -> paddle.Tensor | None:
        """Return the images of a batch; None if not all of them have 8 bits and as many channels."""
        raw = [patch for patch in patches if isinstance(patch, RawPatch)]
        if len(raw) < len(patches) or len({patch.pixels.shape for patch in raw}) > 1:
            return None
        settings = self._sampler.training_settings
        return prepare_images(
            np.stack([patch.pixels for patch in raw]),
            [patch.change for patch in raw],
            self._sampler.settings,
            settings.augment,
            self._sampler.tone_range,
            zlib.crc32(f"{settings.seed} {step} {self._places[0]}".encode()),
            self._upload,
        )

    def _upload(self, array: np.ndarray) -> paddle.Tensor:
        if not paddle.device.get_device().startswith("gpu"):
            return paddle.to_tensor(array)
        try:
            source = paddle.to_tensor(array, place=paddle.CUDAPinnedPlace())
        except (OSError, RuntimeError, MemoryError):  # the system limits page-locked memory
            return paddle.to_tensor(array)
        self._sources.append(source)
        return source.cuda(blocking=False)
