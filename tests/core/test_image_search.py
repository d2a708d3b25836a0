"""Search terms and sort orders of the image table."""

from __future__ import annotations

import os
import time
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from workbench.core import image_search
from workbench.core.image_search import (
    TERMS,
    ImageTable,
    SearchError,
    ThumbnailCache,
    completions,
    group_of,
    label_thumbnail,
    parse,
    select,
)
from workbench.core.problems import ImageBroken
from workbench.core.project.image_row import ImageIndex, ImageRow, count_regions
from workbench.core.project.project import ClassInfo, Grouping, Project
from workbench.inference.io.image_io import write_png

CLASSES = [ClassInfo(id=1, name="scratch", color="#111111"), ClassInfo(id=7, name="oil Stain", color="#222222")]
NOON = datetime(2026, 11, 21, 12).timestamp()
ROWS = [
    ImageRow("lot7/a 1.png", status="done", verdict="NG", counts=((1, 40),), regions=((1, 3),), date=NOON, score=0.9),
    ImageRow("lot7/B.png", status="done", verdict="OK", date=NOON - 86400),
    ImageRow("lot8/c.png", status="started", counts=((1, 5), (7, 100)), regions=((1, 1), (7, 1)), score=0.25),
    ImageRow("d.png", broken="torn"),
    ImageRow("e:1.png", group="special"),
]


@pytest.fixture
def table() -> ImageTable:
    keys = [row.key for row in ROWS] + ["unknown/f.png"]
    return ImageTable(keys, {row.key: row for row in ROWS})


@pytest.mark.parametrize(
    "text, found",
    [
        ("", "abcdef"),
        ("LOT7", "ab"),
        ("lot7 a", "a"),
        ("-lot7", "cdef"),
        ("png lot -b", "ac"),
        ("-", ""),
        ("class:scratch", "ac"),
        ("class:scr", "ac"),
        ('class:"oil stain"', "c"),
        ("class:none -status:broken", "bef"),
        ("class:any", "ac"),
        ("status:done", "ab"),
        ("status:open", "cef"),
        ("status:broken", "d"),
        ("status:unlabelled", "ef"),
        ("status:done,started", "abc"),
        ("-status:done", "cdef"),
        ("status:un", "ef"),
        ("verdict:ng", "a"),
        ("verdict:none", "cdef"),
        ("verdict:any", "ab"),
        ("group:lot7", "ab"),
        ("group:spec", "e"),
        ("group:none", "d"),
        ("score:<0.5", "c"),
        ("prob:>=0.9", "a"),
        ("prob:none", "bdef"),
        ("score:0.25", "c"),
        ("score:0.2..0.95", "ac"),
        ("regions:>1", "ac"),
        ("regions:3", "a"),
        ("area:<50 class:any", "a"),
        ("date:2026-11-21", "a"),
        ("date:2026-11", "ab"),
        ("date:<2026-11-21 date:>2025", "b"),
        ("date:2026-11-20..2026-11-21", "ab"),
        ('"e:1"', "e"),
        ("class:scratch status:done score:>0.5", "a"),
    ],
)
def test_search_terms_select_images(table, text, found):
    chosen, errors = select(parse(text), table, CLASSES)
    assert ("".join("abcdef"[position] for position in np.flatnonzero(chosen)), errors) == (found, [])


@pytest.mark.parametrize(
    "text, kind, term, value",
    [
        ("clas:scratch", "term", "clas", ""),
        ("class:rust", "value", "class", "rust"),
        ("status:", "empty", "status", ""),
        ("status:gone", "value", "status", "gone"),
        ("score:low", "number", "prob", "low"),
        ("e:1", "term", "e", ""),
        ("prob:1..", "number", "prob", "1.."),
        ("date:2026-13", "date", "date", "2026-13"),
        ("date:99999999-1", "date", "date", "99999999-1"),
        ("verdict:BAD", "value", "verdict", "BAD"),
        ("regions:<", "number", "regions", "<"),
        ("class:scratch,rust", "value", "class", "rust"),
    ],
)
def test_invalid_terms_are_reported_and_ignored(table, text, kind, term, value):
    chosen, errors = select(parse(text + " lot"), table, CLASSES)
    assert [(error.kind, error.term, error.value) for error in errors] == [(kind, term, value)] and isinstance(
        errors[0], SearchError
    )
    assert set(np.flatnonzero(chosen)) <= {0, 1, 2} and chosen.any()


