"""Train the network of *Click segmentation* on generated images, and write `resources/click/click.onnx`.

    pip install torch
    python packaging/click_network.py [--steps 4500]

Surfaces are noise of several grains, bands, patterns, and those of the sample project; defects are random shapes that
are darker, brighter, rougher, smoother, shaded or rimmed. Labels are drawn tight or loose, as people do. Clicks are
simulated during the training: the first inside of the defect, each next one in the largest error of the network.
`--check N` counts clicks on defects of the sample generator, which are not trained on.
"""

from __future__ import annotations

import argparse
import queue
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from workbench.core import lite0  # noqa: E402
from workbench.core.click_model.click_network import (  # noqa: E402
    DEPTH,
    FILE,
    INPUT,
    OUTPUT,
    SIDE,
    ClickNetwork,
    Part,
    contrast_stretched,
    cut,
    marks,
    stored_network,
)
from workbench.core.frozen_encoder import FrozenEncoder  # noqa: E402
from workbench.core.geometry.selection import levels_of  # noqa: E402
from workbench.core.runs.onnx_files import GraphBuilder  # noqa: E402
from workbench.core.synthetic_scene import KINDS, SyntheticScene, bare_surface, make_lot, noise  # noqa: E402

TARGET = ROOT / "resources" / FILE
WIDTHS = (8, 24, 32, 48, 64)  # channels at the strides 1, 2, 4, 8, 16
REDUCED = 16  # channels of each level of the encoder
BATCH, ROUNDS = 32, 4
SCENE = 320  # pixels: side of a generated image
KEPT = 150  # images from which samples are taken
MATERIALS = ("brushed", "cast", "painted")


# --- network --------------------------------------------------------------------------------------


def convolution(inputs: int, outputs: int, stride: int = 1, kernel: int = 3) -> nn.Sequential:
    layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs), nn.ReLU())


class Network(nn.Module):
    """UNet on colors, mask before and clicks, joined with the levels of the encoder. Logits (N, SIDE, SIDE)."""

    def __init__(self) -> None:
        super().__init__()
        steps = range(DEPTH)
        self.start = convolution(6, WIDTHS[0])
        self.down = nn.ModuleList(convolution(WIDTHS[i], WIDTHS[i + 1], 2) for i in steps)
        self.side = nn.ModuleList(convolution(width, REDUCED, kernel=1) for width in lite0.WIDTHS[:DEPTH])
        self.join = nn.ModuleList(convolution(WIDTHS[i + 1] + REDUCED, WIDTHS[i + 1]) for i in steps)
        self.reduce = nn.ModuleList(convolution(WIDTHS[i + 1], WIDTHS[i], kernel=1) for i in steps)
        self.up = nn.ModuleList(convolution(2 * WIDTHS[i], WIDTHS[i]) for i in steps)
        self.end = nn.Conv2d(WIDTHS[0], 1, 1)

    def forward(self, planes: torch.Tensor, *levels: torch.Tensor) -> torch.Tensor:
        values = [self.start(planes)]
        for i in range(DEPTH):
            x = self.down[i](values[-1])
            values.append(self.join[i](torch.cat([x, self.side[i](levels[i])], 1)))
        x = values[-1]
        for i in reversed(range(DEPTH)):
            x = functional.interpolate(self.reduce[i](x), scale_factor=2, mode="bilinear", align_corners=False)
            x = self.up[i](torch.cat([x, values[i]], 1))
        return self.end(x)[:, 0]


# --- images ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Region:
    """Defect of an image. label: bool (H, W). box: left, top, right, bottom."""

    image: np.ndarray
    label: np.ndarray
    box: tuple[int, int, int, int]


