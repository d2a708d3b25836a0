"""All figures of masks and verdicts, recalculated from labels and predictions with NumPy and SciPy alone.

The network is a fixed classifier of gray values: its errors are those of a weak model, on real and on generated images.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.image_sets import crackforest, magnetic_tile, mask_file
from tests.inference.conftest import gray_settings, write_onnx
from workbench.core.evaluation.figures import MASK_METRICS
from workbench.core.evaluation.image_ranking import ScoredImage, image_auroc, recall_at
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, evaluate_run
from workbench.core.evaluation.verdict_rules import RuleChoice, evaluate_rule
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.core.sample.sample_project import make_sample
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, ModelSettings, save_settings
from workbench.inference.predictor import Predictor

scipy = pytest.importorskip("scipy")  # loads its modules when they are used first
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
    labels, count = scipy.ndimage.label(where, TOUCHING)
    return [labels == number for number in range(1, count + 1)]


def edge(where: np.ndarray) -> np.ndarray:
    return where & ~scipy.ndimage.binary_erosion(where, np.ones((5, 5)))


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
    predictor, pairs, scores = Predictor.open(run.best), [], []
    ids = list(evaluation.figures.classes)
    for item in run.dataset().items:
        truth = annotation.load_mask(project, item.key)
        found = predictor.predict(read(project.image_path(item.key)), keep_probabilities=True)
        pairs.append((item.part, truth, found.mask))
        own = (found.class_scores[number][found.mask == id].astype(float).sum() for number, id in enumerate(ids))
        scores.append(sum(own) / 255)
    expected = recalculate(pairs, ids)
    rows = [row for row in evaluation.figures.rows if row.scope != "size"]
    assert {row.id for row in rows} == {metric.id for metric in MASK_METRICS}
    for row in rows:
        value, images, parts = expected.get((row.id, row.scope, row.of), (None, 0, 0))
        assert row.value == (None if value is None else pytest.approx(value, abs=1e-12)), row
        assert images is None or (row.images, row.parts) == (images, parts), row
    assert sum(row.value not in (None, 0, 1) for row in rows) > 9
    check_image_verdicts(evaluation.images.images, pairs, np.array(scores))


def check_image_verdicts(images: list[ScoredImage], pairs: list, scores: np.ndarray) -> None:
    """Compare the figures of the images as a whole, whose anomaly score is the sum of the probabilities of regions."""
    names = np.array([part for part, _, _ in pairs])
    defective = np.array([((truth > 0) & (truth < 254)).any() for _, truth, _ in pairs])
    assert [image.score for image in images] == pytest.approx(scores, rel=1e-3, abs=1e-3)
    assert [image.defective for image in images] == defective.tolist()
    good, bad = scores[~defective], scores[defective]
    if len(good) and len(bad):
        pairs_won = scipy.stats.mannwhitneyu(bad, good).statistic
        assert image_auroc(images) == pytest.approx(pairs_won / len(good) / len(bad), abs=1e-9)
    for share in (0.01, 0.05, 0.1, 0.5):
        found, why = recall_at(images, share)
        assert (found is None) == bool(why) == (len(good) * share < 1 - 1e-9 or not len(bad))
        if found is not None:
            allowed = math.floor(share * len(good) + 1e-9)
            most = max(((bad > limit).sum() for limit in (-1, *scores) if (good > limit).sum() <= allowed), default=0)
            assert (found.hits, found.total) == (most, len(bad))
    for threshold in (0.0, float(np.median(scores[scores > 0])) + 0.01):
        result = evaluate_rule(RuleChoice("mass", threshold), images)
        rejected = scores > threshold
        assert result.rejected == tuple(rejected.tolist())
        for found, chosen in ((result.caught, defective), (result.false, ~defective)):
            assert (found.hits, found.total) == ((rejected & chosen).sum(), chosen.sum())
        parts = {name: rejected[(names == name) & ~defective] for name in names[~defective]}
        alarmed = math.ceil(sum(own.mean() for own in parts.values()) - 1e-9)
        assert result.good_parts == len(parts)
        if alarmed < len(parts):  # Clopper and Pearson
            assert result.false_limit == pytest.approx(scipy.stats.beta.ppf(0.95, alarmed + 1, len(parts) - alarmed))


# --- verdicts -----------------------------------------------------------------------------------------

VERDICTS = ("OK", "scratch", "划痕")


def verdict_run(root: Path) -> Run:
    """Add a run that decides by the brightness of images, whose labels differ from that now and then."""
    rng = np.random.default_rng(7)
    run, items = Run(root / "runs" / "20261121-080000-resnet"), []
    with Project.create(root, verdicts=list(VERDICTS)) as project:
        for number in range(60):
            bright = int(rng.integers(0, 3))
            truth = VERDICTS[bright if rng.random() < 0.8 else int(rng.integers(0, 3))]
            key, noise = f"part{number % 9}/{number}.png", rng.integers(-30, 31)
            write_png(project.image_path(key), np.full((30, 40), 45 + 80 * bright + noise, np.uint8))
            annotation.save_note(project, key, annotation.Note(verdict=truth, status="done"))
            items.append(Item(key=key, split="val", group=f"part{number % 9}", width=40, height=30, verdict=truth))
    weights = np.array([[-8.0], [0.0], [8.0]])
    write_onnx(run.best / "network.onnx", weights, np.array([-2.5, 0.0, -2.5]), pooled=True)
    settings = ModelSettings(
        task="classification",
        name="bright",
        run=run.name,
        verdicts=VERDICTS,
        mean=(0.5,),
        std=(0.5,),
        input_size=32,
        files={"onnx": "network.onnx"},
    )
    save_settings(settings, run.best / "model.json")
    data = Dataset(model="resnet", verdicts=list(VERDICTS), items=items)
    write_json(run.dataset_path, data.model_dump(mode="json"))
    write_json(run.settings_path, TrainingSettings(model="resnet").model_dump(mode="json"))
    return run


def test_every_figure_of_verdicts_equals_an_independent_calculation(tmp_path):
    run = verdict_run(tmp_path / "project")
    project = Project.open(run.project_root, write=False)
    evaluation = evaluate_run(project, run, "val", options=FIGURES_ONLY, progress=lambda done, total: None)
    items, predictor = run.dataset().items, Predictor.open(run.best)
    predictions = [predictor.predict(read(project.image_path(item.key))) for item in items]
    truth = np.array([VERDICTS.index(item.verdict) for item in items])
    found = np.array([VERDICTS.index(prediction.likeliest) for prediction in predictions])
    names = np.array([item.group for item in items])
    expected = {("accuracy", "any", 0): ((truth == found).mean(), np.full(len(items), True))}
    scores = []
    for number, verdict in enumerate(VERDICTS):
        real, marked = truth == number, found == number
        scores.append(2 * (real & marked).sum() / (real.sum() + marked.sum()))
        expected["verdict_recall", "verdict", verdict] = (real & marked).sum() / real.sum(), real
        expected["verdict_precision", "verdict", verdict] = (real & marked).sum() / marked.sum(), marked
        expected["f1", "verdict", verdict] = scores[-1], real | marked
    expected["f1", "mean", 0] = np.mean(scores), np.full(len(items), True)
    figures = evaluation.figures
    assert {(row.id, row.scope, row.of) for row in figures.rows} == set(expected)
    for row in figures.rows:
        value, counted = expected[row.id, row.scope, row.of]
        assert row.value == pytest.approx(value, abs=1e-12) and 0 < row.value < 1, row
        assert (row.images, row.parts) == (counted.sum(), len(set(names[counted]))), row
    matrix = np.histogram2d(truth, found, bins=(range(4), range(4)))[0]
    assert [[figures.confusion[a, b] for b in VERDICTS] for a in VERDICTS] == matrix.tolist()
    highest = np.array([max(prediction.probabilities.values()) for prediction in predictions])
    places = np.minimum((10 * highest).astype(int), 9)
    error = sum(abs((truth == found)[places == n].sum() - highest[places == n].sum()) for n in range(10)) / len(items)
    assert evaluation.verdicts.calibration_error() == pytest.approx(error, abs=1e-6)
