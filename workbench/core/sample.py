"""The sample project: generated surfaces with defects, exact labels, several lots, sizes and depths. Needs no download.

It is made to be learnable and yet not trivial: texture and harmless things (glints, dust, stamps, holes) are as strong
as the defects, so neither "everything is good" nor a grey threshold gets anywhere; `best_threshold_dice` measures that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench.core import annotation, problems
from workbench.core.project import MAX_CLASS_ID, Grouping, Project
from workbench.core.scene import KINDS, Scene
from workbench.core.surfaces import Lot, Material, make_lot
from workbench.inference.reading import write_png

GOOD = "OK"
_BLUE, _RED = (0.55, 0.80, 1.10), (1.10, 0.50, 0.45)
# Material, and the colour of the lot for a colour camera.
_LOTS: tuple[tuple[Material, tuple[float, float, float] | None], ...] = (
    ("brushed", None), ("cast", None), ("leather", None), ("painted", _BLUE), ("brushed", None), ("cast", None),
    ("painted", _RED), ("brushed", None), ("leather", None), ("painted", _BLUE), ("cast", None), ("brushed", None),
)  # fmt: skip
_SIZES = ((400, 300), (320, 320), (448, 336), (300, 400), (384, 288))
_HOW_MANY = {"scratch": (1, 3), "pit": (2, 5), "stain": (1, 2), "dent": (1, 2)}  # at least, at most
_LARGE = 4096


@dataclass(frozen=True)
class _Plan:
    """One picture to be made. kind: of KINDS, "" for a good one. labelled: its mask and verdict are kept.

    defects: exactly these; otherwise as many of the kind as is usual for it.
    """

    key: str
    lot: int
    kind: str
    size: tuple[int, int]
    labelled: bool = True
    depth: int = 8
    defects: tuple[str, ...] = ()


def make_sample(
    root: Path | str, *, seed: int = 7, small: bool = False, progress: Callable[[int, int], None] | None = None
) -> Project:
    """Create the sample project in `root` and return it, open for writing. The same seed gives the same pixels.

    72 labelled pictures in 12 lots (five verdicts, four classes), 6 without labels and one of 4096 x 4096; `small`
    makes 16 little labelled ones in 4 lots. Raises ProjectExists, CannotWrite.
    """
    verdicts = [GOOD, *KINDS]
    project = Project.create(root, name="Sample surfaces", classes=list(KINDS), verdicts=verdicts)
    try:
        project.file.grouping = Grouping(rule="folder")
        project.file.um_per_pixel = 25.0
        project.save()
        plans = _small_plans() if small else _plans()
        lots = [make_lot(np.random.default_rng([seed, n]), m, tint=tint) for n, (m, tint) in enumerate(_LOTS)]
        for number, plan in enumerate(plans):
            _make(project, plan, lots[plan.lot], np.random.default_rng([seed, 1000 + number]))
            if progress is not None:
                progress(number + 1, len(plans))
    except BaseException:
        project.close()
        raise
    return project


def _plans() -> list[_Plan]:
    plans = []
    for lot in range(len(_LOTS)):
        kinds = (*KINDS, "", "")
        for n in range(len(kinds)):
            kind = kinds[(n + lot) % len(kinds)]
            size = _SIZES[(n + 2 * lot) % len(_SIZES)]
            deep = 16 if (lot, kind) == (4, "scratch") else 8
            plans.append(_Plan(_key(lot, n + 1), lot, kind, size, depth=deep))
    plans += [
        _Plan(_key(lot, 7), lot, kind, _SIZES[lot % len(_SIZES)], labelled=False)
        for lot, kind in ((0, "scratch"), (1, "pit"), (2, ""), (3, "stain"), (6, "dent"), (7, "scratch"))
    ]
    many = ("scratch",) * 7 + ("pit",) * 9 + ("stain",) * 4 + ("dent",) * 4
    plans.append(_Plan("large/sheet-4096.png", 11, "", (_LARGE, _LARGE), labelled=False, defects=many))
    return plans


def _small_plans() -> list[_Plan]:
    plans = []
    for lot in range(4):
        kinds = ("scratch", "pit", "", KINDS[2 + lot % 2])
        plans += [_Plan(_key(lot, n + 1), lot, kind, (128 + 16 * (n % 2), 112)) for n, kind in enumerate(kinds)]
    return plans


def _key(lot: int, number: int) -> str:
    return f"lot-{lot + 1:02d}/part-{lot + 1:02d}{number:02d}.png"


def _make(project: Project, plan: _Plan, lot: Lot, rng: np.random.Generator) -> None:
    scene = Scene(rng, lot, plan.size)
    scene.add_extras()
    defects = plan.defects
    if plan.kind and not defects:
        low, high = _HOW_MANY[plan.kind]
        defects = (plan.kind,) * int(rng.integers(low, high + 1))
    for kind in defects:
        scene.add(kind)
    path = project.picture_path(plan.key)
    try:
        write_png(path, scene.photograph(plan.depth))
    except OSError as error:
        raise problems.CannotWrite(path=str(path), why=error.strerror or str(error)) from error
    if plan.labelled:
        annotation.save_mask(project, plan.key, scene.mask)
        note = annotation.Note(verdict=plan.kind or GOOD, status="done")
        note.add("generate")
        annotation.save_note(project, plan.key, note)


def best_threshold_dice(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> float:
    """The Dice that the best single grey threshold reaches over pictures, whatever side of it is called defect.

    pairs: (picture (H, W) or (H, W, 3), uint8 or uint16; label (H, W)). Tried are all values below a threshold, above
    it, and farther than it from the picture's median. The threshold is chosen on the same pictures: the best case.
    """
    defect, other = np.zeros((3, 256)), np.zeros((3, 256))
    for picture, label in pairs:
        grey = picture if picture.ndim == 2 else picture.mean(axis=2)
        grey = np.rint(grey.astype(np.float64) / (257 if picture.dtype == np.uint16 else 1)).astype(np.int64)
        away = np.abs(grey - int(np.median(grey)))
        counted, real = label <= MAX_CLASS_ID, (label > 0) & (label <= MAX_CLASS_ID)
        for row, values in enumerate((grey, 255 - grey, 255 - away)):
            defect[row] += np.bincount(values[real], minlength=256)
            other[row] += np.bincount(values[counted & ~real], minlength=256)
    hit, false = np.cumsum(defect, axis=1), np.cumsum(other, axis=1)
    total = defect.sum(axis=1, keepdims=True)
    if not total.any():
        return 0.0
    return float((2 * hit / np.maximum(hit + false + total, 1)).max())