def _grain(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def surface(rng: np.random.Generator, side: int = SCENE) -> np.ndarray:
    """Return a surface, float64 (side, side), about 0..1."""
    shape = (side, side)
    if rng.random() < 0.4:
        value = bare_surface(rng, make_lot(rng, MATERIALS[rng.integers(3)]), shape)
    else:
        value = np.full(shape, rng.uniform(0.15, 0.8))
        for _ in range(int(rng.integers(1, 4))):
            width = _grain(rng, 0.5, 40)
            height = width if rng.random() < 0.5 else _grain(rng, 0.5, 40)
            value += _grain(rng, 0.004, 0.08) * noise(rng, shape, width, height)
    if rng.random() < 0.35:  # bands along an axis, as of a weld or a turned part
        knots = np.cumsum(rng.normal(0, 1, int(rng.integers(4, 14))))
        profile = np.interp(np.linspace(0, 1, side), np.linspace(0, 1, len(knots)), knots - knots.mean())
        value += rng.uniform(0.02, 0.12) * profile[None, :]
    if rng.random() < 0.2:
        period, y, x = _grain(rng, 4, 60), *np.mgrid[:side, :side]
        waves = np.sin(x * 2 * np.pi / period) * (np.sin(y * 2 * np.pi / period) if rng.random() < 0.5 else 1)
        value += rng.uniform(0.01, 0.1) * waves
    if rng.random() < 0.3:  # another area: edge of the part, shadow
        corners = rng.uniform(0, side, 2), rng.uniform(0, np.pi)
        y, x = np.mgrid[:side, :side]
        distance = (x - corners[0][0]) * np.cos(corners[1]) + (y - corners[0][1]) * np.sin(corners[1])
        value += rng.uniform(-0.35, 0.35) / (1 + np.exp(-distance / _grain(rng, 0.5, 12)))
    for _ in range(int(rng.integers(0, 12)) if rng.random() < 0.4 else 0):  # dust
        y, x, r = *rng.integers(4, side - 4, 2), _grain(rng, 0.5, 2)
        cv2.circle(value, (int(x), int(y)), round(r), float(value[y, x] + rng.choice([-1, 1]) * 0.15), -1)
    value = np.rot90(value, int(rng.integers(4)))
    return np.ascontiguousarray(value)


def shape(rng: np.random.Generator, size: float) -> np.ndarray:
    """Return the pixels of a shape of about this extent, float32 (n, n), 0 or 1."""
    n = int(size * 1.5) + 8
    y, x = np.mgrid[:n, :n].astype(np.float32) + 0.5 - n / 2
    turn, half = rng.uniform(0, np.pi), size / 2
    u, v = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    kind = rng.choice(["blob", "rough", "corners", "line"], p=[0.42, 0.25, 0.15, 0.18])
    if kind == "blob":
        v = v * np.exp(rng.uniform(0, np.log(4)))
        angle, outline = np.arctan2(v, u), np.full((n, n), half)
        for wave in (2, 3, 4, 5, 7):
            outline += half * rng.uniform(0, 0.4) / wave * np.cos(wave * angle + rng.uniform(0, 2 * np.pi))
        return (np.hypot(u, v) < outline * 0.85).astype(np.float32)
    if kind == "rough":
        v = v * np.exp(rng.uniform(0, np.log(3)))
        inside = 1.1 - np.hypot(u, v) / half + rng.uniform(0.1, 0.5) * noise(rng, (n, n), size / 8, size / 8)
        return _largest(inside > 0.3)
    if kind == "corners":
        count, squeeze = int(rng.integers(3, 9)), np.exp(rng.uniform(0, np.log(3)))
        angles = np.sort(rng.uniform(0, 2 * np.pi, count))
        radius = half * rng.uniform(0.5, 1, count)
        a, b = radius * np.cos(angles), radius * np.sin(angles) / squeeze
        corners = np.stack([a * np.cos(turn) - b * np.sin(turn), a * np.sin(turn) + b * np.cos(turn)], 1) + n / 2
        result = np.zeros((n, n), np.float32)
        cv2.fillPoly(result, [corners.astype(np.int32)], 1.0)
        return result
    result, thick = np.zeros((n, n), np.float32), max(1, round(size * _grain(rng, 0.04, 0.3)))
    steps = np.linspace(-half, half, 12)
    bend = np.cumsum(rng.normal(0, size * rng.uniform(0, 0.05), 12))
    a, b = steps, bend - bend.mean()
    points = np.stack([a * np.cos(turn) - b * np.sin(turn), a * np.sin(turn) + b * np.cos(turn)], 1) + n / 2
    cv2.polylines(result, [np.round(points).astype(np.int32)], False, 1.0, thick)
    return result


def _largest(inside: np.ndarray) -> np.ndarray:
    count, labels, stats, _ = cv2.connectedComponentsWithStats(inside.astype(np.uint8))
    if count < 2:
        return np.zeros(inside.shape, np.float32)
    return (labels == 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))).astype(np.float32)


