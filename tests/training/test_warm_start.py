"""Pruning of a trained UNet: exact for unused channels, trained as an ordinary run, compared with the original."""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import paddle
import pytest

from tests.conftest import fill_project
from tests.training.conftest import make_run
from workbench.cli import train
from workbench.core import problems
from workbench.core.project.project import Project
from workbench.core.runs.network_stats import is_smaller, prune_settings, shrink
from workbench.core.runs.run import create_run, list_runs
from workbench.core.runs.training_settings import request
from workbench.inference.predictor import Predictor
from workbench.training import checkpoint, finalize
from workbench.training.checkpoint import prune
from workbench.training.networks import UNet
from workbench.training.optimizers import load_weights, weights

BEFORE, AFTER = [12, 16, 24], [7, 12, 18]


def trained_like(stem: int = 1, widths=BEFORE) -> UNet:
    """Return a UNet whose norms have statistics, scales and biases as after a training."""
    paddle.seed(3)
    net = UNet(1, 3, widths, stem=stem)
    for name, tensor in net.state_dict().items():
        if "norm" in name:
            low = 0.5 if name.endswith(("_variance", "weight")) else -0.5
            tensor.set_value(paddle.uniform(tensor.shape, min=low, max=low + 1))
    net.eval()
    return net


def pruned(arrays, stem: int = 1) -> UNet:
    net = UNet(1, 3, AFTER, stem=stem)
    load_weights(net, prune(arrays, BEFORE, AFTER), "x")
    net.eval()
    return net


def predictions(net: UNet) -> np.ndarray:
    paddle.seed(8)
    with paddle.no_grad():
        return net(paddle.randn([2, 1, 32, 48])).numpy()


def groups(stem: int) -> list[tuple[str, str, int, int]]:
    """Return writer, norm, axis and level of all channels that are removed together, independent of the tested code."""
    found = [("stem.convolve.weight", "stem.norm", 0, 0)] if stem > 1 else []
    for place, level in [(f"down.{n}", n) for n in range(3)] + [("up.0.convolve", 1), ("up.1.convolve", 0)]:
        found += [(f"{place}.{step}.weight", f"{place}.{step}_norm", 0, level) for step in ("first", "second")]
    return [*found, ("up.0.grow.weight", "", 1, 1), ("up.1.grow.weight", "", 1, 0)]


@pytest.mark.parametrize("stem", [1, 2])
def test_channels_without_output_are_removed_exactly(stem):
    net = trained_like(stem)
    arrays = weights(net)
    rng = np.random.default_rng(0)
    for writer, norm, axis, level in groups(stem):
        unused = rng.choice(BEFORE[level], BEFORE[level] - AFTER[level], replace=False)
        if norm:
            arrays[f"{norm}.weight"][unused] = 0
            arrays[f"{norm}.bias"][unused] = 0
        else:
            np.moveaxis(arrays[writer], axis, 0)[unused] = 0
    load_weights(net, arrays, "x")
    before, after = predictions(net), predictions(pruned(arrays, stem))
    assert np.ptp(before) > 0.1
    np.testing.assert_allclose(after, before, atol=1e-6 * max(1.0, float(np.abs(before).max())))


def test_channels_without_reader_or_below_zero_are_removed_first():
    net = trained_like()
    arrays = weights(net)
    arrays["down.0.first_norm.bias"][:3] = -40  # ReLU makes them zero
    arrays["down.0.second.weight"][:, 3:5] = 0  # no layer reads them
    for writer, norm, axis, level in groups(1):
        if writer != "down.0.first.weight":
            unused = np.arange(BEFORE[level] - AFTER[level])
            np.moveaxis(arrays[writer], axis, 0)[unused] = 0  # their filters are zero
            if norm:
                arrays[f"{norm}.bias"][unused] = -1
                arrays[f"{norm}._mean"][unused] = 0
    load_weights(net, arrays, "x")
    before = predictions(net)
    np.testing.assert_allclose(predictions(pruned(arrays)), before, atol=1e-6 * max(1.0, float(np.abs(before).max())))


def test_the_weakest_channels_are_removed_in_any_order(monkeypatch):
    net = trained_like()
    arrays = weights(net)
    before = predictions(net)
    loss = np.abs(predictions(pruned(arrays)) - before).mean()
    order = np.random.default_rng(1).permutation(BEFORE[2])
    shuffled = dict(arrays)  # the same network, its channels in another order
    for name in [n for n in arrays if n.startswith(("down.2.second.", "down.2.second_norm."))]:
        shuffled[name] = arrays[name][order]
    shuffled["up.0.grow.weight"] = arrays["up.0.grow.weight"][order]
    np.testing.assert_allclose(np.abs(predictions(pruned(shuffled)) - before).mean(), loss, rtol=1e-4)
    strength = checkpoint.strength
    monkeypatch.setattr(checkpoint, "strength", lambda *arguments: -strength(*arguments))
    assert np.abs(predictions(pruned(arrays)) - before).mean() > 1.2 * loss


