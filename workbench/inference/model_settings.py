"""Settings of a model: the content of model.json, with validation."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from numbers import Real
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from .input_guard import InputLimits
from .inspection_area import InspectionArea, common_zones
from .io.file_access import write_atomic
from .io.json_io import JsonError, read_json
from .known_features import KnownFeatures
from .region_table import ANY_CLASS
from .verdict_rule import UNSURE, VerdictRule


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Speed and memory settings of an engine; settings that an engine does not support are ignored.

    threads: 0 for all, so that the best value of one machine also suits another with more cores.
    optimise: "all", or "extended", which disables ONNX Runtime's data layout optimizations.
    arena: keep memory for the next image.
    spin: idle threads spin, which is fast on an idle machine and slow on a busy one.
    """

    threads: int = 0
    optimise: str = "all"
    arena: bool = True
    spin: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.threads, bool) or not isinstance(self.threads, int) or not 0 <= self.threads <= 4096:
            raise ValueError(f"threads must be a whole number from 0 to 4096, not {self.threads!r}")
        if self.optimise not in ("all", "extended"):
            raise ValueError(f'optimise must be "all" or "extended", not {self.optimise!r}')
        for name in ("arena", "spin"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, not {getattr(self, name)!r}")

    @classmethod
    def from_json(cls, content: Any) -> EngineOptions:
        """Return settings from decoded JSON. Raises ValueError with the problem, as a part of a sentence."""
        if not isinstance(content, dict):
            raise ValueError(f"it must hold names and values, not {content!r}")
        unknown = sorted(set(content) - {entry.name for entry in fields(cls)})
        if unknown:
            raise ValueError(f"it has entries that are not known: {', '.join(map(str, unknown))}")
        return cls(**content)


FORMAT = 1

# Mirrored evaluations (test-time augmentation): the axes of (N,C,H,W) that are flipped.
MIRRORED: dict[str, tuple[int, ...]] = {"left_right": (3,), "upside_down": (2,), "both": (2, 3)}


class SettingsError(Exception):
    """Invalid settings; the text is a sentence."""


def require(condition: object, sentence: str) -> None:
    """Raise SettingsError with a sentence, without its full stop, if a condition is not met."""
    if not condition:
        raise SettingsError(f"{sentence}.")


def _check_integer(value: Any, low: int, high: int, name: str) -> None:
    valid = isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
    require(valid, f"{name} must be a whole number from {low} to {high}, not {value!r}")


def _check_number(value: Any, name: str) -> None:
    valid = isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    require(valid, f"{name} must be a number, not {value!r}")


def _check_positive(value: Any, name: str) -> None:
    _check_number(value, name)
    require(value > 0, f"{name} must be above 0, not {value!r}")


def _check_sequence(values: Any, length: int, name: str) -> None:
    valid = isinstance(values, tuple) and len(values) == length
    require(valid, f"{name} must be a list of {length}, not {values!r}")


def check_settings(settings: Any) -> None:
    """Raise SettingsError for the first setting that is invalid or does not fit the others. settings: ModelSettings."""
    require(settings.format == FORMAT, f"format must be {FORMAT}, not {settings.format!r}")
    require(isinstance(settings.name, str) and isinstance(settings.run, str), "name and run must be text")
    require(settings.task in ("segmentation", "classification"), f"the task {settings.task!r} is not known")
    _check_values(settings)
    _check_names(settings)
    if settings.task == "segmentation":
        _check_tiles(settings)
    else:
        _check_integer(settings.input_size, 1, 16384, "input_size")
        _check_positive(settings.temperature, "temperature")
        _check_number(settings.unsure, "unsure")
        require(0 <= settings.unsure < 1, f"unsure must be at least 0 and below 1, not {settings.unsure!r}")
        reserved = settings.unsure and UNSURE in settings.verdicts
        require(not reserved, f"a verdict is named {UNSURE!r} itself, so nothing else can be called that")
    valid = isinstance(settings.mirrored, tuple) and all(
        isinstance(n, str) and n in MIRRORED for n in settings.mirrored
    )
    require(valid and _is_unique(settings.mirrored), f"mirrored must name some of {', '.join(MIRRORED)}, each once")
    if settings.um_per_pixel is not None:
        _check_positive(settings.um_per_pixel, "um_per_pixel")
    _check_integer(settings.batch, 1, 4096, "batch")
    _check_integer(settings.threads, 0, 4096, "threads")
    _check_files(settings.files)
    areas = settings.areas
    valid = isinstance(areas, tuple) and all(isinstance(area, InspectionArea) for area in areas)
    require(valid and _is_unique([area.folder for area in areas]), "areas must be of different folders")
    for zone in settings.verdict_rule.zones if settings.verdict_rule is not None else ():
        require(
            zone in common_zones(areas),
            f"verdict_rule needs the zone {zone!r} in every image, and there is an image without it",
        )
    order = settings.order
    valid_order = isinstance(order, tuple) and all(isinstance(name, str) and name in settings.files for name in order)
    require(valid_order, "order must name engines that files names too")


def _check_values(settings: Any) -> None:
    require(settings.channels in (1, 3), f"channels must be 1 or 3, not {settings.channels!r}")
    _check_positive(settings.full_scale, "full_scale")
    _check_number(settings.low, "low")
    _check_number(settings.high, "high")
    require(settings.high > settings.low, "high must be above low")
    _check_sequence(settings.mean, settings.channels, "mean")
    _check_sequence(settings.std, settings.channels, "std")
    for value in settings.mean:
        _check_number(value, "mean")
    for value in settings.std:
        _check_positive(value, "std")


def _check_names(settings: Any) -> None:
    _check_integer(settings.verdict_border, 0, 16384, "verdict_border")
    _check_integer(settings.anomaly_exponent, 1, 64, "anomaly_exponent")
    _check_integer(settings.border_exponent, 0, 16, "border_exponent")
    if settings.task == "classification":
        require(settings.verdict_rule is None, "only a segmentation has a verdict_rule")
        require(settings.verdict_border == 0, "only a segmentation has a verdict_border")
        require(settings.anomaly_exponent == 1, "only a segmentation has an anomaly_exponent")
        require(settings.border_exponent == 0, "only a segmentation has a border_exponent")
        require(isinstance(settings.verdicts, tuple) and settings.verdicts, "a classification needs verdicts")
        require(all(isinstance(name, str) and name for name in settings.verdicts), "verdicts must be names")
        require(_is_unique(settings.verdicts), "two verdicts have the same name")
        return
    require(settings.classes, "a segmentation needs at least one class")
    for entry in settings.classes:
        _check_integer(entry.id, 1, 253, "a class id")
        require(isinstance(entry.name, str) and entry.name, "a class needs a name")
        valid = isinstance(entry.color, str) and re.fullmatch("#[0-9a-fA-F]{6}", entry.color)
        require(valid, f'the colour of a class must be "#rrggbb", not {entry.color!r}')
    require(_is_unique([entry.id for entry in settings.classes]), "two classes have the same id")
    require(_is_unique([entry.name for entry in settings.classes]), "two classes have the same name")
    _check_sequence(settings.thresholds, len(settings.classes), "thresholds")
    _check_sequence(settings.min_area, len(settings.classes), "min_area")
    for value in settings.thresholds:
        _check_number(value, "a threshold")
        require(0 < value <= 1, f"a threshold must be above 0 and at most 1, not {value!r}")
    for value in settings.min_area:
        _check_integer(value, 0, 2**53, "min_area")
    limits = settings.verdict_rule.limits if settings.verdict_rule is not None else ()
    known = {entry.id for entry in settings.classes}
    require(
        all(limit.class_id in known | {ANY_CLASS} for limit in limits), "verdict_rule has a limit of an unknown class"
    )
    rule = settings.verdict_rule
    for name in rule.others if rule is not None and not rule.bad else ():
        named = any(entry.name == name for entry in settings.classes)
        require(not named, f"a class is named {name!r}, so no verdict can be called that")


def _check_tiles(settings: Any) -> None:
    _check_positive(settings.scale, "scale")
    require(settings.scale <= 16, f"scale must be at most 16, not {settings.scale!r}")
    _check_integer(settings.multiple, 1, 4096, "multiple")
    _check_integer(settings.tile, 1, 16384, "tile")
    require(settings.tile % settings.multiple == 0, f"tile must be a multiple of {settings.multiple}")
    _check_integer(settings.overlap, 0, settings.tile - 1, "overlap")


def _check_files(files: Any) -> None:
    require(isinstance(files, dict), "files must name a file for each engine")
    for engine, name in files.items():
        require(
            isinstance(engine, str) and isinstance(name, str) and name,
            "files must name a file for each engine",
        )
        parts = PurePosixPath(name).parts
        inside = not name.startswith("/") and ".." not in parts and not set(name) & set("\\:\0")
        short = len(name) < 1000 and all(len(part.encode("utf-8", "replace")) < 256 for part in parts)
        require(short, f"the name of a file is too long: {name[:50]!r}...")
        require(inside, f"the file {name!r} lies outside the folder of the model")


def _is_unique(values: Sequence[Any]) -> bool:
    return len(set(values)) == len(values)


__all__ = ["FORMAT", "MIRRORED", "UNSURE", "SettingsError"]
MODEL_FILE = "model.json"

_SEQUENCES = ("classes", "verdicts", "mean", "std", "thresholds", "min_area", "mirrored", "order", "areas")
_OPTIONAL = (
    "mirrored",
    "order",
    "engines",
    "unsure",
    "verdict_border",
    "border_exponent",
    "verdict_rule",
    "input",
    "unlike",
    "areas",
)  # omitted if empty, as in files older than these settings
_FLOATS = (
    *("full_scale", "low", "high", "mean", "std", "scale"),
    *("thresholds", "um_per_pixel", "temperature", "unsure"),
)


@dataclass(frozen=True)
class ClassSettings:
    """Defect class. id: 1..253, the value in a mask. color: "#rrggbb"."""

    id: int
    name: str
    color: str


_NO_SCORE = (
    "This model has no unlike score: an image of another surface whose brightness, contrast, sharpness, color and size "
    "are usual is not recognized as unlike the training images."
)


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Complete description of the prediction except the weights, validated on construction (SettingsError).

    classes: foreground classes in the order of the network's channels 1, 2, ...; channel 0 is background.
    verdicts: names of the classification's verdicts, in the order of the network's outputs.
    channels: number of input channels, 1 (grayscale) or 3 (RGB).
    full_scale: largest value of the type of the training images (255, 65535, or 1 for float). Images of another type
        are converted to that scale first, so that 8-bit and 16-bit versions of an image give the same result.
    low, high: values on that scale that map to 0 and 1; the result is clipped to -0.5..1.5.
    mean, std: per channel; subtracted and divided by afterwards.
    scale: factor by which the image is resized before the network; 1 keeps its pixels.
    tile, overlap: side of a tile and overlap of neighboring tiles, in network pixels.
    multiple: the sides of the network's input are multiples of this.
    mirrored: keys of `MIRRORED`; the output is the mean over the original and these mirrored versions of the input.
    thresholds, min_area: per class; minimum probability, and minimum region area in image pixels.
    um_per_pixel: image scale in micrometers per pixel; None if unknown.
    input_size: side of the square to which an image is resized for classification.
    temperature: divisor of the log probabilities of the verdicts.
    unsure: minimum probability of a verdict; below it the result is "unsure". 0: every verdict is given.
    verdict_rule: of a segmentation, rule by which an image is rejected; None: images get no verdict.
    verdict_border: of a segmentation, width in image pixels of the strip along the border of an image in which nothing
        counts for the anomaly score and the verdict.
    anomaly_exponent: of a segmentation, exponent of the probability of each pixel of a region in the anomaly score, the
        sum over all regions. 1 in models of earlier versions; with 32, uncertain pixels hardly count.
    border_exponent: of a segmentation, exponent of the share of a region's pixels beyond `verdict_border`, by which its
        part of the anomaly score is multiplied. 0 in models of earlier versions; with 2, regions that grow from the
        border into the image hardly count.
    input: what the training images were like; None: images are not compared with them.
    unlike: features of the training images, for the unlike score; None: there is none.
    areas: inspection areas, each for the images of a folder; outside of it, everything is background, and a
        classification gets the mean gray value of the training images. Empty: whole images are inspected.
    batch: tiles per call of the network.
    threads: number of CPU threads, 0 for all.
    files: engine name to a file beside model.json.
    order: engines in the order in which to try them.
    engines: fastest settings of each engine, measured when the model was exported.
    """

    task: Literal["segmentation", "classification"]
    name: str
    run: str = ""
    classes: tuple[ClassSettings, ...] = ()
    verdicts: tuple[str, ...] = ()
    channels: int = 1
    full_scale: float = 255.0
    low: float = 0.0
    high: float = 255.0
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    scale: float = 1.0
    tile: int = 512
    overlap: int = 64
    multiple: int = 32
    mirrored: tuple[str, ...] = ()
    thresholds: tuple[float, ...] = ()
    min_area: tuple[int, ...] = ()
    um_per_pixel: float | None = None
    input_size: int = 224
    temperature: float = 1.0
    unsure: float = 0.0
    verdict_rule: VerdictRule | None = None
    verdict_border: int = 0
    anomaly_exponent: int = 1
    border_exponent: int = 0
    input: InputLimits | None = None
    unlike: KnownFeatures | None = None
    areas: tuple[InspectionArea, ...] = ()
    batch: int = 4
    threads: int = 0
    files: dict[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    engines: dict[str, EngineOptions] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def not_compared(self) -> str:
        """Sentence on the comparison with the training images that this model lacks; "" if it lacks none."""
        if self.input is None:
            return "This model compares no image with the training images: one that is unlike them is not recognized."
        return "" if self.unlike is not None else _NO_SCORE

    def __post_init__(self) -> None:
        # Equal settings must give equal bytes and hashes, so lists become tuples, and numbers in float fields become
        # floats.
        for name in _SEQUENCES:
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
        check_settings(self)
        for name in _FLOATS:
            value = getattr(self, name)
            if value is not None:
                try:
                    converted = tuple(float(entry) for entry in value) if isinstance(value, tuple) else float(value)
                except (TypeError, ValueError, OverflowError):
                    raise SettingsError(f"{name} must be a number, not {value!r}.") from None
                object.__setattr__(self, name, converted)

    def __hash__(self) -> int:
        return hash(settings_hash(self))


def load_settings(path: Path | str) -> ModelSettings:
    """Read model.json. Raises SettingsError with a sentence that names the file and the problem."""
    try:
        content = read_json(path)
    except FileNotFoundError:
        raise SettingsError(f"{path} does not exist.") from None
    except JsonError as error:
        raise SettingsError(f"{path} cannot be read: {error}.") from None
    try:
        return settings_from_json(content)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def save_settings(settings: ModelSettings, path: Path | str) -> None:
    """Write model.json atomically; equal settings give equal bytes. Raises OSError."""
    write_atomic(path, settings_text(settings).encode())


def settings_text(settings: ModelSettings) -> str:
    content = asdict(settings)
    content = {"format": content.pop("format"), **content}
    for name in _OPTIONAL:
        if not content[name]:
            del content[name]
    if settings.anomaly_exponent == 1:  # as in files older than this setting
        del content["anomaly_exponent"]
    if settings.verdict_rule is not None:
        content["verdict_rule"] = settings.verdict_rule.to_json()
        if settings.verdict_rule.unsure is None:
            del content["verdict_rule"]["unsure"]
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def settings_hash(settings: ModelSettings) -> str:
    """Return the SHA-256 of the settings in hexadecimal; models with equal hashes differ at most in their weights."""
    return hashlib.sha256(settings_text(settings).encode()).hexdigest()


def settings_from_json(content: Any) -> ModelSettings:
    """Return settings from decoded JSON. Raises SettingsError."""
    if not isinstance(content, dict):
        raise SettingsError("it holds no settings of a model.")
    number = content.get("format")
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise SettingsError("it has no format number")
    if number > FORMAT:
        newer = f"it was written by a newer version (format {number}; this one knows up to {FORMAT})"
        raise SettingsError(f"{newer}. Update to use it.")
    known = {entry.name for entry in fields(ModelSettings)}
    unknown = sorted(set(content) - known)
    require(not unknown, f"it has settings that are not known: {', '.join(unknown)}")
    missing = sorted({"task", "name"} - set(content))
    require(not missing, f"it lacks {', '.join(missing)}")
    classes = content.get("classes", [])
    require(isinstance(classes, list), "classes must be a list")
    engines = _engines_from_json(content.get("engines", {}))
    parts = {"verdict_rule": VerdictRule, "input": InputLimits, "unlike": KnownFeatures}
    read = {name: _part_from_json(name, kind, content.get(name)) for name, kind in parts.items()}
    classes = tuple(_class_from_json(entry) for entry in classes)
    areas = content.get("areas", [])
    require(isinstance(areas, list), "areas must be a list")
    read |= {"classes": classes, "engines": engines}
    read["areas"] = tuple(_part_from_json("areas", InspectionArea, entry) for entry in areas)
    return ModelSettings(**{**content, **read})


def _part_from_json(name: str, kind: Any, content: Any) -> Any:
    try:
        return None if content is None else kind.from_json(content)
    except ValueError as error:
        raise SettingsError(f"{name} cannot be used: {error}.") from None


def _engines_from_json(content: Any) -> dict[str, EngineOptions]:
    require(isinstance(content, dict), "engines must hold how each engine runs")
    try:
        return {str(name): EngineOptions.from_json(entry) for name, entry in content.items()}
    except ValueError as error:
        raise SettingsError(f"engines cannot be used: {error}.") from None


def _class_from_json(entry: Any) -> ClassSettings:
    expected = {"id", "name", "color"}
    require(isinstance(entry, dict) and set(entry) == expected, "each class needs exactly id, name and color")
    return ClassSettings(**entry)
