"""Texts about the prediction for one image."""

from __future__ import annotations

import numpy as np
import pytest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, spotted, write_onnx
from workbench.core.messages import Message, recognize
from workbench.inference.input_guard import _MEASURES, ImageMeasures, learn_limits
from workbench.inference.model_settings import save_settings
from workbench.inference.predictor import Predictor
from workbench.ui.text.image_texts import regions_text, with_input

IMAGE = spotted(np.random.default_rng(1))


@pytest.fixture
def predictor(tmp_path) -> Predictor:
    write_onnx(tmp_path / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    limits = learn_limits([("part", ImageMeasures.of(IMAGE))])
    save_settings(gray_settings(input=limits), tmp_path / "model.json")
    return Predictor.open(tmp_path)


def test_an_unlike_image_is_not_shown_as_good(qapp, predictor):
    found = predictor.predict(IMAGE * 0 + 128)
    text = "Prediction: no defects; verdict: unsure. Unlike the training images: every pixel has the value 128"
    assert with_input(regions_text(found), found) == text
    found = predictor.predict(IMAGE)
    assert with_input(regions_text(found), found) == regions_text(found)


def test_every_reason_is_known_to_the_translation(predictor):
    images = [IMAGE * 0, IMAGE.astype(np.uint16) << 4, IMAGE.astype(np.uint16), IMAGE[:20, :20]]
    images += [(IMAGE // 25 * 0.3).astype(np.float32)]
    reasons = {why for image in images for why in predictor.predict(image).input.why}
    reasons |= {measure.text.format("0.5", "1", "2") for measure in _MEASURES.values()}
    assert len(reasons) > len(_MEASURES) + 2
    assert [reason for reason in reasons if not isinstance(recognize(reason), Message)] == []
