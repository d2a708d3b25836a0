"""Recognition of the interface of an encoder and decoder pair by the names, shapes and types of inputs and outputs.

Recognized are the exports of

* Segment Anything (github.com/facebookresearch/segment-anything: `scripts/export_onnx_model.py`, `utils/onnx.py`),
  whose decoder has the inputs image_embeddings, point_coords, point_labels, mask_input, has_mask_input, orig_im_size
  and the outputs masks, iou_predictions, low_res_masks. Its encoder is exported by github.com/vietanhdev/samexporter as
  RGB values (H, W, 3) or as a normalized, padded image (1, 3, 1024, 1024). The decoder of MobileSAM is the same
  (github.com/ChaoningZhang/MobileSAM).
* EdgeSAM (github.com/chongzhou96/EdgeSAM: `scripts/export_onnx_model.py`): the decoder has no mask input, and its
  outputs are scores and masks of a low resolution.
* EfficientSAM (github.com/yformer/EfficientSAM: `export_to_onnx.py`, `onnx_models.py`): batched_images with values from
  0 to 1 in any size; batched_point_coords (1, 1, N, 2), batched_point_labels, at most six points.
* Segment Anything 2 (github.com/vietanhdev/samexporter: `export_sam2.py`): the encoder also computes high_res_feats_0
  and high_res_feats_1, and the image is stretched to a square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.core.messages import Message
from workbench.core.problems import ClickModelRefused
from workbench.core.runs.network_process import NUMPY_TYPES, ChildNetwork, NetworkCancelled, Tensor
from workbench.core.runs.onnx_files import NetworkRefused, network_stamp

PIXEL_VALUES = ("auto", "normalized", "255", "1")  # meaning of the encoder's input; "auto": as its interface implies
DEFAULT_SIDE = 1024  # of the encoder's input, pixels, if no file states it
MAX_SIDE = 4096
_EFFICIENT_POINTS = 6
_REDUCTION = 4  # of the mask input to the image input
_POINTS, _LABELS = ("point_coords", "batched_point_coords"), ("point_labels", "batched_point_labels")
_MASKS, _LOW_RES = ("masks", "output_masks"), ("low_res_masks", "low_res_logits")
_QUALITIES = ("iou_predictions", "scores", "iou_scores")
_IMAGE_TYPES = ("float16", "float", "double", "uint8")

Fit = Literal["pad", "stretch", "free"]


_MAX_NAMED = 12  # inputs or outputs that a message lists


class ClickCancelled(Exception):
    """Run that was ended on request."""


class OnnxNetwork(ChildNetwork):
    """Network of a file. Not for several threads at once, except `terminate`.

    Raises ClickModelRefused if the file cannot be a network, and ClickCancelled.
    """

    def __init__(self, path: Path) -> None:
        with _refusals(path):
            super().__init__(path, why="click.not_run")

    def load(self, cancelled: Callable[[], bool]) -> None:
        with _refusals(self.path):
            super().load(cancelled)

    def run(
        self, feeds: Mapping[str, np.ndarray], outputs: Sequence[str], cancelled: Callable[[], bool]
    ) -> list[np.ndarray]:
        with _refusals(self.path):
            return super().run(feeds, outputs, cancelled)

    def refused(self, id: str, **fields: object) -> ClickModelRefused:
        """Return the problem with a reason of the catalog."""
        return ClickModelRefused(path=str(self.path), why=Message(id, **fields))

    @property
    def signature(self) -> dict[str, str]:
        """Fields `inputs` and `outputs` of a message: names, types and sizes."""
        return {"inputs": _listed(self.inputs), "outputs": _listed(self.outputs)}


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    """Raise the exceptions of a click model instead of those of networks in general."""
    try:
        yield
    except NetworkCancelled as error:
        raise ClickCancelled from error
    except NetworkRefused as refusal:
        raise ClickModelRefused(path=str(path), why=refusal.why) from refusal


def file_stamp(path: Path) -> tuple[int, int]:
    """Return the time of the last change and the size of a file. Raises ClickModelRefused if it cannot be a network."""
    with _refusals(path):
        return network_stamp(path)


def _listed(tensors: Mapping[str, Tensor]) -> str:
    texts = [str(tensor) for tensor in tensors.values()]
    return ", ".join(texts[:_MAX_NAMED]) + (", …" if len(texts) > _MAX_NAMED else "")


@dataclass(frozen=True)
class ModelInterface:
    """Inputs and outputs of a pair, and the preparation of an image.

    layout: of the image input, "hwc", "nhwc" or "nchw". sides: height and width in pixels of that input, and for free
    sizes the largest. fixed: the image input has exactly these sides.
    fit: "pad" scales the image into the sides, and the rest is filled; "stretch" changes its aspect ratio; "free"
    scales it only, and the masks cover the image. values: a value of `PIXEL_VALUES` other than "auto".
    features: outputs of the encoder by inputs of the decoder. masks: output with the masks, which cover the padded
    square, or the image if `image_size` is an input and there is no output of low resolution. max_points: None for any
    number.
    """

    name: str
    image: Tensor
    layout: Literal["hwc", "nhwc", "nchw"]
    sides: tuple[int, int]
    fixed: bool
    fit: Fit
    values: str
    features: Mapping[str, str]
    points: Tensor
    labels: Tensor
    mask_input: Tensor | None
    has_mask_input: Tensor | None
    image_size: Tensor | None
    masks: str
    low_res: bool
    quality: str | None
    max_points: int | None

    @property
    def masks_cover_image(self) -> bool:
        """True if the masks have the proportions of the image, without a padded part."""
        return self.fit != "pad" or (self.image_size is not None and not self.low_res)


def recognize(encoder: OnnxNetwork, decoder: OnnxNetwork, values: str = "auto") -> ModelInterface:
    """Return the interface of a pair. Raises ClickModelRefused if it is none of the known ones."""
    if _first(encoder.inputs, _POINTS) and not _first(decoder.inputs, _POINTS):
        raise encoder.refused("click.exchanged")
    points, labels = _prompt_inputs(decoder)
    image, layout = _image_input(encoder)
    mask_input, has_mask_input = _mask_inputs(decoder)
    size = decoder.inputs.get("orig_im_size")
    prompts = {points.name, labels.name, "mask_input", "has_mask_input", "orig_im_size"}
    features = _features(encoder, decoder, [tensor for name, tensor in decoder.inputs.items() if name not in prompts])
    low_res, masks = _first(decoder.outputs, _LOW_RES), _first(decoder.outputs, _MASKS)
    if low_res is None and masks is None:
        raise decoder.refused("click.no_masks", **decoder.signature)
    for tensor in (points, labels, mask_input, has_mask_input, size):
        if tensor is not None and tensor.type not in NUMPY_TYPES:
            raise decoder.refused("click.number_type", name=str(tensor))
    name, fit = _family(image, points, decoder, features)
    fixed = _fixed_sides(encoder, image, layout)
    reduced = mask_input.shape[-1] if mask_input is not None else None
    free_side = _REDUCTION * reduced if reduced else DEFAULT_SIDE
    return ModelInterface(
        name=name,
        image=image,
        layout=layout,
        sides=fixed or (free_side, free_side),
        fixed=fixed is not None,
        fit="stretch" if fit == "free" and fixed is not None else fit,
        values=_pixel_values(values, image, layout),
        features=features,
        points=points,
        labels=labels,
        mask_input=mask_input,
        has_mask_input=has_mask_input,
        image_size=size,
        masks=low_res or masks or "",
        low_res=low_res is not None,
        quality=_first(decoder.outputs, _QUALITIES),
        max_points=points.shape[-2] or (_EFFICIENT_POINTS if points.name == _POINTS[1] else None),
    )


def _first(tensors: Mapping[str, Tensor], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in tensors), None)


def _family(image: Tensor, points: Tensor, decoder: OnnxNetwork, features: Mapping[str, str]) -> tuple[str, Fit]:
    if any(name.startswith("high_res_feat") for name in features):
        return "Segment Anything 2", "stretch"
    if points.name == _POINTS[1] or image.name == "batched_images":
        return "EfficientSAM", "free"
    if "mask_input" not in decoder.inputs and "orig_im_size" not in decoder.inputs:
        return "EdgeSAM", "pad"
    return "Segment Anything", "pad"


def _pixel_values(chosen: str, image: Tensor, layout: str) -> str:
    """Return the meaning of the input's values: those of an image if its layout is that of one."""
    if chosen != "auto":
        return chosen
    if image.name == "batched_images":
        return "1"
    return "255" if layout != "nchw" or image.type == "uint8" else "normalized"


