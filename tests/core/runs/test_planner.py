"""Automatic training settings."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import pytest

from tests.core.runs.planned_projects import brushed, with_verdicts
from workbench.core.project import annotation
from workbench.core.runs import planner
from workbench.core.runs.dataset import grain
from workbench.core.runs.network_stats import receptive_field
from workbench.core.runs.run import create_run
from workbench.core.runs.training_settings import TrainingSettings, request
from workbench.inference.io.image_io import write_png


def noisy(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (300, 300), np.uint8)


def test_grain_has_a_direction_and_noise_has_none():
    upright, lying = grain(brushed(0)), grain(brushed(0, turned=True))
    assert upright[0].real > 0.7 and lying[0].real < -0.7
    np.testing.assert_allclose(upright[0], -lying[0], atol=0.05)
    np.testing.assert_allclose(upright[1], lying[1], atol=0.05)
    assert upright[1].real > 0.5
    assert np.abs(grain(noisy(1))).max() < 0.05
    assert (grain(np.full((64, 64, 3), 7, np.uint16)) == 0).all()
    assert (grain(np.zeros((1, 1), np.float32)) == 0).all()


TURNS = {"brushed": set(), "mixed": {"rotate_90"}, "noisy": {"rotate_90", "rotate", "zoom"}}


@pytest.mark.parametrize("surface", TURNS)
def test_images_are_rotated_only_without_a_dominant_direction(project, surface):
    for number in range(8):
        turned = surface == "mixed" and number % 2 == 1
        image = noisy(number) if surface == "noisy" else brushed(number, turned=turned)
        write_png(project.image_path(f"{number}.png"), image)
        mask = np.zeros(image.shape, np.uint8)
        mask[20:30, 20:30] = 1
        annotation.save_mask(project, f"{number}.png", mask)
    training_settings = create_run(project, request("unet", epochs=1)).settings()
    assert set(training_settings.augment) & TURNS["noisy"] == TURNS[surface]
    assert "%" in training_settings.reasons["augment"]
    assert create_run(project, request("unet", epochs=1, augment=["noise"])).settings().augment == ["noise"]


@pytest.mark.parametrize("model, expected", [("resnet", {"lighting", "noise"}), ("unet", {"brightness", "contrast"})])
def test_verdicts_are_trained_with_changed_lighting_and_noise(project, model, expected):
    for number in range(4):
        write_png(project.image_path(f"{number}.png"), noisy(number))
        annotation.save_note(project, f"{number}.png", annotation.Note(verdict=("OK", "NG")[number % 2]))
        mask = np.zeros(noisy(number).shape, np.uint8)
        mask[20:30, 20:30] = 1
        annotation.save_mask(project, f"{number}.png", mask)
    found = set(create_run(project, request(model, epochs=1)).settings().augment)
    assert found & {"lighting", "noise", "brightness", "contrast"} == expected


def test_only_a_fast_model_predicts_once(project):
    for number in range(4):
        write_png(project.image_path(f"{number}.png"), brushed(number, turned=False))
        mask = np.zeros((brushed(number, turned=False).shape), np.uint8)
        mask[20:30, 20:30] = 1
        annotation.save_mask(project, f"{number}.png", mask)
    for quality, mirror in (("fast", False), ("balanced", True), ("best", True)):
        training_settings = create_run(project, request("unet", epochs=1, quality=quality)).settings()
        assert training_settings.mirror == mirror and training_settings.reasons["mirror"]
    assert not create_run(project, request("unet", epochs=1, mirror=False)).settings().mirror


@pytest.mark.parametrize(("painted", "weight"), [((1, 2), 0.3), ((1,), 0.0), ((12,), 0.0)])
def test_classes_are_learned_together_if_most_images_show_one(project, painted, weight):
    """painted: the class ids of the images in turn; 12 stands for both classes in an image."""
    project.add_class("dent")
    for number in range(6):
        write_png(project.image_path(f"{number}.png"), brushed(number))
        mask = np.zeros(brushed(number).shape, np.uint8)
        for place, digit in enumerate(str(painted[number % len(painted)])):
            mask[20 + 20 * place :][:10, 20:30] = int(digit)
        annotation.save_mask(project, f"{number}.png", mask)
    settings = create_run(project, request("unet", epochs=1)).settings()
    assert settings.class_weight == weight and bool(settings.reasons.get("class_weight")) == bool(weight)


def test_overlap_of_tiles_follows_the_receptive_field(project):
    mask = np.zeros((brushed(0, turned=False).shape), np.uint8)
    mask[20:30, 20:30] = 1
    for number in range(4):
        write_png(project.image_path(f"{number}.png"), brushed(number, turned=False))
        annotation.save_mask(project, f"{number}.png", mask)
    training_settings = create_run(project, request("unet", epochs=1, device="cpu")).settings()
    assert (
        training_settings.overlap >= 2 * receptive_field(training_settings)
        and str(receptive_field(training_settings)) in training_settings.reasons["overlap"]
    )
    deep = create_run(project, request("unet", epochs=1, device="cpu", encoder="resnet34")).settings()
    assert deep.overlap < 2 * receptive_field(deep)  # larger than any tile


@pytest.fixture
def machine(monkeypatch):
    """Function that simulates a CPU with one core of a given number of multiplications per second."""

    def set_speed(value: float) -> None:
        monkeypatch.setattr(planner, "core_speed", lambda: value)
        monkeypatch.setattr(planner, "cores", lambda: 1)

    return set_speed


def test_the_cpu_is_measured():
    planner.core_speed.cache_clear()
    assert 1e8 < planner.core_speed() < 1e12
    quiet = planner.core_speed()
    assert planner.core_speed() == quiet, "once"
    planner.core_speed.cache_clear()
    done = threading.Event()

    def be_busy() -> None:  # holds the interpreter lock, like a window that builds a dialog
        while not done.is_set():
            sum(range(20000))

    busy = [threading.Thread(target=be_busy) for _ in range(3)]
    for thread in busy:
        thread.start()
    try:
        assert quiet / 4 < planner.core_speed() < quiet * 4
    finally:
        done.set()
        for thread in busy:
            thread.join()


def test_a_larger_network_must_make_enough_steps_in_its_time(project, machine):
    with_verdicts(project, 4)

    def planned(minutes: float, **choices: Any) -> TrainingSettings:
        chosen = {"encoder": "plain", "quality": "best", "device": "cpu", **choices}
        return create_run(project, request("resnet", minutes=minutes, **chosen)).settings()

    machine(50e9)
    short, long = planned(2), planned(1000)
    assert (short.depth, short.width) == (18, 0.5) and (long.depth, long.width) == (34, 1.0)
    received = re.search(r"about (\d+) steps", short.reasons["depth"])
    assert received and 0 < int(received[1]) < 200
    machine(500e9)
    assert int(re.search(r"about (\d+) steps", planned(2).reasons["depth"])[1]) > 5 * int(received[1])
    machine(50e9)
    steps = re.search(r"about (\d+) steps", long.reasons["warm_up"])
    assert steps and int(steps[1]) > 3000, "as many as the larger network wants"
    assert planned(2, depth=34, width=1.0).depth == 34, "chosen by hand"
    whole = {"encoder": "plain", "quality": "best", "epochs": 3, "device": "cpu"}
    by_epochs = create_run(project, request("resnet", **whole)).settings()
    assert by_epochs.depth == 34, "who says how many epochs waits for them"


def test_small_defects_need_masks_instead_of_verdicts(project, machine):
    def reason() -> str:
        return create_run(project, request("resnet", device="cpu", encoder="plain")).settings().reasons["input_size"]

    for number in range(8):
        write_png(project.image_path(f"{number}.png"), np.full((640, 512), 90 + number, np.uint8))
        annotation.save_note(project, f"{number}.png", annotation.Note(verdict="NG" if number % 2 else "OK"))
    assert "reduced by a factor of 5.0, so defects thinner than 20 pixels are hardly visible" in reason()
    mask = np.zeros((640, 512), np.uint8)
    for side, advised in ((6, True), (60, False)):
        mask[100 : 100 + side, 100 : 100 + side] = 1
        annotation.save_mask(project, "1.png", mask)
        assert ("thinner than 1." in reason() and "train a UNet on the masks" in reason()) == advised
        assert "reduced" not in reason()


@pytest.mark.parametrize(
    "cores, choices, expected",
    [(1, {}, (16, 1)), (4, {}, (16, 4)), (16, {}, (32, 8)), (16, {"batch": 8}, (8, 2)), (4, {"batch": 2}, (2, 1))],
)
def test_each_cpu_worker_computes_some_images(project, monkeypatch, cores, choices, expected):
    monkeypatch.setattr(planner, "cores", lambda: cores)
    with_verdicts(project, 8)
    settings = create_run(project, request("resnet", encoder="plain", epochs=1, device="cpu", **choices)).settings()
    assert (settings.batch, settings.workers) == expected


def test_muon_needs_some_steps(project, machine):
    with_verdicts(project, 40)

    def optimizer(**choices: Any) -> str:
        chosen = {"device": "cpu", "encoder": "plain", **choices}
        training_settings = create_run(project, request("resnet", **chosen)).settings()
        assert training_settings.reasons["optimizer"]
        return training_settings.optimizer

    assert (optimizer(epochs=5), optimizer(epochs=100)) == ("adamw", "muon")
    machine(50e9)
    assert (optimizer(minutes=0.2), optimizer(minutes=5)) == ("adamw", "muon")
    machine(1e9)
    assert (optimizer(minutes=0.2), optimizer(minutes=5)) == ("adamw", "adamw")
    assert optimizer(minutes=5, optimizer="muon") == "muon"


@pytest.mark.parametrize(
    ("model", "settings"),
    [("unet", {"quality": "fast", "stem": 2, "local_contrast": False}), ("resnet", {"depth": 34, "width": 0.25})],
)
def test_a_run_with_an_initial_run_has_its_network(project, model, settings):
    with_verdicts(project, 4)
    for number in range(4):
        mask = np.zeros((160, 120), np.uint8)
        mask[20:30, 20:30] = 1
        annotation.save_mask(project, f"{number}.png", mask)
    first = create_run(project, request(model, epochs=1, device="cpu", channels=3, **settings))
    on = create_run(project, request(model, epochs=1, device="cpu", start_from=first.name)).settings()
    before = first.settings()
    for key in ("widths", "stem", "local_contrast", "scale", "depth", "width", "channels"):
        assert getattr(on, key) == getattr(before, key), key
    assert len(on.mean) == 3 and on.reasons["width"] == "Same as in the initial run."
    by_hand = create_run(project, request(model, epochs=1, device="cpu", start_from=first.name, width=1.0)).settings()
    assert by_hand.width == 1.0
