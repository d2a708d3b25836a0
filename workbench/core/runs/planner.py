"""Planning of a run: settings the user did not choose, computed from images, labels and machine, with reasons.

Plan of a training on a GPU: whether it will use one, sizes of network and batch, and their adaptation to the GPU.

Sizes are planned before a run and adapted by measuring a few steps. A GPU computes small networks no faster than medium
ones, so the batch is raised until a step keeps it busy. Networks have the receptive field of those planned for a CPU: a
stem of 2 and five levels.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from workbench.core import problems
from workbench.core.messages import Message, join
from workbench.core.project.project import Project
from workbench.core.runs.child_process import run_captured
from workbench.core.runs.dataset import Dataset, ImageStatistics, Item, advise_masks, measure_sample, thinness
from workbench.core.runs.gpu_facts import read_gpu_facts
from workbench.core.runs.held_out import mostly_one_class
from workbench.core.runs.launch import processes, worker_command, worker_environment
from workbench.core.runs.network_stats import multiplications, receptive_field
from workbench.core.runs.training_settings import VERDICT_ENCODERS, TrainingSettings
from workbench.inference.cpu_environment import cores

SIZES: dict[str, dict[str, dict[str, Any]]] = {
    "unet": {
        "fast": {"stem": 2, "widths": [32, 64, 128, 192, 256]},
        "balanced": {"stem": 2, "widths": [48, 96, 192, 256, 384]},
        "best": {"stem": 2, "widths": [64, 128, 256, 384, 512]},
    },
    "resnet": {"fast": {"depth": 18}, "balanced": {"depth": 34}, "best": {"depth": 50}},
}
REASONS = {"stem": "plan.stem", "widths": "plan.size", "depth": "plan.gpu_depth"}
BATCH_REASON, MEASURED_BATCH = "plan.gpu_batch", "plan.measured_batch"  # planned; measured on the GPU
MANY_STEPS = 3000  # steps from which on a larger network may become better
START_SECONDS = 4.0  # before the first step, while Paddle is loaded
STEPPING = 0.85  # share of the remaining time spent on steps; evaluation and completion take the rest

_PIXELS = {"unet": 16 * 256**2, "resnet": 32 * 224**2}  # of a batch, before it is measured
_BATCHES = {"unet": (16, 128), "resnet": (32, 256)}  # smallest and largest planned batch
MAX_BATCH = 512
_BUSY_SECONDS, _MAX_SECONDS = 0.030, 0.060  # of a step
_MEMORY = 0.7  # share of the GPU's memory
_GAIN = 1.1  # factor of images per second that a doubled batch must bring
_PROBE_SECONDS = 90.0  # a first start compiles nothing, but reads a gigabyte of libraries


def uses_gpu(device: str) -> bool:
    """Return True if a training with this setting of the device will use a GPU.

    For "auto" the training program, which alone imports Paddle, is started to select its device, if there is a GPU at
    all; once per process.
    """
    device = device.strip().lower() or "auto"
    return device.startswith("gpu") if device != "auto" else selects_gpu(os.environ.get("CUDA_VISIBLE_DEVICES"))


@cache
def selects_gpu(visible: str | None) -> bool:
    """Return True if the training program selects a GPU. visible: CUDA_VISIBLE_DEVICES of this process."""
    from importlib import metadata  # here, so that the window appears sooner

    try:
        metadata.version("paddlepaddle-gpu")
    except metadata.PackageNotFoundError:
        return False
    if not read_gpu_facts().usable:
        return False
    try:
        output = run_captured(worker_command("probe"), seconds=_PROBE_SECONDS, environment=worker_environment())
        return str(json.loads(output.stdout.splitlines()[-1])["device"]).startswith("gpu")
    except (OSError, ValueError, LookupError, TypeError):
        return False  # a program that fails to select a device will not train on a GPU either


def planned_batch(model: str, side: int, device: str) -> int:
    """Return the batch for patches or images of `side` pixels: a multiple of 8, and of the number of GPUs."""
    smallest, largest = _BATCHES[model]
    batch = min(largest, max(smallest, _PIXELS[model] // side**2 // 8 * 8))
    return -(-batch // processes(device)) * processes(device)


@dataclass(frozen=True)
class StepCost:
    """Cost of one step. seconds: its duration. memory: largest share of the GPU's memory in use, 0..1.

    other: the part of it that does not grow with the batch, as that of other programs.
    """

    seconds: float
    memory: float
    other: float = 0.0


Measure = Callable[[TrainingSettings], StepCost]


def adapt(settings: TrainingSettings, measure: Measure) -> TrainingSettings:
    """Return settings with batch and size of the network adapted to the GPU, with reasons; as given if chosen manually.

    measure: returns the cost of a step with some settings; raises MemoryError if it does not fit into the memory.
    """
    if not is_automatic(settings, "batch", BATCH_REASON) or settings.epochs is not None:
        return settings
    settings, cost = _adapt_batch(settings, measure)
    steps = int(float(f"{_expected_steps(settings, cost):.2g}")) if cost else 0
    smaller = SIZES[settings.model]["balanced"]
    own = all(is_automatic(settings, key, REASONS[key]) for key in smaller)
    if settings.quality == "best" and own and cost is not None and steps < MANY_STEPS:
        why = Message("plan.too_few_steps", n=steps)
        settings = settings.model_copy(
            update={**smaller, "reasons": {**settings.reasons, **dict.fromkeys(smaller, why)}}
        )
        settings, _ = _adapt_batch(settings, measure)
    return settings


def _adapt_batch(settings: TrainingSettings, measure: Measure) -> tuple[TrainingSettings, StepCost | None]:
    """Return settings with the batch that fits, and its cost; None if not even one image fits."""
    cost: StepCost | None = None
    while cost is None:
        with contextlib.suppress(MemoryError):
            cost = measure(settings)
        if cost is None:
            if settings.batch == 1:
                return settings, None
            settings = settings.model_copy(update={"batch": settings.batch // 2})
    while cost.seconds < _BUSY_SECONDS and 2 * cost.memory - cost.other <= _MEMORY and 2 * settings.batch <= MAX_BATCH:
        larger = settings.model_copy(update={"batch": 2 * settings.batch})
        try:
            next_cost = measure(larger)
        except MemoryError:
            break
        if next_cost.seconds > min(_MAX_SECONDS, 2 / _GAIN * cost.seconds) or next_cost.memory > _MEMORY:
            break
        settings, cost = larger, next_cost
    why = Message(MEASURED_BATCH, ms=f"{1000 * cost.seconds:.0f}", share=f"{cost.memory:.0%}")
    return settings.model_copy(update={"reasons": {**settings.reasons, "batch": why}}), cost


def _expected_steps(settings: TrainingSettings, cost: StepCost) -> float:
    seconds = max(0.0, (settings.minutes or 0) * 60 - START_SECONDS) * STEPPING
    return seconds / max(1e-6, cost.seconds)


def is_automatic(settings: TrainingSettings, key: str, reason: str) -> bool:
    """Return True if the planner chose a setting for this reason (id of a message)."""
    return getattr(settings.reasons.get(key), "id", "") == reason


_MOST_SHARED = 640  # network pixels shared by neighboring tiles, regardless of the receptive field
_GRAIN = 0.15  # agreement of line directions above which quarter turns give unrealistic images
_SEPARABLE = 0.8  # area under the ROC curve above which the exposure of the images alone distinguishes verdicts
_SQUARE = 0.1  # share of lines at right angles above which small rotations give unrealistic images
_FEW_STEPS = 80  # steps up to which AdamW trains a slim ResNet better than Muon
_LARGEST_LITE0 = 320  # pixels; largest input of the pretrained encoder on a CPU
_WORKER_IMAGES = 4  # least number of images that a CPU core computes of each batch

# Settings that a run takes over from its initial run, so that the weights of that run can be used.
_NETWORK = {
    "unet": ("channels", "encoder", "widths", "stem", "width", "local_contrast", "scale"),
    "resnet": ("channels", "encoder", "depth", "width", "input_size", "standardize"),
}
_SIZES: dict[str, dict[str, dict[str, Any]]] = {  # on a CPU
    "unet": {
        "fast": {"stem": 4, "widths": [16, 32, 64, 96]},
        "balanced": {"stem": 4, "widths": [24, 48, 96, 128]},
        "best": {"stem": 2, "widths": [16, 32, 64, 128]},
    },
    "resnet": {
        "fast": {"depth": 18, "width": 0.5},
        "balanced": {"depth": 18, "width": 0.5},
        "best": {"depth": 34, "width": 1.0},
    },
}
_SIZE_REASONS = {
    "stem": "plan.stem",
    "widths": "plan.size",
    "depth": "plan.depth",
    "width": "plan.slim",
}


def plan(
    project: Project, dataset: Dataset, request: TrainingSettings, earlier: TrainingSettings | None = None
) -> TrainingSettings:
    """Return the complete training settings: those not given in `request` are computed from the images and the machine.

    Reads at most 48 of the training images. earlier: settings of the initial run.
    """
    draft = _Draft(request)
    training = dataset.of("train") or dataset.items
    _plan_start(earlier, draft)
    _plan_from_images(measure_sample(project, training), draft)
    if dataset.model == "unet":
        _plan_unet(training, thinness(project, training), draft)
        _plan_overlap(draft)
    else:
        _plan_resnet(project, training, draft)
    _plan_course(draft)
    draft.choose("threads", min(4, cores()), Message("plan.threads"))
    return draft.settings


class _Draft:
    """Training settings during planning. The user's values are kept; otherwise the first choice of a setting counts."""

    def __init__(self, request: TrainingSettings) -> None:
        self.request = request
        self._values: dict[str, Any] = {}
        self._reasons: dict[str, str] = dict(request.reasons)

    def __getitem__(self, key: str) -> Any:
        """Return the current value of a setting."""
        return self._values.get(key, getattr(self.request, key))

    def choose(self, key: str, value: Any, why: str) -> None:
        if key in self.request.model_fields_set:
            self._reasons.setdefault(key, Message("plan.manual"))
        elif not self.is_chosen(key):
            self._values[key] = value
            self._reasons[key] = why

    def is_chosen(self, key: str) -> bool:
        """Return True if a setting was chosen by the user or by an earlier planning step."""
        return key in self._values or key in self.request.model_fields_set

    @property
    def settings(self) -> TrainingSettings:
        settings: dict[str, Any] = {**self.request.model_dump(), **self._values, "reasons": self._reasons}
        return TrainingSettings(**settings)


