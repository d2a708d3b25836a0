"""Verdicts that are not probable enough to be given, and where a network looked before it gave one."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from workbench.inference.batch.export_checks import self_test, write_checks, write_reference_results
from workbench.inference.batch.export_package import write_package
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
    """A network with few cells: whatever is bright speaks for NG, whatever is dark for the dent."""

    cell = 32

    def maps(self, batch):
        n, _, h, w = batch.shape
        half = self.cell // 2  # as of convolutions with a stride: cell i looks around the pixel i * cell
        seen = np.pad(batch[:, 0], ((0, 0), (half, 0), (half, 0)), mode="edge")[:, :h, :w]
        cells = seen.reshape(n, h // self.cell, self.cell, w // self.cell, self.cell)
        bright = 50 * (cells.mean(axis=(2, 4)) - 128 / 255)
        return np.stack([np.zeros_like(bright), bright, -bright], axis=1).astype(np.float32)

    def __call__(self, batch):
        logits = self.maps(batch).mean(axis=(2, 3))
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)


def test_an_improbable_verdict_is_not_given(verdict_export):
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


def test_the_band_travels_in_the_settings_and_leaves_others_as_they_were(tmp_path):
    assert "unsure" not in settings_text(SETTINGS)  # what was written before reads and hashes as before
    save_settings(replace(SETTINGS, unsure=0.8), tmp_path / MODEL_FILE)
    assert load_settings(tmp_path / MODEL_FILE).unsure == 0.8
    for wrong in (-0.1, 1.0, float("nan"), "0.5"):
        with pytest.raises(SettingsError, match="unsure"):
            replace(SETTINGS, unsure=wrong)
    with pytest.raises(SettingsError, match="named 'unsure'"):
        replace(SETTINGS, verdicts=("OK", "unsure"), unsure=0.5)
    assert replace(SETTINGS, verdicts=("OK", "unsure")).unsure == 0


def test_an_export_with_a_band_reports_unsure_by_itself(verdict_export, tmp_path):
    """Golden pictures, self-test and the embedded runner, in a process that knows nothing of the workbench."""
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
def test_heat_is_where_it_is(place):
    y, x = place
    image = np.full((64, 64), 128, np.uint8)
    image[y - 2 : y + 3, x - 2 : x + 3] = 250
    result = Predictor(SETTINGS, Spots()).predict(image, keep_heat=True)
    assert result.verdict == "NG" and result.heat.shape == image.shape and result.heat.dtype == np.uint8
    assert result.heat.max() == 255
    rows, columns = np.mgrid[:64, :64]
    weight = result.heat.astype(float) ** 4
    centre = (rows * weight).sum() / weight.sum(), (columns * weight).sum() / weight.sum()
    # Cells are 32 pixels long; the places looked from make the answer finer than that.
    assert abs(centre[0] - y) < 7 and abs(centre[1] - x) < 7, centre


def test_heat_has_the_size_of_the_image_and_is_of_the_verdict_given():
    image = np.full((70, 210), 128, np.uint8)
    image[:30, :50] = 10
    result = Predictor(SETTINGS, Spots()).predict(image, keep_heat=True)
    assert result.likeliest == "dent" and result.heat.shape == image.shape
    assert result.heat[10, 20] > 200 and result.heat[50, 180] < 60


def test_networks_that_give_no_probability_have_no_heat(verdict_export):
    result = Predictor.open(verdict_export).predict(np.full((20, 30), 200, np.uint8), keep_heat=True)
    assert result.heat is None and result.verdict == "OK"
    assert Predictor(SETTINGS, Spots()).predict(np.full((64, 64), 9, np.uint8)).heat is None