def draw(rng: np.random.Generator, view: np.ndarray, form: np.ndarray, size: float) -> None:
    """Draw a defect of this form into a part of a surface of the same shape."""
    blur = rng.uniform(0.4, 0.9) if rng.random() < 0.6 else max(0.5, size * rng.uniform(0.02, 0.12))
    alpha = cv2.GaussianBlur(form, (0, 0), blur).astype(np.float64)
    spread = max(0.012, float((view - cv2.GaussianBlur(view, (0, 0), 6)).std()))
    sign = rng.choice([-1.0, 1.0], p=[0.6, 0.4])
    force = sign * min(spread * _grain(rng, 2.5, 14), 0.5)
    kinds = rng.permutation(["offset", "dome", "mottled", "smooth", "rough", "other", "gain", "shade", "rim"])
    weak = {"smooth", "rough", "shade", "other"}
    chosen = list(kinds[: int(rng.integers(1, 4))])
    if set(chosen) <= weak and rng.random() < 0.8:
        chosen.append("offset")
    for kind in chosen:
        if kind == "offset":
            view += force * alpha
        elif kind == "dome":
            depth = cv2.distanceTransform(form.astype(np.uint8), cv2.DIST_L2, 3)
            view += force * alpha * (0.4 + 0.6 * depth / max(depth.max(), 1))
        elif kind == "mottled":
            view += force * alpha * (0.8 + 0.4 * noise(rng, form.shape, size / 6, size / 6))
        elif kind == "smooth":
            view += alpha * (cv2.GaussianBlur(view, (0, 0), rng.uniform(1.5, 5)) - view)
        elif kind == "rough":
            grain = _grain(rng, 0.5, max(1.0, size / 8))
            view += alpha * spread * rng.uniform(0.8, 3) * noise(rng, form.shape, grain, grain)
        elif kind == "other":
            grain = _grain(rng, 0.5, max(1.0, size / 5))
            other = view.mean() + force * 0.5 + spread * noise(rng, form.shape, grain, grain)
            view += alpha * (other - view)
        elif kind == "gain":
            view *= 1 + alpha * rng.uniform(-0.6, 0.6)
        elif kind == "shade":
            y, x = np.mgrid[: form.shape[0], : form.shape[1]] / form.shape[0] - 0.5
            turn = rng.uniform(0, 2 * np.pi)
            view += 2 * force * alpha * (x * np.cos(turn) + y * np.sin(turn))
        else:
            rim = np.abs(cv2.GaussianBlur(form, (0, 0), max(0.6, size * 0.02)) - 0.5) < 0.4
            view -= rng.uniform(0.3, 1) * force * rim


def scene(rng: np.random.Generator) -> list[Region]:
    """Return the defects of one generated image."""
    value = surface(rng)
    taken = np.zeros(value.shape, bool)
    labels = []
    for _ in range(int(rng.integers(4, 10))):
        size = _grain(rng, 6, 170)
        form = shape(rng, size)
        n = form.shape[0]
        reach = SCENE - n // 2 if rng.random() < 0.25 else SCENE - n
        left, top = (int(v) for v in rng.integers(min(0, SCENE - n - reach), max(reach, 1), 2))
        label = np.zeros(value.shape, np.float32)
        rows, columns = (slice(max(v, 0), min(v + n, SCENE)) for v in (top, left))
        inner = slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left)
        label[rows, columns] = form[inner]
        near = cv2.dilate(label, np.ones((5, 5))) > 0
        if label.sum() < 12 or (taken & near).any():
            continue
        taken |= near
        draw(rng, value[rows, columns], np.ascontiguousarray(form[inner]), size)
        labels.append(label)
    return [] if not labels else _photographed(rng, value, labels)