def _plan_from_images(sample: ImageStatistics, draft: _Draft) -> None:
    """Choose the gray value scaling and the augmentations."""
    why = Message("plan.measured", n=sample.count)
    color = Message("plan.color") if sample.colored else Message("plan.gray")
    draft.choose("channels", 3 if sample.colored else 1, color)
    draft.choose("full_scale", sample.full_scale, Message("plan.full_scale"))
    draft.choose("low", sample.low * sample.full_scale, why)
    draft.choose("high", sample.high * sample.full_scale, why)
    draft.choose("mean", [round(sample.mean, 6)] * draft["channels"], why)
    draft.choose("std", [round(max(0.02, sample.std), 6)] * draft["channels"], why)
    # The orientation of parts is fixed, so common directions matter; but each part may have right-angled structures.
    rotations: list[str] = []
    if sample.common > _GRAIN:
        why = Message("plan.directional")
    elif sample.square > _SQUARE:
        rotations, why = ["rotate_90"], Message("plan.no_main_direction")
    else:
        rotations, why = ["rotate_90", "rotate", "zoom"], Message("plan.no_direction")
    why = Message("plan.directions", n=f"{sample.common:.0%}", why=why)
    # Verdicts belong to whole images, whose exposure and noise must not decide them; a UNet has its local contrast.
    light = ["lighting", "noise"] if draft.request.model == "resnet" else ["brightness", "contrast"]
    if draft["encoder"] == "lite0":
        draft.choose("standardize", draft.request.model == "resnet", Message("plan.standardized_features"))
    elif draft.request.model == "resnet" and not draft.request.weights:  # published weights have no second input
        separable = sample.exposure > _SEPARABLE
        reason = Message("plan.standardize" if separable else "plan.not_standardized", n=f"{sample.exposure:.2f}")
        draft.choose("standardize", separable, reason)
    draft.choose("augment", ["flip_horizontal", "flip_vertical", *rotations, *light], why)


