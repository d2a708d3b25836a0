"""Previews: whole images, parts of large ones, several classes."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import scratched
from tests.core.evaluation.gray_network import Gray
from tests.inference.conftest import gray_settings
from tests.training.conftest import make_run, paint_second_class
from workbench.core.project import annotation
from workbench.core.runs.events import decode, encode
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import ClassSettings
from workbench.inference.predictor import Predictor
from workbench.session.training.preview_reader import read_preview
from workbench.training.previews import preview

CLASSES = (ClassSettings(1, "scratch", "#ff0000"), ClassSettings(2, "dent", "#00ff00"))


@pytest.mark.parametrize("side", [200, 1500])
@pytest.mark.parametrize("count", [1, 2])
def test_preview_survives_a_round_trip(labeled_project, side, count):
    if count == 2:
        paint_second_class(labeled_project)
    image, mask = scratched(np.random.default_rng(4), side, side - 20, defects=5)
    mask[: side // 2] = 0  # the lower half has the labels and is predicted
    write_png(labeled_project.image_path("大.png"), image)
    annotation.save_mask(labeled_project, "大.png", mask)
    run = make_run(labeled_project)
    settings = gray_settings(classes=CLASSES[:count], thresholds=(0.6, 0.4)[:count], min_area=(3, 0)[:count], scale=1.0)
    engine = Gray() if count == 2 else lambda batch: Gray()(batch)[:, :2]
    event = decode(encode(preview(run, labeled_project, engine, settings, "大.png", 7)))
    shown = read_preview(run, event)
    analyzed = shown.mask != 255
    rows, columns = (np.flatnonzero(analyzed.any(axis=axis)) for axis in (1, 0))
    assert shown.mask.shape == image.shape and shown.step == 7 and shown.adjustable
    assert analyzed.all() == (side == 200) and (analyzed[mask == 1].any() or not (mask == 1).any())
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    assert analyzed[part].all()
    expected = Predictor(settings, engine).predict(image[part], keep_probabilities=True)
    assert np.array_equal(shown.mask[part], expected.mask) and np.array_equal(shown.scores[part], expected.scores)
    assert np.array_equal(shown.class_probabilities[(slice(None), *part)], expected.class_scores)
    assert shown.settings.thresholds == settings.thresholds and shown.settings.min_area == settings.min_area
