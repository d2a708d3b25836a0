"""CVAT's task and project backups: task.json, annotations.json and the images in data/, one folder per task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from workbench.core.messages import Message
from workbench.core.project.formats.base import (
    FileTree,
    ImportedLabels,
    ImportOptions,
    Refusal,
    UnreadableLabel,
    entry_name,
)
from workbench.core.project.formats.shape_labels import (
    ShapedImage,
    find_shapes,
    in_layers,
    label_text,
    listed,
    set_verdict,
)
from workbench.core.project.formats.shapes import Shape, pairs, rotated
from workbench.core.project.formats.text_files import json_files, load, read_text
from workbench.core.project.formats.xml_labels import CVAT_KINDS, SUBSETS, cvat_mask
from workbench.inference.io.json_io import parse_json
from workbench.inference.io.natural_order import natural_key

_LARGEST_MANIFEST = 256 << 20  # bytes


def recognition_score(tree: FileTree) -> int:
    return sum(len(_frames(tree, name)) for name in _files(tree))


def find(tree: FileTree, options: ImportOptions, known: dict[int, str]) -> ImportedLabels:
    """Return the labels found. `known` is not used, since shapes carry names."""
    return find_shapes(tree, _files(tree), _parse, options)


def _files(tree: FileTree) -> list[str]:
    names = tree.names
    found = [name for name, _ in json_files(tree, b'"shapes"', b'"tracks"')]
    return [
        name
        for name in found
        if PurePosixPath(name).name == "annotations.json" and str(PurePosixPath(name).with_name("task.json")) in names
    ]


def _task(tree: FileTree, annotations: str) -> dict[str, Any]:
    try:
        task = load(tree, str(PurePosixPath(annotations).with_name("task.json")))
    except UnreadableLabel:
        return {}
    return task if isinstance(task, dict) else {}


def _frames(tree: FileTree, annotations: str) -> dict[int, tuple[str, tuple[int, int] | None]]:
    """Return the images of a task: number of the frame -> (path below the task's data, size).

    The manifest lists them; without one, they are in the order of their names. Deleted frames are left out.
    """
    data = PurePosixPath(annotations).with_name("data")
    images = [name for name in tree.images if PurePosixPath(name).is_relative_to(data)]
    listed: list[tuple[str, tuple[int, int] | None]] = [
        (PurePosixPath(name).relative_to(data).as_posix(), None) for name in sorted(images, key=natural_key)
    ]
    if (manifest := str(data / "manifest.jsonl")) in tree.names:
        lines = read_text(tree, tree.path(manifest), limit=_LARGEST_MANIFEST).splitlines()
        entries = [parse_json(line) for line in lines if line.strip()]
        named = [entry for entry in entries if isinstance(entry, dict) and "name" in entry and "extension" in entry]
        listed = [(f"{entry['name']}{entry['extension']}", _size(entry)) for entry in named] or listed
    task = _task(tree, annotations)
    settings = task.get("data") if isinstance(task.get("data"), dict) else {}
    assert isinstance(settings, dict)
    step = str(settings.get("frame_filter") or "").rpartition("=")[2]
    start, stop = (settings.get(key) for key in ("start_frame", "stop_frame"))
    first = start if isinstance(start, int) else 0
    last = stop + 1 if isinstance(stop, int) and stop > 0 else len(listed)
    chosen = listed[first : last : int(step) if step.isdecimal() and int(step) else 1]
    deleted = settings.get("deleted_frames") or ()
    return {number: image for number, image in enumerate(chosen) if number not in deleted}


def _size(entry: dict[str, Any]) -> tuple[int, int] | None:
    width, height = entry.get("width"), entry.get("height")
    return (width, height) if isinstance(width, int) and isinstance(height, int) and min(width, height) > 0 else None


def _parse(tree: FileTree, name: str) -> Iterator[ShapedImage | Refusal]:
    content = load(tree, name)
    jobs = content if isinstance(content, list) else [content]
    split = SUBSETS.get(str(_task(tree, name).get("subset") or "").casefold())
    images = {
        number: ShapedImage(path, size, split=split, lost=Counter())
        for number, (path, size) in _frames(tree, name).items()
    }
    tracked = False

    def refusal(kind: str, number: int, entry: Any) -> Refusal:
        frame = entry.get("frame") if isinstance(entry, dict) else None
        return Refusal(tree.path(name), Message("import.unlisted_image", id=str(frame)[:80]), entry_name(kind, number))

    for job in jobs:
        for number, tag in enumerate(job.get("tags") or (), 1):
            image = images.get(tag.get("frame", -1)) if isinstance(tag, dict) else None
            if image is None:
                yield refusal("shape", number, tag)
                continue
            with image.entry("shape", number):
                set_verdict(image, label_text(tag, "label"))
        for number, entry in in_layers(job.get("shapes") or [], "z_order"):
            image = images.get(entry.get("frame", -1)) if isinstance(entry, dict) else None
            if image is None:
                yield refusal("shape", number, entry)
                continue
            with image.entry("shape", number):
                _add(entry, label_text(entry, "label"), image)
        for number, track in enumerate(job.get("tracks") or (), 1):
            tracked = True
            for entry in listed(track.get("shapes") or []):
                image = images.get(entry.get("frame"))
                if image is None:
                    yield refusal("track", number, entry)
                    continue
                with image.entry("track", number):
                    if not entry.get("outside"):
                        _add(entry, label_text(track, "label"), image)
                image.lost[Message("lost.between_key_frames")] += 1
    for image in images.values():
        if image.shapes or image.verdict is not None or not tracked:  # CVAT shows tracks between their key frames too
            yield image


def _add(entry: dict[str, Any], label: str, image: ShapedImage) -> None:
    kind, numbers, bitmap = str(entry.get("type")), entry.get("points") or [], None
    if kind not in ("mask", "ellipse", "rectangle", *CVAT_KINDS):
        raise UnreadableLabel(Message("import.shape_kind", kind=kind))
    if kind == "mask":
        *runs, left, top, right, bottom = (int(value) for value in numbers)
        points, bitmap = [(left, top)], partial(cvat_mask, runs, bottom - top + 1, right - left + 1)
    elif kind == "ellipse":
        x, y, right, top = numbers
        points = [(x, y), (right - x, y - top)]
    else:
        points = list(pairs(numbers))
    shape = Shape(label, "box" if kind == "rectangle" else CVAT_KINDS.get(kind, kind), points, bitmap=bitmap)
    image.shapes.append(rotated(shape, float(entry.get("rotation") or 0)))
    image.lost[Message("lost.attributes")] += bool(entry.get("attributes"))
    image.lost[Message("lost.groups")] += bool(entry.get("group"))
