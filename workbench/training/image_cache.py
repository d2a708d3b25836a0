"""Cache of images and labels prepared for training, with bounded memory, shared by threads."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import psutil

from workbench.core.images.image_files import read
from workbench.core.messages import Message
from workbench.core.problems import MaskBroken, Problem
from workbench.core.project import annotation
from workbench.core.project.project import NOT_LABELED, Project
from workbench.core.runs.dataset import Dataset, Item
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import ModelSettings
from workbench.inference.normalize import resize_for_network

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

    broken: key to the problem of images that could not be read; another `get` fails again without disk access.
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
                    if version == self._removals.get(key, 0):
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
            return CachedImage(np.ascontiguousarray(resize_for_network(image, self.settings)), None, {})
        mask = annotation.load_mask(self.project, key, (image.shape[1], image.shape[0]))
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
