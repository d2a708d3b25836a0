"""All figures of masks, recalculated from labels and predicted masks with NumPy and SciPy alone.

The network is a fixed classifier of gray values: its errors are those of a weak model, on real and on generated images.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.image_sets import crackforest, magnetic_tile, mask_file
from tests.inference.conftest import gray_settings, write_onnx
from workbench.core.evaluation.figures import MASK_METRICS
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, evaluate_run
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.core.sample.sample_project import make_sample
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, save_settings
from workbench.inference.predictor import Predictor

ndimage = pytest.importorskip("scipy.ndimage")
TOUCHING = np.ones((3, 3), int)


def add_run(project: Project, groups: dict[str, str]) -> Run:
    """Add a run whose classifier takes dark pixels for the first class and bright ones for the last."""
    items = []
    for key, group in groups.items():
        mask = annotation.load_mask(project, key)
        digest = hashlib.sha256(project.mask_path(key).read_bytes()).hexdigest()[:16]
        height, width = mask.shape
        fields = {"width": width, "height": height, "mask_hash": digest}
        items.append(Item(key=key, split="val", group=group, classes=annotation.ids_in(mask), **fields))
    run, count = Run(project.root / "runs" / "20261121-080000-unet"), len(project.classes)
    weights, bias = np.zeros((count + 1, 1)), np.full(count + 1, -9.0)
    weights[count], bias[count], weights[1], bias[1], bias[0] = 12, -6, -12, -6, 0
    write_onnx(run.best / "network.onnx", weights, bias)
    classes = tuple(ClassSettings(info.id, info.name, "#ff0000") for info in project.classes)
    chosen = {"thresholds": (0.5,) * count, "min_area": (9,) * count, "um_per_pixel": None}
    save_settings(gray_settings(classes=classes, run=run.name, **chosen), run.best / "model.json")
    data = Dataset(model="unet", classes=project.classes, items=items)
    write_json(run.dataset_path, data.model_dump(mode="json"))
    write_json(run.settings_path, TrainingSettings(model="unet").model_dump(mode="json"))
    return run


def sample(shared: None, root: Path) -> Run:
    with make_sample(root, small=True) as project:
        keys = [key for key in project.images() if project.mask_path(key).exists()]
        return add_run(project, {key: key.rpartition("/")[0] for key in keys})


def real(name: str, shared: Path, root: Path) -> Run:
    if not (shared / name).is_dir():
        pytest.skip(f"the image set {name} is not on this machine")
    images = {"magnetic-tile": magnetic_tile, "crackforest": crackforest}[name](shared / name, root.parent)
    images = images[:: len(images) // 16]
    kinds = sorted({image.kind for image in images if image.mask is not None})
    groups = {}
    with Project.create(root, classes=kinds) as project:
        ids = {info.name: info.id for info in project.classes}
        for image in images:
            key, pixels, mask = f"{image.name}.png", read(image.path), read(mask_file(image, root.parent))
            write_png(project.image_path(key), pixels.mean(axis=2).astype(np.uint8) if pixels.ndim == 3 else pixels)
            labeled = np.where(mask > 127, ids.get(image.kind, 0), 0).astype(np.uint8)
            labeled[:8, :8] = 254
            annotation.save_mask(project, key, labeled)
            groups[key] = image.group
        return add_run(project, groups)


def regions(where: np.ndarray) -> list[np.ndarray]:
    labels, count = ndimage.label(where, TOUCHING)
    return [labels == number for number in range(1, count + 1)]


def edge(where: np.ndarray) -> np.ndarray:
    return where & ~ndimage.binary_erosion(where, np.ones((5, 5)))


def count_pixels(truth: np.ndarray, found: np.ndarray, id: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (hit, false, missed) of pixels and of pixels at edges. id: 0 for any class."""
    real, marked = ((mask > 0) & (mask < 254) if id == 0 else mask == id for mask in (truth, found))
    known, result = truth < 254, []
    for label, prediction in ((real, marked & known), (edge(real), edge(marked) & known)):
        result.append(np.array([(label & prediction).sum(), (prediction & ~label).sum(), (label & ~prediction).sum()]))
    return result[0], result[1]


def most(values: Iterable[int]) -> int:
    """Return the most frequent value, the lowest of equally frequent ones."""
    return min(Counter(values).items(), key=lambda entry: (-entry[1], entry[0]))[0]