def _plan_start(earlier: TrainingSettings | None, draft: _Draft) -> None:
    """Choose settings given by the initial run, by a ResNet encoder of a UNet, and by pretrained weights."""
    request = draft.request
    if earlier is not None and earlier.model == request.model and not request.weights:
        for key in _NETWORK[request.model]:
            draft.choose(key, getattr(earlier, key), Message("plan.as_initial_run"))
    elif request.model == "resnet" and not (request.weights or {"depth", "width"} & request.model_fields_set):
        draft.choose("encoder", "lite0", Message("plan.fitted_features"))
    if draft["encoder"] == "lite0":
        draft.choose("weights", "imagenet", Message("plan.bundled_weights"))
        draft.choose("local_contrast", False, Message("plan.no_contrast_input"))
    elif request.weights:
        draft.choose("rate", 1e-3, Message("plan.pretrained_rate"))
        draft.choose("optimizer", "adamw", Message("plan.pretrained_rate"))
        draft.choose("width", 1.0, Message("plan.full_width"))
    if draft["encoder"] == "plain":
        return
    if request.model == "resnet":
        _plan_verdict_encoder(draft)
        return
    for key in ("widths", "stem"):
        if getattr(request, key) != TrainingSettings.model_fields[key].default:
            why = Message("settings.encoder_widths", name=draft["encoder"])
            raise problems.BadSettings(key=key, value=getattr(request, key), why=why)
        draft.choose(key, getattr(request, key), Message("plan.not_used", name=draft["encoder"]))
    draft.choose("rate", 2e-3, Message("plan.deep_rate"))