def test_every_column_sorts_stably(table):
    everything = np.ones(len(table), bool)
    for name in ("name", "status", "verdict", "classes", "regions", "area", "score", "date"):
        up, down = (table.order(everything, name, descending=descending).tolist() for descending in (False, True))
        assert sorted(up) == sorted(down) == list(range(6))
    assert table.order(everything, "score").tolist() == [2, 0, 1, 3, 4, 5]
    assert table.order(everything, "score", descending=True).tolist() == [0, 2, 1, 3, 4, 5]
    assert table.order(everything, "area", descending=True).tolist() == [2, 0, 1, 3, 4, 5]
    assert table.order(everything, "verdict").tolist() == [0, 1, 2, 3, 4, 5]
    assert table.order(np.array([True, False, True, False, False, True]), "regions").tolist() == [5, 2, 0]


def test_columns_are_updated_for_changed_rows(table):
    assert select(parse("class:scratch verdict:OK"), table, CLASSES)[0].sum() == 0
    new = ImageRow("unknown/f.png", verdict="OK", counts=((1, 2),), score=0.5)
    table.rows[new.key] = new
    table.changed([new, ImageRow("never listed")])
    assert np.flatnonzero(select(parse("class:scratch verdict:OK score:0.5"), table, CLASSES)[0]).tolist() == [5]


def test_groups_come_from_the_note_the_pattern_or_the_folder():
    pattern = Grouping(rule="pattern", pattern=r"part(\d+)")
    assert group_of(ImageRow("lot/part12-a.png"), pattern) == "12" and group_of(ImageRow("lot/x.png"), pattern) == "lot"
    assert group_of(ImageRow("lot/part12.png", group="mine"), pattern) == "mine"
    assert group_of(ImageRow("lot/x.png"), Grouping(rule="pattern", pattern="(")) == "lot"


def test_terms_are_completed():
    assert completions("lot pr", CLASSES, [], []) == ["prob:"]
    assert completions("status:done class:s", CLASSES, [], []) == ["class:scratch", 'class:"oil Stain"']
    assert completions('-class:"oil', CLASSES, [], []) == ['-class:"oil Stain"']
    verdicts = completions("verdict:", CLASSES, ["OK", "NG"], [])
    assert verdicts == ["verdict:OK", "verdict:NG", "verdict:any", "verdict:none"]
    assert completions("", CLASSES, [], []) == [] and completions("zz:", CLASSES, [], []) == []
    for term in TERMS:
        assert completions(f"{term}:", CLASSES, ["OK"], ["lot7"])


def test_regions_are_8_connected_without_holes():
    mask = np.zeros((20, 30), np.uint8)
    mask[2:9, 2:9] = 1
    mask[4:7, 4:7] = 0
    mask[5, 5] = 1  # a region in the hole
    mask[15, 15] = mask[16, 16] = 1  # diagonal neighbor
    mask[0, 29] = 2
    assert count_regions(mask, 1) == 3 and count_regions(mask, 2) == 1 and count_regions(mask, 3) == 0
    assert [count_regions(np.full(shape, 2, np.uint8), 2) for shape in ((1, 1), (1, 9), (9, 1))] == [1, 1, 1]


def test_small_defects_remain_in_a_label_thumbnail():
    mask = np.zeros((1000, 3000), np.uint8)
    mask[777, 2345] = 4
    mask[:10] = 255
    small = label_thumbnail(mask, 192)
    assert small.shape == (64, 192) and set(np.unique(small)) == {0, 4}
    y, x = np.argwhere(small == 4).mean(axis=0)
    assert abs(y - 777 * 64 / 1000) < 1.5 and abs(x - 2345 * 192 / 3000) < 1.5
    assert np.array_equal(label_thumbnail(mask[770:790, 2340:2350], 192), mask[770:790, 2340:2350])


def test_index_stores_scores_order_and_regions(labeled_project):
    keys = labeled_project.images()
    index = ImageIndex(labeled_project)
    rows = {row.key: row for row in index.refresh(keys)}
    index.set_scores({keys[0]: 0.75})
    assert index.keys() == keys and index.rows()[keys[0]].score == 0.75
    assert rows[keys[0]].regions == ((1, 1),) and abs(rows[keys[0]].date - time.time()) < 3600
    labeled_project.note_path(keys[0]).unlink()
    assert [row.score for row in index.refresh(keys[::-1])] == [0.75]
    assert index.keys() == keys[::-1]
    labeled_project.file.classes = []  # as if another program had removed the class
    assert all(row.broken for row in index.refresh(keys) if rows[row.key].counts)
    index.close()


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
