"""Training settings: those of a run, and those that the user has changed for all runs of a project.

`core.runs.planner` computes, with reasons, those that the user has not changed. The changed ones, beyond model, minutes
and device, are stored per kind of model in `training.json` beside project.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from pydantic import ConfigDict, Field, ValidationError

from workbench.core import problems
from workbench.core.json_files import load_versioned
from workbench.core.messages import Message, Text, catalog
from workbench.core.project.project import Project
from workbench.core.project.storage import write_json
from workbench.core.stored_model import StoredModel

Augmentation = Literal[
    "flip_horizontal", "flip_vertical", "rotate_90", "rotate", "zoom", "brightness", "contrast", "noise", "lighting"
]

Model = Literal["unet", "resnet", "good"]  # good: fitted to good images only, see core.anomaly_network
MODELS: tuple[Model, ...] = get_args(Model)

DEFAULT_MINUTES = 5.0
MIN_MINUTES = 0.1  # of the controls in the window; a run may be shorter
MAX_MINUTES = 60 * 24 * 14.0


def value_name(value: object) -> str | None:
    """Return the words for a value of a setting, such as "horizontal flip"; None for a number or a proper name."""
    id = f"value.{value if isinstance(value, str) else str(value).lower()}"
    return Message(id) if id in catalog() else None


class TrainingSettings(StoredModel):
    """Content of a run's recipe.json. Lengths are in network pixels unless stated otherwise."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)
    format: int = 1

    # choices of the user
    model: Model
    minutes: float | None = Field(default=DEFAULT_MINUTES, gt=0, le=MAX_MINUTES)
    epochs: int | None = Field(default=None, ge=1, le=1_000_000)  # limits the run instead of `minutes` if given
    device: str = "auto"  # "auto" | "cpu" | "gpu" | "gpu:0" | "gpu:0,1" | "cpu:2", see launch.processes
    quality: Literal["fast", "balanced", "best"] = "balanced"

    # preprocessing (see inference.model_settings)
    channels: Literal[1, 3] = 1
    full_scale: float = 255.0
    low: float = 0.0
    high: float = 255.0
    mean: list[float] = [0.5]
    std: list[float] = [0.25]
    scale: float = Field(default=1.0, gt=0, le=4)

    # initial weights: a run, optionally pruned, or a file of ResNet weights
    start_from: str | None = None  # run that provides the initial weights
    prune: float = Field(default=0.0, ge=0, le=0.9)  # share of channels to remove from that run's UNet
    # "imagenet": pretrained weights, of a ResNet from Paddle, downloaded once; or a .safetensors or .pdparams file of
    # ResNet weights; "random": no pretrained weights
    weights: str | None = None

    # `width` applies to ResNet encoders only. Of verdicts: "lite0", or "plain" for the ResNet of `depth`.
    encoder: Literal["plain", "lite0", "resnet18", "resnet34"] = "plain"

    # UNet
    widths: list[int] = [16, 32, 64, 128]  # channels per level; the length is the depth
    stem: Literal[1, 2, 4] = 1  # stride of the stem: 2 or 4 halves or quarters the resolution
    local_contrast: bool = True  # additional input: contrast of each pixel to its surroundings
    patch: int = Field(default=256, ge=32, le=4096)
    overlap: int = Field(default=32, ge=0, le=1024)
    foreground_share: float = Field(default=0.5, ge=0, le=1)  # share of patches centered on a defect
    dice_weight: float = Field(default=1.0, ge=0)
    cross_entropy_weight: float = Field(default=1.0, ge=0)
    class_weight: float = Field(default=0.0, ge=0)  # of the cross entropy between classes; 0: a Dice of each class
    mirror: bool = False  # the trained model also predicts each image mirrored, in a way of `augment`
    min_area: int = Field(default=0, ge=0)  # pixels of the original image; smaller regions are dropped

    # ResNet
    depth: Literal[18, 34, 50] = 18
    width: float = Field(default=1.0, gt=0, le=2)
    input_size: int = Field(default=224, ge=32, le=1024)
    standardize: bool = False  # additional input: the image with mean 0 and standard deviation 1
    train_further: bool = True  # after the fit of the last layer, with the encoder lite0
    label_smoothing: float = Field(default=0.05, ge=0, lt=0.5)

    # optimization
    batch: int = Field(default=8, ge=1, le=1024)
    optimizer: Literal["adamw", "muon"] = "adamw"
    rate: float = Field(default=2e-3, gt=0, le=10)
    weight_decay: float = Field(default=1e-2, ge=0)
    warm_up: float = Field(default=0.15, ge=0, le=0.9)  # share of the run
    grad_clip: float = Field(default=1.0, gt=0)
    average: float = Field(default=0.99, ge=0, lt=1)  # decay of the averaged weights (EMA); 0 disables it
    augment: list[Augmentation] = ["flip_horizontal", "flip_vertical", "rotate_90", "brightness", "contrast"]
    precision: Literal["auto", "fp32", "fp16", "bf16"] = "auto"
    amp_level: Literal["O1", "O2"] = "O1"
    seed: int = 0
    validations: int = Field(default=8, ge=1, le=1000)  # number of evaluations on the validation images
    threads: int = Field(default=0, ge=0)  # threads that prepare patches; 0: automatic
    workers: int = Field(default=1, ge=1, le=64)  # model replicas that share a batch, each on its own CPU core
    profile: bool = False  # measure the time of each part of a step, see training.learner

    reasons: dict[str, Text] = {}  # setting -> reason for its value