def _plan_verdict_encoder(draft: _Draft) -> None:
    """Choose settings of a network for verdicts that is no ResNet."""
    name = draft["encoder"]
    if name not in VERDICT_ENCODERS:
        raise problems.BadSettings(key="encoder", value=name, why=Message("settings.verdict_encoder"))
    for key in ("depth", "width"):
        if key in draft.request.model_fields_set:
            raise problems.BadSettings(key=key, value=draft[key], why=Message("settings.plain_only", name=name))
        draft.choose(key, draft[key], Message("plan.not_used", name=name))
    if draft.request.input_size % 32:
        raise problems.BadSettings(
            key="input_size", value=draft.request.input_size, why=Message("settings.multiple", n=32)
        )
    draft.choose("rate", 3e-4, Message("plan.pretrained_rate"))
    draft.choose("optimizer", "adamw", Message("plan.pretrained_rate"))


def _plan_unet(training: list[Item], thickness: float, draft: _Draft) -> None:
    quality = draft.request.quality
    edge = max((max(item.width, item.height) for item in training), default=256)
    painted = [p / max(1, item.width * item.height) for item in training for p in item.pixels]
    share = float(np.median(painted)) if painted else 0.01
    gpu = uses_gpu(draft.request.device)
    # On a CPU many small steps train better than few large ones, if a defect and its surroundings fit in a patch.
    largest = 256 if gpu else 128
    patch = largest if edge > largest else max(64, -(-edge // 32) * 32)
    draft.choose("patch", patch, Message("plan.patch", n=edge))
    if gpu:
        _plan_gpu_size(draft["patch"], draft)
        draft.choose("rate", 2e-3, Message("plan.wide_rate"))
    else:
        _plan_cores(8, draft)
        draft.choose("rate", 4e-3, Message("plan.small_rate"))
        _plan_size(draft)
    # If even thin defects are thick, a reduced scale still shows them, with more of their surroundings.
    scale = min(1.0, max(0.25, 2.0 ** -np.floor(np.log2(max(1.0, thickness / 12)))))
    draft.choose("scale", float(scale), Message("plan.thickness", n=f"{thickness:.0f}"))
    if draft["encoder"] == "plain":
        draft.choose("optimizer", "muon", Message("plan.unet_muon"))
        draft.choose("encoder", "plain", Message("plan.plain_encoder"))
    if quality == "fast":
        draft.choose("mirror", False, Message("plan.no_mirror"))
    else:
        draft.choose("mirror", True, Message("plan.mirror"))
    for key in ("dice_weight", "cross_entropy_weight"):
        draft.choose(key, 1.0, Message("plan.loss_weights"))
    if mostly_one_class(training):
        draft.choose("class_weight", 0.3, Message("plan.class_weight"))
    draft.choose("foreground_share", 0.5, Message("plan.foreground", n=f"{share:.2%}"))


def _plan_overlap(draft: _Draft) -> None:
    field = receptive_field(draft.settings)
    if 2 * field <= _MOST_SHARED:
        draft.choose("overlap", 2 * field + 32, Message("plan.overlap", n=field))
    else:
        draft.choose("overlap", _MOST_SHARED, Message("plan.overlap_seams"))


def _plan_cores(smallest: int, draft: _Draft) -> None:
    """Choose batch and workers on a CPU: each core computes four images or more of a batch.

    Each worker normalizes its own images; a ResNet learns nothing from one image at a time.
    """
    workers = min(cores(), 8)
    count = processes(draft.request.device)  # each computes equally many images
    draft.choose("batch", -(-max(smallest, _WORKER_IMAGES * workers) // count) * count, Message("plan.small_batch"))
    draft.choose("workers", max(1, min(workers, draft.settings.batch // _WORKER_IMAGES)), Message("plan.workers"))


def _plan_size(draft: _Draft) -> None:
    """Choose the network size on a CPU: a larger network is only better with enough steps in the given time."""
    request = draft.request
    sizes, why = _SIZES[request.model], None
    size = sizes[request.quality]
    size_choices = {key: value for key, value in size.items() if not draft.is_chosen(key)}
    if request.quality == "best" and size_choices:
        why = Message("plan.size")
        steps = expected_steps(draft.settings.model_copy(update=size_choices))
        if request.epochs is None and steps < MANY_STEPS:
            size = sizes["balanced"]
            why = Message("plan.too_few_steps", n=steps)
    for key, value in size.items():
        draft.choose(key, value, why or Message(_SIZE_REASONS[key]))


def _plan_gpu_size(side: int, draft: _Draft) -> None:
    """Choose network size and batch on a GPU. The training adapts both to the GPU before its first step."""
    model, request = draft.request.model, draft.request
    for key, value in SIZES[model][request.quality].items():
        draft.choose(key, value, Message(REASONS[key]))
    draft.choose("batch", planned_batch(model, side, request.device), Message(BATCH_REASON))


def _plan_course(draft: _Draft) -> None:
    """Choose settings that depend on the run's clock, so that the run keeps its time on any machine."""
    request = draft.request
    gpu = uses_gpu(request.device)
    if request.epochs is None and request.minutes is not None:
        why = Message("plan.schedule")
        if not gpu:
            steps = expected_steps(draft.settings)
            why = Message("plan.schedule_steps", n=steps)
        draft.choose("warm_up", request.warm_up, why)
        seconds = request.minutes * 60 / request.validations
        why = Message("plan.validations", n=f"{seconds:.0f}")
        draft.choose("validations", request.validations, why)
    why = Message("plan.precision_gpu") if gpu else Message("plan.precision_cpu")
    draft.choose("precision", request.precision, why)


def _plan_resnet(project: Project, training: list[Item], draft: _Draft) -> None:
    request = draft.request
    edge = int(np.median([max(item.width, item.height) for item in training]))
    smallest = 128 if request.weights else 64  # smaller inputs need another first layer, which published weights lack
    if uses_gpu(request.device):
        side = min(320, max(smallest, edge // 32 * 32))
        advice = advise_masks(project, training, side / edge)
        draft.choose("input_size", side, join("list.sentences", [Message("plan.median_length", n=edge), *advice]))
        _plan_gpu_size(draft["input_size"], draft)
        return
    lite0 = draft["encoder"] == "lite0"
    side = min(_LARGEST_LITE0 if lite0 else 128, max(smallest, edge // 32 * 32))
    advice = advise_masks(project, training, side / edge)
    why = Message("plan.features_input" if lite0 else "plan.small_input")
    draft.choose("input_size", side, join("list.sentences", [why, *advice]))
    _plan_cores(16, draft)
    if lite0:
        if request.epochs is None:
            steps = expected_steps(draft.settings)
            few = steps < MANY_STEPS
            draft.choose("train_further", not few, Message("plan.fit_suffices" if few else "plan.many_steps", n=steps))
        return
    draft.choose("rate", 3e-3, Message("plan.small_rate"))
    _plan_size(draft)
    if draft["width"] >= 1:  # the benefit of Muon was not measured for wide layers
        draft.choose("optimizer", "adamw", Message("plan.wide_adamw"))
        return
    steps = expected_steps(draft.settings)
    if request.epochs is not None:
        steps = request.epochs * -(-len(training) // draft["batch"])
    if steps > _FEW_STEPS:
        draft.choose("optimizer", "muon", Message("plan.resnet_muon"))
    else:
        draft.choose("optimizer", "adamw", Message("plan.few_steps_adamw", n=steps))


_MEASURED_SECONDS = 0.1  # duration of the measurement
_MATRIX_SIDE = 64  # of its matrices: NumPy multiplies such small ones on one core, and they fit in the core's cache
_STEP_COST = 3  # cost of a step in predictions: forward pass, and a backward pass of twice that
_LITE0_COST = (
    7  # of a multiplication of the encoder, relative to those of other networks: Paddle is slow for its layers
)
_REACHED = 0.7  # share of the measured speed that training reaches


def expected_steps(settings: TrainingSettings) -> int:
    """Return the number of steps on a CPU in the planned minutes, to two digits; accurate within a factor of two."""
    seconds = max(0.0, (settings.minutes or 0) * 60 - START_SECONDS) * STEPPING
    step = multiplications(settings) * _STEP_COST * settings.batch / (core_speed() * _REACHED * settings.workers)
    if settings.encoder == "lite0":
        step *= _LITE0_COST
    return int(float(f"{seconds / step:.2g}"))


@cache
def core_speed() -> float:
    """Return the 32-bit multiply-adds per second of one core of this machine."""
    matrices = np.random.default_rng(0).normal(size=(256, _MATRIX_SIDE, _MATRIX_SIDE)).astype(np.float32)
    product = matrices @ matrices  # reused memory: a new allocation takes as long as the arithmetic
    # Measure the time of this thread only, without other threads and programs.
    count, begin, elapsed = 0, time.thread_time(), 0.0
    while elapsed < _MEASURED_SECONDS:
        np.matmul(matrices, matrices, out=product)
        count, elapsed = count + 1, time.thread_time() - begin
    return count * len(matrices) * _MATRIX_SIDE**3 / elapsed
