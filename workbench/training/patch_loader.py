"""Sampling of training patches: a pure function of seed, step and place in the batch, computed ahead by threads.

Nothing depends on the timing of threads, so a resumed run gets exactly the samples of an uninterrupted one, and
several processes share one batch by dividing its places.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import paddle

from workbench.core.problems import NoLabels, Problem
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.normalize import normalize
from workbench.training.augment import augment_intensity, cut_patch, draw_pose
from workbench.training.image_cache import ImageCache, estimate_bytes
from workbench.training.learner import Batch
from workbench.training.losses import IGNORED
from workbench.training.networks import patch_side

_BLOCK = 50  # steps that use one selection of images if not all fit into memory
_MAX_ATTEMPTS = 50
_MIN_SIDE = 64  # smaller patches show too little context around a defect


Sample = tuple[np.ndarray, "np.ndarray | int"]


class PatchSampler:
    """Sampler of training data. For a UNet a patch, float32 (C, side, side), with uint8 (side, side) channels or
    IGNORED; for a ResNet an image, float32 (C, size, size), with the index of its verdict.
    """

    def __init__(
        self, training_settings: TrainingSettings, dataset: Dataset, settings: ModelSettings, cache: ImageCache
    ) -> None:
        self.training_settings, self.dataset, self.settings, self.cache = training_settings, dataset, settings, cache
        self.items = dataset.of("train")
        self.side = patch_side(training_settings) if training_settings.model == "unet" else training_settings.input_size
        self._channel = np.full(256, IGNORED, np.uint8)
        self._channel[0] = 0
        for number, info in enumerate(dataset.classes, start=1):
            self._channel[info.id] = number
        self._bytes = [estimate_bytes(item, settings) for item in self.items]
        self._blocks: dict[int, dict[object, list[int]]] = {}
        self._lock = threading.Lock()

    @property
    def steps_per_epoch(self) -> int:
        """Steps that cover the area of all training images once (UNet) or each image once (ResNet)."""
        if self.training_settings.model == "resnet":
            patches = len(self.items)
        else:
            area = patch_side(self.training_settings) ** 2 / self.training_settings.scale**2
            patches = sum(max(1, round(item.width * item.height / area)) for item in self.items)
        return max(1, -(-patches // self.training_settings.batch))

    @property
    def initial_steps_per_epoch(self) -> int:
        """Steps per epoch at the creation of the run: labels added later do not make it longer."""
        dataset = self.dataset.model_copy(update={"joined": []})
        return PatchSampler(self.training_settings, dataset, self.settings, self.cache).steps_per_epoch

    def sample(self, step: int, place: int) -> Sample:
        """Return the sample at `place` 0..batch-1 of `step`. Raises NoLabels if no image can be read."""
        generator = np.random.default_rng([self.training_settings.seed, step, place])
        strata = self.strata_of(step)
        for _ in range(_MAX_ATTEMPTS):
            # A broken image is drawn and skipped every time, independent of the thread that detected it.
            try:
                if self.training_settings.model == "resnet":
                    return self._verdict_sample(strata, generator)
                return self._patch(strata, place, generator)
            except Problem:
                continue
        raise NoLabels()

    def halve(self, times: int) -> bool:
        """Cut patches of the configured side halved `times` times from now on.

        Return False if nothing changes: patches would be too small, the network accepts no smaller ones or uses none.
        """
        side = patch_side(self.training_settings, times) if self.training_settings.model == "unet" else self.side
        if side == self.side or (times and side < _MIN_SIDE):
            return False
        self.side = side
        return True

    # --- strata ----------------------------------------------------------------------------------

    def strata_of(self, step: int) -> dict[object, list[int]]:
        """Return stratum (class id, verdict, or None for all) to indices of those items that fit into memory."""
        fits = sum(self._bytes) <= self.cache.max_bytes
        block = 0 if fits else step // _BLOCK
        with self._lock:
            if block not in self._blocks:
                chosen = range(len(self.items)) if fits else self._choose_block(block)
                self._blocks[block] = self._sort(chosen)
                for old in [number for number in self._blocks if number < block - 1]:
                    del self._blocks[old]
            return self._blocks[block]

    def _choose_block(self, block: int) -> list[int]:
        """Choose as many images as fit into memory, one of each stratum in turn, so that rare classes are included."""
        generator = np.random.default_rng([self.training_settings.seed, 1 << 32, block])
        queues = [list(generator.permutation(numbers)) for numbers in self._sort(range(len(self.items))).values()]
        chosen: dict[int, None] = {}
        free_bytes = self.cache.max_bytes * 0.9
        while free_bytes > 0 and any(queues):
            for queue in queues:
                number = int(queue.pop()) if queue else -1
                if number >= 0 and number not in chosen:
                    free_bytes -= self._bytes[number]
                    if free_bytes > 0 or not chosen:
                        chosen[number] = None
        return list(chosen)

    def _sort(self, numbers: object) -> dict[object, list[int]]:
        strata: dict[object, list[int]] = defaultdict(list)
        for number in numbers:  # type: ignore[attr-defined]
            item: Item = self.items[number]
            strata[None].append(number)
            for stratum in item.classes if self.training_settings.model == "unet" else [item.verdict]:
                strata[stratum].append(number)
        return dict(strata)

    # --- samples ---------------------------------------------------------------------------------

    def _patch(self, strata: dict[object, list[int]], place: int, generator: np.random.Generator) -> Sample:
        classes = [stratum for stratum in strata if stratum is not None]
        pose = draw_pose(generator, self.training_settings.augment)
        # By place, not by chance, so that every batch has the same share of defects.
        if classes and (place + 0.5) / self.training_settings.batch < self.training_settings.foreground_share:
            id = classes[generator.integers(len(classes))]
            loaded = self.cache.get(self.items[_choose(strata[id], generator)].key)
            positions = loaded.defect_positions.get(id)  # type: ignore[arg-type]
        else:
            loaded, positions = self.cache.get(self.items[_choose(strata[None], generator)].key), None
        if positions is None:  # also if the class was removed from the label since
            center = generator.uniform(0, loaded.image.shape[:2])
        else:
            center = positions[generator.integers(len(positions))] + generator.uniform(-1, 1, 2) * self.side / 3
        half = self.side / 2 / pose.zoom
        position = [_clamp_center(float(c), half, length) for c, length in zip(center, loaded.image.shape[:2])]
        image, mask = cut_patch(loaded.image, loaded.mask, (position[0], position[1]), self.side, pose)
        assert mask is not None
        return self._vary(image, generator), self._channel[mask]

    def _verdict_sample(self, strata: dict[object, list[int]], generator: np.random.Generator) -> Sample:
        verdicts = [stratum for stratum in strata if stratum is not None]
        verdict = verdicts[generator.integers(len(verdicts))]
        loaded = self.cache.get(self.items[_choose(strata[verdict], generator)].key)
        pose = draw_pose(generator, self.training_settings.augment)
        center = np.array(loaded.image.shape[:2]) / 2 + generator.uniform(-1, 1, 2) * self.side * 0.06
        image, _ = cut_patch(loaded.image, None, (center[0], center[1]), self.side, pose)
        return self._vary(image, generator), self.dataset.verdicts.index(str(verdict))

    def _vary(self, image: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """Normalize a patch and vary its intensities."""
        mean, std = float(np.mean(self.settings.mean)), float(np.mean(self.settings.std))
        ways, pixels = self.training_settings.augment, normalize(image, self.settings)
        return augment_intensity(pixels, generator, ways, black=-mean / std, white=(1 - mean) / std)

    def class_shares(self, batches: int = 4) -> np.ndarray:
        """Return float (K,): shares of the classes in the pixels of some batches, background first."""
        counts = np.ones(len(self.dataset.classes) + 1)
        for number in range(batches * self.training_settings.batch):
            batch, place = divmod(number, self.training_settings.batch)
            truth = self.sample(10**9 + batch, place)[1]
            counts += np.bincount(np.asarray(truth).ravel(), minlength=256)[: len(counts)]
        return counts / counts.sum()

    def reload(self, key: str) -> None:
        """Reload an image whose entry in the data set or whose label was changed."""
        self.cache.remove(key)
        with self._lock:
            self.items = self.dataset.of("train")
            self._bytes = [estimate_bytes(item, self.settings) for item in self.items]
            self._blocks.clear()


class PatchLoader:
    """Loader of batches, prepared ahead by threads. wait_seconds: time that `take` has spent waiting for them.

    places: places of each batch to load in this process; all if None.
    pinned: copy the batches to the current GPU, from page-locked memory and without waiting for the copy.
    """

    def __init__(
        self,
        sampler: PatchSampler,
        *,
        batch: int,
        threads: int,
        places: Sequence[int] | None = None,
        ahead: int = 3,
        pinned: bool = False,
    ) -> None:
        cv2.setNumThreads(0)  # OpenCV's threads would compete with those of the loader
        self._sampler, self._ahead, self._pinned = sampler, ahead, pinned
        self._places = range(batch) if places is None else places
        self._pool = ThreadPoolExecutor(max(1, threads), thread_name_prefix="patches")
        self._pending: dict[int, list[Future[Sample]]] = {}
        self._sources: list[paddle.Tensor] = []  # of copies, which must exist until these are complete
        self.wait_seconds = 0.0

    def take(self, step: int) -> tuple[Batch, Batch]:
        """Return the batch of a step: float32 (N, C, H, W), and int64 (N,) or uint8 (N, H, W). Raises NoLabels.

        They are arrays, or tensors on the GPU if the loader is `pinned` and there is memory for them; without, the step
        reports it.
        """
        samples = self._samples(step)
        batch = np.stack([image for image, _ in samples]), np.stack([np.asarray(truth) for _, truth in samples])
        if not self._pinned:
            return batch
        try:
            self._sources = [paddle.to_tensor(array, place=paddle.CUDAPinnedPlace()) for array in batch]
            images, truth = (source.cuda(blocking=False) for source in self._sources)
        except (MemoryError, OSError, RuntimeError):  # the system limits page-locked memory, too
            return batch
        return images, truth

    def _samples(self, step: int) -> list[Sample]:
        for outdated in [other for other in self._pending if other < step]:
            _cancel(self._pending.pop(outdated))
        for index in range(step, step + self._ahead + 1):
            if index not in self._pending:
                self._pending[index] = [self._pool.submit(self._sampler.sample, index, p) for p in self._places]
        started = time.perf_counter()
        samples = [future.result() for future in self._pending.pop(step)]
        self.wait_seconds += time.perf_counter() - started
        return samples

    def restart(self) -> None:
        """Discard prepared batches, after a jump to another step or a change of labels."""
        for futures in self._pending.values():
            _cancel(futures)
        self._pending.clear()

    def close(self) -> None:
        self.restart()
        self._pool.shutdown(wait=True, cancel_futures=True)


def _cancel(futures: list[Future[Sample]]) -> None:
    for future in futures:
        future.cancel()


def _choose(numbers: list[int], generator: np.random.Generator) -> int:
    return numbers[int(generator.integers(len(numbers)))]


def _clamp_center(center: float, half: float, length: int) -> float:
    """Return the nearest center at which the patch stays inside the image, or the middle if the image is too small."""
    return length / 2 if 2 * half >= length else min(max(center, half), length - half)
