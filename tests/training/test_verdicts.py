"""Files of a run of verdicts for its evaluation: activation maps and unsure verdicts."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import scratched
from workbench.cli import main
from workbench.core.project import sources
from workbench.core.runs.model_lookup import ContainedEngine, open_predictor
from workbench.core.runs.run import Run
from workbench.inference.model_settings import MODEL_FILE, UNSURE, load_settings, save_settings
from workbench.inference.predictor import Predictor


def test_the_best_network_has_activation_maps(trained_resnet):
    predictor = Predictor.open(trained_resnet.best)
    rng = np.random.default_rng(11)
    hits = []
    for _ in range(24):
        image, mask = scratched(rng)
        result = predictor.predict(image, keep_heat=True)
        assert result.heat is not None and result.heat.shape == image.shape and result.heat.max() > 250
        if result.likeliest == "NG":
            hits.append(result.heat[mask > 0].mean() / max(1.0, result.heat[mask == 0].mean()))
    assert len(hits) >= 4 and np.median(hits) > 1.3, hits  # the activation for NG is at the defect


@pytest.mark.new_processes
def test_run_of_a_project_from_elsewhere_gives_what_it_gives_here(trained_resnet, monkeypatch, tmp_path):
    image = scratched(np.random.default_rng(11))[0]
    expected = open_predictor(trained_resnet.best).predict(image, keep_heat=True)
    monkeypatch.setattr(sources, "_allowed", {})
    for name in ("XDG_CONFIG_HOME", "WIN_PD_OVERRIDE_APPDATA", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        monkeypatch.setenv(name, str(tmp_path))
    predictor = open_predictor(trained_resnet.best)
    found = predictor.predict(image, keep_heat=True)
    assert isinstance(predictor.engine, ContainedEngine) and found.scores == pytest.approx(expected.scores, abs=1e-5)
    assert np.abs(found.heat.astype(int) - expected.heat).max() <= 2


def test_activation_maps_add_up_to_the_logits(trained_resnet):
    """The mean of each map is its logit but for the bias, so their differences follow the probabilities."""
    engine = Predictor.open(trained_resnet.best).engine
    batch = np.random.default_rng(2).normal(0, 1, (6, 1, 64, 64)).astype(np.float32)
    logits = np.log(engine(batch).astype(np.float64))
    maps = engine.maps(batch)
    assert maps.shape[:2] == (6, 2) and maps.shape[2] > 1
    bias = (logits - logits[:, :1])[:, 1] - (maps.mean(axis=(2, 3))[:, 1] - maps.mean(axis=(2, 3))[:, 0])
    np.testing.assert_allclose(bias, bias[0], atol=1e-3)


def test_export_and_evaluation_use_the_reject_probability(trained_resnet, inside, tmp_path, capsys):
    root = shutil.copytree(trained_resnet.project_root, tmp_path / "p")
    run = Run(Path(root) / "runs" / trained_resnet.name)
    save_settings(replace(load_settings(run.best / MODEL_FILE), unsure=0.999), run.best / MODEL_FILE)
    exporter = inside("export", run.root, "--out", tmp_path / "out", "--formats", "onnx", "--seconds", 0)
    assert exporter.end() == 0, exporter.stderr[-3000:]
    exported = load_settings(tmp_path / "out" / MODEL_FILE)
    assert exported.unsure == 0.999 and exporter.last.result["parity"]["onnx"]["mask_agreement"] == 1.0
    assert Predictor.open(tmp_path / "out").predict(np.full((64, 64), 150, np.uint8)).verdict in (UNSURE, "OK", "NG")
    assert UNSURE in (tmp_path / "out" / "card.html").read_text("utf-8")
    assert main(["evaluate", str(root), "--run", run.name, "--split", "all", "--json"]) == 0
    message = json.loads(capsys.readouterr().out)
    choices = ("--point", "0.8", "--formats", "onnx", "--seconds", 0)
    again = inside("export", trained_resnet.root, "--out", tmp_path / "own", *choices)
    assert again.end() == 0, again.stderr[-3000:]
    assert load_settings(tmp_path / "own" / MODEL_FILE).unsure == 0.8
    assert message["unsure"]["below"] == 0.999 and message["unsure"]["pictures"] > 0
    assert message["accuracy"] > 0.5 and 0 <= message["calibration_error"] < 0.5  # of the most probable verdict
    assert len(message["per_class"]["NG"]["recall_interval"]) == 2
