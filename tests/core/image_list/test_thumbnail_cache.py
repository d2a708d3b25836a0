"""Thumbnail cache: hits, replaced images, size limit."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from workbench.core.image_list import image_search
from workbench.core.image_list.image_search import ThumbnailCache
from workbench.core.problems import ImageBroken
from workbench.core.project.project import Project
from workbench.inference.io.image_io import write_png

KEY = "批次 1/[大].png"


@pytest.fixture
def project(tmp_path):
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        project.image_path(KEY).parent.mkdir(parents=True)
        write_png(project.image_path(KEY), noise(1))
        yield project


def noise(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 255, (700, 900)).astype(np.uint8)


def cached_files(project) -> list[Path]:
    return sorted((project.root / ".cache" / "thumbnails").rglob("*.png"))


def test_large_image_is_decoded_once(project, monkeypatch):
    first = ThumbnailCache(project, 192).get(KEY)
    assert max(first.shape) == 192 and len(cached_files(project)) == 1
    monkeypatch.setattr(image_search, "thumbnail", lambda *_: pytest.fail("decoded again"))
    assert np.array_equal(ThumbnailCache(project, 192).get(KEY), first)


def test_replaced_images_and_broken_cache_entries_are_decoded_again(project):
    cache = ThumbnailCache(project, 192)
    first = cache.get(KEY)
    cached_files(project)[0].write_bytes(b"torn")
    assert np.array_equal(cache.get(KEY), first) and cached_files(project)[0].read_bytes() != b"torn"
    write_png(project.image_path(KEY), noise(2))
    os.utime(project.image_path(KEY), (5, 5))
    assert not np.array_equal(cache.get(KEY), first)
    project.image_path(KEY).unlink()
    with pytest.raises(ImageBroken):
        cache.get(KEY)


def test_small_images_are_not_cached_and_read_only_projects_not_written(project):
    small = "small.png"
    write_png(project.image_path(small), np.full((50, 60), 7, np.uint8))
    assert ThumbnailCache(project, 192).get(small).shape == (50, 60)
    reader = Project.open(project.root, write=False)
    assert max(ThumbnailCache(reader, 192).get(KEY).shape) == 192 and not cached_files(project)
    reader.close()


def test_folder_size_is_limited(project, monkeypatch):
    monkeypatch.setattr(image_search, "CHECK_INTERVAL", 1)
    monkeypatch.setattr(image_search, "LIMIT", 100_000)
    cache = ThumbnailCache(project, 192)
    for seed in range(2, 8):
        write_png(project.image_path(f"{seed}.png"), noise(seed))
        cache.get(f"{seed}.png")
    sizes = [path.stat().st_size for path in cached_files(project)]
    assert 0 < sum(sizes) <= 100_000 and not list(project.root.rglob(".*.tmp"))