def _prompt_inputs(decoder: OnnxNetwork) -> tuple[Tensor, Tensor]:
    """Return the inputs for points (…, N, 2) and labels (…, N)."""
    points, labels = _first(decoder.inputs, _POINTS), _first(decoder.inputs, _LABELS)
    if points is None or labels is None:
        raise decoder.refused("click.no_decoder", **decoder.signature)
    coordinates, kinds = decoder.inputs[points], decoder.inputs[labels]
    rank = len(coordinates.shape)
    one = all(size in (None, 1) for size in coordinates.shape[:-2])
    if rank not in (3, 4) or len(kinds.shape) != rank - 1 or coordinates.shape[-1] not in (None, 2) or not one:
        raise decoder.refused("click.points_shape", name=str(coordinates), other=str(kinds))
    return coordinates, kinds


def _mask_inputs(decoder: OnnxNetwork) -> tuple[Tensor | None, Tensor | None]:
    """Return the inputs for the mask of the last step (1, 1, h, w) and for the number that turns it on."""
    mask, switch = decoder.inputs.get("mask_input"), decoder.inputs.get("has_mask_input")
    if (mask is None) != (switch is None) or (mask is not None and len(mask.shape) != 4):
        raise decoder.refused("click.mask_input", **decoder.signature)
    return mask, switch


