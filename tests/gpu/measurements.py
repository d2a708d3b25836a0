"""Measurements of a device. Arguments and results are JSON values: each function runs in a process of its own."""

from __future__ import annotations

import ctypes
import sys
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import paddle

from workbench.core.runs.gpu_facts import read_gpu_facts
from workbench.core.runs.planner import SIZES
from workbench.training import device as devices, optimizers
from workbench.training.acceptance import distance, utilization
from workbench.training.encoders import Block, ResNet
from workbench.training.learner import Learner
from workbench.training.losses import segmentation_loss, verdict_loss
from workbench.training.networks import DoubleConvolution, LocalContrast, Stem, UNet, UpBlock
from workbench.training.optimizers import Arrays, load_weights, make_optimizer, weights

LAYERS: dict[str, tuple[Callable[[], paddle.nn.Layer], list[tuple[int, ...]]]] = {
    "convolutions": (lambda: DoubleConvolution(4, 16), [(4, 4, 32, 32)]),
    "upsampling": (lambda: UpBlock(32, 16), [(4, 32, 16, 16), (4, 16, 32, 32)]),
    "local contrast": (lambda: LocalContrast(1), [(4, 1, 64, 64)]),
    "stem": (lambda: Stem(2, 16, 2), [(4, 2, 64, 64)]),
    "residual block": (lambda: Block(16, 32, 2, bottleneck=False), [(4, 16, 32, 32)]),
    "bottleneck": (lambda: Block(32, 16, 1, bottleneck=True), [(4, 32, 16, 16)]),
    "UNet": (lambda: UNet(1, 3, [16, 32, 64]), [(4, 1, 64, 64)]),
    "UNet, stem 2": (lambda: UNet(3, 3, [16, 32, 64], stem=2), [(4, 3, 64, 64)]),
    "ResNet-18": (lambda: ResNet(3, 4, depth=18, width=0.5, input_size=64), [(8, 3, 64, 64)]),
}
# Networks of the speed table: model, side of the images, batch, and their sizes. Those that are planned for a GPU, with
# batches that keep it busy, and a UNet of full resolution.
NETWORKS: dict[str, tuple[str, int, int, dict[str, Any]]] = {
    "unet-96": ("unet", 96, 128, SIZES["unet"]["fast"]),
    "unet-256": ("unet", 256, 16, {"widths": (64, 128, 256, 512), "stem": 1}),
    "unet-deep": ("unet", 256, 64, SIZES["unet"]["balanced"]),
    "resnet34-96": ("resnet", 96, 128, SIZES["resnet"]["balanced"]),
    "resnet50-224": ("resnet", 224, 64, SIZES["resnet"]["best"]),
}
_LEFT = 700 << 20  # bytes that another program leaves free, about a CUDA context and its libraries


def layers(device: str, kind: str) -> dict[str, list[float]]:
    """Return the differences of outputs and gradients of all layers from the CPU, or in 16 bits from fp32."""
    found = {}
    for name, (make, shapes) in LAYERS.items():
        generator = np.random.default_rng(0)
        inputs = [generator.normal(size=shape).astype(np.float32) for shape in shapes]
        expected, state = _run_layer(make, None, inputs, "cpu" if kind == "fp32" else device, "fp32")
        values, _ = _run_layer(make, state, inputs, device, kind)
        found[name] = [distance(*pair) for pair in zip(values, expected)]
    return found


def _run_layer(
    make: Callable[[], paddle.nn.Layer], state: Arrays | None, inputs: list[np.ndarray], place: str, kind: str
) -> tuple[list[np.ndarray], Arrays]:
    """Run a layer forward and backward. Return its outputs and gradients as vectors, and its initial weights."""
    paddle.seed(1)
    chosen = devices.choose(place)
    layer = make()
    if isinstance(layer, UNet):
        layer.interpolate_contrast(chosen.is_gpu)
    if state is not None:
        load_weights(layer, state, "initial weights")
    state = weights(layer)
    layer.train()
    tensors = [paddle.to_tensor(array, stop_gradient=False) for array in inputs]
    with optimizers.Precision(optimizers.choose_precision(kind, chosen)).cast():
        output = layer(*tensors)
    output = output.astype("float32")
    weighting = np.random.default_rng(2).normal(size=output.shape).astype(np.float32)
    (output * paddle.to_tensor(weighting)).mean().backward()
    gradients = [p.grad for p in layer.parameters() if p.grad is not None] + [tensor.grad for tensor in tensors]
    joined = np.concatenate([gradient.astype("float32").numpy().ravel() for gradient in gradients])
    return [output.numpy().ravel(), joined], state


def losses(device: str) -> dict[str, list[float]]:
    """Return the differences of both losses and their gradients from the CPU."""
    generator = np.random.default_rng(1)
    planes, verdicts = generator.normal(size=(4, 3, 32, 32)), generator.normal(size=(16, 5))
    mask = generator.integers(0, 3, (4, 32, 32)).astype(np.uint8)
    mask[:, :4] = 255  # without influence on the loss
    segmentation = partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0)
    cases = {
        "segmentation": (segmentation, planes, mask),
        "classes together": (partial(segmentation, class_weight=0.3), planes, mask),
        "verdict": (partial(verdict_loss, label_smoothing=0.05), verdicts, generator.integers(0, 5, 16)),
    }

    def run(loss: Any, logits: np.ndarray, truth: np.ndarray, place: str) -> tuple[np.ndarray, np.ndarray]:
        devices.choose(place)
        tensor = paddle.to_tensor(logits.astype(np.float32), stop_gradient=False)
        value = loss(tensor, paddle.to_tensor(truth))
        value.backward()
        return value.numpy().reshape(1), tensor.grad.numpy().ravel()

    return {
        name: [distance(*pair) for pair in zip(run(*case, device), run(*case, "cpu"))] for name, case in cases.items()
    }