def _photographed(rng: np.random.Generator, value: np.ndarray, labels: Sequence[np.ndarray]) -> list[Region]:
    if rng.random() < 0.5:
        value = cv2.GaussianBlur(value, (0, 0), rng.uniform(0.4, 1.6))
    value = np.clip(value * rng.uniform(0.5, 1.2), 0.02, 1) ** rng.uniform(0.7, 1.5)
    planes = [value * rng.uniform(0.8, 1.1) for _ in range(3)] if rng.random() < 0.3 else [value]
    strength = _grain(rng, 0.002, 0.04)
    image = np.stack([np.clip(p + rng.normal(0, strength, p.shape), 0, 1) * 255 for p in planes], 2).astype(np.uint8)
    image = image if len(planes) == 3 else image[:, :, 0]
    if rng.random() < 0.4:
        encoded = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(40, 96))])[1]
        image = cv2.imdecode(encoded, cv2.IMREAD_UNCHANGED)
    return [region for label in labels if (region := _region(rng, image, label)) is not None]


def _region(rng: np.random.Generator, image: np.ndarray, label: np.ndarray) -> Region | None:
    inside = label > 0.5
    if rng.random() < 0.5:  # drawn loosely, rarely too tight
        grow = rng.uniform(-0.05, 0.2) * float(inside.sum()) ** 0.5
        outer = cv2.distanceTransform((~inside).astype(np.uint8), cv2.DIST_L2, 3)
        inner = cv2.distanceTransform(inside.astype(np.uint8), cv2.DIST_L2, 3)
        inside = (outer - inner) < grow
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if inside.sum() < 12:
        return None
    return Region(image, inside, (int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1))


# --- clicks ---------------------------------------------------------------------------------------


def middle(inside: np.ndarray, rng: np.random.Generator | None = None) -> tuple[int, int]:
    """Return the column and row deepest inside of an area, with `rng` sometimes another pixel of it."""
    depth = cv2.distanceTransform(np.pad(inside, 1).astype(np.uint8), cv2.DIST_L2, 3)[1:-1, 1:-1]
    if rng is not None and rng.random() < 0.4:
        y, x = divmod(int(rng.choice(np.flatnonzero(depth > 0.4 * depth.max()))), inside.shape[1])
        return x, y
    y, x = divmod(int(depth.argmax()), inside.shape[1])
    return x, y


def next_click(
    found: np.ndarray, wanted: np.ndarray, rng: np.random.Generator | None = None
) -> tuple[tuple[float, float], bool] | None:
    """Return the click in the middle of the largest error, None if there is none. found, wanted: bool (H, W)."""
    best, most, adds = None, 0, True
    for error, kind in ((wanted & ~found, True), (found & ~wanted, False)):
        count, areas, stats, _ = cv2.connectedComponentsWithStats(error.astype(np.uint8), connectivity=4)
        for number in range(1, count):
            if stats[number, cv2.CC_STAT_AREA] > most:
                best, most, adds = (areas, number), stats[number, cv2.CC_STAT_AREA], kind
    if best is None:
        return None
    x, y = middle(best[0] == best[1], rng)
    return (x + 0.5, y + 0.5), adds


@dataclass(eq=False)
class Sample:
    """Part of an image in training. colors: (3, SIDE, SIDE). label: bool (SIDE, SIDE). clicks: in network pixels."""

    colors: np.ndarray
    label: np.ndarray
    clicks: list[tuple[tuple[float, float], bool]]


NETWORK = Part(0, 0, SIDE)


