"""Unsure verdicts, and activation maps of verdicts."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from workbench.inference.batch.export_package import self_test, write_checks, write_package, write_reference_results
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import (
    MODEL_FILE,
    UNSURE,
    ModelSettings,
    SettingsError,
    load_settings,
    save_settings,
    settings_text,
)
from workbench.inference.predictor import Predictor

SETTINGS = ModelSettings(task="classification", name="m", verdicts=("OK", "NG", "dent"), input_size=128)


class Spots:
    """Network with few cells: bright areas contribute to NG, dark ones to "dent"."""

    cell = 32

    def maps(self, batch):
        n, _, h, w = batch.shape
        half = self.cell // 2  # like convolutions with a stride, whose cell i is centered at pixel i * cell
        shifted = np.pad(batch[:, 0], ((0, 0), (half, 0), (half, 0)), mode="edge")[:, :h, :w]
        cells = shifted.reshape(n, h // self.cell, self.cell, w // self.cell, self.cell)
        bright = 50 * (cells.mean(axis=(2, 4)) - 128 / 255)
        return np.stack([np.zeros_like(bright), bright, -bright], axis=1).astype(np.float32)

    def __call__(self, batch):
        logits = self.maps(batch).mean(axis=(2, 3))
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def test_an_improbable_verdict_is_unsure(verdict_export):
    certain = Predictor.open(verdict_export)
    images = [np.full((20, 30), gray, np.uint8) for gray in range(100, 160, 3)]
    before = [certain.predict(image) for image in images]
    unsure = Predictor(replace(certain.settings, unsure=0.7), certain.engine)
    after = [unsure.predict(image) for image in images]
    assert [one.probabilities for one in after] == [one.probabilities for one in before]
    assert [one.likeliest for one in after] == [one.verdict for one in before]
    for one, other in zip(after, before):
        assert one.verdict == (other.verdict if max(other.probabilities.values()) >= 0.7 else UNSURE)
    assert {one.verdict for one in after} == {"OK", "NG", UNSURE}


def test_reject_probability_is_stored_and_does_not_change_other_settings(tmp_path):
    assert "unsure" not in settings_text(SETTINGS)  # files of earlier versions keep their content and hash
    save_settings(replace(SETTINGS, unsure=0.8), tmp_path / MODEL_FILE)
    assert load_settings(tmp_path / MODEL_FILE).unsure == 0.8
    for wrong in (-0.1, 1.0, float("nan"), "0.5"):
        with pytest.raises(SettingsError, match="unsure"):
            replace(SETTINGS, unsure=wrong)
    with pytest.raises(SettingsError, match="named 'unsure'"):
        replace(SETTINGS, verdicts=("OK", "unsure"), unsure=0.5)
    assert replace(SETTINGS, verdicts=("OK", "unsure")).unsure == 0


def test_an_export_with_a_reject_probability_reports_unsure(verdict_export, tmp_path):
    """Reference images, self-test and the embedded runner work in a process without the workbench."""
    save_settings(replace(load_settings(verdict_export / MODEL_FILE), unsure=0.95), verdict_export / MODEL_FILE)
    gray, bright = tmp_path / "grey.png", tmp_path / "bright.png"
    write_png(gray, np.full((40, 30), 130, np.uint8))
    write_png(bright, np.full((40, 30), 250, np.uint8))
    write_reference_results(verdict_export, Predictor.open(verdict_export), [("grey", gray), ("bright", bright)])
    write_package(verdict_export, ())
    write_checks(verdict_export)
    assert self_test(verdict_export, Predictor.open(verdict_export)) == []
    command = [sys.executable, "predict.py", str(gray), str(bright), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=verdict_export, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text("utf-8"))
    assert [entry["verdict"] for entry in results["pictures"]] == [UNSURE, "OK"]
    assert "unsure" in (tmp_path / "out" / "verdicts.csv").read_text("utf-8-sig")


@pytest.mark.parametrize("place", [(18, 18), (32, 32), (18, 45), (40, 20), (46, 33)])
def test_activation_map_is_at_the_bright_area(place):
    y, x = place
    image = np.full((64, 64), 128, np.uint8)
    image[y - 2 : y + 3, x - 2 : x + 3] = 250
    result = Predictor(SETTINGS, Spots()).predict(image, keep_heat=True)
    assert result.verdict == "NG" and result.heat.shape == image.shape and result.heat.dtype == np.uint8
    assert result.heat.max() == 255
    rows, columns = np.mgrid[:64, :64]
    weight = result.heat.astype(float) ** 4
    centre = (rows * weight).sum() / weight.sum(), (columns * weight).sum() / weight.sum()
    # Cells are 32 pixels long; shifted inputs make the map finer.
    assert abs(centre[0] - y) < 7 and abs(centre[1] - x) < 7, centre


def test_activation_map_has_the_size_of_the_image_and_is_of_the_predicted_verdict():
    image = np.full((70, 210), 128, np.uint8)
    image[:30, :50] = 10
    result = Predictor(SETTINGS, Spots()).predict(image, keep_heat=True)
    assert result.likeliest == "dent" and result.heat.shape == image.shape
    assert result.heat[10, 20] > 200 and result.heat[50, 180] < 60


def test_networks_without_probabilities_have_no_activation_map(verdict_export):
    result = Predictor.open(verdict_export).predict(np.full((20, 30), 200, np.uint8), keep_heat=True)
    assert result.heat is None and result.verdict == "OK"
    assert Predictor(SETTINGS, Spots()).predict(np.full((64, 64), 9, np.uint8)).heat is None
