"""Textbook UNet with plain training code, as a baseline.

    python tests/benchmarks/textbook.py IMAGES.json OUT --minutes 3 [--framework paddle|torch] [--best] [--looks 4]

Two 3x3 convolutions with batch norm and ReLU per level, 64-128-256-512; random flipped patches of 256, four per batch;
Adam with a constant rate; cross entropy. Needs NumPy, OpenCV and one library, and nothing of the workbench, so that it
also runs in another environment. IMAGES.json: {"train": [[image, mask], ...], "val": [[image, mask], ...],
"look": [image, ...]}, masks 8-bit gray, nonzero for defects. At each of --looks evaluations it prints a line of JSON
and writes a mask for each image of "look" into OUT/<number>/; the threshold is the best one on "val". Evaluation
time does not count. --best: channels last and bf16 (torch).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, whose modules have names of standard ones

TILE = 512  # pixels of a tile in the prediction; tiles do not overlap
THRESHOLDS = np.arange(0.05, 1.0, 0.05)


def read(path: str) -> np.ndarray:
    """Return uint8 (H, W)."""
    image = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_GRAYSCALE)
    if image is None:
        sys.exit(f"{path} cannot be read")
    return image


def as_input(image: np.ndarray) -> np.ndarray:
    return (image.astype(np.float32) / 255 - 0.5) / 0.25


class Crops:
    """Batches of patches: float32 (N, 1, side, side) and int64 (N, side, side)."""

    def __init__(self, pairs: list[list[str]], *, side: int, batch: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._side, self._batch = side, batch
        self._pairs = [self._padded(read(image), read(mask) > 0) for image, mask in pairs]

    def _padded(self, image: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below, beside = (max(0, self._side - length) for length in image.shape)
        widths = ((0, below), (0, beside))
        return np.pad(as_input(image), widths, "symmetric"), np.pad(mask.astype(np.int64), widths, "symmetric")

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        cut = [self._one() for _ in range(self._batch)]
        return np.stack([image[None] for image, _ in cut]), np.stack([mask for _, mask in cut])

    def _one(self) -> tuple[np.ndarray, np.ndarray]:
        image, mask = self._pairs[self._rng.integers(len(self._pairs))]
        y, x = (int(self._rng.integers(length - self._side + 1)) for length in image.shape)
        part = np.s_[y : y + self._side, x : x + self._side]
        image, mask = image[part], mask[part]
        for axis in (0, 1):
            if self._rng.random() < 0.5:
                image, mask = np.flip(image, axis), np.flip(mask, axis)
        return image, mask


class InPaddle:
    """Network and optimizer in Paddle. step: train on a batch; predict: probability of a defect, float32 (H, W)."""

    def __init__(self, widths: list[int], rate: float, seed: int, best: bool) -> None:
        import paddle
        from paddle import nn

        if best:
            sys.exit("Paddle has neither bf16 nor channels last for training on a processor")
        self.paddle, self.about = paddle, f"Paddle {paddle.__version__}"
        paddle.seed(seed)

        def double(inputs: int, outputs: int) -> Any:
            layers = []
            for source in (inputs, outputs):
                layers += [nn.Conv2D(source, outputs, 3, padding=1), nn.BatchNorm2D(outputs), nn.ReLU()]
            return nn.Sequential(*layers)

        class UNet(nn.Layer):
            def __init__(self) -> None:
                super().__init__()
                self.down = nn.LayerList([double(a, b) for a, b in zip([1, *widths[:-1]], widths)])
                pairs = list(zip(widths[:0:-1], widths[-2::-1]))
                self.grow = nn.LayerList([nn.Conv2DTranspose(a, b, 2, stride=2) for a, b in pairs])
                self.up = nn.LayerList([double(2 * b, b) for _, b in pairs])
                self.head = nn.Conv2D(widths[0], 2, 1)

            def forward(self, x: Any) -> Any:
                observed = []
                for layer in self.down:
                    x = layer(nn.functional.max_pool2d(x, 2) if observed else x)
                    observed.append(x)
                for grow, layer, skip in zip(self.grow, self.up, observed[-2::-1]):
                    x = layer(paddle.concat([skip, grow(x)], axis=1))
                return self.head(x)

        self.net = UNet()
        self.optimiser = paddle.optimizer.Adam(rate, parameters=self.net.parameters())
        self.loss = nn.CrossEntropyLoss(axis=1)

    def step(self, images: np.ndarray, masks: np.ndarray) -> float:
        self.net.train()
        loss = self.loss(self.net(self.paddle.to_tensor(images)), self.paddle.to_tensor(masks))
        loss.backward()
        self.optimiser.step()
        self.optimiser.clear_grad()
        return float(loss.item())

    def predict(self, image: np.ndarray) -> np.ndarray:
        self.net.eval()
        with self.paddle.no_grad():
            logits = self.net(self.paddle.to_tensor(image[None, None]))
            return self.paddle.nn.functional.softmax(logits, axis=1)[0, 1].numpy()


class InTorch:
    """Network and optimizer in PyTorch, with the methods of `InPaddle`."""

    def __init__(self, widths: list[int], rate: float, seed: int, best: bool) -> None:
        import torch
        from torch import nn

        self.torch, self.best = torch, best
        self.about = f"PyTorch {torch.__version__}, {'channels last, bf16' if best else 'eager'}"
        torch.manual_seed(seed)

        def double(inputs: int, outputs: int) -> Any:
            layers: list[Any] = []
            for source in (inputs, outputs):
                layers += [nn.Conv2d(source, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()]
            return nn.Sequential(*layers)

        class UNet(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.down = nn.ModuleList([double(a, b) for a, b in zip([1, *widths[:-1]], widths)])
                pairs = list(zip(widths[:0:-1], widths[-2::-1]))
                self.grow = nn.ModuleList([nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in pairs])
                self.up = nn.ModuleList([double(2 * b, b) for _, b in pairs])
                self.head = nn.Conv2d(widths[0], 2, 1)

            def forward(self, x: Any) -> Any:
                observed = []
                for layer in self.down:
                    x = layer(nn.functional.max_pool2d(x, 2) if observed else x)
                    observed.append(x)
                for grow, layer, skip in zip(self.grow, self.up, observed[-2::-1]):
                    x = layer(torch.cat([skip, grow(x)], dim=1))
                return self.head(x)

        self.net = UNet()
        if best:
            self.net = self.net.to(memory_format=torch.channels_last)
        self.optimiser = torch.optim.Adam(self.net.parameters(), rate)

    def _forward(self, images: np.ndarray) -> Any:
        x = self.torch.from_numpy(np.ascontiguousarray(images))
        if not self.best:
            return self.net(x)
        with self.torch.autocast("cpu", self.torch.bfloat16):
            return self.net(x.to(memory_format=self.torch.channels_last)).float()

    def step(self, images: np.ndarray, masks: np.ndarray) -> float:
        self.net.train()
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.torch.nn.functional.cross_entropy(self._forward(images), self.torch.from_numpy(masks))
        loss.backward()
        self.optimiser.step()
        return float(loss.item())

    def predict(self, image: np.ndarray) -> np.ndarray:
        self.net.eval()
        with self.torch.no_grad():
            return self._forward(image[None, None]).softmax(1)[0, 1].numpy()


def predict_probabilities(net: Any, image: np.ndarray, multiple: int) -> np.ndarray:
    """Return the probability of a defect per pixel, predicted in tiles without overlap."""
    height, width = image.shape
    observed = np.pad(as_input(image), ((0, -height % multiple), (0, -width % multiple)), "symmetric")
    probability = np.empty(observed.shape, np.float32)
    for y in range(0, observed.shape[0], TILE):
        for x in range(0, observed.shape[1], TILE):
            part = np.s_[y : y + TILE, x : x + TILE]
            probability[part] = net.predict(np.ascontiguousarray(observed[part]))
    return probability[:height, :width]


def best_threshold(probabilities: list[np.ndarray], masks: list[np.ndarray]) -> float:
    """Return the threshold with the best Dice pooled over all images; 0.5 without images."""
    pairs = list(zip(probabilities, masks))
    if not any(mask.any() for mask in masks):
        return 0.5
    dice = []
    for threshold in THRESHOLDS:
        hit, both = 0, 0
        for probability, mask in pairs:
            output = probability >= threshold
            hit += int((output & mask).sum())
            both += int(output.sum()) + int(mask.sum())
        dice.append(2 * hit / max(1, both))
    return float(THRESHOLDS[int(np.argmax(dice))])


def write_masks(net: Any, content: dict[str, Any], multiple: int, out: Path) -> float:
    """Write the masks; return the threshold."""
    masks = [read(mask) > 0 for _, mask in content["val"]]
    threshold = best_threshold(
        [predict_probabilities(net, read(image), multiple) for image, _ in content["val"]], masks
    )
    out.mkdir(parents=True, exist_ok=True)
    for image in content["look"]:
        mask = (predict_probabilities(net, read(image), multiple) >= threshold).astype(np.uint8)
        cv2.imencode(".png", mask)[1].tofile(str(out / f"{Path(image).stem}.png"))
    return threshold


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--framework", choices=("paddle", "torch"), default="paddle")
    parser.add_argument("--best", action="store_true")
    parser.add_argument("--looks", type=int, default=1)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--patch", type=int, default=256)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--widths", default="64,128,256,512")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    content = json.loads(args.pictures.read_text("utf-8"))
    widths = [int(width) for width in args.widths.split(",")]
    kind = InPaddle if args.framework == "paddle" else InTorch
    net = kind(widths, args.rate, args.seed, args.best)
    crops = Crops(content["train"], side=args.patch, batch=args.batch, seed=args.seed)
    seconds, steps, losses = 0.0, 0, []
    for number in range(1, args.looks + 1):
        until = 60 * args.minutes * number / args.looks
        while seconds < until:
            start_time = time.perf_counter()
            losses.append(net.step(*crops.take()))
            seconds += time.perf_counter() - start_time
            steps += 1
        threshold = write_masks(net, content, 2 ** (len(widths) - 1), args.out / str(number))
        reported = {
            "look": number,
            "seconds": seconds,
            "steps": steps,
            "images_per_second": steps * args.batch / seconds,
            "loss": float(np.mean(losses[-20:])),
            "threshold": threshold,
            "about": net.about,
        }
        print(json.dumps(reported), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
