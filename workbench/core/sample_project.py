"""Sample project: generated surfaces with defects, exact labels, several lots, sizes and depths. Needs no download.

The task is learnable but not trivial: texture and harmless structures (glints, dust, stamps, holes) are as strong as
the defects, so neither "everything is good" nor a gray threshold works; `best_threshold_dice` measures the latter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from workbench.core import problems
from workbench.core.project import annotation
from workbench.core.project.project import MAX_CLASS_ID, Grouping, Project
from workbench.core.synthetic_scene import KINDS, Lot, Material, SyntheticScene, make_lot
from workbench.inference.io.image_io import write_png

GOOD = "OK"
_BLUE = (0.55, 0.80, 1.10)
# Material and tint of each lot (for a color camera). Validation and test lots are new, their materials are not.
_METALS: tuple[tuple[Material, tuple[float, float, float] | None], ...] = (
    ("brushed", None),
    ("cast", None),
    ("painted", _BLUE),
)
_NEW_LOT: tuple[Material, tuple[float, float, float] | None] = ("painted", None)
_LOTS = (*_METALS * 4, _NEW_LOT)
_NEW = len(_LOTS) - 1  # of which no image has a label
_TEST_LOTS = (1, 11)  # so few lots have a test set only if the user defines one
_SIZES = ((320, 240), (272, 272), (352, 264), (240, 320), (304, 232))
_DEFECT_COUNTS = {"scratch": (2, 4), "pit": (3, 7), "stain": (1, 2), "dent": (1, 3)}  # minimum, maximum
_CLOSE_UPS, _CLOSE_UP = 20, 112  # number per lot; side in pixels
_LARGE = 4096


@dataclass(frozen=True)
class _SamplePlan:
    """Specification of one image. kind: one of `KINDS`, "" for a good image. mask, verdict: give it these labels.

    defects: exactly these; otherwise a usual number of the kind. close: close-up filled by one spot. test: belongs to
    the test set.
    """

    key: str
    lot: int
    kind: str
    size: tuple[int, int]
    mask: bool = False
    verdict: bool = False
    close: bool = False
    depth: int = 8
    defects: tuple[str, ...] = ()
    test: bool = False


def make_sample(
    root: Path | str, *, seed: int = 7, small: bool = False, progress: Callable[[int, int], None] | None = None
) -> Project:
    """Create the sample project in `root` and return it, open for writing. The same seed gives the same pixels.

    Each of 12 lots has 6 panels with masks (four classes) for UNet and 20 close-ups with verdicts for ResNet. In
    addition, 8 panels without labels, some of a new paint, and one of 4096 x 4096. `small`: 16 small panels in 4
    lots with both. Raises ProjectExists, CannotWrite.
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
            _render(project, plan, lots[plan.lot], np.random.default_rng([seed, 1000 + number]))
            if progress is not None:
                progress(number + 1, len(plans))
    except BaseException:
        project.close()
        raise
    return project


def _plans() -> list[_SamplePlan]:
    plans = []
    for lot in range(_NEW):
        for n, kind in enumerate((*KINDS, "", "")):
            size = _SIZES[(n + 2 * lot) % len(_SIZES)]
            deep = 16 if (lot, kind) == (3, "scratch") else 8
            plans.append(_SamplePlan(_key(lot, "panel", n + 1), lot, kind, size, mask=True, depth=deep))
        for n in range(_CLOSE_UPS):
            kind = ("", *KINDS)[n % 5]
            key = _key(lot, "close-up", n + 1)
            plans.append(_SamplePlan(key, lot, kind, (_CLOSE_UP, _CLOSE_UP), verdict=True, close=True))
    unlabeled = ((0, "scratch"), (1, "pit"), (2, "stain"), (3, "dent"), *((_NEW, kind) for kind in KINDS))
    plans += [_SamplePlan(_key(lot, "new", n + 1), lot, kind, (400, 300)) for n, (lot, kind) in enumerate(unlabeled)]
    many = ("scratch",) * 7 + ("pit",) * 9 + ("stain",) * 4 + ("dent",) * 4
    plans.append(_SamplePlan("large/sheet-4096.png", 9, "", (_LARGE, _LARGE), defects=many))
    return [replace(plan, test=plan.lot in _TEST_LOTS) for plan in plans]


def _small_plans() -> list[_SamplePlan]:
    plans = []
    for lot in range(4):
        for n, kind in enumerate(("scratch", "pit", "", KINDS[2 + lot % 2])):
            size = (128 + 16 * (n % 2), 112)
            plans.append(_SamplePlan(_key(lot, "panel", n + 1), lot, kind, size, mask=True, verdict=True))
    return plans


def _key(lot: int, prefix: str, number: int) -> str:
    return f"lot-{lot + 1:02d}/{prefix}-{lot + 1:02d}{number:02d}.png"


def _defects(plan: _SamplePlan, rng: np.random.Generator) -> tuple[str, ...]:
    if plan.defects or not plan.kind:
        return plan.defects
    if plan.close:
        return (plan.kind,) * {"scratch": 2, "pit": 5}.get(plan.kind, 1)
    low, high = _DEFECT_COUNTS[plan.kind]
    return (plan.kind,) * int(rng.integers(low, high + 1))


def _render(project: Project, plan: _SamplePlan, lot: Lot, rng: np.random.Generator) -> None:
    if plan.close:
        lot = replace(lot, extras=tuple(name for name in lot.extras if name in ("glints", "dust", "pores")))
    scene = SyntheticScene(rng, lot, plan.size, scale=1.0 if plan.close else None)
    scene.add_extras()
    for kind in _defects(plan, rng):
        scene.add(kind)
    path = project.image_path(plan.key)
    try:
        write_png(path, scene.render(plan.depth))
    except OSError as error:
        raise problems.CannotWrite.of(path, error) from error
    if plan.mask or plan.verdict:
        note = annotation.Note(verdict=(plan.kind or GOOD) if plan.verdict else None, status="done")
        if plan.test:
            note.pin = "test"
        note.add("generate")
        annotation.save_label(project, plan.key, mask=scene.mask if plan.mask else None, note=note)


def best_threshold_dice(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> float:
    """Return the best Dice over all images that a single gray threshold reaches, of either polarity.

    pairs: (image (H, W) or (H, W, 3), uint8 or uint16; label (H, W)). Tested are values below a threshold, above it,
    and further than it from the median of the image. The threshold is chosen on the same images, which is the best
    case.
    """
    defect, other = np.zeros((3, 256)), np.zeros((3, 256))
    for image, label in pairs:
        gray = image if image.ndim == 2 else image.mean(axis=2)
        gray = np.rint(gray.astype(np.float64) / (257 if image.dtype == np.uint16 else 1)).astype(np.int64)
        deviation = np.abs(gray - int(np.median(gray)))
        counted, labeled = label <= MAX_CLASS_ID, (label > 0) & (label <= MAX_CLASS_ID)
        for row, values in enumerate((gray, 255 - gray, 255 - deviation)):
            defect[row] += np.bincount(values[labeled], minlength=256)
            other[row] += np.bincount(values[counted & ~labeled], minlength=256)
    hit, false = np.cumsum(defect, axis=1), np.cumsum(other, axis=1)
    total = defect.sum(axis=1, keepdims=True)
    if not total.any():
        return 0.0
    return float((2 * hit / np.maximum(hit + false + total, 1)).max())
