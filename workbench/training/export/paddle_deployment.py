"""Folder for PaddleSeg's and PaddleX' deployment tools: a Paddle program and the text file that describes its input.

paddlex/deploy.yaml             of a UNet, as PaddleSeg writes it; see `paddleseg.deploy.infer`
paddlex/inference.yml           of a ResNet, as PaddleX and PaddleClas write it
paddlex/inference.json          program, with inference.pdiparams

These tools read images as 8-bit RGB, and normalize them with a mean and a standard deviation. All other steps are in
the program: clipping, gray values, padding, mirrored passes, thresholds or temperature. Its outputs:

    class ids       int32 (N, H, W), first output of a UNet: thresholds are applied, small regions are not removed
    probabilities   float32 (N, 1 + classes, H, W), or (N, verdicts), the only output of a ResNet
"""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import yaml
from paddle import nn
from paddle.static import InputSpec

from workbench.core.messages import Message
from workbench.inference.io.file_access import make_folder, remove_tree, write_atomic
from workbench.inference.io.opencv import cv2
from workbench.inference.model_settings import MIRRORED, ModelSettings
from workbench.inference.tiles import MAX_VALUE, MIN_VALUE
from workbench.training.evaluator import DygraphEngine
from workbench.training.export.layouts import LayoutSource, facts
from workbench.training.export.line_export import fit_image
from workbench.training.export.line_graph import CLASS_AREAS, CLASS_MAP, PROBABILITIES, UNSURE_INDEX, VERDICT
from workbench.training.export.parity import Parity, compare_line

FOLDER, STEM = "paddlex", "inference"
SEGMENTATION_FILE, CLASSIFICATION_FILE = "deploy.yaml", "inference.yml"
_LUMA = (0.299, 0.587, 0.114)
_NEVER = 1e6  # threshold that no value of 0..255 reaches: that of the background
_MOST_IMAGES = 20
_MODEL_NAME = "ResNet18"


def write_deployment(folder: Path, settings: ModelSettings, source: LayoutSource) -> Parity:
    """Write the folder if its program gives the results of the run; otherwise no file remains. Raises OSError."""
    if settings.task == "segmentation" and settings.scale != 1:
        return Parity(why=Message("layout.scaled", n=f"{settings.scale:g}"))
    target = folder / FOLDER
    make_folder(target)
    layer = DeploymentLayer(source.net, settings)
    layer.eval()
    save_layer(layer, settings, target / STEM)
    program = paddle.jit.load(str(target / STEM))
    program.eval()
    # PaddleSeg predicts an image in one pass. The comparison is on images of one tile, which the run does, too.
    eight_bits = dataclasses.replace(settings, full_scale=255.0)
    images = [(name, partial(_fitted, read, eight_bits)) for name, read in source.images[:_MOST_IMAGES]]
    result = compare_line(
        settings, DygraphEngine(source.net), partial(outputs_of, program, settings), images, lambda _: source.check()
    )
    if not result.passed:
        remove_tree(target)
        return result
    name = SEGMENTATION_FILE if settings.task == "segmentation" else CLASSIFICATION_FILE
    content = yaml.safe_dump(description(settings), allow_unicode=True, sort_keys=False)
    write_atomic(target / name, content.encode())
    return result


def normalization(settings: ModelSettings) -> tuple[list[float], list[float]]:
    """Return mean and standard deviation of the three channels, for pixels of 0 to 1."""
    span = (settings.high - settings.low) / settings.full_scale
    low = settings.low / settings.full_scale
    factor = 3 // settings.channels
    return [low + mean * span for mean in settings.mean] * factor, [std * span for std in settings.std] * factor


class DeploymentLayer(nn.Layer):
    """Network with the steps that deployment tools leave to the program. Input: float32 (N,3,H,W), normalized RGB."""

    def __init__(self, net: nn.Layer, settings: ModelSettings) -> None:
        super().__init__()
        self.net = net
        self._settings = settings
        mean, std = (np.array(values, np.float32) for values in (settings.mean, settings.std))
        bounds = ((MIN_VALUE - mean) / std, (MAX_VALUE - mean) / std)
        self._low, self._high = (paddle.to_tensor(values[None, :, None, None]) for values in bounds)
        self._luma = paddle.to_tensor(np.array(_LUMA, np.float32)[None, :, None, None])
        levels = [max(1, math.ceil(255 * threshold - 1e-9)) for threshold in settings.thresholds]
        self._levels = paddle.to_tensor(np.array([_NEVER, *levels], np.float32)[None, :, None, None])
        self._ids = paddle.to_tensor(np.array([0, *(entry.id for entry in settings.classes)], np.int32))

    def forward(self, x: paddle.Tensor) -> Any:
        settings = self._settings
        if settings.channels == 1:
            x = paddle.sum(x * self._luma, axis=1, keepdim=True)
        x = paddle.minimum(paddle.maximum(x, self._low), self._high)
        if settings.task == "classification":
            logits = paddle.log(paddle.clip(self._probabilities(x), min=1e-30)) / settings.temperature
            return nn.functional.softmax(logits, axis=1)
        height, width = paddle.shape(x)[2], paddle.shape(x)[3]
        x = paddle.index_select(x, _mirrored(height, settings.multiple), axis=2)
        x = paddle.index_select(x, _mirrored(width, settings.multiple), axis=3)
        probabilities = self._probabilities(x)[:, :, :height, :width]
        scores = paddle.round(probabilities * 255)
        kept = paddle.where(scores >= self._levels, scores, paddle.zeros_like(scores))
        index = paddle.argmax(kept, axis=1)  # the first of equals
        ids = paddle.gather(self._ids, paddle.flatten(index)).reshape(paddle.shape(index))
        return ids, probabilities

    def _probabilities(self, x: paddle.Tensor) -> paddle.Tensor:
        total = nn.functional.softmax(self.net(x), axis=1)
        for name in self._settings.mirrored:
            axes = list(MIRRORED[name])
            output = nn.functional.softmax(self.net(paddle.flip(x, axes)), axis=1)
            total = total + (paddle.flip(output, axes) if len(output.shape) == 4 else output)
        return total / (1 + len(self._settings.mirrored))


