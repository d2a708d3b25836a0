"""What one training step costs, in a process of its own: Paddle keeps to one kind of 16-bit number, and counts memory.

python -m tests.gpu.measure unet|resnet fp32|fp16|bf16 [--level O1] [--device gpu] [--batch N] [--steps 40] [--tiny]

Prints one JSON object. The nets are those of a card: UNet 64-128-256-512 at full resolution on patches of 256 pixels,
ResNet-50 on 224. Batches lie ready in memory, and the result of every step is waited for, as the training itself does.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from functools import partial

import numpy as np
import paddle

from workbench.training import device, precision
from workbench.training.learner import Learner
from workbench.training.losses import segmentation_loss, verdict_loss
from workbench.training.optimizers import make_optimizer
from workbench.training.resnet import ResNet
from workbench.training.unet import UNet


def make(model: str, kind: str, level: str, place: device.Device, *, tiny: bool) -> tuple[Learner, tuple[int, ...]]:
    """A learner as a run has it, and the shape of one of its pictures."""
    paddle.seed(0)
    if model == "unet":
        widths = [8, 16] if tiny else [64, 128, 256, 512]
        nets = [UNet(1, 3, widths) for _ in range(2)]
        loss = partial(segmentation_loss, dice_weight=1.0, cross_entropy_weight=1.0)
        shape = (1, 32, 32) if tiny else (1, 256, 256)
    else:
        nets = [ResNet(3, 6, depth=50, width=0.25 if tiny else 1.0, input_size=224) for _ in range(2)]
        loss = partial(verdict_loss, label_smoothing=0.05)
        shape = (3, 32, 32) if tiny else (3, 224, 224)
    choice = precision.choose(kind, place)
    optimizer = make_optimizer(
        nets[0], "muon" if model == "unet" else "adamw", weight_decay=0.01, masters=choice.name != "fp32"
    )
    learner = Learner(
        nets[0], nets[1], loss, precision.Precision(choice, level), optimizer, grad_clip=1.0, average=0.99
    )
    return learner, shape


def measure(options: argparse.Namespace) -> dict[str, object]:
    """images_per_second: of the median step. bytes: the most that was in use at a time; 0 on a processor."""
    place = device.choose(options.device)
    learner, shape = make(options.model, options.precision, options.level, place, tiny=options.tiny)
    generator = np.random.default_rng(0)
    pictures = generator.normal(size=(options.batch, *shape)).astype(np.float32)
    truth = np.digitize(pictures[:, 0], [1.0, 2.0]).astype(np.uint8)
    if options.model == "resnet":
        truth = generator.integers(0, 6, options.batch)
    taken, skipped, losses = [], 0, []
    for step in range(options.warm + options.steps):
        began = time.perf_counter()
        outcome = learner.step(pictures, truth, 1e-4)
        skipped += outcome.skipped
        losses.append(outcome.loss)
        if step >= options.warm:
            taken.append(time.perf_counter() - began)
    used = paddle.device.cuda.max_memory_allocated() if place.is_gpu else 0
    return {
        "device": place.title,
        "precision": learner.precision.choice.name,
        "bytes": int(used),
        "skipped": int(skipped),
        "images_per_second": options.batch / float(np.median(taken)),
        "first_loss": losses[0],
        "last_loss": losses[-1],
        "loss_scale": learner.precision.loss_scale,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", choices=["unet", "resnet"])
    parser.add_argument("precision", choices=["fp32", "fp16", "bf16"])
    parser.add_argument("--level", default="O1")
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm", type=int, default=10, help="steps before those that count")
    parser.add_argument("--tiny", action="store_true")
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")  # as the training does: fp32 is fp32
    print(json.dumps(measure(parser.parse_args())))


if __name__ == "__main__":
    main()
