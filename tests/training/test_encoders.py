"""UNet with an encoder, a ResNet or EfficientNet-Lite0: its values, its training, and equal results of its exports."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import paddle
import pytest

from tests.conftest import fill_project
from tests.training.conftest import EXPORTED
from workbench.core import lite0
from workbench.core.problems import BadSettings
from workbench.core.project.project import Project
from workbench.core.runs.network_stats import encoder_widths, multiplications, receptive_field
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request
from workbench.inference.engines.registry import KINDS
from workbench.training import networks
from workbench.training.encoder_weights import load_initial_weights
from workbench.training.encoders import Lite0Body
from workbench.training.networks import UNet
from workbench.training.onnx_graph import to_onnx
from workbench.training.optimizers import load_weights, make_optimizer


@pytest.mark.parametrize(
    ("encoder", "parameters"), [("resnet18", 11.2), pytest.param("resnet34", 21.3, marks=pytest.mark.slow)]
)
def test_output_has_every_pixel_and_the_encoder_five_levels(encoder, parameters):
    net = UNet(3, 3, [], encoder=encoder, contrast=False)
    body = sum(p.size for p in net.down.parameters()) / 1e6
    assert body == pytest.approx(parameters, abs=0.2)  # of the published network without its last layer
    small = UNet(1, 4, [], encoder=encoder, width=0.125)
    assert small(paddle.zeros([2, 1, 64, 96])).shape == [2, 4, 64, 96]
    assert encoder_widths("resnet18", 0.125) == [8, 8, 16, 32, 64] and [len(up.grow.weight) for up in small.up] == [
        64,
        32,
        16,
        8,
    ]


def test_every_level_has_a_gradient():
    net = UNet(1, 2, [], encoder="resnet18", width=0.125, contrast=False)
    net.eval()
    for block in net.down.blocks:  # a block is initially the identity
        block.body[-1].norm.weight.set_value(block.body[-1].norm.weight + 1)
    levels = [stage.detach() for stage in net.down.stages(paddle.randn([1, 1, 64, 64]))]
    for stage in levels:
        stage.stop_gradient = False
    net.down.stages = lambda x: levels
    net(paddle.randn([1, 1, 64, 64])).abs().sum().backward()
    assert len(levels) == 5 and all(float(stage.grad.abs().sum()) > 0 for stage in levels)


def test_settings_of_the_plain_encoder_are_refused_and_others_planned(labeled_project):
    for choice in ({"widths": [8, 16]}, {"stem": 4}):
        with pytest.raises(BadSettings, match="set width instead"):
            create_run(labeled_project, request("unet", encoder="resnet18", **choice))
    run = create_run(labeled_project, request("unet", encoder="resnet34", width=0.5))
    training_settings = run.settings()
    assert training_settings.width == 0.5 and "has its own value" in training_settings.reasons["widths"]
    assert networks.multiple(training_settings) == 32 and networks.patch_side(training_settings) % 32 == 0
    assert (
        create_run(labeled_project, training_settings).settings() == training_settings
    )  # complete settings can be requested again
    assert networks.settings(training_settings, run.dataset(), name="x", run="y").multiple == 32


@pytest.mark.slow
def test_trained_encoder_network_is_exported_without_differences(tmp_path, inside):
    with Project.create(tmp_path / "Projekt 项目", classes=["scratch"]) as project:
        fill_project(project, 12, good=4)
        few = {"epochs": 8, "batch": 4, "average": 0.9, "validations": 1, "patch": 64, "threads": 2}
        run = create_run(project, request("unet", encoder="resnet18", width=0.125, rate=5e-3, **few))
    trainer = inside("train", run.root)
    assert trainer.end() == 0, trainer.stderr[-2000:]
    assert trainer.last.result["metrics"]["any_defect"]["dice"] >= 0.4
    formats = [name for name in ("onnx", "paddle") if name in EXPORTED]
    out = tmp_path / "out"
    made = inside("export", run.root, "--out", out, "--formats", ",".join(formats), "--seconds", 0)
    assert made.end() == 0, made.stderr[-2000:]
    report = json.loads((out / "parity.json").read_text("utf-8"))["formats"]
    assert set(report) == set(formats)
    for name, parity in made.last.result["parity"].items():
        assert parity["passed"]
        if not KINDS[name].reduced:
            assert parity["max_abs"] <= 1e-4 and parity["mask_agreement"] >= 0.9999


LEVELS = Path(__file__).parents[1] / "fixtures" / "lite0_levels.npz"  # by packaging/encoder_weights.py --record


def pretrained_body() -> Lite0Body:
    body = Lite0Body(3, rate=1.0)
    load_weights(body, body.pretrained(), "")
    return body


@paddle.no_grad()
def levels_of(body: Lite0Body, image: np.ndarray) -> list[np.ndarray]:
    return [level.numpy() for level in body.stages(paddle.to_tensor(image))]


def test_levels_equal_those_of_the_published_weights_within_one_percent():
    recorded = np.load(LEVELS)
    levels = levels_of(pretrained_body(), recorded["image"])
    assert [level.shape[1:] for level in levels] == [(16, 32, 32), (24, 16, 16), (40, 8, 8), (112, 4, 4)]
    for number, level in enumerate(levels):
        expected = recorded[f"level{number}"]
        assert abs(level - expected).max() <= 0.01 * abs(expected).max()


def test_gray_image_gives_the_values_of_the_same_image_in_color(tmp_path):
    gray = np.random.default_rng(0).uniform(-1, 1, (1, 1, 64, 64)).astype(np.float32)
    net = UNet(2, 2, [], encoder="lite0", contrast=False)  # a second plane, as of the local contrast
    settings = request("unet", encoder="lite0", weights="imagenet")
    origin = load_initial_weights(settings, net, print, cancelled=lambda: False)
    colored = levels_of(pretrained_body(), np.repeat(gray, 3, axis=1))
    for ours, expected in zip(levels_of(net.down, np.repeat(gray, 2, axis=1)), colored, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-4 * abs(expected).max())
    assert len(origin["sha256"]) == 64


def test_other_weights_than_those_of_the_program_are_refused(tmp_path):
    net = UNet(1, 2, [], encoder="lite0", contrast=False)
    settings = request("unet", encoder="lite0", weights="other.safetensors")
    with pytest.raises(BadSettings, match="random"):
        load_initial_weights(settings, net, print, cancelled=lambda: False)


def test_pretrained_layers_learn_more_slowly_than_untrained_ones():
    net = UNet(1, 2, [], encoder="lite0", contrast=False, encoder_rate=0.1)
    before = {name: p.numpy().copy() for name, p in net.named_parameters()}
    optimizer = make_optimizer(net, "adamw", weight_decay=0.0)
    net(paddle.randn([2, 1, 32, 32])).square().mean().backward()
    optimizer.step()
    steps = {name: abs(p.numpy() - before[name]).max() for name, p in net.named_parameters()}
    assert steps["head.weight"] == pytest.approx(1e-3, rel=0.05)
    assert steps["down.convolutions.0.weight"] == pytest.approx(1e-4, rel=0.05)


def test_every_layer_has_a_gradient():
    net = UNet(1, 2, [], encoder="lite0", contrast=False)
    load_weights(net.down, net.down.pretrained(), "", strict=False)  # all but the first kernel, which has three colors
    net(paddle.randn([2, 1, 64, 64])).abs().sum().backward()
    assert all(float(p.grad.abs().sum()) > 0 for p in net.parameters() if not p.stop_gradient)


@pytest.mark.parametrize("shape", [(64, 64), (32, 96)])
def test_onnx_gives_the_same_probabilities(shape):
    net = UNet(3, 3, [], encoder="lite0", contrast=False)
    load_weights(net.down, net.down.pretrained(), "")
    net.eval()
    image = np.random.default_rng(1).normal(size=(2, 3, *shape)).astype(np.float32)
    session = onnxruntime.InferenceSession(to_onnx(net, 3, None).SerializeToString())
    (found,) = session.run(None, {"picture": image})
    with paddle.no_grad():
        expected = paddle.nn.functional.softmax(net(paddle.to_tensor(image)), axis=1).numpy()
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_plan_takes_the_weights_of_the_program(labeled_project):
    run = create_run(labeled_project, request("unet", encoder="lite0"))
    settings = run.settings()
    assert settings.weights == "imagenet" and "ImageNet" in settings.reasons["weights"]
    assert not settings.local_contrast and settings.optimizer == "adamw"
    assert networks.multiple(settings) == 16
    plain = request("unet", patch=settings.patch)
    assert multiplications(settings) > 0 and receptive_field(settings) > receptive_field(plain)
    control = create_run(labeled_project, request("unet", encoder="lite0", weights="random")).settings()
    assert control.weights == "random"


def test_receptive_field_is_that_of_the_network(labeled_project):
    settings = create_run(labeled_project, request("unet", encoder="lite0")).settings()
    net = UNet(1, 2, [], encoder="lite0", contrast=False)
    net.eval()
    side, field = 1024, receptive_field(settings)
    image = paddle.randn([1, 1, side, 64])  # a strip, as rows and columns are treated alike
    image.stop_gradient = False
    middle = side // 2
    net(image)[0, 1, middle - 8 : middle + 8].sum().backward()
    rows, _ = np.nonzero(image.grad.numpy()[0, 0])
    assert max(middle - 8 - rows.min(), rows.max() - middle - 7) <= field


@pytest.mark.slow
def test_pretrained_encoder_is_trained_resumed_and_exported(tmp_path, inside):
    with Project.create(tmp_path / "project", classes=["scratch"]) as project:
        fill_project(project, 12, good=4)
        few = {"batch": 4, "average": 0.9, "validations": 1, "patch": 64, "threads": 2}
        run = create_run(project, request("unet", encoder="lite0", epochs=4, **few))
    trainer = inside("train", run.root)
    assert trainer.end() == 0, trainer.stderr[-2000:]
    assert trainer.last.result["metrics"]["any_defect"]["dice"] >= 0.4
    made = inside("export", run.root, "--out", tmp_path / "out", "--formats", "onnx,onnx-line", "--seconds", 0)
    assert made.end() == 0, made.stderr[-2000:]
    assert all(parity["passed"] for parity in made.last.result["parity"].values())


def test_margins_add_up_to_half_the_size():
    for layer in lite0.convolutions():
        assert sum(layer.margins) == layer.kernel - layer.stride and layer.margins[0] <= layer.margins[1]
