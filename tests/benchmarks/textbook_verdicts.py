"""Textbook ResNet-18 for verdicts with plain training code in Paddle, as a baseline.

    python tests/benchmarks/textbook_verdicts.py IMAGES.json [--minutes 5] [--seed 0] [--side 128]

Images are reduced to --side x --side pixels and normalized with constants; batches of 16 drawn at random, flipped;
random weights; Adam with a cosine rate from 1e-3; cross entropy. IMAGES.json: {"train": [[image, verdict], ...],
"test": [...]}. Prints one line of JSON. Needs NumPy, OpenCV and Paddle.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path

import cv2
import numpy as np

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

from tests.benchmarks.textbook import as_input, read  # noqa: E402
from workbench.core.runs.launch import worker_environment  # noqa: E402

BATCH, RATE = 16, 1e-3


def load(paths: list[str], side: int) -> np.ndarray:
    """Return float32 (N, 3, side, side)."""
    images = [cv2.resize(read(path), (side, side), interpolation=cv2.INTER_AREA) for path in paths]
    return np.stack([np.repeat(as_input(image)[None], 3, axis=0) for image in images])


def main() -> None:
    os.environ.update(worker_environment("cpu"))  # before Paddle is imported
    import paddle
    from paddle.vision.models import resnet18

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("images", type=Path)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--side", type=int, default=128)
    args = parser.parse_args()
    content = json.loads(args.images.read_text("utf-8"))
    (paths, verdicts), (test_paths, test_verdicts) = (zip(*content[part], strict=True) for part in ("train", "test"))
    names = sorted({*verdicts, *test_verdicts})
    inputs, targets = load(list(paths), args.side), np.array([names.index(verdict) for verdict in verdicts])
    paddle.seed(args.seed)
    rng = np.random.default_rng(args.seed)
    network = resnet18(num_classes=len(names))
    optimizer = paddle.optimizer.Adam(RATE, parameters=network.parameters())
    start, limit, steps = time.perf_counter(), args.minutes * 60, 0
    while (elapsed := time.perf_counter() - start) < limit:
        optimizer.set_lr(RATE * 0.5 * (1 + math.cos(math.pi * elapsed / limit)))
        chosen = rng.integers(len(inputs), size=BATCH)
        batch = inputs[chosen]
        for axis in (2, 3):
            turned = rng.random(BATCH) < 0.5
            batch[turned] = np.flip(batch[turned], axis)
        output = network(paddle.to_tensor(batch))
        loss = paddle.nn.functional.cross_entropy(output, paddle.to_tensor(targets[chosen]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        steps += 1
    network.eval()
    with paddle.no_grad():
        predicted = [int(network(paddle.to_tensor(load([path], args.side))).numpy().argmax()) for path in test_paths]
    truth = [names.index(verdict) for verdict in test_verdicts]
    print(json.dumps({"steps": steps, **scores(np.array(predicted), np.array(truth), len(names))}))


def scores(predicted: np.ndarray, truth: np.ndarray, count: int) -> dict[str, float]:
    """Return accuracy and macro F1 of class numbers, int (N,)."""
    f1 = []
    for number in range(count):
        hit = int(((predicted == number) & (truth == number)).sum())
        wrong = int((predicted == number).sum() + (truth == number).sum()) - 2 * hit
        f1.append(2 * hit / (2 * hit + wrong) if hit or wrong else 1.0)
    return {"accuracy": float((predicted == truth).mean()), "macro_f1": float(np.mean(f1))}


if __name__ == "__main__":
    main()
