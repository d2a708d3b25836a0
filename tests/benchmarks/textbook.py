"""The UNet of a textbook, trained as one would write it in an afternoon: what ours must be ahead of.

    python tests/benchmarks/textbook.py PICTURES.json OUT --minutes 3 [--framework paddle|torch] [--best] [--looks 4]

Two 3x3 convolutions with batch norm and ReLU a level, 64-128-256-512; patches of 256 cut anywhere and flipped, four a
batch; Adam with a constant rate; cross entropy. Needs NumPy, OpenCV and one library, and nothing of the workbench, so
that it also runs in an environment of its own. PICTURES.json: {"train": [[picture, mask], ...], "val": the same,
"look": [picture, ...]}, masks 8-bit grey, not 0 where there is a defect. At each look it prints a line of JSON and
writes a mask for each picture to be looked at into OUT/<look>/; the threshold is the one that is best on "val". The
clock stands still while it looks. --best: channels last and bf16 (torch).
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

sys.path[0] = str(Path(__file__).resolve().parents[2])  # not this folder, which has names of Python's own

TILE = 512  # of a picture that is looked at; tiles meet without an overlap
THRESHOLDS = np.arange(0.05, 1.0, 0.05)


def read(path: str) -> np.ndarray:
    """uint8 (H, W)."""
    picture = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_GRAYSCALE)
    if picture is None:
        sys.exit(f"{path} cannot be read")
    return picture


def as_input(picture: np.ndarray) -> np.ndarray:
    return (picture.astype(np.float32) / 255 - 0.5) / 0.25


class Crops:
    """Batches of patches: float32 (N, 1, side, side) and int64 (N, side, side)."""

    def __init__(self, pairs: list[list[str]], *, side: int, batch: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._side, self._batch = side, batch
        self._pairs = [self._padded(read(picture), read(mask) > 0) for picture, mask in pairs]

    def _padded(self, picture: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        below, beside = (max(0, self._side - length) for length in picture.shape)
        widths = ((0, below), (0, beside))
        return np.pad(as_input(picture), widths, "symmetric"), np.pad(mask.astype(np.int64), widths, "symmetric")

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        cut = [self._one() for _ in range(self._batch)]
        return np.stack([picture[None] for picture, _ in cut]), np.stack([mask for _, mask in cut])

    def _one(self) -> tuple[np.ndarray, np.ndarray]:
        picture, mask = self._pairs[self._rng.integers(len(self._pairs))]
        y, x = (int(self._rng.integers(length - self._side + 1)) for length in picture.shape)
        part = np.s_[y : y + self._side, x : x + self._side]
        picture, mask = picture[part], mask[part]
        for axis in (0, 1):
            if self._rng.random() < 0.5:
                picture, mask = np.flip(picture, axis), np.flip(mask, axis)
        return picture, mask


class InPaddle:
    """The network and its optimiser. step: a batch learned from; answer: the chance of a defect, float32 (H, W)."""

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
                seen = []
                for layer in self.down:
                    x = layer(nn.functional.max_pool2d(x, 2) if seen else x)
                    seen.append(x)
                for grow, layer, skip in zip(self.grow, self.up, seen[-2::-1]):
                    x = layer(paddle.concat([skip, grow(x)], axis=1))
                return self.head(x)

        self.net = UNet()
        self.optimiser = paddle.optimizer.Adam(rate, parameters=self.net.parameters())
        self.loss = nn.CrossEntropyLoss(axis=1)

    def step(self, pictures: np.ndarray, masks: np.ndarray) -> float:
        self.net.train()
        loss = self.loss(self.net(self.paddle.to_tensor(pictures)), self.paddle.to_tensor(masks))
        loss.backward()
        self.optimiser.step()
        self.optimiser.clear_grad()
        return float(loss.item())

    def answer(self, picture: np.ndarray) -> np.ndarray:
        self.net.eval()
        with self.paddle.no_grad():
            logits = self.net(self.paddle.to_tensor(picture[None, None]))
            return self.paddle.nn.functional.softmax(logits, axis=1)[0, 1].numpy()


class InTorch:
    """The same in PyTorch."""

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
                seen = []
                for layer in self.down:
                    x = layer(nn.functional.max_pool2d(x, 2) if seen else x)
                    seen.append(x)
                for grow, layer, skip in zip(self.grow, self.up, seen[-2::-1]):
                    x = layer(torch.cat([skip, grow(x)], dim=1))
                return self.head(x)

        self.net = UNet()
        if best:
            self.net = self.net.to(memory_format=torch.channels_last)
        self.optimiser = torch.optim.Adam(self.net.parameters(), rate)

    def _forward(self, pictures: np.ndarray) -> Any:
        x = self.torch.from_numpy(np.ascontiguousarray(pictures))
        if not self.best:
            return self.net(x)
        with self.torch.autocast("cpu", self.torch.bfloat16):
            return self.net(x.to(memory_format=self.torch.channels_last)).float()

    def step(self, pictures: np.ndarray, masks: np.ndarray) -> float:
        self.net.train()
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.torch.nn.functional.cross_entropy(self._forward(pictures), self.torch.from_numpy(masks))
        loss.backward()
        self.optimiser.step()
        return float(loss.item())

    def answer(self, picture: np.ndarray) -> np.ndarray:
        self.net.eval()
        with self.torch.no_grad():
            return self._forward(picture[None, None]).softmax(1)[0, 1].numpy()


def chances(net: Any, picture: np.ndarray, multiple: int) -> np.ndarray:
    """The chance of a defect at each pixel, in tiles that are cut hard."""
    height, width = picture.shape
    seen = np.pad(as_input(picture), ((0, -height % multiple), (0, -width % multiple)), "symmetric")
    answer = np.empty(seen.shape, np.float32)
    for y in range(0, seen.shape[0], TILE):
        for x in range(0, seen.shape[1], TILE):
            part = np.s_[y : y + TILE, x : x + TILE]
            answer[part] = net.answer(np.ascontiguousarray(seen[part]))
    return answer[:height, :width]


def best_threshold(answers: list[np.ndarray], masks: list[np.ndarray]) -> float:
    """By the Dice pooled over all of them; 0.5 where there is nothing to choose by."""
    pairs = list(zip(answers, masks))
    if not any(mask.any() for mask in masks):
        return 0.5
    dice = []
    for threshold in THRESHOLDS:
        hit, both = 0, 0
        for answer, mask in pairs:
            said = answer >= threshold
            hit += int((said & mask).sum())
            both += int(said.sum()) + int(mask.sum())
        dice.append(2 * hit / max(1, both))
    return float(THRESHOLDS[int(np.argmax(dice))])


def look(net: Any, content: dict[str, Any], multiple: int, out: Path) -> float:
    """Write the masks; returns the threshold."""
    masks = [read(mask) > 0 for _, mask in content["val"]]
    threshold = best_threshold([chances(net, read(picture), multiple) for picture, _ in content["val"]], masks)
    out.mkdir(parents=True, exist_ok=True)
    for picture in content["look"]:
        mask = (chances(net, read(picture), multiple) >= threshold).astype(np.uint8)
        cv2.imencode(".png", mask)[1].tofile(str(out / f"{Path(picture).stem}.png"))
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
    wishes = parser.parse_args()
    content = json.loads(wishes.pictures.read_text("utf-8"))
    widths = [int(width) for width in wishes.widths.split(",")]
    kind = InPaddle if wishes.framework == "paddle" else InTorch
    net = kind(widths, wishes.rate, wishes.seed, wishes.best)
    crops = Crops(content["train"], side=wishes.patch, batch=wishes.batch, seed=wishes.seed)
    seconds, steps, losses = 0.0, 0, []
    for number in range(1, wishes.looks + 1):
        until = 60 * wishes.minutes * number / wishes.looks
        while seconds < until:
            began = time.perf_counter()
            losses.append(net.step(*crops.take()))
            seconds += time.perf_counter() - began
            steps += 1
        threshold = look(net, content, 2 ** (len(widths) - 1), wishes.out / str(number))
        told = {
            "look": number,
            "seconds": seconds,
            "steps": steps,
            "images_per_second": steps * wishes.batch / seconds,
            "loss": float(np.mean(losses[-20:])),
            "threshold": threshold,
            "about": net.about,
        }
        print(json.dumps(told), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
