"""Table of the acceptance items, and the call of one of them. Imports no Paddle, so that the table can be listed."""

from __future__ import annotations

import importlib
import json
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

PASS, FAIL, SLOW, SKIP = "PASS", "FAIL", "SLOW", "SKIP"
_PACKAGE = "workbench.training.acceptance"
NOT_ON_CPU = "not on a CPU"


@dataclass(frozen=True)
class Outcome:
    """Result of an item. status: PASS, FAIL, SLOW (correct, but below its target) or SKIP. values: JSON-ready."""

    status: str
    detail: str = ""
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Conditions:
    """Conditions under which an item runs. device: "gpu:0", "cpu" … folder: scratch folder of the item.

    quick: shorter tests. argument: JSON value for functions that an item runs in further processes.
    """

    device: str
    folder: Path
    quick: bool = False
    argument: Any = None

    @property
    def on_gpu(self) -> bool:
        return self.device.startswith("gpu")

    @property
    def reduced(self) -> bool:
        """True for small networks and few steps: on a CPU, where only the code of the items is rehearsed."""
        return not self.on_gpu


@dataclass(frozen=True)
class AcceptanceItem:
    """One entry of the acceptance test.

    target: "module:function" in this package. seconds: time limit. gpu_only: reason to leave it out on a CPU, or "".
    argument: passed on to the function.
    """

    name: str
    title: str
    target: str
    seconds: float
    gpu_only: str = ""
    argument: Any = None

    @property
    def number_type(self) -> str:
        """Type of 16 bits that the item tests, "" for others: its argument, or the first part of it."""
        kind = self.argument[0] if isinstance(self.argument, list) else self.argument
        return kind if kind in ("fp16", "bf16") else ""


_AMP = f"{NOT_ON_CPU}: PaddlePaddle has no mixed precision there"
_MEMORY = f"{NOT_ON_CPU}: only the memory of a GPU can be limited"

_ROWS: tuple[tuple[Any, ...], ...] = (
    ("facts", "GPU, driver, versions and computer", "facts:collect", 120),
    ("identity", "the driver and CUDA number the same GPU", "facts:check_identity", 60, f"{NOT_ON_CPU}: no GPU"),
    ("layers", "layers and networks against the CPU", "correctness:check_layers", 180, "", "fp32"),
    ("layers fp16", "layers and networks in fp16 against fp32", "correctness:check_layers", 180, _AMP, "fp16"),
    ("layers bf16", "layers and networks in bf16 against fp32", "correctness:check_layers", 180, _AMP, "bf16"),
    ("images", "8-bit images normalized and varied on the device", "correctness:check_images", 120),
    ("losses", "losses and their gradients against the CPU", "correctness:check_losses", 120),
    ("adamw", "steps of AdamW, clipping and averaging against the CPU", "correctness:check_optimizer", 120),
    ("muon", "steps of Muon, clipping and averaging against the CPU", "correctness:check_optimizer", 120, "", "muon"),
    ("overflow", "a step with infinite gradients changes nothing", "overflow:check_overflow", 120, "", "fp32"),
    ("overflow fp16", "the same in fp16, and the loss scale is halved", "overflow:check_overflow", 120, _AMP, "fp16"),
    ("overflow bf16", "the same in bf16", "overflow:check_overflow", 120, _AMP, "bf16"),
    ("loss scale", "the loss scale doubles after 500 steps", "overflow:check_growth", 180, _AMP, "fp16"),
    ("resume", "save, kill and resume in fp32", "resuming:check_resume", 300, "", ["fp32", "O1"]),
    ("resume fp16", "save, kill and resume in fp16", "resuming:check_resume", 300, _AMP, ["fp16", "O1"]),
    ("resume bf16", "save, kill and resume in bf16", "resuming:check_resume", 300, _AMP, ["bf16", "O1"]),
    (
        "resume fp16 O2",
        "save, kill and resume with 16-bit weights",
        "resuming:check_resume",
        300,
        _AMP,
        ["fp16", "O2"],
    ),
    ("memory 60 %", "with too little memory, training goes on in parts", "memory:check_limit", 300, _MEMORY, 0.6),
    ("memory 5 %", "with far too little memory, a sentence", "memory:check_limit", 300, _MEMORY, 0.05),
    ("memory shared", "another program fills the GPU", "memory:check_shared", 300, _MEMORY),
    ("speed UNet 96", "UNet planned for speed, patches of 96 pixels", "speed:compare", 400, "", "unet-96"),
    ("speed UNet 256", "UNet of full resolution, patches of 256 pixels", "speed:compare", 400, "", "unet-256"),
    ("speed UNet deep", "UNet planned by default, patches of 256 pixels", "speed:compare", 400, "", "unet-deep"),
    ("speed ResNet-34", "ResNet-34, images of 96 pixels", "speed:compare", 400, "", "resnet34-96"),
    ("speed ResNet-50", "ResNet-50, images of 224 pixels", "speed:compare", 400, "", "resnet50-224"),
    ("data", "images prepared per second by 1 to 8 threads", "speed:check_loader", 240),
    ("whole UNet", "train, evaluate, export, self-test, predict", "user_workflow:check_model", 900, "", "unet"),
    ("whole ResNet", "train, evaluate, export, self-test, predict", "user_workflow:check_model", 900, "", "resnet"),
    ("quality", "GPU against CPU settings in equal minutes", "user_workflow:compare_quality", 900),
    ("two processes", "two GPUs compute as two replicas on the CPU", "two_processes:check_step", 400),
    ("lost process", "a run ends with a sentence if one process dies", "two_processes:check_loss", 300),
    ("memory of one", "another program fills one of two GPUs", "two_processes:check_memory", 400, _MEMORY),
)
ITEMS = tuple(AcceptanceItem(*row) for row in _ROWS)


def find_item(name: str) -> AcceptanceItem:
    """Return an item by name. Raises KeyError."""
    found = next((item for item in ITEMS if item.name == name), None)
    if found is None:
        raise KeyError(name)
    return found


def run_item(item: AcceptanceItem, conditions: Conditions) -> Outcome:
    """Run an item in this process. Any exception is a FAIL. Types of numbers that the GPU does not train in: SKIP."""
    if item.gpu_only and not conditions.on_gpu:
        return Outcome(SKIP, item.gpu_only)
    if item.number_type:
        unsupported = importlib.import_module(f"{_PACKAGE}.facts").unsupported
        try:
            why = unsupported(item.number_type, conditions.device)
        except Exception:  # a device that cannot be used is the failure of the item
            why = ""
        if why:
            return Outcome(SKIP, why)
    prepared = Conditions(conditions.device, conditions.folder, conditions.quick, item.argument)
    return run_target(item.target, prepared)


def run_target(target: str, conditions: Conditions) -> Outcome:
    """Call "module:function" of this package. Any exception is a FAIL whose traceback goes to stderr."""
    try:
        module, _, name = target.partition(":")
        function: Callable[[Conditions], Outcome] = getattr(importlib.import_module(f"{_PACKAGE}.{module}"), name)
        return function(conditions)
    except Exception as error:  # a fault of one item must not end the others
        traceback.print_exc()
        from workbench.training.device import first_line

        return Outcome(FAIL, f"{type(error).__name__}: {first_line(error)}")


def listed() -> str:
    """Return the table as a JSON array of objects with name, title and seconds."""
    return json.dumps([{"name": item.name, "title": item.title, "seconds": item.seconds} for item in ITEMS])


def encode(outcome: Outcome) -> str:
    return json.dumps(asdict(outcome), ensure_ascii=False, default=str)
