"""Diagnosis of the training capabilities of this machine, by short trial runs: one JSON object."""

from __future__ import annotations

import contextlib
import platform
import time
from typing import Any

import numpy as np

from workbench.core.runs.launch import paddle_installed
from workbench.core.runs.pip_commands import installed_version
from workbench.inference.cpu_environment import cpu_environment


def examine() -> dict[str, Any]:
    """Return a JSON-ready report. ok: a network can be trained here. Every failed check states its reason."""
    report: dict[str, Any] = {"ok": False, "python": platform.python_version(), "environment": cpu_environment()}
    if not paddle_installed():
        return {**report, "paddle": None, "why": "PaddlePaddle is not installed."}
    started = time.perf_counter()
    try:
        import paddle
    except Exception as error:  # a broken installation can raise anything
        return {**report, "paddle": None, "why": f"PaddlePaddle cannot be imported: {error}"}
    from workbench.training.device import processor_name

    report.update(
        paddle=paddle.__version__,
        import_seconds=round(time.perf_counter() - started, 2),
        cuda_compiled=paddle.device.is_compiled_with_cuda(),
        **_library_versions(paddle),
        onnx=installed_version("onnx"),
        processor=processor_name(),
        checks=[],
        devices=["cpu"],
    )
    _run_check(report, "cpu", lambda: check_gradient(paddle, "cpu"))
    gpu_count, report["gpu_error"] = _count_gpus(paddle)
    for number in range(gpu_count):
        name = f"gpu:{number}"
        report["devices"].append(name)
        _add_properties(report, paddle, number)
        _run_check(report, name, lambda name=name: check_gradient(paddle, name))
        if _trains_in_16_bits(paddle, number):
            _run_check(report, f"{name} mixed precision", lambda name=name: check_mixed_precision(paddle, name))
    report["ok"] = report["checks"][0]["ok"]
    return report


def _count_gpus(paddle: Any) -> tuple[int, str]:
    """Return the number of GPUs and the reason if they cannot be counted; a driver that is too old raises OSError."""
    if not paddle.device.is_compiled_with_cuda():
        return 0, ""
    try:
        return paddle.device.cuda.device_count(), ""
    except Exception as error:
        return 0, _cause(error)


def _library_versions(paddle: Any) -> dict[str, Any]:
    """Return the CUDA and cuDNN with which Paddle was compiled, its GPU generations, and the cuDNN that is loaded."""
    if not paddle.device.is_compiled_with_cuda():
        return {}
    versions: dict[str, Any] = {"cuda": paddle.version.cuda(), "cudnn": paddle.version.cudnn()}
    with contextlib.suppress(Exception):  # loading cuDNN fails without a usable driver
        versions["cudnn_loaded"] = dotted_cudnn(paddle.device.get_cudnn_version())
    with contextlib.suppress(Exception):
        versions["architectures"] = [str(name) for name in paddle.version.cuda_archs()]
    return versions


def dotted_cudnn(number: int | None) -> str:
    """Return "9.5.1" for 90501 and "8.9.7" for 8907."""
    if not number:
        return ""
    major, minor, patch = (number // 10000, number // 100 % 100, number % 100)
    if number < 10000:
        major, minor = number // 1000, number // 100 % 10
    return f"{major}.{minor}.{patch}"


def _cause(error: BaseException) -> str:
    from workbench.training.device import first_line  # imports Paddle

    return first_line(error)


def _add_properties(report: dict[str, Any], paddle: Any, number: int) -> None:
    try:
        report.setdefault("cards", []).append(_gpu_properties(paddle, number))
    except Exception as error:  # a GPU that does not respond is reported by the checks, too
        report["cards"].append({"name": f"gpu:{number}", "why": _cause(error)})


def _run_check(report: dict[str, Any], name: str, function) -> None:
    started = time.perf_counter()
    try:
        function()
        why = ""
    except Exception as error:  # any failure is reported
        why = _cause(error)
    entry = {"name": name, "ok": not why, "why": why, "seconds": round(time.perf_counter() - started, 2)}
    report["checks"].append(entry)


def check_gradient(paddle: Any, device: str) -> None:
    """Run a convolution backward and compare it to four digits with sums from plain NumPy."""
    paddle.set_device(device)
    net = paddle.nn.Conv2D(3, 8, 3, padding=1, bias_attr=False)
    image = paddle.ones([2, 3, 32, 32])
    net(image).sum().backward()
    # Every weight in the middle of the kernel is applied to all 2 x 32 x 32 ones.
    gradient = net.weight.grad.numpy()[:, :, 1, 1]
    if not np.allclose(gradient, 2048, rtol=1e-4):
        raise ArithmeticError(f"a convolution learned {gradient.flat[0]:.6g} instead of 2048")


def check_mixed_precision(paddle: Any, device: str) -> None:
    """Make steps in fp16 on a device. Raises the error of Paddle if they fail."""
    from workbench.training.optimizers import Precision, PrecisionChoice

    paddle.set_device(device)
    net = paddle.nn.Conv2D(3, 8, 3)
    optimizer = paddle.optimizer.AdamW(1e-3, parameters=net.parameters())
    precision = Precision(PrecisionChoice("fp16", ""))
    for _ in range(2):
        with precision.cast():
            output = net(paddle.ones([2, 3, 32, 32]))
        precision.backward((output.astype("float32") ** 2).mean())
        norm, skipped = precision.step(optimizer, net.parameters(), 1.0)
        optimizer.clear_grad()
        if skipped or not np.isfinite(norm):
            raise ArithmeticError("a step in mixed precision came to nothing")


def _gpu_properties(paddle: Any, number: int) -> dict[str, Any]:
    properties = paddle.device.cuda.get_device_properties(number)
    return {
        "name": properties.name,
        "capability": f"{properties.major}.{properties.minor}",
        "memory": properties.total_memory,
    }


def _trains_in_16_bits(paddle: Any, number: int) -> bool:
    """Return True if training uses mixed precision on a GPU; others may fail in it. True if that is unknown."""
    from workbench.training import optimizers
    from workbench.training.device import Device

    try:
        properties = paddle.device.cuda.get_device_properties(number)
    except Exception:  # as for `_add_properties`: a GPU that does not respond; the check that follows states why
        return True
    gpu = Device(f"gpu:{number}", properties.name, (properties.major, properties.minor))
    return optimizers.choose_precision("auto", gpu).name != "fp32"
