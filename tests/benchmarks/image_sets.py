"""Public image sets with labels, in the folders of their authors, split by part: for benchmarks.

Each reader takes the folder of a set (see the tables in quality.py) and returns its images; `split_images` selects the
images that are withheld in a fold. Images of one part (neighboring numbers, overlapping crops, films) are in one of
both sets.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TEST_GAP = 5  # largest difference of the numbers of two overlapping crops


@dataclass(frozen=True)
class SetImage:
    """Image. kind: its folder or class. mask: a file, or None for a good image. group: the part that it shows."""

    path: Path
    kind: str
    group: str
    mask: Path | None = None
    number: int = 0

    @property
    def name(self) -> str:
        return self.path.stem


def data_folder() -> Path:
    """Return WORKBENCH_DATA, or the folder of image sets beside the repository."""
    return Path(os.environ.get("WORKBENCH_DATA", ROOT.parent / "shared" / "data"))


def read_gray(path: Path) -> np.ndarray:
    image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_GRAYSCALE)
    if image is None:
        sys.exit(f"{path} cannot be read")
    return image


def write(path: Path, image: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imencode(".png", image)[1].tofile(str(path))
    return path


def magnetic_tile(folder: Path, place: Path) -> list[SetImage]:
    """Six kinds of surfaces; numbers at most 500 apart are exposures of one tile. place: folder for solid masks."""
    result = []
    for path in sorted(folder.glob("MT_*/Imgs/*.jpg")):
        kind = path.parts[-3]
        mask = path.with_suffix(".png") if kind != "MT_Free" else None
        if mask is not None and not (read_gray(mask) >= 128).any():
            continue  # four images are labeled as uneven but have an empty mask
        result.append((int(re.findall(r"\d+", path.stem)[-1]), path, kind, mask))
    items, group, last = [], 0, None
    for number, path, kind, mask in sorted(result, key=lambda entry: entry[0]):
        group += last is not None and number - last > 500
        last = number
        solid = None if mask is None else write(place / "masks" / f"{path.stem}.png", _solid(read_gray(mask)))
        items.append(SetImage(path, kind, f"{group}", solid, number))
    return items


def _solid(mask: np.ndarray) -> np.ndarray:
    """Return the mask with the values 0 and 255; edges are gray in the files."""
    return np.where(mask >= 128, np.uint8(255), np.uint8(0))


def crackforest(folder: Path, place: Path) -> list[SetImage]:
    """Cracks in roads: value 2 of a MATLAB file. Each ten consecutive numbers form a group."""
    try:
        from scipy.io import loadmat
    except ImportError:
        sys.exit("the labels of crackforest are MATLAB files: pip install scipy")
    items = []
    for path in sorted((folder / "groundTruth").glob("*.mat")):
        crack = loadmat(str(path))["groundTruth"]["Segmentation"][0, 0] == 2
        mask = write(place / "masks" / f"{path.stem}.png", crack.astype(np.uint8) * 255)
        number = int(path.stem)
        items.append(SetImage(folder / "image" / f"{path.stem}.jpg", "crack", f"{(number - 1) // 10}", mask, number))
    return items


def gdxray_welds(folder: Path, place: Path) -> list[SetImage]:
    """Radiographs of welds, up to 5,000 pixels wide; films with neighboring numbers form a group."""
    items, group, last = [], 0, None
    for path in sorted((folder / "W0001").glob("*.png")):
        number = int(path.stem[-4:])
        group += last is not None and number - last > 1
        last = number
        label = read_gray(folder / "W0004" / f"W0004{path.stem[5:]}.png")
        mask = write(place / "masks" / f"{path.stem}.png", _solid(label))
        items.append(SetImage(path, "weld", f"{group}", mask, number))
    return items


def deeppcb(folder: Path, place: Path) -> list[SetImage]:
    """Circuit boards with faults, each as a filled box. Each ten consecutive numbers form a group."""
    items = []
    for path in sorted(folder.glob("PCBData/*/*/*_test.jpg")):
        name = path.stem.removesuffix("_test")
        mask = np.zeros(read_gray(path).shape, np.uint8)
        for line in (path.parent.parent / f"{path.parent.name}_not" / f"{name}.txt").read_text("utf-8").splitlines():
            left, top, right, bottom, _ = map(int, line.split())
            mask[top:bottom, left:right] = 255
        file = write(place / "masks" / f"{path.stem}.png", mask)
        items.append(SetImage(path, "fault", f"{path.parent.name} {int(name[-4:]) // 10}", file, int(name[-4:])))
    return items


def neu_det(folder: Path, place: Path) -> list[SetImage]:
    """Six kinds of steel surfaces, overlapping crops: fifteen consecutive numbers of a kind form a group."""
    items = []
    for path in sorted([*(folder / "IMAGES").glob("*.jpg"), *(folder / "Validation_Images").glob("*.jpg")]):
        kind, _, number = path.stem.rpartition("_")
        items.append(SetImage(path, kind, f"{kind} {(int(number) - 1) // 15}", None, int(number)))
    return items


def split_images(
    items: Sequence[SetImage], fold: int, folds: int, *, crops: bool = False
) -> tuple[list[SetImage], list[SetImage]]:
    """Return the training images and the withheld ones: every `folds`-th group of each kind, but never all of a kind.

    crops: images with numbers next to withheld ones of their kind overlap them and are excluded.
    """
    images = Counter(item.kind for item in items)
    of_kind: dict[str, set[str]] = {}
    for group in {item.group for item in items}:
        rarest = min((item.kind for item in items if item.group == group), key=lambda kind: (images[kind], kind))
        of_kind.setdefault(rarest, set()).add(group)
    withheld = {
        group
        for groups in of_kind.values()
        for number, group in enumerate(sorted(groups, key=lambda name: zlib.crc32(name.encode())))
        if number % folds == fold and len(groups) > 1
    }
    test = [item for item in items if item.group in withheld]
    training = [item for item in items if item.group not in withheld]
    if crops:
        taken = {(item.kind, item.number + gap) for item in test for gap in range(-TEST_GAP, TEST_GAP + 1)}
        training = [item for item in training if (item.kind, item.number) not in taken]
    return training, test


def halves(items: Sequence[SetImage], *, gap: int = 0) -> tuple[list[SetImage], list[SetImage]]:
    """Return two halves of the images: of each kind the parts with low numbers, and those with high numbers.

    A part with images of several kinds is counted for the rarest of them. gap: images of a kind whose number differs by
    at most this from the first one of the second half are excluded from both.
    """
    images = Counter(item.kind for item in items)
    members: dict[str, list[SetImage]] = {}
    for item in items:
        members.setdefault(item.group, []).append(item)
    of_kind: dict[str, list[str]] = {}
    for group in sorted(members, key=lambda name: (members[name][0].path.parent, min(i.number for i in members[name]))):
        rarest = min((item.kind for item in members[group]), key=lambda kind: (images[kind], kind))
        of_kind.setdefault(rarest, []).append(group)
    first: set[str] = set()
    for kind, groups in of_kind.items():
        counts = [sum(item.kind == kind for item in members[group]) for group in groups]
        before = [sum(counts[:place]) for place in range(len(groups))]
        low_groups = [group for group, number in zip(groups, before, strict=True) if number < sum(counts) / 2]
        # The last of several parts may contain more than half of the images.
        first |= set(low_groups[: len(groups) - 1] if len(groups) > 1 else low_groups)
    low, high = ([item for item in items if (item.group in first) is side] for side in (True, False))
    if gap:
        cuts = {kind: min((item.number for item in high if item.kind == kind), default=0) for kind in images}
        low, high = (
            [item for item in side if abs(item.number - cuts[item.kind]) > gap or item.kind not in cuts]
            for side in (low, high)
        )
    return low, high


def few_labeled(training: Sequence[SetImage], count: int, seed: int) -> list[SetImage]:
    """Return `count` images to label, one of five good. A larger selection contains the smaller one."""
    order = sorted(training, key=lambda item: zlib.crc32(f"{seed} {item.name}".encode()))
    bad, good = ([item for item in order if (item.mask is None) == is_good] for is_good in (False, True))
    requested = min(count // 5, len(good))
    return [*bad[: count - requested], *good[:requested]]


def mask_file(item: SetImage, place: Path) -> Path:
    """Return the mask file; for a good image write an empty one."""
    if item.mask is not None:
        return item.mask
    target = place / "masks" / f"{item.name}.png"
    return target if target.exists() else write(target, np.zeros_like(read_gray(item.path)))


def copy_images(items: Iterable[SetImage], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for item in items:
        shutil.copyfile(item.path, folder / item.path.name)
    return folder


def write_folders(items: Sequence[SetImage], folder: Path) -> Path:
    """Write pictures/ and masks/ as users would, good images with empty masks."""
    copy_images(items, folder / "pictures")
    for item in items:
        mask = mask_file(item, folder)
        if mask.parent != folder / "masks":
            (folder / "masks").mkdir(exist_ok=True)
            shutil.copyfile(mask, folder / "masks" / f"{item.name}.png")
    return folder


def write_kind_folders(items: Sequence[SetImage], folder: Path, *, masks: bool = False) -> Path:
    """Write one folder per kind; masks are beside the images, under the same name."""
    for item in items:
        copy_images([item], folder / item.kind)
        if masks:
            shutil.copyfile(mask_file(item, folder.parent), folder / item.kind / f"{item.name}.png")
    return folder
