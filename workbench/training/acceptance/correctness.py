"""Layers, networks, losses and optimizers on the device compared with the CPU, and 16-bit types with fp32."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import paddle

from workbench.inference.model_settings import ModelSettings
from workbench.inference.normalize import normalize
from workbench.training import device as devices
from workbench.training import precision
from workbench.training.acceptance.items import FAIL, PASS, Conditions, Outcome
from workbench.training.augment import apply_intensity, draw_intensity
from workbench.training.device_images import prepare_images
from workbench.training.learner import Learner
from workbench.training.losses import segmentation_loss, verdict_loss
from workbench.training.network_state import load_weights, weights
from workbench.training.optimizers import make_optimizer
from workbench.training.resnet import Block, ResNet
from workbench.training.unet import DoubleConvolution, LocalContrast, Stem, UNet, UpBlock

Arrays = dict[str, np.ndarray]
# Largest distance in the Euclidean norm, relative to the reference: (outputs, gradients).
LIMITS = {"fp32": (1e-4, 1e-3), "fp16": (0.02, 0.06), "bf16": (0.04, 0.15)}
_UPDATE_LIMIT = 0.02  # of the change that some optimizer steps make
_STEPS = 4

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


def check_layers(conditions: Conditions) -> Outcome:
    """Compare outputs and gradients of all layers. conditions.argument: number type on the device."""
    kind = conditions.argument or "fp32"
    distances: dict[str, list[float]] = {}
    for name, (make, shapes) in LAYERS.items():
        inputs = _inputs(shapes)
        reference_device = "cpu" if kind == "fp32" else conditions.device
        expected = run_layer(make, None, inputs, reference_device, "fp32")
        found = run_layer(make, expected["state"], inputs, conditions.device, kind)
        distances[name] = [distance(found[part], expected[part]) for part in ("outputs", "gradients")]
    return outcome(distances, LIMITS[kind], "CPU" if kind == "fp32" else "fp32")


def check_losses(conditions: Conditions) -> Outcome:
    """Compare both losses and their gradients with the CPU."""
    generator = np.random.default_rng(1)
    planes, verdicts = generator.normal(size=(4, 3, 32, 32)), generator.normal(size=(16, 5))
    mask = generator.integers(0, 3, (4, 32, 32)).astype(np.uint8)
    mask[:, :4] = 255  # without influence on the loss
    cases: dict[str, tuple[Any, np.ndarray, np.ndarray]] = {
        "segmentation": (partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0), planes, mask),
        "classes together": (
            partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0, class_weight=0.3),
            planes,
            mask,
        ),
        "cross entropy": (partial(segmentation_loss, dice_weight=0.0, cross_entropy_weight=1.0), planes, mask),
        "verdict": (partial(verdict_loss, label_smoothing=0.05), verdicts, generator.integers(0, 5, 16)),
    }
    distances = {}
    for name, (loss, logits, truth) in cases.items():
        one, other = (_run_loss(loss, logits, truth, place) for place in (conditions.device, "cpu"))
        distances[name] = [distance(a, b) for a, b in zip(one, other)]
    return outcome(distances, LIMITS["fp32"], "CPU")


def check_images(conditions: Conditions) -> Outcome:
    """Compare the normalization and variation of 8-bit images on the device with those by OpenCV and NumPy."""
    ways = ("lighting", "contrast", "brightness")
    distances = {}
    for name, channels, shape in (("gray", 1, (6, 96, 64)), ("color", 3, (6, 96, 64, 3))):
        pixels = np.random.default_rng(4).integers(0, 256, shape, np.uint8)
        changes = [draw_intensity(np.random.default_rng(number), ways) for number in range(len(pixels))]
        settings = ModelSettings(
            task="classification",
            name=name,
            run="",
            verdicts=("OK", "NG"),
            input_size=64,
            channels=channels,
            mean=(0.4,) * channels,
            std=(0.2,) * channels,
        )
        tones = -0.4 / 0.2, 0.6 / 0.2
        devices.choose(conditions.device)
        found = prepare_images(pixels, changes, settings, ways, tones, 0).numpy()
        generator = np.random.default_rng(0)  # of the noise, which each device draws itself
        expected = [
            apply_intensity(normalize(image, settings), change, generator, ways, *tones)
            for image, change in zip(pixels, changes)
        ]
        distances[name] = [distance(found.ravel(), np.stack(expected).ravel())]
    return outcome(distances, LIMITS["fp32"][:1], "OpenCV and NumPy")


def check_optimizer(conditions: Conditions) -> Outcome:
    """Compare the changes of weights and averaged weights after some clipped steps. argument: "muon" or None."""
    kind = conditions.argument or "adamw"
    before, after, averages = zip(*(train_steps(kind, place) for place in (conditions.device, "cpu")))
    if any(not np.array_equal(before[0][name], before[1][name]) for name in before[0]):
        raise AssertionError("the two trainings did not begin alike")
    learned = [name for name in before[1] if not name.endswith(("_mean", "_variance"))]
    distances = {
        "weights": [distance(*([_flat(a, learned) - _flat(b, learned) for a, b in zip(after, before)]))],
        "averaged weights": [distance(*([_flat(a, learned) - _flat(b, learned) for a, b in zip(averages, before)]))],
        "norm statistics": [distance(*(_flat(a, [n for n in a if n not in learned]) for a in after))],
    }
    return outcome(distances, (_UPDATE_LIMIT,), "CPU")


def make_small_learner(kind: str, number_type: str, place: str, *, grad_clip: float = 0.05) -> Learner:
    """Return a learner of a small UNet on a device. The same weights on every device and in every process."""
    paddle.set_device("cpu")
    paddle.seed(3)
    np.random.seed(3)
    start = weights(UNet(1, 3, [16, 32]))
    chosen = devices.choose(place)
    nets = [UNet(1, 3, [16, 32]) for _ in range(2)]
    load_weights(nets[0], start, "initial weights")
    for net in nets:
        net.interpolate_contrast(chosen.is_gpu)
    return Learner(
        nets[0],
        nets[1],
        partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0),
        precision.Precision(precision.choose(number_type, chosen)),
        make_optimizer(nets[0], kind, weight_decay=0.01, masters=number_type != "fp32"),
        grad_clip=grad_clip,
        average=0.9,
        on_gpu=chosen.is_gpu,
    )


def small_batch(step: int) -> tuple[np.ndarray, np.ndarray]:
    """Return float32 (4, 1, 32, 32) and uint8 (4, 32, 32): noise, in which bright pixels are to be found."""
    images = np.random.default_rng(step).normal(size=(4, 1, 32, 32)).astype(np.float32)
    return images, np.digitize(images[:, 0], [1.0, 2.0]).astype(np.uint8)


def train_steps(kind: str, place: str) -> tuple[Arrays, Arrays, Arrays]:
    """Return weights before and after some steps on a device, and the averaged ones. kind: of the optimizer."""
    learner = make_small_learner(kind, "fp32", place)
    before = weights(learner.net)
    for step in range(_STEPS):
        learner.step(*small_batch(step), 1e-2)
    return before, weights(learner.net), weights(learner.mean)


def _inputs(shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    return [generator.normal(size=shape).astype(np.float32) for shape in shapes]


def run_layer(
    make: Callable[[], paddle.nn.Layer], state: Arrays | None, inputs: list[np.ndarray], place: str, kind: str
) -> dict[str, Any]:
    """Run a layer forward and backward. Return its initial state, its outputs and its gradients as vectors."""
    paddle.set_device("cpu")
    paddle.seed(1)
    chosen = devices.choose(place)
    layer = make()
    if isinstance(layer, UNet):
        layer.interpolate_contrast(chosen.is_gpu)
    if state is not None:
        load_weights(layer, state, "initial weights")
    state = weights(layer)
    layer.train()
    number_type = precision.Precision(precision.choose(kind, chosen))
    tensors = [paddle.to_tensor(array, stop_gradient=False) for array in inputs]
    with number_type.cast():
        output = layer(*tensors)
    output = output.astype("float32")
    weighting = np.random.default_rng(2).normal(size=output.shape).astype(np.float32)
    (output * paddle.to_tensor(weighting)).mean().backward()
    gradients = [p.grad for p in layer.parameters() if p.grad is not None] + [tensor.grad for tensor in tensors]
    return {
        "state": state,
        "outputs": output.numpy().ravel(),
        "gradients": np.concatenate([gradient.astype("float32").numpy().ravel() for gradient in gradients]),
    }


def _run_loss(loss: Any, logits: np.ndarray, truth: np.ndarray, place: str) -> tuple[np.ndarray, np.ndarray]:
    devices.choose(place)
    tensor = paddle.to_tensor(logits.astype(np.float32), stop_gradient=False)
    value = loss(tensor, paddle.to_tensor(truth))
    value.backward()
    return value.numpy().reshape(1), tensor.grad.numpy().ravel()


def _flat(arrays: Arrays, names: list[str]) -> np.ndarray:
    return np.concatenate([arrays[name].ravel() for name in names])


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the relative Euclidean distance; infinite if a value is not finite."""
    if not np.isfinite(found).all():
        return float("inf")
    return float(np.linalg.norm(found - expected) / max(1e-12, np.linalg.norm(expected)))


def outcome(distances: dict[str, list[float]], limits: tuple[float, ...], reference: str) -> Outcome:
    """Return the outcome for the distances of each quantity. reference: name of the device compared with."""
    values = {name: [float(f"{d:.3g}") if np.isfinite(d) else None for d in ds] for name, ds in distances.items()}
    wrong = [name for name, ds in distances.items() if any(not d <= limit for d, limit in zip(ds, limits))]
    if wrong:
        listed = "; ".join(f"{name} differs by {max(distances[name]):.2g}" for name in wrong)
        return Outcome(FAIL, f"{listed} from {reference} (limits {', '.join(map(str, limits))})", values)
    largest = max(max(ds) for ds in distances.values())
    return Outcome(
        PASS, f"{len(distances)} compared with {reference}, largest relative difference {largest:.1e}", values
    )
