"""A simulated line of 2,000 frames: what the input guard and the unlike score report when.

    python -m pytest -m slow tests/journeys/test_simulated_line.py

A UNet is trained on brushed panels of twelve lots of the sample generator; the line then shows panels of other lots,
every fourth with defects. Its lamp fades and is replaced, values of 12 bits arrive in files of 16 bits, frames are
black, and from frame 1,200 the panels are castings. The plot is written to the folder of the test, or to the file that
WORKBENCH_PLOT names: unlike score, brightness, and a row of colors for the results.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from workbench.cli.sinks.sink_base import RecordMaker
from workbench.core.project import annotation
from workbench.core.project.project import Project
from workbench.core.project.project_json import Grouping
from workbench.core.synthetic_scene import KINDS, SyntheticScene, make_lot
from workbench.inference.io.image_io import write_png
from workbench.inference.predictor import Predictor

FRAMES, SIZE = 2000, (240, 176)
BLACK = (range(300, 310), range(1500, 1510))
DEEP = range(400, 450)  # 12-bit values in 16-bit files
FADING = range(600, 1000)  # the lamp loses nearly all of its light, then it is replaced
CASTINGS = range(1200, FRAMES)


@dataclass(frozen=True)
class Frame:
    """Result of the line for a frame. guard: the input guard has a reason against it. score: unlike score."""

    number: int
    defective: bool
    result: str
    guard: bool
    score: float
    brightness: float


def panel(seed: int, material: str, *, defective: bool) -> SyntheticScene:
    """Return a panel of a lot of its own for every fifty seeds."""
    lot = make_lot(np.random.default_rng([3, seed // 50]), material)
    scene = SyntheticScene(np.random.default_rng([4, seed]), replace(lot, tint=None), SIZE)
    scene.add_extras()
    for number in range(3 if defective else 0):
        scene.add(("scratch", "pit", "pit")[number])
    return scene


def make_frame(number: int) -> tuple[np.ndarray, bool]:
    """Return a frame of the line, and whether it shows defects."""
    defective = number % 4 == 0
    image = panel(100_000 + number, "cast" if number in CASTINGS else "brushed", defective=defective).render()
    if any(number in frames for frames in BLACK):
        noise = np.random.default_rng(number).integers(0, 3, image.shape)
        return noise.astype(np.uint8), False
    if number in FADING:
        share = (number - FADING.start) / len(FADING)
        image = np.rint(image * (1 - 0.95 * share)).astype(np.uint8)
    return (image.astype(np.uint16) << 4 if number in DEEP else image), defective


def train(folder: Path) -> Path:
    """Return the best weights of a UNet that was trained for a minute on panels of twelve lots."""
    with Project.create(folder, classes=list(KINDS)) as project:
        project.file.grouping = Grouping(rule="folder")
        project.save()
        for number in range(96):
            scene = panel(50 * (number // 8) + number % 8, "brushed", defective=number % 2 == 0)
            key = f"lot-{number // 8:02}/{number}.png"
            write_png(project.image_path(key), scene.render())
            annotation.save_label(project, key, mask=scene.mask, note=annotation.Note(status="done"))
    command = [sys.executable, "-m", "workbench", "train", str(folder), "--model", "unet", "--minutes", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    return Path(json.loads(done.stdout)["path"]) / "best"


def run_line(predictor: Predictor, count: int = FRAMES) -> list[Frame]:
    records = RecordMaker(predictor.settings)
    frames = []
    for number in range(count):
        image, defective = make_frame(number)
        found = predictor.predict(image)
        result = records.make(found.to_json(), key=f"{number}", name=f"{number}")["result"]
        guard = any(not why.startswith(("unlike score", "12-bit")) for why in found.input.why)
        brightness = float(image.mean()) / (4095 if image.dtype == np.uint16 else 255)
        frames.append(Frame(number, defective, result, guard, found.input.unlike, brightness))
    return frames


def plot(frames: Sequence[Frame]) -> np.ndarray:
    """Return an image: unlike score and brightness over the frames, and a row of colors for the results."""
    height, width, left = 220, len(frames) // 2, 70
    image = np.full((3 * height, width + left + 20, 3), 255, np.uint8)
    colors = {"OK": (90, 170, 60), "NG": (60, 60, 220), "ERROR": (30, 160, 240)}
    curves: dict[str, tuple[Callable[[Frame], float], float]] = {
        "unlike score, limit 1": (lambda frame: min(frame.score, 3.0), 3.0),
        "brightness": (lambda frame: frame.brightness, 1.0),
    }
    for row, (title, (value, most)) in enumerate(curves.items()):
        bottom = (row + 1) * height - 30
        cv2.putText(
            image, title, (left, bottom - height + 50), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (0, 0, 0), 1, cv2.LINE_AA
        )
        for mark in (0, most / 3, most):
            y = int(bottom - mark / most * (height - 60))
            cv2.line(image, (left, y), (left + width, y), (200, 200, 200), 1)
            _write(image, f"{mark:.2g}", 20, y + 5)
        for frame in frames:
            y = int(bottom - value(frame) / most * (height - 60))
            cv2.circle(image, (left + frame.number // 2, y), 1, colors[frame.result], -1, cv2.LINE_AA)
    top = 2 * height + 20
    for shown, (title, kind) in enumerate({"good": False, "defective": True}.items()):
        y = top + 70 * shown
        _write(image, title, 2, y + 20)
        for frame in (frame for frame in frames if frame.defective == kind):
            x = left + frame.number // 2
            cv2.line(image, (x, y), (x, y + 40), colors[frame.result], 2)
    for number, (name, color) in enumerate(colors.items()):
        x = left + 120 * number
        cv2.rectangle(image, (x, 3 * height - 40), (x + 15, 3 * height - 25), color, -1)
        _write(image, name, x + 22, 3 * height - 27)
    return image


def _write(image: np.ndarray, text: str, x: int, y: int) -> None:
    cv2.putText(image, text, (x, y), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (0, 0, 0), 1, cv2.LINE_AA)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_each_fault_of_the_line_is_reported(tmp_path):
    frames = run_line(Predictor.open(train(tmp_path / "project"), engine="onnx"))
    write_png(Path(os.environ.get("WORKBENCH_PLOT", tmp_path / "line.png")), plot(frames)[..., ::-1])
    black = [frame for numbers in BLACK for frame in frames[numbers.start : numbers.stop]]
    usual = [*frames[: BLACK[0].start], *frames[FADING.stop : CASTINGS.start]]
    dark = frames[FADING.stop - 60 : FADING.stop]
    castings = [frame for frame in frames[CASTINGS.start :] if frame not in black]
    deep = frames[DEEP.start : DEEP.stop]
    counts = {
        name: {
            "guard": sum(frame.guard for frame in some) / len(some),
            "unlike": sum(frame.score > 1 for frame in some) / len(some),
            "OK": sum(frame.result == "OK" for frame in some) / len(some),
        }
        for name, some in {"usual": usual, "black": black, "deep": deep, "dark": dark, "castings": castings}.items()
    }
    print(json.dumps(counts, indent=1))
    assert all(frame.result == "ERROR" for frame in black)
    assert not [frame.number for frame in deep if frame.defective and frame.result == "OK"]
    assert counts["usual"]["guard"] <= 0.02 and counts["usual"]["unlike"] <= 0.1
    assert counts["dark"]["guard"] >= 0.9
    assert counts["castings"]["unlike"] >= 0.95  # the new surface is reported, from its first frames on
    assert any(frame.result == "ERROR" for frame in castings[:5])
