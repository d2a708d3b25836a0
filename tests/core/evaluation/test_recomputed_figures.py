"""All figures of masks and verdicts, recalculated from labels and predictions with NumPy and SciPy alone.

The network is a fixed classifier of gray values: its errors are those of a weak model, on real and on generated images.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.image_sets import crackforest, magnetic_tile, mask_file
from tests.core.evaluation.independent_figures import Expected, expect, recalculate
from tests.inference.conftest import gray_settings, write_onnx
from workbench.core.evaluation.figures import MASK_METRICS, Figure
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, evaluate_run
from workbench.core.evaluation.verdict_rules import RuleChoice, ScoredImage, evaluate_rule, image_auroc, recall_at
from workbench.core.images.image_files import read
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.runs.dataset import Dataset, Item
from workbench.core.runs.run import Run
from workbench.core.runs.training_settings import TrainingSettings
from workbench.core.sample_project import make_sample
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings, ModelSettings, save_settings
from workbench.inference.predictor import Predictor

scipy = pytest.importorskip("scipy")  # loads its modules when they are used first


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


def sample(root: Path, parts: int) -> Run:
    """Add a run whose images show so many parts."""
    with make_sample(root, small=True) as project:
        keys = [key for key in project.images() if project.mask_path(key).exists()]
        return add_run(project, {key: f"part{number % parts}" for number, key in enumerate(keys)})


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


@pytest.mark.parametrize(
    "name",
    [
        *("sample, 4 parts", "sample, 11 parts"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("magnetic-tile", "crackforest")),
    ],
)
def test_every_figure_equals_an_independent_calculation(name, request, tmp_path):
    root = tmp_path / "project"
    if name.startswith("sample"):
        run = sample(root, int(name.split()[1]))
    else:
        run = real(name, request.getfixturevalue("shared_data"), root)
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
    rows = evaluation.figures.rows
    expected = recalculate(pairs, ids, [row.of for row in rows if row.scope == "size"])
    assert {row.id for row in rows} == {metric.id for metric in MASK_METRICS}
    for row in rows:
        check_row(row, expected.get((row.id, row.scope, row.of), Expected(None, 0, 0, None)))
    assert sum(row.value not in (None, 0, 1) for row in rows) > 9
    assert any(row.edges for row in rows) == (name != "sample, 4 parts")
    check_image_verdicts(evaluation.images.images, pairs, np.array(scores))


def check_row(row: Figure, expected: Expected) -> None:
    """Compare a figure; the program calculates quantiles from series."""
    assert row.value == (None if expected.value is None else pytest.approx(expected.value, abs=1e-12)), row
    assert (row.images, row.parts) == (expected.images, expected.parts), row
    assert row.edges == (None if expected.limits is None else pytest.approx(expected.limits, abs=1e-3)), (row, expected)
    reason = r"only \d+ parts?( ha(s|ve) such a label)?, at least 5 are needed"
    assert row.edges or re.search(reason, str(row.interval)), row


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


def with_part(rows: Iterable[tuple]) -> list[tuple[str, list[float]]]:
    return [(part, [float(each) for each in sums]) for part, *sums in rows]


def test_every_figure_of_verdicts_equals_an_independent_calculation(tmp_path):
    run = verdict_run(tmp_path / "project")
    project = Project.open(run.project_root, write=False)
    evaluation = evaluate_run(project, run, "val", options=FIGURES_ONLY, progress=lambda done, total: None)
    items, predictor = run.dataset().items, Predictor.open(run.best)
    predictions = [predictor.predict(read(project.image_path(item.key))) for item in items]
    truth = np.array([VERDICTS.index(item.verdict) for item in items])
    found = np.array([VERDICTS.index(prediction.likeliest) for prediction in predictions])
    names = np.array([item.group for item in items])
    known = [(name, real == marked, True) for name, real, marked in zip(names, truth, found)]
    expected = {("accuracy", "any", 0): expect("accuracy", [with_part(known)])}
    of_verdicts = []
    for number, verdict in enumerate(VERDICTS):
        real, marked = truth == number, found == number
        for metric, chosen in (("verdict_recall", real), ("verdict_precision", marked)):
            rows = with_part(zip(names, real & marked, chosen))
            expected[metric, "verdict", verdict] = expect(metric, [rows])
        of_verdicts.append(with_part(zip(names, real & marked, marked, real)))
        expected["f1", "verdict", verdict] = expect("f1", of_verdicts[-1:])
    expected["f1", "mean", 0] = expect("f1", of_verdicts)
    figures = evaluation.figures
    assert {(row.id, row.scope, row.of) for row in figures.rows} == set(expected)
    for row in figures.rows:
        check_row(row, expected[row.id, row.scope, row.of])
        assert 0 < row.value < 1 and row.edges
    matrix = np.histogram2d(truth, found, bins=(range(4), range(4)))[0]
    assert [[figures.confusion[a, b] for b in VERDICTS] for a in VERDICTS] == matrix.tolist()
    highest = np.array([max(prediction.probabilities.values()) for prediction in predictions])
    places = np.minimum((10 * highest).astype(int), 9)
    error = sum(abs((truth == found)[places == n].sum() - highest[places == n].sum()) for n in range(10)) / len(items)
    assert evaluation.verdicts.calibration_error() == pytest.approx(error, abs=1e-6)
