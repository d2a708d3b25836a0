"""Events reported by a run, one JSON line each.

Each line is written to stdout and to events.jsonl; one decoder reads both. Texts are English, most of them messages:
their ids and fields are in the line too, under `messages`.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, ConfigDict, Field

from workbench.core.json_files import to_dataclass
from workbench.core.messages import restore_messages, with_messages
from workbench.core.stored_model import StoredModel
from workbench.inference.io.json_io import JsonError, parse_json


class _Checked(StoredModel):
    """Declared types of the values in a free-form object. Undeclared values may be of any type."""

    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)

    @classmethod
    def check(cls, value: dict[str, Any]) -> dict[str, Any]:
        cls.model_validate(value)
        return value


class _Regions(_Checked):
    recall: float | None = None
    recall_interval: list[float] | None = None
    found: int = 0
    defects: int = 0
    false_per_picture: float | None = None


class _AnyDefect(_Checked):
    dice: float | None = None


class _Metrics(_Checked):
    """Displayed values of a core.evaluation.metrics report."""

    dice: float | None = None
    iou: float | None = None
    accuracy: float | None = None
    accuracy_interval: list[float] | None = None
    macro_f1: float | None = None
    pictures: int = 0
    only_background: bool = False
    regions: _Regions | None = None
    any_defect: _AnyDefect | None = None


class _Forecast(_Checked):
    """Range expected on other parts, see core.evaluation.expectation."""

    low: float | None
    high: float | None
    why: list[str]


class _Lighting(_Checked):
    """Metrics under changed lighting, see core.evaluation.expectation."""

    pictures: int
    unchanged: float
    changes: dict[str, float]


class _Result(_Checked):
    """Displayed values of a training result."""

    usable: bool | None = None
    steps: int = 0
    seconds: float = 0.0
    images_per_second: float | None = None
    device: str | None = None
    precision: str | None = None
    metrics: _Metrics | None = None
    forecast: _Forecast | None = None
    lighting: _Lighting | None = None


Metrics = Annotated[dict[str, Any], AfterValidator(_Metrics.check)]
Result = Annotated[dict[str, Any], AfterValidator(_Result.check)]
Seconds = Annotated[float, Field(ge=0, le=1e10)]
Positive = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Corner = Annotated[list[int], Field(min_length=2, max_length=2)]
Size = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)]


def _check_file(name: str) -> str:
    """Check the path of a file below the run folder, "" for none. Raises ValueError."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or any(len(part.encode()) > 255 for part in parts) or len(name) > 2000:
        raise ValueError("it is no file of a run")
    return name