def recalculate(pairs: list[tuple[str, np.ndarray, np.ndarray]], ids: list[int]) -> dict[tuple, tuple]:
    """Return value and numbers of images and parts by (metric, scope, class). pairs: part, label, prediction."""
    sums: dict[tuple, list[tuple[str, float, float]]] = {}

    def add(part: str, name: str, scope: str, of: int, hits: float, total: float) -> None:
        sums.setdefault((name, scope, of), []).append((part, float(hits), float(total)))

    for part, truth, found in pairs:
        defects = [(id, region) for id in ids for region in regions(truth == id)]
        marks = [(id, found[region][found[region] > 0]) for id, region in defects]
        detected = [
            (id, most(own.tolist()) if len(own) >= max(1, 0.1 * region.sum()) else 0)
            for (id, region), (_, own) in zip(defects, marks)
        ]
        predicted = []  # class, touches a defect, has the right class, is a false alarm
        for region in regions(found > 0):
            under = truth[region]
            real = under[(under > 0) & (under < 254)]
            own = most(found[region].tolist())
            false = not len(real) and 2 * (under < 254).sum() >= len(under)
            predicted.append((own, len(real) > 0, len(real) > 0 and most(real.tolist()) == own, false))
        good = not ((truth > 0) & (truth < 254)).any()
        for of in (0, *ids):
            scope = "class" if of else "any"
            own = [each for id, each in detected if of in (0, id)]
            right = [id == each for id, each in detected if of in (0, id)]
            area = [each for each in predicted if of in (0, each[0])]
            false = sum(each[3] for each in area)
            add(part, "recall", scope, of, sum(map(bool, own)), len(own))
            add(part, "recall_right_class", scope, of, sum(right), len(own))
            add(part, "region_precision", scope, of, len(area) - false, len(area))
            add(part, "region_precision_right_class", scope, of, sum(each[2] for each in area), len(area))
            add(part, "false_alarms", scope, of, false, 1)
            (hit, wrong, missed), (edge_hit, edge_wrong, edge_missed) = count_pixels(truth, found, of)
            add(part, "pixel_precision", scope, of, hit, hit + wrong)
            add(part, "pixel_recall", scope, of, hit, hit + missed)
            labeled = bool(hit + missed)  # a class without labels has no value
            add(part, "dice", scope, of, 2 * hit, 2 * hit + wrong + missed)
            add(part, "iou", scope, of, hit, hit + wrong + missed)
            add(part, "boundary_iou", scope, of, edge_hit, edge_hit + edge_wrong + edge_missed)
            add(part, "labeled", scope, of, labeled, 1)
            if not of and good:
                add(part, "false_alarms", "good", 0, false, 1)
                add(part, "false_alarm_images", "good", 0, bool(false), 1)
        all_missed = bool(detected) and not any(each for _, each in detected)
        add(part, "missed_images", "any", 0, all_missed, bool(detected))
    result = {}
    for (name, scope, of), rows in sums.items():
        pixels = name in ("dice", "iou", "boundary_iou")
        labeled = not pixels or scope == "any" or any(real for _, real, _ in sums["labeled", scope, of])
        hits, total = sum(row[1] for row in rows), sum(row[2] for row in rows)
        value = hits / total if total and labeled else None
        counted = [part for part, _, total in rows if total and value is not None]  # also with false pixels alone
        result[name, scope, of] = value, len(counted), len(set(counted))
    for name in ("dice", "iou", "boundary_iou"):
        values = [result[name, "class", id][0] for id in ids if result[name, "class", id][0] is not None]
        result[name, "mean", 0] = (np.mean(values) if values else None, None, None)
    return result


@pytest.mark.parametrize("name", ["sample", "magnetic-tile", "crackforest"])
def test_every_figure_equals_an_independent_calculation(name, request, tmp_path):
    root = tmp_path / "project"
    shared = None if name == "sample" else request.getfixturevalue("shared_data")
    run = sample(shared, root) if name == "sample" else real(name, shared, root)
    project = Project.open(root, write=False)
    evaluation = evaluate_run(project, run, "val", options=FIGURES_ONLY, progress=lambda done, total: None)
    predictor, pairs = Predictor.open(run.best), []
    for item in run.dataset().items:
        truth = annotation.load_mask(project, item.key)
        pairs.append((item.part, truth, predictor.predict(read(project.image_path(item.key))).mask))
    ids = list(evaluation.figures.classes)
    expected = recalculate(pairs, ids)
    rows = [row for row in evaluation.figures.rows if row.scope != "size"]
    assert {row.id for row in rows} == {metric.id for metric in MASK_METRICS}
    for row in rows:
        value, images, parts = expected.get((row.id, row.scope, row.of), (None, 0, 0))
        assert row.value == (None if value is None else pytest.approx(value, abs=1e-12)), row
        assert images is None or (row.images, row.parts) == (images, parts), row
    assert sum(row.value not in (None, 0, 1) for row in rows) > 9