def _image_input(encoder: OnnxNetwork) -> tuple[Tensor, Literal["hwc", "nhwc", "nchw"]]:
    entries = list(encoder.inputs.values())
    if len(entries) == 1 and entries[0].type in _IMAGE_TYPES:
        image, shape = entries[0], entries[0].shape
        if len(shape) == 3 and shape[2] in (3, None):
            return image, "hwc"
        if len(shape) == 4 and shape[0] in (1, None):
            if shape[1] in (3, None) and shape[3] != 3:
                return image, "nchw"
            if shape[3] == 3:
                return image, "nhwc"
    raise encoder.refused("click.no_encoder", **encoder.signature)


def _fixed_sides(encoder: OnnxNetwork, image: Tensor, layout: str) -> tuple[int, int] | None:
    """Return height and width of the image input, None if both are free."""
    first = {"hwc": 0, "nhwc": 1, "nchw": 2}[layout]
    height, width = image.shape[first : first + 2]
    if height is None and width is None:
        return None
    if height is None or width is None or max(height, width) > MAX_SIDE:
        raise encoder.refused("click.image_size", name=str(image), n=MAX_SIDE)
    return height, width


def _features(encoder: OnnxNetwork, decoder: OnnxNetwork, needed: list[Tensor]) -> dict[str, str]:
    """Return the outputs of the encoder by inputs of the decoder: of equal name, or the only one left."""
    found = {tensor.name: tensor.name for tensor in needed if tensor.name in encoder.outputs}
    left = [tensor for tensor in needed if tensor.name not in found]
    free = [name for name in encoder.outputs if name not in found.values()]
    if len(left) == len(free) == 1 and left[0].type.startswith(("float", "double")):
        found[left.pop().name] = free[0]
    if left or not needed:
        names = ", ".join(str(tensor) for tensor in left) or "image_embeddings"
        raise _not_paired(encoder, decoder, names)
    for tensor in needed:
        output = encoder.outputs[found[tensor.name]]
        agree = len(output.shape) == len(tensor.shape) and output.type == tensor.type
        if not agree or any(None not in pair and pair[0] != pair[1] for pair in zip(output.shape, tensor.shape)):
            raise _not_paired(encoder, decoder, str(tensor))
    return found


def _not_paired(encoder: OnnxNetwork, decoder: OnnxNetwork, names: str) -> ClickModelRefused:
    why = Message("click.not_paired", names=names, name=encoder.path.name, outputs=encoder.signature["outputs"])
    return ClickModelRefused(path=str(decoder.path), why=why)
