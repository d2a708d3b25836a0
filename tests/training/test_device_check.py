"""Checks of the training program, with stand-ins for GPUs that Paddle cannot use."""

from __future__ import annotations

import types

import paddle
import pytest

from workbench.training import device_check

OLD_DRIVER = (
    "(External) CUDA error(35), CUDA driver version is insufficient for CUDA runtime version. \n"
    "  [Hint: 'cudaErrorInsufficientDriver'. This indicates that the installed NVIDIA CUDA driver is older than the "
    "CUDA runtime library.] (at /paddle/paddle/phi/backends/gpu/cuda/cuda_info.cc:86)\n"
)


def test_old_driver_is_reported_without_an_exception(monkeypatch):
    def device_count():
        raise OSError(OLD_DRIVER)

    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: True)
    monkeypatch.setattr(paddle.device.cuda, "device_count", device_count)
    report = device_check.examine()
    assert report["ok"] and report["devices"] == ["cpu"] and report["checks"][0]["name"] == "cpu"
    why = "(External) CUDA error(35), CUDA driver version is insufficient for CUDA runtime version"
    assert report["gpu_error"] == why


def test_gpu_that_fails_is_a_failed_check(monkeypatch):
    def fail(*_):
        raise RuntimeError("Unsupported GPU architecture")

    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: True)
    monkeypatch.setattr(paddle.device.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(paddle.device.cuda, "get_device_properties", fail)
    monkeypatch.setattr(device_check, "check_gradient", lambda paddle, name: fail() if name != "cpu" else None)
    monkeypatch.setattr(device_check, "check_mixed_precision", fail)
    report = device_check.examine()
    assert report["devices"] == ["cpu", "gpu:0"] and report["cards"][0]["why"] == "Unsupported GPU architecture"
    assert [check["ok"] for check in report["checks"]] == [True, False, False] and report["gpu_error"] == ""


@pytest.mark.parametrize(
    ("title", "capability", "tested"),
    [
        ("NVIDIA GeForce GTX 1660 SUPER", (7, 5), False),
        ("NVIDIA GeForce GTX 1060 6GB", (6, 1), False),
        ("NVIDIA GeForce RTX 3060", (8, 6), True),
    ],
)
def test_mixed_precision_is_tested_where_training_uses_it(monkeypatch, title, capability, tested):
    """Convolutions in 16 bits of a GTX 16 may return NaN, but it trains in 32."""
    properties = types.SimpleNamespace(name=title, major=capability[0], minor=capability[1], total_memory=6 << 30)
    monkeypatch.setattr(paddle.device, "is_compiled_with_cuda", lambda: True)
    monkeypatch.setattr(paddle.device.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(paddle.device.cuda, "get_device_properties", lambda number: properties)
    monkeypatch.setattr(device_check, "check_gradient", lambda paddle, name: None)
    monkeypatch.setattr(device_check, "check_mixed_precision", lambda paddle, name: None)
    names = [check["name"] for check in device_check.examine()["checks"]]
    assert names == ["cpu", "gpu:0", *(["gpu:0 mixed precision"] if tested else [])]


@pytest.mark.parametrize(
    ("number", "text"), [(90501, "9.5.1"), (8907, "8.9.7"), (91002, "9.10.2"), (None, ""), (0, "")]
)
def test_version_of_cudnn(number, text):
    assert device_check.dotted_cudnn(number) == text