def _learner(network: str, kind: str, place: str, *, small: bool = False) -> tuple[Learner, np.ndarray, np.ndarray]:
    """Return a learner of a network of `NETWORKS` and a batch for it."""
    model, side, batch, size = NETWORKS[network]
    side, batch = (32, 4) if small else (side, batch)
    chosen = devices.choose(place)
    paddle.seed(0)
    generator = np.random.default_rng(0)
    images = generator.normal(size=(batch, 1 if model == "unet" else 3, side, side)).astype(np.float32)
    if model == "unet":
        size = {**size, "widths": (8, 16)} if small else size
        nets: list[Any] = [UNet(1, 3, **size) for _ in range(2)]
        for net in nets:
            net.interpolate_contrast(chosen.is_gpu)
        loss: Any = partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0)
        truth = np.digitize(images[:, 0], [1.0, 2.0]).astype(np.uint8)
    else:
        size = {"depth": 18, "width": 0.25} if small else size
        nets = [ResNet(3, 6, input_size=side, **size) for _ in range(2)]
        loss = partial(verdict_loss, label_smoothing=0.05)
        truth = generator.integers(0, 6, batch)
    choice = optimizers.choose_precision(kind, chosen)
    optimizer = "muon" if model == "unet" else "adamw"
    learner = Learner(
        *nets,
        loss,
        optimizers.Precision(choice),
        make_optimizer(nets[0], optimizer, weight_decay=0.01, masters=choice.name != "fp32"),
        grad_clip=1.0,
        average=0.99,
    )
    return learner, images, truth


def growth(device: str, steps: int) -> list[float]:
    """Return the loss scale at the start and after steps, and the number of steps that were skipped."""
    learner, images, truth = _learner("unet-96", "fp16", device, small=True)
    first = learner.precision.loss_scale or 0.0
    skipped = sum(learner.step(images, truth, 1e-3).skipped for _ in range(steps))
    return [first, learner.precision.loss_scale or 0.0, skipped]


def speed(device: str, network: str, kind: str, small: bool) -> dict[str, Any]:
    """Measure steps on a batch that lies ready in memory."""
    learner, images, truth = _learner(network, kind, device, small=small)
    warm, steps = (1, 2) if small else (12, 40)
    for _ in range(warm):
        learner.step(images, truth, 1e-4)
    began, values, busy = time.perf_counter(), [], []
    for _ in range(steps):
        values.append(learner.step(images, truth, 1e-4).loss)
        busy.append(utilization(device))
    seconds = time.perf_counter() - began
    return {
        "images_per_second": len(images) * steps / seconds,
        "step_ms": 1000 * seconds / steps,
        "utilization": float(np.mean(busy)),
        "bytes": int(paddle.device.cuda.max_memory_allocated()) if device != "cpu" else 0,
        "finite": bool(np.isfinite(values).all()),
    }


def cuda_identity(device: str) -> list[str]:
    """Return UUID and PCI bus id of a GPU by the CUDA driver, and the UUID that a training reports.

    CUDA's numbers depend on CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER, those of the driver do not.
    """
    number = int(device.partition(":")[2] or 0)
    cuda = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    handle, raw, text = ctypes.c_int(), (ctypes.c_ubyte * 16)(), ctypes.create_string_buffer(32)
    assert not cuda.cuInit(0) and not cuda.cuDeviceGet(ctypes.byref(handle), number)
    query = getattr(cuda, "cuDeviceGetUuid_v2", None) or cuda.cuDeviceGetUuid  # only the newer one knows MIG instances
    assert not query(ctypes.byref(raw), handle) and not cuda.cuDeviceGetPCIBusId(text, len(text), handle)
    return [f"GPU-{uuid.UUID(bytes=bytes(raw))}", text.value.decode("ascii"), devices.gpu_uuid(number)]


def hold(device: str, ready: str) -> int:
    """Allocate nearly all free memory of a GPU, write the file `ready`, and wait until it is removed."""
    devices.choose(device)
    free, _ = paddle.cuda.mem_get_info()
    held, block = [], 256 << 20
    while free > _LEFT + block:
        try:
            held.append(paddle.zeros([block], dtype="uint8"))
        except (MemoryError, OSError, RuntimeError):
            break
        free -= block
    Path(ready).write_text(str(len(held)), "utf-8")
    while Path(ready).exists():
        time.sleep(0.1)
    return len(held)


def driver() -> list[list[Any]]:
    """Return UUID, PCI bus id and MIG instances of all GPUs by NVML."""
    return [[gpu.uuid, gpu.bus_id, list(gpu.mig)] for gpu in read_gpu_facts().gpus]
