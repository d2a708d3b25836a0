"""Real pictures with labels, in the folders that their authors have published, dealt out by part: for benchmarks.

Each reader takes the folder of a set (see the tables in quality.py) and gives its pictures; `deal` says which of them
are withheld in a fold. Pictures of one part are on one side: neighbours by number, overlapping crops, films.
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
TEST_GAP = 5  # numbers beside a withheld picture that still show some of it, where pictures are crops


@dataclass(frozen=True)
class Shown:
    """A picture. kind: its folder or class. mask: a file, or None of a good one. group: the part that it shows."""

    path: Path
    kind: str
    group: str
    mask: Path | None = None
    number: int = 0

    @property
    def name(self) -> str:
        return self.path.stem


def data_folder() -> Path:
    """WORKBENCH_DATA, or the folder of real pictures beside the repository."""
    return Path(os.environ.get("WORKBENCH_DATA", ROOT.parent / "shared" / "data"))


def read_grey(path: Path) -> np.ndarray:
    picture = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_GRAYSCALE)
    if picture is None:
        sys.exit(f"{path} cannot be read")
    return picture


def write(path: Path, picture: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imencode(".png", picture)[1].tofile(str(path))
    return path


def magnetic_tile(folder: Path, place: Path) -> list[Shown]:
    """Six kinds of surfaces; numbers at most 500 apart are exposures of one tile. place: where masks may be written."""
    found = []
    for path in sorted(folder.glob("MT_*/Imgs/*.jpg")):
        kind = path.parts[-3]
        mask = path.with_suffix(".png") if kind != "MT_Free" else None
        if mask is not None and not (read_grey(mask) >= 128).any():
            continue  # four are labelled as uneven, and nothing is painted
        found.append((int(re.findall(r"\d+", path.stem)[-1]), path, kind, mask))
    shown, group, last = [], 0, None
    for number, path, kind, mask in sorted(found, key=lambda entry: entry[0]):
        group += last is not None and number - last > 500
        last = number
        solid = None if mask is None else write(place / "masks" / f"{path.stem}.png", _solid(read_grey(mask)))
        shown.append(Shown(path, kind, f"{group}", solid, number))
    return shown


def _solid(mask: np.ndarray) -> np.ndarray:
    """0 and 255: edges are grey in the files."""
    return np.where(mask >= 128, np.uint8(255), np.uint8(0))


def crackforest(folder: Path, place: Path) -> list[Shown]:
    """Cracks in roads: the value 2 of a MATLAB file. Ten by ten the numbers are a group."""
    try:
        from scipy.io import loadmat
    except ImportError:
        sys.exit("the labels of crackforest are MATLAB files: pip install scipy")
    shown = []
    for path in sorted((folder / "groundTruth").glob("*.mat")):
        crack = loadmat(str(path))["groundTruth"]["Segmentation"][0, 0] == 2
        mask = write(place / "masks" / f"{path.stem}.png", crack.astype(np.uint8) * 255)
        number = int(path.stem)
        shown.append(Shown(folder / "image" / f"{path.stem}.jpg", "crack", f"{(number - 1) // 10}", mask, number))
    return shown


def gdxray_welds(folder: Path, place: Path) -> list[Shown]:
    """Radiographs of welds, up to 5,000 pixels wide; films with neighbouring numbers belong together."""
    shown, group, last = [], 0, None
    for path in sorted((folder / "W0001").glob("*.png")):
        number = int(path.stem[-4:])
        group += last is not None and number - last > 1
        last = number
        label = read_grey(folder / "W0004" / f"W0004{path.stem[5:]}.png")
        mask = write(place / "masks" / f"{path.stem}.png", _solid(label))
        shown.append(Shown(path, "weld", f"{group}", mask, number))
    return shown


def deeppcb(folder: Path, place: Path) -> list[Shown]:
    """Circuit boards with faults, each within a box, which is painted full. Ten by ten the numbers are a group."""
    shown = []
    for path in sorted(folder.glob("PCBData/*/*/*_test.jpg")):
        name = path.stem.removesuffix("_test")
        mask = np.zeros(read_grey(path).shape, np.uint8)
        for line in (path.parent.parent / f"{path.parent.name}_not" / f"{name}.txt").read_text("utf-8").splitlines():
            left, top, right, bottom, _ = map(int, line.split())
            mask[top:bottom, left:right] = 255
        file = write(place / "masks" / f"{path.stem}.png", mask)
        shown.append(Shown(path, "fault", f"{path.parent.name} {int(name[-4:]) // 10}", file, int(name[-4:])))
    return shown


def neu_det(folder: Path, place: Path) -> list[Shown]:
    """Six kinds of steel surfaces, overlapping crops: fifteen consecutive numbers of a kind are a group."""
    shown = []
    for path in sorted([*(folder / "IMAGES").glob("*.jpg"), *(folder / "Validation_Images").glob("*.jpg")]):
        kind, _, number = path.stem.rpartition("_")
        shown.append(Shown(path, kind, f"{kind} {(int(number) - 1) // 15}", None, int(number)))
    return shown


def deal(shown: Sequence[Shown], fold: int, folds: int, *, crops: bool = False) -> tuple[list[Shown], list[Shown]]:
    """What may be learned from, and what is withheld: every `folds`-th group of each kind, but never all of a kind.

    crops: pictures with numbers next to withheld ones of their kind overlap them, and are left out altogether.
    """
    pictures = Counter(each.kind for each in shown)
    of_kind: dict[str, set[str]] = {}
    for group in {each.group for each in shown}:
        rarest = min((each.kind for each in shown if each.group == group), key=lambda kind: (pictures[kind], kind))
        of_kind.setdefault(rarest, set()).add(group)
    withheld = {
        group
        for groups in of_kind.values()
        for number, group in enumerate(sorted(groups, key=lambda name: zlib.crc32(name.encode())))
        if number % folds == fold and len(groups) > 1
    }
    test = [each for each in shown if each.group in withheld]
    learn = [each for each in shown if each.group not in withheld]
    if crops:
        taken = {(each.kind, each.number + gap) for each in test for gap in range(-TEST_GAP, TEST_GAP + 1)}
        learn = [each for each in learn if (each.kind, each.number) not in taken]
    return learn, test


def few(learn: Sequence[Shown], count: int, seed: int) -> list[Shown]:
    """So many to label: one of five is good, the others show defects. More of them begin with the fewer."""
    order = sorted(learn, key=lambda each: zlib.crc32(f"{seed} {each.name}".encode()))
    bad, good = ([each for each in order if (each.mask is None) == is_good] for is_good in (False, True))
    wanted = min(count // 5, len(good))
    return [*bad[: count - wanted], *good[:wanted]]


def mask_file(each: Shown, place: Path) -> Path:
    """Its mask; of a good picture an empty one that is written for it."""
    if each.mask is not None:
        return each.mask
    target = place / "masks" / f"{each.name}.png"
    return target if target.exists() else write(target, np.zeros_like(read_grey(each.path)))


def copy_pictures(shown: Iterable[Shown], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for each in shown:
        shutil.copyfile(each.path, folder / each.path.name)
    return folder


def lay_out(shown: Sequence[Shown], folder: Path) -> Path:
    """pictures/ and masks/ as a person would have them, good pictures with empty masks."""
    copy_pictures(shown, folder / "pictures")
    for each in shown:
        mask = mask_file(each, folder)
        if mask.parent != folder / "masks":
            (folder / "masks").mkdir(exist_ok=True)
            shutil.copyfile(mask, folder / "masks" / f"{each.name}.png")
    return folder


def lay_out_by_kind(shown: Sequence[Shown], folder: Path, *, masks: bool = False) -> Path:
    """A folder for each kind; masks: beside the pictures, under the same name."""
    for each in shown:
        copy_pictures([each], folder / each.kind)
        if masks:
            shutil.copyfile(mask_file(each, folder.parent), folder / each.kind / f"{each.name}.png")
    return folder
