"""Acceptance test of a GPU: its items detect the faults for which they exist. `doctor --gpu` rehearses them whole."""

from __future__ import annotations

import json

import numpy as np
import pytest

from workbench.core.runs.child_process import ChildOutput
from workbench.core.runs.events import Failed, Finished, encode
from workbench.training import acceptance, losses
from workbench.training.acceptance import AcceptanceFailure, run_item
from workbench.training.device import Device
from workbench.training.losses import segmentation_loss
from workbench.training.optimizers import LossScaler


@pytest.fixture
def small_networks(monkeypatch):
    """Test the UNet only, with fewer channels."""
    monkeypatch.setattr(acceptance, "SMALL", {"unet": {**acceptance.SMALL["unet"], "widths": [8, 16]}})


@pytest.mark.parametrize(
    ("title", "capability", "kinds"),
    [
        ("NVIDIA GeForce GTX 1060", (6, 1), ["fp32"]),
        ("NVIDIA GeForce GTX 1660", (7, 5), ["fp32"]),
        ("NVIDIA GeForce RTX 2080", (7, 5), ["fp32", "fp16"]),
    ],
)
def test_number_types_in_which_a_gpu_does_not_train_are_left_out(monkeypatch, title, capability, kinds):
    monkeypatch.setattr(acceptance.devices, "choose", lambda name: Device(name, title, capability))
    found, reason = acceptance.number_types("gpu:0")
    assert found == kinds and bool(reason) == (len(kinds) == 1)


@pytest.mark.parametrize(
    "error", [OSError("(External) CUDA error(719), unspecified launch failure.\n  [Hint: 'cudaErrorLaunchFailure'.]")]
)
def test_exception_of_an_item_is_a_failure_with_its_cause(tmp_path, monkeypatch, capsys, error):
    def fail(device, folder):
        raise error

    monkeypatch.setitem(acceptance.ITEMS, "step", fail)
    outcome = run_item("step", "cpu", tmp_path)
    assert outcome["status"] == "FAIL"
    assert outcome["detail"] == "OSError: (External) CUDA error(719), unspecified launch failure"
    assert "Hint" in capsys.readouterr().err


@pytest.mark.parametrize(("error", "status"), [(0.0, "PASS"), (0.01, "FAIL"), (float("nan"), "FAIL")])
def test_device_that_computes_another_step_is_found(tmp_path, monkeypatch, small_networks, error, status):
    devices = []
    first_step = acceptance.first_step

    def disturbed(folder, model, device, start=None):
        found, *rest = first_step(folder, model, device, start)
        devices.append(device)
        return ({name: array * (1 + error * (len(devices) > 1)) for name, array in found.items()}, *rest)

    monkeypatch.setattr(acceptance, "first_step", disturbed)
    outcome = run_item("step", "cpu", tmp_path)
    assert outcome["status"] == status and f"gradients {error:.1e}" in outcome["detail"].replace("inf", "nan")


def test_overflow_that_changes_state_is_found(tmp_path, monkeypatch, small_networks):
    monkeypatch.setattr(acceptance, "overflow", lambda context: acceptance.take_steps(context, 1))
    outcome = run_item("overflow", "cpu", tmp_path)
    assert outcome["status"] == "FAIL" and "changed" in outcome["detail"]
    zero = np.zeros(2)
    assert acceptance.changed_names({"a": zero}, {"a": np.array([0.0, -0.0])}) == ["a"]
    assert acceptance.changed_names({"a": zero}, {"b": zero}) == ["a", "b"]
    assert acceptance.changed_names({"a": zero}, {"a": zero.copy()}) == []


@pytest.mark.filterwarnings("ignore:amp_guard can only be enabled")
@pytest.mark.parametrize("halved", [True, False])
def test_scale_that_is_not_halved_by_an_overflow_is_found(simulated_gpu, tmp_path, monkeypatch, small_networks, halved):
    """On a simulated GPU, whose logits, and therefore gradients, have 16 bits."""

    def loss(logits, truth, **weights):
        return segmentation_loss(logits.astype("float16").astype("float32"), truth, **weights)

    monkeypatch.setattr("workbench.core.runs.run.check_gpu_build", lambda device: None)
    monkeypatch.setattr(losses, "segmentation_loss", loss)
    if not halved:
        monkeypatch.setattr(LossScaler, "_update", lambda self: None)
    outcome = run_item("overflow", "gpu:0", tmp_path)
    assert (outcome["status"], "loss scale" in outcome["detail"]) == (("PASS", False) if halved else ("FAIL", True))


@pytest.mark.parametrize(
    ("step", "losses", "status"), [(4, [0.5, 0.25], "PASS"), (4, [0.5, 0.26], "FAIL"), (3, [0.5, 0.25], "FAIL")]
)
def test_resumed_losses_are_compared(tmp_path, monkeypatch, step, losses, status):
    def run(command, device, *, seconds):
        part = command[command.index("--part") + 1]
        values = {"killed": {"run": "", "losses": [0.5, 0.25]}, "resumed": {"step": step, "losses": losses}}
        (tmp_path / f"losses-{part}.json").write_text(json.dumps(values[part]), "utf-8")

    monkeypatch.setattr(acceptance, "_run", run)
    assert run_item("resume", "cpu", tmp_path)["status"] == status


def test_training_that_does_not_finish_is_found():
    with pytest.raises(AcceptanceFailure, match="memory is too small"):
        acceptance._result([Failed(why="the memory is too small")], ChildOutput(1, "", ""))
    with pytest.raises(AcceptanceFailure, match="no end within"):
        acceptance._result([], ChildOutput(None, "", ""))
    assert acceptance._result([Finished(result={"steps": 1})], ChildOutput(0, "", "")) == {"steps": 1}


@pytest.mark.parametrize("passed", [True, False])
def test_export_that_differs_from_the_training_is_found(tmp_path, monkeypatch, passed):
    (tmp_path / "trained.txt").write_text("run", "utf-8")
    parity = {"onnx": {"max_abs": 1e-6, "passed": True}, "paddle": {"max_abs": 0.5, "passed": passed}}
    lines = encode(Finished(result={"parity": parity}))
    monkeypatch.setattr(acceptance, "_run", lambda command, device, seconds: ChildOutput(0, lines, ""))
    outcome = run_item("export", "cpu", tmp_path)
    assert outcome["status"] == ("PASS" if passed else "FAIL") and "paddle 5.0e-01" in outcome["detail"]
