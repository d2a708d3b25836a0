"""What only a real card can show. Run `python -m pytest tests/gpu -q -s` on a machine that has one.

Prints a table of mixed precision against fp32. Without a card everything but the measuring program is skipped, and
says why; tests/training/test_precision.py takes the same roads there, with stand-ins for the card.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT, fill_project
from tests.training.conftest import make_run
from workbench.core.project.project import Project
from workbench.core.runs.events import Event, Finished, Started, Step, Trouble
from workbench.core.runs.launch import paddle_installed, worker_command, worker_environment
from workbench.core.runs.run import Run

# Of images per second, and of memory, against fp32.
FASTER = {"unet": 1.6, "resnet": 2.0}
SMALLER = 0.6


def obstacle(cards: int = 1) -> str:
    """Why there is nothing to test here; "" if there is."""
    if not paddle_installed():
        return "Paddle is not installed"
    from workbench.core.problems import DeviceMissing
    from workbench.training.device import check

    try:
        check("gpu:" + ",".join(map(str, range(cards))))
    except DeviceMissing as problem:
        return str(problem)
    return ""


@pytest.fixture
def card() -> None:
    if why := obstacle():
        pytest.skip(why)


def measured(*arguments: str) -> dict[str, Any]:
    device = arguments[arguments.index("--device") + 1] if "--device" in arguments else "gpu"
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu.measure", *arguments],
        cwd=ROOT,
        env=worker_environment(device),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def trained(run: Run, **environment: str) -> list[Event]:
    done = subprocess.run(
        worker_command("train", run.root, "--keep-running"),
        env={**worker_environment("gpu"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=400,
    )
    events = list(run.events())
    assert done.returncode == 0 and isinstance(events[-1], Finished), (events[-1:], done.stderr[-3000:])
    return events


@pytest.fixture
def sample(tmp_path):
    with Project.create(tmp_path / "project", classes=["scratch"], verdicts=["OK", "NG"]) as project:
        fill_project(project, 24, good=8, verdicts=True)
        yield project


@pytest.mark.skipif(not paddle_installed(), reason="Paddle is not installed")
@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_the_measuring_program_itself_runs_everywhere(model):
    found = measured(model, "fp32", "--device", "cpu", "--tiny", "--batch", "4", "--steps", "3", "--warm", "1")
    assert found["precision"] == "fp32" and found["images_per_second"] > 0 and found["bytes"] == 0
    assert found["last_loss"] < found["first_loss"]


@pytest.mark.gpu
@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_mixed_precision_is_faster_and_smaller(card, model, capsys):
    batch = "16" if model == "unet" else "64"
    rows = {kind: measured(model, kind, "--batch", batch) for kind in ("fp32", "fp16")}
    rows["fp16 O2"] = measured(model, "fp16", "--batch", batch, "--level", "O2")
    plain = rows["fp32"]
    with capsys.disabled():
        print(f"\n{model}, batch {batch}, {plain['device']}")
        print(f"{'':10}{'images/s':>10}{'ratio':>8}{'GiB':>8}{'ratio':>8}{'skipped':>9}")
        for kind, row in rows.items():
            speed, size = row["images_per_second"], row["bytes"] / 2**30
            faster, smaller = speed / plain["images_per_second"], row["bytes"] / plain["bytes"]
            print(f"{kind:10}{speed:10.1f}{faster:8.2f}{size:8.2f}{smaller:8.2f}{row['skipped']:9}")
    half = rows["fp16"]
    assert half["precision"] == "fp16" and half["last_loss"] < half["first_loss"] and half["loss_scale"] > 1
    assert half["images_per_second"] >= FASTER[model] * plain["images_per_second"]
    assert half["bytes"] <= SMALLER * plain["bytes"]


@pytest.mark.gpu
@pytest.mark.parametrize("model", ["unet", "resnet"])
def test_mixed_precision_finds_as_much(card, sample, model):
    size = {"widths": [16, 32, 64], "stem": 1, "patch": 64} if model == "unet" else {"input_size": 64}
    ends = {}
    for kind in ("fp32", "fp16"):
        run = make_run(sample, model, device="gpu", precision=kind, epochs=30, average=0.9, **size)
        events = trained(run)
        begun, ends[kind] = next(e for e in events if isinstance(e, Started)), run.ending().result
        assert begun.precision == kind and begun.device == "gpu:0" and begun.device_name
        scales = [event.loss_scale for event in events if isinstance(event, Step)]
        assert all((scale is not None) == (kind == "fp16") for scale in scales)
    assert ends["fp16"]["score"] > 0.5 and abs(ends["fp16"]["score"] - ends["fp32"]["score"]) < 0.05


@pytest.mark.gpu
def test_a_card_that_runs_out_of_memory_learns_in_parts(card, sample):
    run = make_run(sample, device="gpu", epochs=1, widths=[64, 128, 256], stem=1, patch=256, batch=16, validations=1)
    events = trained(run, FLAGS_gpu_memory_limit_mb="3000")
    assert any("parts" in event.done for event in events if isinstance(event, Trouble))


@pytest.mark.gpu
def test_two_cards_learn_as_one(sample):
    if why := obstacle(2):
        pytest.skip(why)
    ends = {}
    for name in ("gpu:0", "gpu:0,1"):
        run = make_run(sample, device=name, epochs=30, batch=8, average=0.9, widths=[16, 32, 64], patch=64, stem=1)
        events = trained(run)
        assert next(e for e in events if isinstance(e, Started)).device == name
        ends[name] = run.ending().result
    assert abs(ends["gpu:0"]["score"] - ends["gpu:0,1"]["score"]) < 0.05