def sample(rng: np.random.Generator, region: Region) -> Sample | None:
    left, top, right, bottom = region.box
    extent = max(right - left, bottom - top, 8)
    side = extent * float(np.clip(np.exp(rng.normal(np.log(2.2), 0.55)), 0.7, 10))
    x, y = (left + right) / 2, (top + bottom) / 2
    if rng.random() < 0.5:
        x, y = middle(region.label)
    part = Part.around(x + rng.normal(0, 0.05) * side, y + rng.normal(0, 0.05) * side, side)
    colors, outside = contrast_stretched(cut(region.image, part)), _outside(part)
    label = (cut(region.label.astype(np.float32), part) > 0.5) & ~outside
    turns, mirrored = int(rng.integers(4)), rng.random() < 0.5
    colors, label = np.rot90(colors, turns, (1, 2)), np.rot90(label, turns)
    if mirrored:
        colors, label = colors[:, :, ::-1], label[:, ::-1]
    if rng.random() < 0.3:
        colors = -colors
    if label.sum() < 4:
        return None
    x, y = middle(np.ascontiguousarray(label), rng)
    return Sample(np.ascontiguousarray(colors), np.ascontiguousarray(label), [((x + 0.5, y + 0.5), True)])


def _outside(part: Part) -> np.ndarray:
    """Return the pixels of a part that are beyond the image, bool (SIDE, SIDE)."""
    centers = (np.arange(SIDE) + 0.5) * part.side / SIDE
    inside = [(a + centers >= 0) & (a + centers < SCENE) for a in (part.y, part.x)]
    return ~np.outer(*inside)


# --- training -------------------------------------------------------------------------------------


def generate(seed: int, out: queue.Queue[list[Region]]) -> None:
    rng = np.random.default_rng(seed)
    while True:
        regions = scene(rng)
        if regions:
            out.put(regions)


def train(steps: int, seed: int) -> Network:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = Network().to(memory_format=torch.channels_last)
    encoder = FrozenEncoder(DEPTH)
    optimizer = torch.optim.AdamW(network.parameters(), 2e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps, pct_start=0.05)
    scenes: queue.Queue[list[Region]] = queue.Queue(20)
    threading.Thread(target=generate, args=(seed + 1, scenes), daemon=True).start()
    pool = [scenes.get() for _ in range(20)]
    done, history = 0, []
    while done < steps:
        pool = (pool + [scenes.get() for _ in range(3)])[-KEPT:]
        batch: list[Sample] = []
        while len(batch) < BATCH:
            regions = pool[rng.integers(len(pool))]
            found = sample(rng, regions[rng.integers(len(regions))])
            batch += [found] if found is not None else []
        colors = np.stack([each.colors for each in batch])
        levels = [torch.from_numpy(level) for level in encoder.levels(colors)]
        labels = np.stack([each.label for each in batch])
        wanted, before = torch.from_numpy(labels).float(), np.zeros((BATCH, 1, SIDE, SIDE), np.float32)
        for number in range(ROUNDS):
            if done == steps:
                break
            clicks = np.stack([marks(each.clicks, NETWORK) for each in batch])
            planes = torch.from_numpy(np.concatenate([colors, before, clicks], 1))
            logits = network(planes.contiguous(memory_format=torch.channels_last), *levels)
            probabilities = torch.sigmoid(logits)
            overlap = 2 * (probabilities * wanted).sum((1, 2)) + 1
            dice = 1 - overlap / ((probabilities + wanted).sum((1, 2)) + 1)
            loss = functional.binary_cross_entropy_with_logits(logits, wanted) + 0.5 * dice.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            done += 1
            masks = probabilities.detach().numpy()
            found = masks > 0.5
            iou = (found & labels).sum((1, 2)) / np.maximum((found | labels).sum((1, 2)), 1)
            history.append((number, float(loss.detach()), float(iou.mean())))
            for each, mask in zip(batch, found):
                following = next_click(mask, each.label, rng)
                if following is not None:
                    each.clicks.append(following)
            shift = [int(v) for v in rng.integers(-1, 2, 2)]
            before = np.roll(masks, shift, (1, 2))[:, None]
        if done % 200 < ROUNDS:
            recent = [[h[2] for h in history[-400:] if h[0] == r] for r in range(ROUNDS)]
            text = " ".join(f"{np.mean(r):.3f}" for r in recent)
            print(f"{done} steps, loss {np.mean([h[1] for h in history[-200:]]):.3f}, IoU by click {text}", flush=True)
    return network.eval()


