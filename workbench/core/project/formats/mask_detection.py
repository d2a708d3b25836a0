"""Detection of masks by the content of image files, where names are inconclusive."""

from __future__ import annotations

from collections import defaultdict
from pathlib import PurePosixPath

import numpy as np

from workbench.core.project.formats.base import FileTree, UnreadableLabel, suffix_of
from workbench.core.project.formats.mask_files import ARRAY_SUFFIXES, read_raw

MASK_SUFFIXES = (".png", ".gif", ".bmp", ".tif", ".tiff", *ARRAY_SUFFIXES)


def masks_by_content(tree: FileTree, files: list[str], sample: int = 6) -> list[str]:
    """Return all files of folders in which each readable file of a sample is a mask."""
    folders: dict[str, list[str]] = defaultdict(list)
    for file in files:
        folders[str(PurePosixPath(file).parent)].append(file)
    masks: list[str] = []
    for group in folders.values():
        lossless = [file for file in group if suffix_of(file) in MASK_SUFFIXES]
        step = max(1, len(lossless) // sample)
        results = [is_likely_mask(tree, file) for file in lossless[::step][:sample]]
        readable = [result for result in results if result is not None]
        if len(lossless) == len(group) and readable and all(readable):
            masks += group
    return masks


def is_likely_mask(tree: FileTree, file: str) -> bool | None:
    """Return True for few values in large flat areas, None if the file is unreadable."""
    try:
        raw = read_raw(tree.path(file))
    except UnreadableLabel:
        return None
    if raw.kind in ("bits", "palette"):
        return raw.kind == "bits" or len(np.unique(raw.values)) <= 32
    if raw.kind == "colour":
        return len(np.unique(raw.values[::2, ::2].reshape(-1, 3), axis=0)) <= 32
    if raw.values.dtype.itemsize > 2:
        return False
    counts = np.bincount(raw.values.ravel())
    most_frequent = np.sort(counts)[::-1][:4].sum()
    return bool(most_frequent >= 0.97 * raw.values.size)