def test_weights_of_other_widths_are_refused():
    with pytest.raises(problems.RunBroken, match="channels"):
        prune(weights(trained_like()), [16, 16, 24], AFTER, "x")
    with pytest.raises(problems.RunBroken, match="do not match the widths"):
        prune({"head.bias": np.zeros(3)}, BEFORE, AFTER, "x")


@pytest.mark.parametrize(
    ("widths", "share", "expected"),
    [
        ([64, 128, 256, 512], 0.25, [48, 96, 192, 384]),
        ([24, 48, 96, 128], 0.25, [16, 32, 64, 96]),
        ([8, 16, 32], 0.5, [4, 8, 16]),
        ([16, 40], 0.1, [16, 32]),
        ([2, 1], 0.6, [1, 1]),
    ],
)
def test_widths_shrink_to_round_numbers(widths, share, expected):
    assert shrink(widths, share) == expected


def test_pruning_is_recognized_by_smaller_widths():
    one = request("unet", widths=[8, 16])
    assert is_smaller(request("unet", widths=[6, 16]), one)
    for other in ({"widths": [8, 16]}, {"widths": [8, 17]}, {"widths": [6]}, {"widths": [6, 16], "stem": 2}):
        assert not is_smaller(request("unet", **other), one)
    assert not is_smaller(request("resnet"), one)


# --- as a run -----------------------------------------------------------------------------------------


def test_a_pruned_run_is_trained_and_reports_the_cost(trained, tmp_path, inside, monkeypatch):
    milliseconds = finalize._milliseconds  # measured with the tile of the settings, which takes a second each time
    monkeypatch.setattr(
        finalize, "_milliseconds", lambda engine, settings: milliseconds(engine, replace(settings, tile=64, overlap=0))
    )
    monkeypatch.setattr(finalize, "_TIMING_SECONDS", 0.1)
    root = tmp_path / "Projekt"
    with Project.create(root, classes=["scratch"]) as project:
        fill_project(project, 12, good=4)
    parser = argparse.ArgumentParser()
    train.add_arguments(parser)
    choices = (part for choice in ("prune=0.3", "batch=4", "validations=1") for part in ("--set", choice))
    words = [root, "--model", "unet", "--from", trained.root, "--epochs", 2, "--device", "cpu", *choices]
    options = parser.parse_args([*map(str, words)])
    assert inside("train", train.new_run(root, train._settings(options)).root).end() == 0
    (run,) = list_runs(root)
    received = run.ending().result["pruned"]
    training_settings, earlier = run.settings(), trained.settings()
    assert (
        training_settings.widths == [6, 8, 24]
        and earlier.widths == [8, 16, 32]
        and "8-16-32" in training_settings.reasons["widths"]
    )
    assert (training_settings.stem, training_settings.patch, training_settings.mean) == (
        earlier.stem,
        earlier.patch,
        earlier.mean,
    )
    assert training_settings.rate == earlier.rate / 2
    before, after = received["before"], received["after"]
    assert before["run"] == trained.name and after["widths"] == [6, 8, 24]
    assert received["pictures"] == len(run.dataset().of("val")) > 0
    assert before["dice"] > 0.5 and after["dice"] == run.ending().result["metrics"]["dice"] > before["dice"] - 0.3
    assert after["parameters"] < 0.62 * before["parameters"] and after["milliseconds"] > 0 < before["milliseconds"]
    line = train.pruned(received)
    assert "8-16-32 to 6-8-24" in line and f"{after['parameters']:,} (-" in line
    assert f"{received['pictures']} images" in line
    assert Predictor.open(run.best).predict(np.zeros((40, 50), np.uint8)).mask.shape == (40, 50)


def test_unsuitable_runs_are_refused_before_a_run_is_created(labeled_project):
    plain = make_run(labeled_project)
    rest = make_run(labeled_project, "resnet")
    encoder = request("unet", encoder="resnet18")

    def settings_with(**choices):
        return request("unet", prune=0.25, **choices)

    for training_settings, words in [
        (settings_with(), "--from RUN"),
        (settings_with(start_from=rest.name), "only a UNet can be pruned"),
        (settings_with(start_from=plain.name, widths=[4, 8, 16]), "changed manually"),
        (settings_with(start_from=plain.name, stem=4), "stem must be 2"),
        (settings_with(start_from=plain.name, encoder="resnet18"), "plain encoder"),
    ]:
        with pytest.raises(problems.BadSettings, match=words):
            create_run(labeled_project, training_settings)
    with pytest.raises(problems.BadSettings, match="plain encoder"):
        prune_settings(settings_with(start_from="x"), encoder)
    with pytest.raises(problems.BadSettings, match="smaller than one block"):
        create_run(labeled_project, request("unet", prune=0.01, start_from=plain.name))
    assert len(list((labeled_project.root / "runs").iterdir())) == 2