def _mirrored(length: paddle.Tensor, multiple: int) -> paddle.Tensor:
    """Return the indices that extend a side to the next multiple by mirroring, as `tiles.cut` does."""
    length = length.astype("int64")
    missing = (multiple - length % multiple) % multiple
    index = paddle.arange(0, length + missing, dtype="int64")
    reflected = paddle.where(index < length, index, 2 * (length - 1) - index)
    period = index % (2 * length)
    symmetric = paddle.where(period < length, period, 2 * length - 1 - period)
    return paddle.where(missing < length, reflected, symmetric)


def save_layer(layer: DeploymentLayer, settings: ModelSettings, stem: Path) -> None:
    """Write stem.json and stem.pdiparams, for batches of any size; a UNet also accepts images of any size."""
    sides = [None, None] if settings.task == "segmentation" else [settings.input_size] * 2
    paddle.jit.save(layer, str(stem), input_spec=[InputSpec([None, 3, *sides], "float32", name="x")])


def description(settings: ModelSettings) -> dict[str, Any]:
    """Return the content of deploy.yaml, or of inference.yml for a ResNet."""
    mean, std = normalization(settings)
    about = facts(settings)
    if settings.task == "classification":
        size = [settings.input_size] * 2
        steps = [
            {"ResizeImage": {"size": size, "interpolation": "AREA"}},
            {"NormalizeImage": {"channel_num": 3, "mean": mean, "std": std, "scale": 1 / 255, "order": ""}},
            {"ToCHWImage": None},
        ]
        topk = {"topk": min(5, len(settings.verdicts)), "label_list": list(settings.verdicts)}
        return {
            # PaddleX selects its image classifier by the name of one of its models.
            "Global": {"model_name": _MODEL_NAME},
            "PreProcess": {"transform_ops": steps},
            "PostProcess": {"Topk": topk},
            "Model": about,
        }
    return {
        "Deploy": {
            "model": f"{STEM}.json",
            "params": f"{STEM}.pdiparams",
            "transforms": [{"type": "Normalize", "mean": mean, "std": std}],
            "input_shape": [-1, 3, -1, -1],
            "output_op": "argmax",
            "output_dtype": "int32",
        },
        "Labels": {0: "background", **{entry.id: entry.name for entry in settings.classes}},
        "Model": about,
    }


# --- comparison with the run --------------------------------------------------------------------------


def _fitted(read: Any, settings: ModelSettings) -> np.ndarray:
    """Return an image as 8-bit gray values or RGB; for a UNet its upper left corner of at most one tile."""
    image = np.asarray(read())
    if settings.task == "segmentation":
        image = image[: settings.tile, : settings.tile]
        return fit_image(image, settings, image.shape[:2])
    return fit_image(image, settings, image.shape[:2])


def outputs_of(program: Any, settings: ModelSettings, image: np.ndarray) -> dict[str, np.ndarray]:
    """Return the outputs for an image (H,W) or (H,W,3), as the deployment tools compute them from a file."""
    pixels = image if image.ndim == 3 else np.repeat(image[..., None], 3, axis=2)
    if settings.task == "classification" and pixels.shape[:2] != (settings.input_size,) * 2:
        pixels = cv2.resize(pixels, (settings.input_size,) * 2, interpolation=cv2.INTER_AREA)
    mean, std = (np.array(values, np.float32) for values in normalization(settings))
    batch = ((pixels.astype(np.float32) / np.float32(255) - mean) / std).transpose(2, 0, 1)[None]
    with paddle.no_grad():
        outputs = program(paddle.to_tensor(np.ascontiguousarray(batch)))
    if settings.task == "classification":
        probabilities = outputs.numpy()
        best = int(probabilities[0].argmax())
        verdict = best if probabilities[0, best] >= settings.unsure else UNSURE_INDEX
        return {PROBABILITIES: probabilities, VERDICT: np.array([verdict])}
    ids, probabilities = (output.numpy() for output in outputs)
    areas = [int(np.count_nonzero(ids == entry.id)) for entry in settings.classes]
    return {CLASS_MAP: ids.astype(np.uint8), CLASS_AREAS: np.array([areas]), PROBABILITIES: probabilities}