RANDOM = "random"  # value of `weights`
VERDICT_ENCODERS = ("plain", "lite0")

OF_UNET = {
    "prune",
    "widths",
    "stem",
    "local_contrast",
    "scale",
    "patch",
    "overlap",
    "foreground_share",
    "dice_weight",
    "cross_entropy_weight",
    "class_weight",
    "min_area",
    "mirror",
}
OF_RESNET = {"depth", "input_size", "standardize", "train_further", "label_smoothing"}
OF_GOOD = {"model", "full_scale", "low", "high", "scale"}
_NOT_OFFERED = {"format", "reasons", "amp_level"}  # O2 was never measured on a GPU; runs that have it remain readable


def concerns(model: str) -> list[str]:
    """Return the names of the settings that apply to a kind of model."""
    if model == "good":
        return [name for name in TrainingSettings.model_fields if name in OF_GOOD]
    other = OF_RESNET if model == "unet" else OF_UNET
    return [name for name in TrainingSettings.model_fields if name not in other | _NOT_OFFERED]


def request(model: str, **choices: Any) -> TrainingSettings:
    """Return training settings from the user's choices. Raises BadSettings with the setting and the reason."""
    try:
        return TrainingSettings(model=model, **choices)  # ty: ignore[invalid-argument-type]
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else "recipe"
        raise problems.BadSettings(key=key, value=choices.get(key, model), why=_error_message(first)) from error


_ERRORS = {  # pydantic's type of error -> message, and pydantic's name of its field
    "extra_forbidden": ("settings.unknown", ""),
    "literal_error": ("settings.choice", "expected"),
    "int_parsing": ("settings.integer", ""),
    "int_type": ("settings.integer", ""),
    "int_from_float": ("settings.integer", ""),
    "float_parsing": ("settings.number", ""),
    "float_type": ("settings.number", ""),
    "finite_number": ("settings.finite", ""),
    "greater_than": ("settings.above", "gt"),
    "greater_than_equal": ("settings.at_least", "ge"),
    "less_than": ("settings.below", "lt"),
    "less_than_equal": ("settings.at_most", "le"),
    "bool_parsing": ("settings.boolean", ""),
    "bool_type": ("settings.boolean", ""),
    "list_type": ("settings.list", ""),
    "string_type": ("settings.text", ""),
}


def _error_message(error: Any) -> str:
    """Return the message for a pydantic error."""
    if error["type"] not in _ERRORS:
        return error["msg"]
    id, field = _ERRORS[error["type"]]
    if not field:
        return Message(id)
    value = error["ctx"][field]
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return Message(id, names=text) if id == "settings.choice" else Message(id, n=text)


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Parse `key=value` texts (JSON values, otherwise plain text) into choices for `request`."""
    import json

    choices: dict[str, Any] = {}
    for pair in pairs:
        key, sign, text = pair.partition("=")
        if not sign:
            raise problems.BadSettings(key=pair, value="nothing", why=Message("settings.key_value"))
        try:
            choices[key.strip()] = json.loads(text)
        except ValueError:
            choices[key.strip()] = text
    return choices


FORMAT = 1
_ELSEWHERE = {"format", "model", "minutes", "device", "reasons"}  # chosen beside the Train button, or not by the user

Choices = dict[str, Any]  # training settings


def adjustable_settings() -> list[str]:
    """Return the settings that can be fixed, in the order of `TrainingSettings`."""
    return [name for name in TrainingSettings.model_fields if name not in _ELSEWHERE]


class SettingsOverrides(StoredModel):
    """Content of training.json: settings by kind of model."""

    model_config = ConfigDict(extra="ignore")
    format: int = FORMAT
    unet: Choices = {}
    resnet: Choices = {}
    good: Choices = {}

    def of(self, model: str) -> Choices:
        return dict(getattr(self, model))

    def with_choices(self, model: str, choices: Choices) -> SettingsOverrides:
        return self.model_copy(update={model: dict(choices)})


def load_overrides(project: Project) -> SettingsOverrides:
    """Load training.json; return empty settings if the file does not exist. Raises ProjectBroken."""
    path = project.root / "training.json"
    try:
        choices = load_versioned(path, SettingsOverrides, FORMAT, problems.ProjectBroken)
        for model in MODELS:
            unknown = sorted(choices.of(model).keys() - set(adjustable_settings()))
            if unknown:
                raise problems.ProjectBroken(path=str(path), why=Message("settings.no_such", name=unknown[0]))
            request(model, **choices.of(model))
        return choices
    except FileNotFoundError:
        return SettingsOverrides.of_defaults()
    except problems.BadSettings as error:
        raise problems.ProjectBroken(path=str(path), why=Message.of(error)) from error


def save_overrides(project: Project, choices: SettingsOverrides) -> None:
    """Write training.json atomically. Raises ProjectReadOnly, CannotWrite."""
    project.need_write("training.json")
    write_json(project.root / "training.json", choices.model_dump(mode="json"))
