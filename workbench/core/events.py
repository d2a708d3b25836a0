"""What a run reports, one JSON line each.

The same lines go to stdout and to events.jsonl, so live and past share one decoder.
"""

from __future__ import annotations

import dataclasses
import json
import math
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from workbench.core.json_files import to_dataclass
from workbench.inference.json_io import JsonError, parse_json


class _Checked(BaseModel):
    """Declared types of the values in a free-form object. Values that are not declared may be anything."""

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


class _Metrics(_Checked):
    """Values of a report of core.metrics that are shown."""

    dice: float | None = None
    iou: float | None = None
    accuracy: float | None = None
    accuracy_interval: list[float] | None = None
    macro_f1: float | None = None
    pictures: int = 0
    only_background: bool = False
    regions: _Regions | None = None


class _Result(_Checked):
    """Values of the result of a training that are shown."""

    usable: bool | None = None
    steps: int = 0
    seconds: float = 0.0
    images_per_second: float | None = None
    device: str | None = None
    precision: str | None = None
    metrics: _Metrics | None = None


Metrics = Annotated[dict[str, Any], AfterValidator(_Metrics.check)]
Result = Annotated[dict[str, Any], AfterValidator(_Result.check)]
Seconds = Annotated[float, Field(ge=0, le=1e10)]
Positive = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Corner = Annotated[list[int], Field(min_length=2, max_length=2)]
Size = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)]


def _check_file(name: str) -> str:
    """Check the path of a file below the run folder, "" for none."""
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or any(len(part.encode()) > 255 for part in parts) or len(name) > 2000:
        raise ValueError("it is no file of a run")
    return name


File = Annotated[str, AfterValidator(_check_file)]


@dataclass(frozen=True, kw_only=True)
class Event:
    """`time` is seconds since the run began (pauses and the time between resumes not counted)."""

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
    held_out_note: str = ""  # said on screen where too few pictures are held out
    steps_planned: Count | None = None  # known when the run is bounded by epochs
    seconds_planned: Seconds | None = None  # known when it is bounded by minutes
    step: Count = 0  # where it begins; > 0 for a resumed run
    resumed: bool = False
    process: Count = 0  # pid


@dataclass(frozen=True, kw_only=True)
class Step(Event):
    kind: ClassVar[str] = "step"
    step: Count
    loss: float
    rate: float  # learning rate
    epoch: float = 0.0
    grad_norm: float | None = None
    loss_scale: Positive | None = None
    skipped: int = 0  # steps skipped so far because gradients overflowed
    images_per_second: Positive = 0.0
    data_wait: Positive = 0.0  # share of the time spent waiting for pictures, 0..1
    progress: float = 0.0  # share of the whole run that is done, 0..1
    round: int = 0  # of a run that is kept open; 0 is what was planned


@dataclass(frozen=True, kw_only=True)
class Evaluated(Event):
    kind: ClassVar[str] = "evaluated"
    step: int
    split: str = "val"
    metrics: Metrics = field(default_factory=dict)  # as core.metrics reports them
    score: float | None = None  # the one number by which `best` is chosen; None: nothing held out
    best: bool = False


@dataclass(frozen=True, kw_only=True)
class Preview(Event):
    """The prediction for one picture: an 8-bit PNG of class ids, and one of 255 x the probability.

    The latter holds a plane for every class, one below another in the order of the network's channels; where it is no
    higher than the mask it holds one, the greatest probability of any class.
    """

    kind: ClassVar[str] = "preview"
    step: int
    picture: str
    mask: File = ""  # file below the run folder
    scores: File = ""
    corner: Corner = field(default_factory=lambda: [0, 0])  # x, y of the files' first pixel in the picture
    size: Size | None = None  # width, height of the picture, where the files hold a part of it
    thresholds: list[float] = field(default_factory=list)  # of each class, that the mask was made with
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
    """Something was wrong and was dealt with; `what` and `done` are English sentences."""

    kind: ClassVar[str] = "trouble"
    what: str
    done: str = ""
    picture: str | None = None


@dataclass(frozen=True, kw_only=True)
class Joined(Event):
    """The label of a picture came into the run while it learned, or could not."""

    kind: ClassVar[str] = "joined"
    step: int
    picture: str
    how: str  # "new" | "corrected" | "gone" | "left out"
    why: str = ""  # English, where it was left out


@dataclass(frozen=True, kw_only=True)
class Kept(Event):
    """A run that is kept open has come to the end of its time, and goes on."""

    kind: ClassVar[str] = "kept"
    step: int
    round: int  # the one that begins; where it waits, the one that is over
    waiting: bool = False  # for labels: it has learned all there are


@dataclass(frozen=True, kw_only=True)
class Profiled(Event):
    """Where the time of a step goes: an English sentence, and the folder of the run that holds trace and table."""

    kind: ClassVar[str] = "profiled"
    what: str
    folder: str


@dataclass(frozen=True, kw_only=True)
class Progress(Event):
    """A long work that is not a training step: export, conversion, prediction."""

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
    problem: str = ""  # class name in core.problems, where it is one
    fields: dict[str, Any] = field(default_factory=dict)
    log: str = ""  # file with the traceback


@dataclass(frozen=True, kw_only=True)
class Unknown(Event):
    """A line of a kind that this version does not know, or with values of other types; kept, not shown."""

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
        Joined,
        Kept,
        Profiled,
        Progress,
        Finished,
        Failed,
    )
}


def encode(event: Event) -> str:
    """One line of strict JSON, without the newline; NaN and infinities become null."""
    return json.dumps({"kind": event.kind, **_finite(dataclasses.asdict(event))}, ensure_ascii=False, allow_nan=False)


def decode(line: str) -> Event | None:
    """Return the event of a line, each value of which has the declared type.

    None for an empty or torn line; Unknown for a kind of another version and for values of other types.
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
    diverged = kind is Step and "loss" in raw and raw["loss"] is None
    if diverged:
        raw["loss"] = 0.0
    try:
        event = to_dataclass(kind, raw)
    except (TypeError, ValueError):
        return Unknown(line=line)
    return dataclasses.replace(event, loss=math.nan) if diverged else event


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value


# --- orders: what the window sends down the pipe, one JSON line each ---------------------------------

# watch: preview this picture. expect: it will be opened next; all that are expected follow a watch, which forgets those
# before. keep_open: go on after the time is up. let_end: do not. keep_running: go on when the pipe is closed.
ORDERS = ("stop", "pause", "resume", "watch", "expect", "labels_changed", "keep_open", "let_end", "keep_running")


def encode_order(order: str, picture: str | None = None) -> str:
    assert order in ORDERS, order
    return json.dumps({"order": order} if picture is None else {"order": order, "picture": picture}, ensure_ascii=False)


def decode_order(line: str) -> tuple[str, str | None] | None:
    """(order, picture) or None for anything else."""
    try:
        raw = parse_json(line)
    except JsonError:
        return None
    if not isinstance(raw, dict) or raw.get("order") not in ORDERS:
        return None
    picture = raw.get("picture")
    return raw["order"], picture if isinstance(picture, str) else None
