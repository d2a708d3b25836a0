"""Layer structure, computing effort and receptive field of the networks, calculated without building them.

`training.networks` and `training.encoders` build the networks.

Training settings of a run that starts from an earlier UNet reduced to its strongest channels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_cache_dir

from workbench.core import lite0
from workbench.core.messages import Message
from workbench.core.problems import BadSettings
from workbench.core.runs.training_settings import TrainingSettings

# Preprocessing and architecture except for the widths. Part of a network only works under the same conditions.
_FROM_EARLIER_RUN = (
    "channels",
    "full_scale",
    "low",
    "high",
    "mean",
    "std",
    "scale",
    "stem",
    "local_contrast",
    "encoder",
    "patch",
    "overlap",
    "quality",
)
_SAME = ("channels", "stem", "local_contrast")  # changing one of these makes the weights incompatible


def prune_settings(requested: TrainingSettings, earlier: TrainingSettings | None) -> TrainingSettings:
    """Return `requested` with the widths of `earlier`, reduced by the share `prune`, and what must not change.

    Raises BadSettings if nothing can be pruned.
    """
    why = _refusal(requested, earlier)
    if why or earlier is None:
        raise BadSettings(key="prune", value=requested.prune, why=why)
    values: dict[str, Any] = {"widths": shrink(earlier.widths, requested.prune)}
    if values["widths"] == earlier.widths:
        raise BadSettings(key="prune", value=requested.prune, why=Message("prune.too_little"))
    text = "-".join(map(str, earlier.widths))
    reasons = {"widths": Message("plan.pruned_widths", widths=text, n=f"{requested.prune:.0%}")}
    for key in _FROM_EARLIER_RUN:
        values[key] = getattr(earlier, key)
        reasons[key] = Message("plan.as_initial_run")
    values["rate"] = earlier.rate / 2
    reasons["rate"] = Message("plan.half_rate")
    chosen: dict[str, Any] = {key: getattr(requested, key) for key in requested.model_fields_set}
    reasons = {key: reason for key, reason in reasons.items() if key not in chosen}
    chosen["reasons"] = {**reasons, **requested.reasons}
    return TrainingSettings(**{**values, **chosen})


def _refusal(requested: TrainingSettings, earlier: TrainingSettings | None) -> str:
    if earlier is None:
        return Message("prune.no_run")
    if requested.model != "unet" or earlier.model != "unet":
        return Message("prune.unet_only")
    if earlier.encoder != "plain" or requested.encoder != "plain":
        return Message("prune.plain_only")
    if "widths" in requested.model_fields_set:
        return Message("prune.widths_fixed")
    for key in _SAME:
        if key in requested.model_fields_set and getattr(requested, key) != getattr(earlier, key):
            return Message("prune.must_stay", key=key, value=getattr(earlier, key))
    return ""


def shrink(widths: Sequence[int], share: float) -> list[int]:
    """Reduce widths by `share`, rounded to multiples of 16 or 8, ties downward.

    CPUs compute channels in such blocks: 20 channels take as long as 24.
    """
    result = []
    for width in widths:
        step = 16 if width >= 64 else 8 if width >= 16 else 1
        result.append(min(width, max(1, math.ceil(width * (1 - share) / step - 0.5)) * step))
    return result


def is_smaller(settings: TrainingSettings, earlier: TrainingSettings) -> bool:
    """Return True if the UNet of `settings` is that of `earlier` with fewer channels."""
    if settings.model != "unet" or earlier.model != "unet" or settings.widths == earlier.widths:
        return False
    if any(getattr(settings, key) != getattr(earlier, key) for key in _SAME):
        return False
    plain = settings.encoder == earlier.encoder == "plain" and len(settings.widths) == len(earlier.widths)
    return plain and all(now <= before for now, before in zip(settings.widths, earlier.widths))


BLOCKS = {18: (2, 2, 2, 2), 34: (3, 4, 6, 3), 50: (3, 4, 6, 3)}  # blocks per stage of a ResNet, by its depth
LITE0_LEVELS = 4  # of EfficientNet-Lite0 in a UNet: strides 2 to 16
SMALL_INPUT = 96  # pixels; up to this input size the ResNet stem reduces the resolution less
RESNETS = {"resnet18": 18, "resnet34": 34}  # depth of a ResNet as encoder

Layer = tuple[float, int, int, int]  # positions, input channels, output channels, kernel pixels


def downloaded_resnet(depth: int) -> Path:
    """Return the path of the published weights of a ResNet on this machine; without a download nothing is there."""
    cache = Path(user_cache_dir("defect-workbench", appauthor=False))
    return cache / "weights" / f"resnet{depth}.pdparams"


def stage_widths(width: float) -> list[int]:
    """Return the channels of the 3x3 convolutions in the four stages of a ResNet, rounded to multiples of 8."""
    return [max(8, round(base * width / 8) * 8) for base in (64, 128, 256, 512)]


def encoder_widths(encoder: str, width: float) -> list[int]:
    """Return the channels per level of a UNet whose encoder is not plain; of a ResNet, the stem and the four stages."""
    if encoder == "lite0":
        return list(lite0.WIDTHS[:LITE0_LEVELS])
    widths = stage_widths(width)
    return [widths[0], *widths]


def multiplications(settings: TrainingSettings) -> float:
    """Return the number of multiplications per patch (UNet) or per image (ResNet), counting the large layers only."""
    if settings.model == "unet":
        layers = _unet(settings)
    elif settings.encoder == "lite0":
        layers = _lite0(settings.input_size, len(lite0.WIDTHS))
    else:
        layers = _resnet(settings, settings.depth, settings.input_size)
    return sum(places * inputs * outputs * seen for places, inputs, outputs, seen in layers)


def _unet(settings: TrainingSettings) -> Iterator[Layer]:
    plain = settings.encoder == "plain"
    stem = settings.stem if plain else 2
    widths = settings.widths if plain else encoder_widths(settings.encoder, settings.width)
    cells = [(settings.patch / stem / 2**level) ** 2 for level in range(len(widths))]
    if settings.encoder == "lite0":
        yield from _lite0(settings.patch, LITE0_LEVELS)
    elif not plain:
        yield from _resnet(settings, RESNETS[settings.encoder], settings.patch)
    else:
        input_channels = settings.channels * (2 if settings.local_contrast else 1)
        if stem > 1:
            yield cells[0], input_channels, widths[0], (2 * stem) ** 2
        first = widths[0] if stem > 1 else input_channels
        for area, inputs, outputs in zip(cells, [first, *widths], widths):
            yield from _double_convolution(area, inputs, outputs)
    for area, inputs, outputs in zip(cells, widths[1:], widths):
        yield area, inputs, outputs, 1
        yield from _double_convolution(area, 2 * outputs, outputs)


def _double_convolution(places: float, inputs: int, outputs: int) -> Iterator[Layer]:
    yield places, inputs, outputs, 9
    yield places, outputs, outputs, 9


def _lite0(side: int, levels: int) -> Iterator[Layer]:
    stride = 1
    for layer in lite0.convolutions(levels):
        stride *= layer.stride
        yield (side / stride) ** 2, layer.inputs // layer.groups, layer.outputs, layer.kernel**2


def _resnet(settings: TrainingSettings, depth: int, side: int) -> Iterator[Layer]:
    """Yield the layers of a ResNet without its last layer."""
    widths, wider = stage_widths(settings.width), 4 if depth == 50 else 1
    inside = settings.model == "unet"
    small = not inside and side <= SMALL_INPUT
    doubled = settings.local_contrast if inside else settings.standardize
    input_channels = settings.channels * (2 if doubled else 1)
    yield (side / 2) ** 2, input_channels, widths[0], 9 if small else 49
    inputs, area = widths[0], (side / (2 if small else 4)) ** 2
    for level, (count, width) in enumerate(zip(BLOCKS[depth], widths)):
        for index in range(count):
            before, area = area, area / 4 if level and not index else area
            outputs = width * wider
            if wider > 1:
                yield before, inputs, width, 1
                yield area, width, width, 9
                yield area, width, outputs, 1
            else:
                yield area, inputs, width, 9
                yield area, width, width, 9
            if before != area or inputs != outputs:
                yield area, inputs, outputs, 1
            inputs = outputs


def receptive_field(settings: TrainingSettings) -> int:
    """Return the receptive field of a UNet: largest distance, in network pixels, of an input that affects an output.

    Two 3 x 3 convolutions per level each extend it by one cell of that level, in the encoder and in the decoder; the
    output pixel may lie anywhere in its cell of the lowest level.
    """
    if settings.encoder == "plain":
        cells = [settings.stem * 2**level for level in range(len(settings.widths))]
        down = 2 * sum(cells)
    elif settings.encoder == "lite0":
        cells = [2**level for level in range(1, LITE0_LEVELS + 1)]
        down, cell = 0, 1
        for layer in lite0.convolutions(LITE0_LEVELS):
            down += layer.kernel // 2 * cell
            cell *= layer.stride
    else:
        depth = RESNETS[settings.encoder]
        cells = [2, 4, 8, 16, 32]
        down = 4 + sum(2 * count * cell for count, cell in zip(BLOCKS[depth], cells[1:]))
    around = 48 if settings.local_contrast else 0
    return down + 2 * sum(cells[:-1]) + cells[-1] + settings.stem + around


def smallest_detectable_area(settings: TrainingSettings) -> int:
    """Return the least size of a detectable region in image pixels.

    This is the greater of `min_area` and the area of one cell of the network, which works on an image scaled by `scale`
    with cells of `stem` pixels; smaller regions are less than one of its values.
    """
    return max(settings.min_area, math.ceil((settings.stem / settings.scale) ** 2))