File = Annotated[str, AfterValidator(_check_file)]


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events. `time` is in seconds since the run began, without pauses and time between resumes."""

    kind: ClassVar[str] = ""
    time: Seconds = 0.0


@dataclass(frozen=True, kw_only=True)
class Started(Event):
    kind: ClassVar[str] = "started"
    model: str
    device: str  # "cpu" | "gpu:0"
    device_name: str = ""
    precision: str = "fp32"  # "fp32" | "fp16" | "bf16"
    precision_reason: str = ""  # e.g. why a CPU runs fp32
    parameters: int = 0
    pictures: dict[str, Count] = field(default_factory=dict)  # {"train": 24, "val": 6, "test": 0}
    held_out_note: str = ""  # shown if too few images are held out
    steps_planned: Count | None = None  # set if the run is limited by epochs
    seconds_planned: Seconds | None = None  # set if the run is limited by minutes
    step: Count = 0  # first step; > 0 for a resumed run
    resumed: bool = False
    process: Count = 0  # pid
    gpu: str = ""  # UUIDs of the GPUs, as in system_stats.GpuSample, joined by commas; "" on a CPU, or if unknown


@dataclass(frozen=True, kw_only=True)
class Step(Event):
    kind: ClassVar[str] = "step"
    step: Count
    loss: float
    rate: float  # learning rate
    epoch: float = 0.0
    grad_norm: float | None = None
    loss_scale: Positive | None = None
    skipped: int = 0  # steps skipped so far because of overflowing gradients
    images_per_second: Positive = 0.0
    data_wait: Positive = 0.0  # share of the time spent waiting for images, 0..1
    progress: float = 0.0  # completed share of the whole run, 0..1
    round: int = 0  # of continuous training; 0 is the planned part


@dataclass(frozen=True, kw_only=True)
class Evaluated(Event):
    kind: ClassVar[str] = "evaluated"
    step: int
    split: str = "val"
    metrics: Metrics = field(default_factory=dict)  # as core.evaluation.metrics reports them
    score: float | None = None  # metric by which `best` is chosen; None if nothing is held out
    best: bool = False


def overall_dice(metrics: Mapping[str, Any]) -> float | None:
    """Return the Dice of any defect, the Dice of a whole model that is shown; None without one.

    In reports of early versions, which lack it, it is the mean of the classes' Dice.
    """
    together = metrics.get("any_defect")
    return (together if isinstance(together, dict) else metrics).get("dice")


@dataclass(frozen=True, kw_only=True)
class Preview(Event):
    """Prediction for one image: an 8-bit PNG of class ids, and one of 255 x the probability.

    The latter holds a plane per class, one below another in the order of the network's channels. If it is no higher
    than the mask, it holds one plane, the greatest probability of any class.
    """

    kind: ClassVar[str] = "preview"
    step: int
    picture: str
    mask: File = ""  # file below the run folder
    scores: File = ""
    corner: Corner = field(default_factory=lambda: [0, 0])  # x, y of the files' first pixel in the image
    size: Size | None = None  # width, height of the image, if the files hold a part of it
    thresholds: list[float] = field(default_factory=list)  # per class, used for the mask
    min_area: list[int] = field(default_factory=list)
    verdict: str | None = None
    probabilities: dict[str, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Checkpoint(Event):
    kind: ClassVar[str] = "checkpoint"
    step: int
    which: str  # "last" | "best"


@dataclass(frozen=True, kw_only=True)
class Trouble(Event):
    """Problem that was handled; `what` and `done` are messages of one sentence."""

    kind: ClassVar[str] = "trouble"
    what: str
    done: str = ""
    picture: str | None = None


@dataclass(frozen=True, kw_only=True)
class LabelsAdded(Event):
    """Label of an image that was added to the run during training, or could not be."""

    kind: ClassVar[str] = "joined"
    step: int
    picture: str
    how: str  # "new" | "corrected" | "gone" | "left out"
    why: str = ""  # reason if it was left out


@dataclass(frozen=True, kw_only=True)
class BestKept(Event):
    """End of a round of continuous training, which goes on."""

    kind: ClassVar[str] = "kept"
    step: int
    round: int  # the round that begins; if waiting, the one that ended
    waiting: bool = False  # for labels: all present ones have been learned


@dataclass(frozen=True, kw_only=True)
class Profiled(Event):
    """Profile of a training step: a message, and the folder of the run with trace and table.

    operator_ms: time per step in which the host starts operations; None without a GPU. device_ms: time per step in
    which the GPU computes.
    """

    kind: ClassVar[str] = "profiled"
    what: str
    folder: str
    operator_ms: Positive | None = None
    device_ms: Positive | None = None


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """Progress of a long task other than a training step: export, conversion, prediction."""

    kind: ClassVar[str] = "progress"
    what: str
    done: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Finished(Event):
    kind: ClassVar[str] = "finished"
    why: str = "done"  # "done" | "stopped"
    result: Result = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    kind: ClassVar[str] = "failed"
    why: str
    problem: str = ""  # class name in core.problems, if it is one
    fields: dict[str, Any] = field(default_factory=dict)
    log: str = ""  # file with the traceback


@dataclass(frozen=True, kw_only=True)
class Unknown(Event):
    """Line of a kind unknown to this version, or with values of other types; kept, not shown."""

    kind: ClassVar[str] = "unknown"
    line: str = ""


KINDS: dict[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        Started,
        Step,
        Evaluated,
        Preview,
        Checkpoint,
        Trouble,
        LabelsAdded,
        BestKept,
        Profiled,
        Progress,
        Finished,
        Failed,
    )
}


def encode(event: Event) -> str:
    """Encode an event as one line of strict JSON, without the newline; NaN and infinities become null."""
    line = {"kind": event.kind, **_finite(with_messages(dataclasses.asdict(event)))}
    return json.dumps(line, ensure_ascii=False, allow_nan=False)


def line_start(kind: type[Event]) -> bytes:
    """Return the beginning of all lines that `encode` writes for events of a kind."""
    return f'{{"kind": "{kind.kind}"'.encode()


def decode(line: str) -> Event | None:
    """Return the event of a line, with all values of the declared types.

    Returns None for an empty or incomplete line; Unknown for a kind of another version and for values of other types.
    """
    line = line.strip()
    if not line:
        return None
    try:
        raw = parse_json(line, finite=True)
    except JsonError:
        return None
    kind = KINDS.get(str(raw.pop("kind", ""))) if isinstance(raw, dict) else None
    if kind is None:
        return Unknown(line=line)
    messages = raw.pop("messages", None)
    diverged = kind is Step and "loss" in raw and raw["loss"] is None
    if diverged:
        raw["loss"] = 0.0
    try:
        event = to_dataclass(kind, raw)
    except (TypeError, ValueError):
        return Unknown(line=line)
    if diverged:
        return dataclasses.replace(event, loss=math.nan)
    return dataclasses.replace(event, **restore_messages(vars(event), messages)) if messages else event


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


# --- commands of the main process to a training, one JSON line each -------------------------------

# watch: preview this image. expect: this image will be opened next; all expected ones follow a `watch`, which clears
# the earlier ones. keep_open: continue after the planned time. let_end: do not. keep_running: continue when the pipe is
# closed.
COMMANDS = ("stop", "pause", "resume", "watch", "expect", "labels_changed", "keep_open", "let_end", "keep_running")


def encode_command(command: str, image: str | None = None) -> str:
    assert command in COMMANDS, command
    return json.dumps({"order": command} if image is None else {"order": command, "picture": image}, ensure_ascii=False)


def decode_command(line: str) -> tuple[str, str | None] | None:
    """Return (command, key of the image or None); None for anything else."""
    try:
        raw = parse_json(line)
    except JsonError:
        return None
    if not isinstance(raw, dict) or raw.get("order") not in COMMANDS:
        return None
    image = raw.get("picture")
    return raw["order"], image if isinstance(image, str) else None
