"""UNet with a ResNet encoder: training from random weights, and equal results of its exports."""

from __future__ import annotations

import json

import paddle
import pytest

from tests.conftest import fill_project
from tests.training.conftest import EXPORTED
from workbench.core.problems import BadSettings
from workbench.core.project.project import Project
from workbench.core.runs.network_stats import encoder_widths
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import request
from workbench.inference.engines.registry import KINDS
from workbench.training import networks
from workbench.training.networks import UNet


@pytest.mark.parametrize(("encoder", "parameters"), [("resnet18", 11.2), ("resnet34", 21.3)])
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
