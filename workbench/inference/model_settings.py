"""Settings of a model: the content of model.json, with validation."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from .engine_options import EngineOptions
from .io.atomic_write import write_atomic
from .io.json_io import JsonError, read_json
from .settings_checks import FORMAT, MIRRORED, UNSURE, SettingsError, check_settings, require
from .verdict_rule import VerdictRule

__all__ = ["FORMAT", "MIRRORED", "UNSURE", "SettingsError"]
MODEL_FILE = "model.json"

_SEQUENCES = ("classes", "verdicts", "mean", "std", "thresholds", "min_area", "mirrored", "order")
_OPTIONAL = (
    "mirrored",
    "order",
    "engines",
    "unsure",
    "verdict_border",
    "border_exponent",
    "verdict_rule",
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
    batch: int = 4
    threads: int = 0
    files: dict[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()
    engines: dict[str, EngineOptions] = field(default_factory=dict)
    format: int = FORMAT

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
    rule = _rule_from_json(content.get("verdict_rule"))
    classes = tuple(_class_from_json(entry) for entry in classes)
    return ModelSettings(**{**content, "classes": classes, "engines": engines, "verdict_rule": rule})


def _rule_from_json(content: Any) -> VerdictRule | None:
    try:
        return None if content is None else VerdictRule.from_json(content)
    except ValueError as error:
        raise SettingsError(f"verdict_rule cannot be used: {error}.") from None


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
