"""Verdicts by pretrained features: values of the network, fit of its last layer, choice between fit and training."""

from __future__ import annotations

import json

import numpy as np
import onnxruntime
import paddle
import pytest

from tests.conftest import fill_project
from tests.training.conftest import run_inside, shared_run
from workbench.core.images.image_files import read
from workbench.core.problems import BadSettings
from workbench.core.project.project import Project
from workbench.core.runs.events import Evaluated, Finished
from workbench.core.runs.run import Run, create_run
from workbench.core.runs.training_settings import TrainingSettings, request
from workbench.inference.predictor import Predictor
from workbench.training.checkpoint import BestCheckpoint
from workbench.training.encoder_weights import load_initial_weights
from workbench.training.encoders import Lite0Classifier
from workbench.training.onnx_graph import MAPS, OUTPUT, statistics_onnx, to_onnx


@pytest.fixture(params=[False, True], ids=["as it is", "standardized"])
def net(request_settings, request) -> Lite0Classifier:
    paddle.seed(0)
    found = Lite0Classifier(1, 3, rate=1.0, standardize=request.param)
    load_initial_weights(request_settings, found, print, cancelled=lambda: False)
    found.center.set_value(paddle.randn(found.center.shape))
    found.scale.set_value(paddle.rand(found.scale.shape))
    found.eval()
    return found


@pytest.fixture
def request_settings() -> TrainingSettings:
    return request("resnet", encoder="lite0", weights="imagenet")


def run_onnx(model, images: np.ndarray, *names: str) -> list[np.ndarray]:
    return onnxruntime.InferenceSession(model.SerializeToString()).run(list(names), {"picture": images})


@paddle.no_grad()
def test_onnx_gives_the_same_values(net):
    images = np.random.default_rng(0).normal(size=(2, 1, 64, 64)).astype(np.float32)
    logits, statistics = (call(paddle.to_tensor(images)).numpy() for call in (net, net.statistics))
    probabilities, maps = run_onnx(to_onnx(net, 1, 64, maps=True), images, OUTPUT, MAPS)
    np.testing.assert_allclose(probabilities, paddle.nn.functional.softmax(paddle.to_tensor(logits)).numpy(), atol=1e-4)
    assert maps.shape == (2, 3, 4, 4)
    np.testing.assert_allclose(maps.mean(axis=(2, 3)), logits, atol=1e-2)  # every statistic is divided among positions
    (found,) = run_onnx(statistics_onnx(net, 1), images, OUTPUT)
    np.testing.assert_allclose(found, statistics, atol=1e-3 * abs(statistics).max())


@paddle.no_grad()
def test_features_of_a_standardized_image_do_not_depend_on_its_exposure():
    net = Lite0Classifier(1, 2, rate=1.0, standardize=True)
    image = 5 * paddle.randn([1, 1, 64, 64])
    one, other = (net.statistics(each).numpy()[0] for each in (image, 0.7 * image + 0.5))
    np.testing.assert_allclose(one[3:], other[3:], rtol=0.05, atol=0.1)
    assert one[0] != pytest.approx(other[0], abs=0.1)  # the first statistics are those of the image itself


@pytest.fixture(scope="module")
def fitted(tmp_path_factory) -> Run:
    """Finished run of the planned network, not to be changed: 10 images with verdict NG, 10 with OK; one step."""

    def make(folder):
        with Project.create(folder / "project", classes=["scratch"], verdicts=["OK", "NG"]) as project:
            fill_project(project, 10, good=10, verdicts=True)
            return create_run(project, request("resnet", epochs=1, input_size=64, batch=4, validations=2, threads=2))

    return shared_run(tmp_path_factory, "fitted", make)


def test_last_layer_is_fitted_before_the_first_step(fitted):
    events = list(fitted.events())
    first = next(event for event in events if isinstance(event, Evaluated))
    assert first.step == 0 and first.best
    ended = events[-1]
    assert isinstance(ended, Finished) and "accuracy" in ended.result["fitted"]
    kept = ended.result["best_step"] == 0
    assert ("fitted network is used" in ended.result["fitted"]) == kept
    state = json.loads((fitted.last / "state.json").read_text("utf-8"))
    assert 0.5 < state["course"]["fitted"] <= 1


def test_training_ends_after_the_fit_if_few_steps_follow(labeled_project, short_end):
    run = create_run(labeled_project, request("resnet", minutes=5, input_size=64, device="cpu"))
    assert not run.settings().train_further and "ends after the fit" in run.settings().reasons["train_further"]
    ended = run_inside("train", run.root)
    assert ended.end() == 0 and ended.last.why == "done"
    assert ended.last.result["steps"] == 0 and "not trained further" in ended.last.result["fitted"]


def test_fitted_network_predicts_and_shows_where(fitted):
    with Project.open(fitted.project_root, write=False) as project:
        predictor = Predictor.open(fitted.best)
        result = predictor.predict(read(project.image_path(fitted.dataset().items[0].key)), keep_heat=True)
    assert result.verdict in ("OK", "NG") and result.heat is not None and result.heat.max() == 255


@pytest.mark.parametrize("formats", ["onnx", pytest.param("onnx-line,legacy", marks=pytest.mark.slow)])
def test_export_of_the_fitted_network_equals_the_run(fitted, short_end, tmp_path, formats):
    ended = run_inside("export", fitted.root, "--out", tmp_path / "out", "--formats", formats, "--seconds", 0)
    assert ended.end() == 0
    parity = ended.last.result["parity"]
    assert parity and all(one["mask_agreement"] == 1.0 for name, one in parity.items() if name != "onnx-line")


def test_trained_weights_replace_fitted_ones_only_if_clearly_better(tmp_path):
    def sums(hits: list[float]) -> dict[str, list[float]]:
        return {f"part {number}": [hit, 10 - hit, 10 - hit] for number, hit in enumerate(hits)}

    best = BestCheckpoint(Run(tmp_path), TrainingSettings(model="resnet"), None, print)
    start = [6.0, 7.0, 8.0, 6.0, 7.0, 8.0]
    assert best.is_best(0.7, sums(start))
    best.score, best.step = 0.7, 0
    assert not best.is_best(0.7, sums(start), fitted=True)
    assert not best.is_best(0.71, sums([7.0, 6.0, 9.0, 5.0, 8.0, 8.0]), fitted=True)
    assert best.is_best(0.9, sums([9.0, 9.0, 10.0, 8.0, 9.0, 10.0]), fitted=True)


def test_plan_of_verdicts(labeled_project):
    settings = create_run(labeled_project, request("resnet", device="cpu")).settings()
    assert (settings.encoder, settings.weights, settings.standardize) == ("lite0", "imagenet", True)
    assert settings.input_size % 32 == 0 and "fitted" in settings.reasons["encoder"]
    later = create_run(labeled_project, request("resnet", device="cpu", depth=34)).settings()
    assert later.encoder == "plain" and later.weights is None
    for choices in ({"encoder": "resnet18"}, {"encoder": "lite0", "depth": 34}, {"input_size": 100}):
        with pytest.raises(BadSettings):
            create_run(labeled_project, request("resnet", **choices))
