"""Models of good images: what is offered, what is refused, and that everything accepts them like a trained UNet."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from tests.good_parts import DEFECT, make_project, part, train
from workbench.cli import main
from workbench.core import problems
from workbench.core.evaluation.split_evaluation import FIGURES_ONLY, evaluate_run
from workbench.core.frozen_encoder import FeatureNetwork, FeatureSums, anomaly_network, draw_defect, input_settings
from workbench.core.label_next.spot_detection import SpotSearch
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.runs.good_images import collect_good
from workbench.core.runs.run import Run, find_run, plan_run
from workbench.core.runs.training_settings import request
from workbench.inference.engines.onnx_engine import OnnxEngine
from workbench.inference.io.image_io import write_png
from workbench.inference.model_settings import EngineOptions
from workbench.inference.predictor import Predictor
from workbench.inference.tiles import normalize
from workbench.training.reporter import ControlChannel


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    root = make_project(tmp_path_factory.mktemp("good") / "project")
    return train(root)


@pytest.fixture
def copied(trained, tmp_path):
    """Copy of the project that may be changed."""
    return Run(shutil.copytree(trained.project_root, tmp_path / "copy") / "runs" / trained.name)


def nothing(done: int, total: int) -> None:
    """Report no progress."""


def test_uniform_parts_are_offered(trained):
    check = json.loads((trained.root / "good.json").read_text("utf-8"))
    assert trained.usable and trained.complete and trained.name.endswith("-good")
    assert check["images"] == check["parts"] == 24 and check["exceeding"] <= 2 and check["shown"] >= 12
    predictor = Predictor.open(trained.best)
    rejected = [predictor.predict(part(seed)).verdict for seed in range(1000, 1020)]
    assert rejected.count("NG") <= 3
    found = predictor.predict(part(7, defect=True))
    assert found.verdict == "NG" and found.mask[DEFECT].any() and found.regions[0].class_name == "anomaly"
    assert found.anomaly_score > 0 and trained.ending().result["good"] == {
        k: v for k, v in check.items() if k != "format"
    }


@pytest.mark.parametrize("by_position", [False, True])
def test_network_has_the_limit_at_one_half(tmp_path, by_position):
    features, settings = FeatureNetwork(), input_settings()
    images = [normalize(part(seed), settings) for seed in range(6)]
    sums = [FeatureSums.of([features(image)], by_position=by_position) for image in images]
    fit = sum(sums[1:], sums[0]).fit(by_position=by_position)
    distances = fit.distances(features(images[0]))
    assert distances.shape == (24, 24) and 0.5 < distances.mean() < 1.5
    path, limit = tmp_path / "network.onnx", float(distances.max())
    path.write_bytes(anomaly_network(fit, limit, 3.0).SerializeToString())
    output = OnnxEngine(path, EngineOptions())(images[0][None])
    assert output.shape == (1, 2, 192, 192) and np.allclose(output.sum(axis=1), 1, atol=1e-6)
    expected = distances**3 / (distances**3 + limit**3)  # between four pixels at the center of a cell
    centers = output[0, 1].reshape(24, 8, 24, 8)[:, 3:5, :, 3:5].mean(axis=(1, 3))
    assert np.abs(centers - expected).max() < 0.02 and output[0, 1].max() <= 0.5 + 1e-4


@pytest.mark.parametrize(("images", "kinds", "why"), [(20, 0, "hides"), (24, 8, "left-out parts exceed")])
def test_parts_that_differ_are_refused(tmp_path, images, kinds, why):
    """With a part per image the limit grows; with several images of each part, left-out parts exceed that of others."""
    root = make_project(tmp_path / "project", images, kinds=kinds, bad=0)
    with pytest.raises(problems.PartsDiffer, match=why):
        train(root)
    run = find_run(root, "last")
    assert not run.usable and not (run.root / "good.json").exists() and not run.complete


def test_few_images_or_parts_are_refused(tmp_path):
    with pytest.raises(problems.FewGoodImages, match="there are 6 of 6"):
        train(make_project(tmp_path / "few", 6))
    with pytest.raises(problems.FewGoodImages, match="there are 24 of 2"):
        train(make_project(tmp_path / "lots", 24, kinds=2))


def test_good_image_that_cannot_be_read_is_named(tmp_path):
    """The first image is good by its verdict only, so that it has no mask."""
    root = make_project(tmp_path / "broken", bad=0)
    with Project.open(root) as project:
        project.image_path("lot0/p00.png").write_bytes(b"no image")
        dataset = collect_good(project)
    assert [image.key for image in dataset.skipped] == ["lot0/p00.png"] and len(dataset.items) == 23


def test_settings_of_other_models_are_refused(trained):
    with Project.open(trained.project_root, write=False) as project:
        with pytest.raises(problems.BadSettings, match="does not apply to a model of good images"):
            plan_run(project, request("good", prune=0.5))
        with pytest.raises(problems.RunComplete, match="no training can start from it"):
            plan_run(project, request("unet", start_from=trained.name))


def test_stop_keeps_nothing(tmp_path):
    channel = ControlChannel(None)
    channel.apply('{"order": "stop"}')
    run = train(make_project(tmp_path / "project", 20, bad=0), channel)
    assert run.ending().why == "stopped" and not run.usable


def test_any_class_counts_as_a_defect(copied):
    """Labels of both classes count, class figures are those of any defect, and labels made later are evaluated."""
    with Project.open(copied.project_root) as project:
        for number in range(3):
            key = f"new/p{number}.png"
            write_png(project.image_path(key), part(500 + number, defect=number > 0))
            mask = np.zeros((192, 192), np.uint8)
            mask[DEFECT] = 2 * (number > 0)
            annotation.save_label(project, key, mask=mask, note=annotation.Note(status="done"))
        evaluation = evaluate_run(project, copied, "test", options=FIGURES_ONLY, progress=nothing)
        assert [info.name for info in project.classes] == ["scratch", "pit", "anomaly"]
    figures = evaluation.figures
    assert figures.images == 7 and figures.good == 1 and len(copied.dataset().of("train")) == 24
    assert (figures.get("recall").hits, figures.get("recall").total) == (6, 6)
    assert figures.get("dice", "class", 3).value == figures.get("dice").value > 0.2


def test_sixteen_bit_images(tmp_path):
    run = train(make_project(tmp_path / "project", 20, bad=0, dtype=np.uint16), scale=1)
    assert Predictor.open(run.best).predict(part(7, defect=True, dtype=np.uint16)).verdict == "NG"


def test_spots_come_from_the_model(trained):
    with Project.open(trained.project_root, write=False) as project:
        spot = SpotSearch(project, project.images(), trained).spots("bad/p24.png", count=1)[0]
    assert 22 <= spot.x <= 52 and 52 <= spot.y <= 80


def test_generated_defect_is_visible():
    image = part(0)
    changed, defect = draw_defect(image, np.random.default_rng(1))
    assert changed.dtype == np.uint8 and defect.any() and np.abs(changed.astype(int) - image)[defect].mean() > 8
    assert (changed == image)[~defect].mean() > 0.95


def test_command_line(tmp_path, capsys, monkeypatch):
    """`train` needs no Paddle, and its check and the figures of the test images are in the JSON object."""
    monkeypatch.setattr("workbench.training.__main__.need_paddle", None)
    root = make_project(tmp_path / "project", 20)
    assert main(["train", str(root), "--model", "good", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["model"] == "good" and result["good"]["images"] == 20 and result["test"]["pictures"] == 4
    assert main(["evaluate", str(root), "--model", "good", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == "good"


@pytest.mark.parametrize("formats", ["onnx,onnx-line", pytest.param("onnx,openvino", marks=pytest.mark.slow)])
def test_export_gives_the_results_of_the_run(trained, inside, tmp_path, formats):
    out = tmp_path / "out"
    choices = ("--out", out, "--formats", formats, "--seconds", 0, "--shape", "192x192")
    exporter = inside("export", trained.root, *choices)
    assert exporter.end() == 0, exporter.stderr[-3000:]
    assert exporter.last.result["formats"] == formats.split(",")
    image = part(7, defect=True)
    assert np.array_equal(Predictor.open(out).predict(image).mask, Predictor.open(trained.best).predict(image).mask)
    assert "A model of good images" in (out / "README.md").read_text("utf-8")