def write(network: Network) -> None:
    """Store the network with its norms joined to the convolutions, in 16-bit floating-point numbers."""
    graph = GraphBuilder()

    def constant(values: torch.Tensor) -> str:
        return graph.add("Cast", [graph.constant(values.detach().numpy().astype(np.float16))], to=1)

    def convolve(x: str, layers: Any) -> str:
        layer, norm = layers[0], layers[1]
        gain = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        kernel, shift = layer.weight * gain[:, None, None, None], norm.bias - norm.running_mean * gain
        side, stride = layer.kernel_size[0], layer.stride[0]
        options = {"kernel_shape": [side, side], "strides": [stride] * 2, "pads": [side // 2] * 4}
        return graph.add("Relu", [graph.add("Conv", [x, constant(kernel), constant(shift)], **options)])

    def enlarge(x: str) -> str:
        scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
        return graph.add("Resize", [x, "", scales], mode="linear", coordinate_transformation_mode="half_pixel")

    values = [convolve(INPUT, network.start)]
    for i in range(DEPTH):
        x, level = convolve(values[-1], network.down[i]), convolve(f"level{i}", network.side[i])
        values.append(convolve(graph.add("Concat", [x, level], axis=1), network.join[i]))
    x = values[-1]
    for i in reversed(range(DEPTH)):
        x = convolve(graph.add("Concat", [enlarge(convolve(x, network.reduce[i])), values[i]], axis=1), network.up[i])
    x = graph.add("Conv", [x, constant(network.end.weight), constant(network.end.bias)], kernel_shape=[1, 1])
    x = graph.add("Squeeze", [graph.add("Sigmoid", [x]), graph.integers([1])], OUTPUT)
    sizes = {f"level{i}": ("N", lite0.WIDTHS[i], SIDE >> i + 1, SIDE >> i + 1) for i in range(DEPTH)}
    model = graph.network({INPUT: ("N", 6, SIDE, SIDE), **sizes}, {x: ("N", SIDE, SIDE)})
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_bytes(model.SerializeToString())


def check(clicker: ClickNetwork, count: int, seed: int = 7) -> None:
    """Print the clicks to an IoU of 0.80 on defects of the sample generator."""
    rng, needed = np.random.default_rng(seed), []
    for number in range(count):
        lot = make_lot(rng, MATERIALS[number % 3])
        drawn = SyntheticScene(rng, lot, (480, 360))
        drawn.add(KINDS[1 + number % 3])
        drawn.add_extras()
        needed.append(clicks_to(clicker, drawn.render(), drawn.mask > 0)[0])
    values = np.array(needed)
    parts = [f"{kind} {np.mean(values[i::3]):.2f}" for i, kind in enumerate(KINDS[1:])]
    print(f"check: mean {values.mean():.2f}, median {np.median(values):.0f}, {', '.join(parts)}", flush=True)


def clicks_to(clicker: ClickNetwork, image: np.ndarray, wanted: np.ndarray, goal: float = 0.8, most: int = 20) -> Any:
    """Return the clicks to an overlap, `most` if it is not reached, and the overlaps."""
    clicks, before, levels, overlaps = [], None, levels_of(image), []
    found = np.zeros(wanted.shape, bool)
    for _ in range(most):
        following = next_click(found, wanted)
        if following is None:
            break
        clicks.append(following)
        before = clicker.segment(image, clicks, before, levels)
        found[:] = False
        selection = before.selection(wanted.shape)
        found[selection.rect.slices] = selection.inside
        overlaps.append((found & wanted).sum() / (found | wanted).sum())
        if overlaps[-1] >= goal:
            return len(clicks), overlaps
    return most, overlaps


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=4500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    write(train(options.steps, options.seed))
    print(f"{TARGET}: {TARGET.stat().st_size} bytes")
    if options.check:
        check(ClickNetwork(stored_network()), options.check)
    return 0


if __name__ == "__main__":
    sys.exit(main())
