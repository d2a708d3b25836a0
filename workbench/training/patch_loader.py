"""Sampling of training patches: a pure function of seed, step and place in the batch, computed ahead by threads from a
cache of images and labels with bounded memory.

Nothing depends on the timing of threads, so a resumed run gets exactly the samples of an uninterrupted one, and
several processes share one batch by dividing its places.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import paddle
import psutil

from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.problems import MaskBroken, NoLabels, Problem
from workbench.core.project import annotation
from workbench.core.project.project import NOT_LABELED, Project
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.training_settings import TrainingSettings
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.tiles import blank_outside, normalize, resize_for_network
from workbench.training.augment import augment_intensity, cut_patch, draw_pose
from workbench.training.learner import Batch
from workbench.training.losses import IGNORED
from workbench.training.networks import patch_side

_POSITIONS_PER_CLASS = 512  # defect pixels kept per class and image
_MAX_BYTES = 8 << 30


@dataclass(frozen=True)
class CachedImage:
    """Image and label ready for training.

    image: as decoded (uint8, uint16 or float32), in network size. mask: uint8 (H, W) class ids of that size, or
    None for a ResNet. defect_positions: class id to int32 (n, 2) defect pixels (y, x), spread evenly over its regions.
    """

    image: np.ndarray
    mask: np.ndarray | None
    defect_positions: dict[int, np.ndarray]

    @property
    def bytes(self) -> int:
        return self.image.nbytes + (0 if self.mask is None else self.mask.nbytes) + 4096


class ImageCache:
    """Least-recently-used cache of the images of a project, by key. Thread-safe.

    broken: key to the problem of images that could not be read; another `get` fails again without disk access. An image
        that another program holds is read again.
    """

    def __init__(self, project: Project, dataset: Dataset, settings: ModelSettings, most_bytes: int = 0) -> None:
        self.project, self.settings = project, settings
        self.is_segmentation = dataset.model == "unet"
        self.max_bytes = most_bytes or memory_share()
        self.broken: dict[str, Problem] = {}
        self._loaded: OrderedDict[str, CachedImage] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()
        self._loading: dict[str, threading.Lock] = {}
        self._removals: dict[str, int] = {}  # `remove` calls per key; loads that began before are discarded

    def get(self, key: str) -> CachedImage:
        """Return an image and its label. Raises a Problem if one of them cannot be read."""
        with self._lock:
            cached = self._loaded.get(key)
            if cached is not None:
                self._loaded.move_to_end(key)
                return cached
            loading_lock = self._loading.setdefault(key, threading.Lock())
        with loading_lock:  # one thread decodes, the others block
            with self._lock:
                if key in self.broken:
                    raise self.broken[key]
                if key in self._loaded:
                    return self._loaded[key]
                version = self._removals.get(key, 0)
            try:
                loaded = self._load(key)
            except Problem as problem:
                with self._lock:
                    if version == self._removals.get(key, 0) and not problem.refused:
                        self.broken[key] = problem
                raise
            self._store(key, loaded, version)
            return loaded

    def remove(self, key: str) -> None:
        """Discard an image whose label was changed, so that the next `get` reads it again."""
        with self._lock:
            removed = self._loaded.pop(key, None)
            self._bytes -= removed.bytes if removed else 0
            self.broken.pop(key, None)
            self._removals[key] = self._removals.get(key, 0) + 1

    def _store(self, key: str, loaded: CachedImage, version: int) -> None:
        with self._lock:
            self._loading.pop(key, None)
            if version != self._removals.get(key, 0):
                return
            self._loaded[key] = loaded
            self._bytes += loaded.bytes
            while self._bytes > self.max_bytes and len(self._loaded) > 1:
                _, evicted = self._loaded.popitem(last=False)
                self._bytes -= evicted.bytes

    def _load(self, key: str) -> CachedImage:
        image = read(self.project.image_path(key))
        if not self.is_segmentation:
            area = annotation.placed_area(self.project, key)
            image = image if area is None else blank_outside(image, area.inside(image.shape), self.settings)
            return CachedImage(np.ascontiguousarray(resize_for_network(image, self.settings)), None, {})
        mask = annotation.load_truth(self.project, key, (image.shape[1], image.shape[0]))
        if mask is None:
            raise MaskBroken(path=str(self.project.mask_path(key)), why=Message("file.gone"))
        resized = resize_for_network(image, self.settings)
        mask = shrink_mask(mask, resized.shape[0], resized.shape[1])
        return CachedImage(resized, mask, defect_positions(mask, seed=zlib.crc32(key.encode("utf-8", "surrogatepass"))))


def shrink_mask(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """Resize a mask. When shrinking, a pixel keeps the greatest defect id it covers, so that thin scratches survive."""
    if mask.shape == (height, width):
        return mask
    if height * width >= mask.size:
        return cv2.resize(mask, (width, height), interpolation=cv2.INTER_NEAREST)
    # Priority: defects, "don't care", "not labeled", background.
    rank = np.arange(256, dtype=np.uint8)
    rank[1:254], rank[254], rank[255] = np.arange(3, 256), 2, 1
    id_of_rank = np.argsort(rank).astype(np.uint8)
    kernel_side = int(np.ceil(max(mask.shape[0] / height, mask.shape[1] / width)))
    dilated = cv2.dilate(rank[mask], np.ones((kernel_side, kernel_side), np.uint8))
    return id_of_rank[cv2.resize(dilated, (width, height), interpolation=cv2.INTER_NEAREST)]


def defect_positions(mask: np.ndarray, *, seed: int, most: int = _POSITIONS_PER_CLASS) -> dict[int, np.ndarray]:
    """Return class id to int32 (n, 2) pixels (y, x) of that class. Small regions get as many pixels as large ones."""
    positions = {}
    generator = np.random.default_rng(seed)
    for id in annotation.ids_in(mask):
        if not 0 < id < NOT_LABELED - 1:
            continue
        count, labels = cv2.connectedComponents((mask == id).astype(np.uint8), connectivity=8)
        pixels = np.flatnonzero(labels)
        order = np.argsort(labels.ravel()[pixels], kind="stable")
        pixels = pixels[order]
        ends = np.cumsum(np.bincount(labels.ravel()[pixels], minlength=count)[1:])
        starts = np.concatenate([[0], ends[:-1]])
        region = generator.integers(0, count - 1, most)
        chosen = pixels[generator.integers(starts[region], ends[region])]
        positions[id] = np.stack(np.unravel_index(chosen, mask.shape), axis=1).astype(np.int32)
    return positions


def memory_share() -> int:
    """Return the bytes available for decoded images: a quarter of the installed memory, so equal at every start."""
    return min(_MAX_BYTES, psutil.virtual_memory().total // 4)


def estimate_bytes(item: Item, settings: ModelSettings) -> int:
    """Return the approximate size of an image in the cache, in bytes."""
    if settings.task == "classification":
        pixels = settings.input_size**2
    else:
        pixels = item.width * item.height * settings.scale**2
    return int(pixels * (settings.channels * (1 if settings.full_scale == 255 else 2) + 1)) + 4096


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
        item = self.items[_choose(strata[verdict], generator)]
        return self.varied_image(item, generator), self.dataset.verdicts.index(str(verdict))

    def varied_image(self, item: Item, generator: np.random.Generator) -> np.ndarray:
        """Return an image for a ResNet with the augmentations of the run. Raises a Problem if it cannot be read."""
        image = self.cache.get(item.key).image
        pose = draw_pose(generator, self.training_settings.augment)
        center = np.array(image.shape[:2]) / 2 + generator.uniform(-1, 1, 2) * self.side * 0.06
        patch, _ = cut_patch(image, None, (center[0], center[1]), self.side, pose)
        return self._vary(patch, generator)

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
