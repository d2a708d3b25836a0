"""Comparison of images with the training images: bit depths, exposure, sharpness, color, size."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest

from tests.inference.conftest import GRAY_BIAS, GRAY_WEIGHTS, gray_settings, spotted, write_onnx
from workbench.inference.input_guard import ImageMeasures, InputLimits, check_input, learn_limits
from workbench.inference.model_settings import SettingsError, load_settings, save_settings, settings_from_json
from workbench.inference.predictor import Predictor


def limits_of(images) -> InputLimits:
    return learn_limits([(str(number), ImageMeasures.of(image)) for number, image in enumerate(images)])


def part(seed: int) -> np.ndarray:
    """Return an image of another part: another exposure, another contrast, and spots elsewhere."""
    rng = np.random.default_rng(seed)
    values = (spotted(rng).astype(np.float32) - 128) * rng.normal(1, 0.05) + rng.normal(128, 5)
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def eight_bit() -> InputLimits:
    return limits_of([part(seed) for seed in range(12)])


def sparse(seed: int) -> np.ndarray:
    """Return a white image with twelve dark squares, which cover 5 % of it."""
    rng = np.random.default_rng(seed)
    image = rng.normal(240, 4, (640, 640))
    for y, x in rng.integers(0, 600, (12, 2)):
        image[y : y + 40, x : x + 40] = 20
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def test_the_structures_of_sparse_images_are_not_missed():
    limits = limits_of([sparse(seed) for seed in range(30)])
    checks = [check_input(sparse(seed), limits)[1] for seed in range(100, 250)]
    assert sum(not check.ok for check in checks) <= 1
    bare = np.random.default_rng(1).normal(240, 4, (640, 640)).clip(0, 255).astype(np.uint8)
    assert not check_input(bare, limits)[1].ok


WIDE = part(100).astype(np.uint16)


def test_images_of_other_parts_are_like_the_training_images(eight_bit):
    checks = [check_input(part(seed), eight_bit)[1] for seed in range(100, 200)]
    assert [check for check in checks if check.why] == []


@pytest.mark.parametrize(
    ("image", "reason"),
    [
        (WIDE * 0, "every pixel has the value 0"),
        (part(100) * 0 + 255, "every pixel has the value 255"),
        (part(100) * 0 + 128, "every pixel has the value 128"),
        (part(100) // 40, "brightness"),
        (np.clip(part(100).astype(int) * 3, 0, 255).astype(np.uint8), "saturated pixels"),
        (cv2.GaussianBlur(part(100), (0, 0), 4), "sharpness"),
        ((part(100) // 32 + 124).astype(np.uint8), "contrast"),
        (np.dstack([part(100), part(100) // 2, part(100) // 4]), "color"),
        (np.full((300, 300), np.nan, np.float32), "every pixel has the value 0"),
    ],
)
def test_an_unlike_image_is_named_with_its_reason(eight_bit, image, reason):
    _, check = check_input(image, eight_bit)
    assert not check.ok and any(why.startswith(reason) for why in check.why), check


def test_gray_values_in_three_channels_are_gray_and_another_size_is_a_remark(eight_bit):
    assert check_input(np.dstack([part(100)] * 3), eight_bit)[1].why == ()
    _, check = check_input(np.tile(part(100), (4, 4)), eight_bit)
    assert check.ok and check.why == ("size 0.552 megapixels, expected 0.0155 to 0.0768",)


@pytest.mark.parametrize("bits", [10, 12, 14])
def test_values_of_fewer_bits_are_scaled_as_in_training(eight_bit, bits):
    image, check = check_input(WIDE << (bits - 8), eight_bit)
    assert check.ok and check.why == (f"{bits}-bit values are scaled to the range of the training images",)
    assert abs(image / 257 - WIDE).max() <= 1


@pytest.mark.parametrize("image", [WIDE * 257, WIDE << 8, (WIDE / 255).astype(np.float32)])
def test_values_of_the_whole_range_stay_as_they_are(eight_bit, image):
    same, check = check_input(image, eight_bit)
    assert same is image and check.why == ()


def test_floats_in_the_range_of_integers_are_scaled(eight_bit):
    image, check = check_input(WIDE.astype(np.float32), eight_bit)
    assert check.ok and check.why and abs(image * 255 - WIDE).max() < 0.01


def test_a_depth_that_is_not_certain_is_no_good_input():
    varied = limits_of(
        [(part(seed) * factor).astype(np.uint8) for seed in range(12) for factor in (0.03, 0.1, 0.3, 0.9)]
    )
    _, check = check_input(WIDE << 4, varied)
    assert not check.ok and check.why[0].startswith("the values may have 12 or 14")


def test_a_model_trained_on_12_bits_scales_8_and_16_bits():
    limits = limits_of([part(seed).astype(np.uint16) << 4 for seed in range(12)])
    assert (limits.type, limits.maximum, limits.bits) == ("uint16", 4095, 12)
    assert check_input(WIDE << 4, limits)[1].why == ()
    for image, bits in ((part(100), 8), (WIDE << 8, 16), (WIDE << 2, None)):
        scaled, check = check_input(image, limits)
        if bits is None:  # a quarter of the brightness may also be the light
            assert not check.ok and check.why[0] == "the values may have 10 bits"
        else:
            assert check.ok and check.why[0].startswith(f"{bits}-bit values are scaled")
            assert abs(scaled.astype(int) - (WIDE.astype(int) << 4)).max() <= 17


def test_limits_come_from_the_training_images():
    dark = limits_of([part(seed) // 60 for seed in range(12)])
    assert check_input(part(100) // 60, dark)[1].ok and not check_input(part(100), dark)[1].ok
    binary = [((part(seed) > 200) * 255).astype(np.uint8) for seed in range(12)] + [np.zeros((150, 230), np.uint8)]
    assert check_input(np.zeros((150, 230), np.uint8), limits_of(binary))[1].ok
    assert not check_input(np.full((150, 230), 255, np.uint8), limits_of(binary))[1].ok


def test_limits_of_a_single_image_still_refuse_black_and_white():
    limits = limits_of([part(1)])
    assert check_input(part(100), limits)[1].ok
    for image in (np.random.default_rng(0).integers(0, 4, (90, 90), np.uint8), np.full((90, 90), 255, np.uint8)):
        assert not check_input(image, limits)[1].ok


def test_images_of_other_types_are_refused(eight_bit):
    with pytest.raises(ValueError, match="uint8, uint16 or float32, not int32"):
        check_input(WIDE.astype(np.int32), eight_bit)


def test_model_json_keeps_the_limits_and_refuses_damaged_ones(eight_bit, tmp_path):
    save_settings(gray_settings(input=eight_bit), tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text("utf-8"))
    assert load_settings(tmp_path / "model.json") == gray_settings(input=eight_bit)
    for damage in ({"type": "int7"}, {"limits": {}}, {"maximum": 0}, {"images": "many"}, {"more": 1}, {"withhold": 1}):
        with pytest.raises(SettingsError, match="input cannot be used"):
            settings_from_json({**content, "input": {**content["input"], **damage}})
    save_settings(gray_settings(), tmp_path / "older.json")
    assert "input" not in json.loads((tmp_path / "older.json").read_text("utf-8"))


def test_a_prediction_is_equal_in_all_depths_and_withheld_of_unlike_images(eight_bit, tmp_path):
    write_onnx(tmp_path / "network.onnx", GRAY_WEIGHTS, GRAY_BIAS)
    save_settings(gray_settings(input=eight_bit), tmp_path / "model.json")
    predictor = Predictor.open(tmp_path)
    expected = predictor.predict(part(100))
    assert expected.verdict is None and expected.regions and expected.input.ok
    found = predictor.predict(WIDE << 4)
    assert (found.mask != expected.mask).mean() < 0.001 and found.input.ok
    assert predictor.probabilities(WIDE << 4)[:, 5, 5] == pytest.approx(
        predictor.probabilities(part(100))[:, 5, 5], abs=0.1
    )
    black = predictor.predict(part(100) * 0 + 128)
    assert black.verdict == "unsure" and not black.regions and black.verdict_reason is None
    predictor.keep_verdicts()
    judged = predictor.predict(part(100) * 0 + 128)
    assert judged.verdict is None and not judged.input.ok
